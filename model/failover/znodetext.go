package failover

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a client of ZooKeeper prints of a node, instead of its bytes:
//
//	zkCli.sh get -b PATH    Base64 (ZooKeeper 3.9 and later)
//	zkCli.sh get -x PATH    a hex dump (3.9 and later); xxd and hexdump -C alike
//	kazoo, zk-shell         a Python literal, b'\xac\xed\x00\x05sr…'
//	zkCli.sh get PATH       the bytes read as UTF-8. A Java object stream begins
//	                        with AC ED, which is no UTF-8: those bytes and others
//	                        become U+FFFD or "?", and nobody can bring them back
//
// Lines of the client's log stand before it, those of `get -s` behind it.

// magic begins a Java object stream.
var magic = []byte{0xac, 0xed, 0, 5}

// nodeText reads a pointer from what a client printed: its bytes, or nil where
// they were lost; ok is false where text is nothing of that kind.
func nodeText(text []byte) (payload []byte, ok bool) {
	for _, read := range []func([]byte) []byte{rawStream, hexDump, base64Line, plainHex, escaped, latin1} {
		if p := read(text); bytes.HasPrefix(p, magic) && namesPointer(p) {
			return p, true
		}
	}
	return nil, namesPointer(text)
}

// namesPointer tells whether data has the names of a pointer's class and field.
func namesPointer(data []byte) bool {
	return bytes.Contains(data, []byte("RetrievableStreamStateHandle")) && bytes.Contains(data, []byte("wrappedStreamStateHandle"))
}

// rawStream is a stream behind lines of a log. What follows it is ignored when it
// is read.
func rawStream(text []byte) []byte {
	if i := bytes.Index(text, magic); i >= 0 {
		return text[i:]
	}
	return nil
}

var (
	// Groups: offset, hex digits. Netty's table, which zkCli prints; xxd; hexdump -C.
	dumpLines = []*regexp.Regexp{
		regexp.MustCompile(`^\|([0-9a-f]{8})\| ([0-9a-f ]+)\|`),
		regexp.MustCompile(`^([0-9a-f]{8}): ((?:[0-9a-f]{2,4} )+)`),
		regexp.MustCompile(`^([0-9a-f]{8})  ((?:[0-9a-f]{2} +)+)\|`),
	}
	hexStart    = regexp.MustCompile(`(?i)aced0005[0-9a-f\s]+`)
	base64Start = regexp.MustCompile(`(?m)^\s*["']?(rO0AB[A-Za-z0-9+/=\s]+)`)
)

func hexDump(text []byte) []byte {
	var out []byte
	for _, line := range strings.Split(string(text), "\n") {
		for _, form := range dumpLines {
			m := form.FindStringSubmatch(strings.ToLower(strings.TrimSpace(line)))
			if m == nil {
				continue
			}
			at, err := strconv.ParseUint(m[1], 16, 32)
			data, bad := hex.DecodeString(strings.ReplaceAll(m[2], " ", ""))
			if err != nil || bad != nil || at != uint64(len(out)) {
				return nil
			}
			out = append(out, data...)
			break
		}
	}
	return out
}

// base64Line is Base64 on a line of its own, or cut into lines of which only the
// last is padded.
func base64Line(text []byte) []byte {
	m := base64Start.FindSubmatch(text)
	if m == nil {
		return nil
	}
	var out []byte
	var digits []byte
	for _, line := range bytes.Split(m[1], []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 || bytes.ContainsAny(line, " \t") {
			break
		}
		digits = append(digits, line...)
		data, err := base64.StdEncoding.DecodeString(string(digits))
		if err == nil { // of the longest that is Base64; what follows a stream is ignored
			out = data
		}
	}
	return out
}

// plainHex is hex digits without more, as xxd -p prints them.
func plainHex(text []byte) []byte {
	digits := hexStart.Find(text)
	digits = bytes.Join(bytes.Fields(digits), nil)
	out, err := hex.DecodeString(string(digits[:len(digits)&^1]))
	if err != nil {
		return nil
	}
	return out
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': 7, 'b': 8, 'f': 12, 'v': 11, '\\': '\\', '\'': '\'', '"': '"'}

// escaped is a literal of Python, C or JSON: \xNN, \NNN, \u00NN and the letters.
func escaped(text []byte) []byte {
	start := -1
	for _, form := range []string{`\xac\xed`, `\254\355`, `\u00ac\u00ed`} {
		if i := bytes.Index(bytes.ToLower(text), []byte(form)); i >= 0 {
			start = i
			break
		}
	}
	if start < 0 {
		return nil
	}
	quote := byte(0)
	if start > 0 && (text[start-1] == '\'' || text[start-1] == '"') {
		quote = text[start-1]
	}
	var out []byte
	for i := start; i < len(text); {
		c := text[i]
		if c == '\n' || c == quote && quote != 0 {
			break
		}
		if c != '\\' || i+1 == len(text) {
			out = append(out, c)
			i++
			continue
		}
		b, n := escape(text[i+1:])
		if n == 0 {
			return nil
		}
		out = append(out, b)
		i += 1 + n
	}
	return out
}

// escape reads what follows a backslash: the byte and the length, 0 for none.
func escape(s []byte) (byte, int) {
	digits, base, from := 0, 16, 1
	switch c := s[0]; {
	case c == 'x':
		digits = 2
	case c == 'u':
		digits = 4
	case c >= '0' && c <= '7':
		base, from = 8, 0
		for digits < 3 && digits < len(s) && s[digits] >= '0' && s[digits] <= '7' {
			digits++
		}
	default:
		if b, ok := escapes[c]; ok {
			return b, 1
		}
		return 0, 0
	}
	if from+digits > len(s) {
		return 0, 0
	}
	v, err := strconv.ParseUint(string(s[from:from+digits]), base, 8)
	if err != nil {
		return 0, 0
	}
	return byte(v), from + digits
}

// latin1 is bytes that were taken for Latin-1 and written as UTF-8: each is one
// character below U+0100, and none was lost.
func latin1(text []byte) []byte {
	i := bytes.Index(text, []byte("\u00ac\u00ed\x00\x05"))
	if i < 0 {
		return nil
	}
	var out []byte
	for text = text[i:]; len(text) > 0; {
		r, n := utf8.DecodeRune(text)
		if r > 0xff {
			break
		}
		out, text = append(out, byte(r)), text[n:]
	}
	return out
}

// targetText finds the file that a pointer names in text that has lost bytes. What
// stands before it is its length, which may look like a letter.
var targetText = regexp.MustCompile(`(?:file|hdfs|viewfs|webhdfs|maprfs|s3a|s3n|s3p|s3|gs|abfss|abfs|wasbs|wasb|oss|obs|cosn|cos|swift|alluxio):/[^\x00-\x1f\x7f\x{fffd}]*?(?:completedCheckpoint|submittedJobGraph|submittedExecutionPlan)[0-9a-f]{12}`)

// nodePath finds the path of the node in a client's text, "" for none.
var nodePath = regexp.MustCompile(`(/[!-~]+/(?:checkpoints/[0-9]{19}|jobgraphs/[0-9a-f]{32}|execution-plans/[0-9a-f]{32}))(?:[\s'"]|$)`)
