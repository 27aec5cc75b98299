package failover

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"chkscope/model"
)

const zkLog = "Connecting to localhost:2181\n2024-05-01 03:12:00,123 [myid:] - INFO [main:ZooKeeper@1] - Client environment\nWATCHER::\n\nWatchedEvent state:SyncConnected type:None path:null\n"

const zkStat = "\ncZxid = 0x1d\nctime = Wed May 01 03:11:58 UTC 2024\ndataLength = 477\nnumChildren = 1\n"

const nodeOf = "/flink/lab/jobs/0123456789abcdef0123456789abcdef/checkpoints/0000000000000000007"

// printed is a node's bytes in every form that loses nothing.
func printed(data []byte) map[string]string {
	netty := "         +-------------------------------------------------+\n         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |\n+--------+-------------------------------------------------+----------------+\n"
	xxd, canonical := "", ""
	python, octal, unicode, latin := "", "", "", ""
	for i := 0; i < len(data); i += 16 {
		row := data[i:min(i+16, len(data))]
		text := strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '.'
			}
			return r
		}, string(bytes.Map(func(r rune) rune { return r }, bytes.ToValidUTF8(row, []byte(".")))))
		spaced, pairs := "", ""
		for k, b := range row {
			spaced += fmt.Sprintf("%02x ", b)
			pairs += fmt.Sprintf("%02x", b)
			if k%2 == 1 {
				pairs += " "
			}
		}
		netty += fmt.Sprintf("|%08x| %-48s|%-16s|\n", i, spaced, text)
		xxd += fmt.Sprintf("%08x: %-40s %s\n", i, pairs, text)
		if len(spaced) > 24 {
			spaced = spaced[:24] + " " + spaced[24:]
		}
		canonical += fmt.Sprintf("%08x  %-49s |%s|\n", i, spaced, text)
	}
	canonical += fmt.Sprintf("%08x\n", len(data))
	for _, b := range data {
		switch {
		case b == '\\' || b == '\'':
			python += "\\" + string(rune(b))
		case b == '\n':
			python += `\n`
		case b < ' ' || b > '~':
			python += fmt.Sprintf(`\x%02x`, b)
		default:
			python += string(rune(b))
		}
		octal += fmt.Sprintf(`\%03o`, b)
		unicode += fmt.Sprintf(`\u%04x`, b)
		latin += string(rune(b))
	}
	b64 := base64.StdEncoding.EncodeToString(data)
	lines := ""
	for rest := b64; rest != ""; rest = rest[min(76, len(rest)):] {
		lines += rest[:min(76, len(rest))] + "\n"
	}
	return map[string]string{
		"base64": b64 + "\n", "base64 in lines": lines, "hex dump of zkCli": netty, "xxd": xxd, "hexdump -C": canonical,
		"xxd -p": hex.EncodeToString(data) + "\n", "kazoo": "(b'" + python + "', ZnodeStat(czxid=29, version=0))\n",
		"octal": `"` + octal + `"`, "unicode": `data: "` + unicode + `"`, "Latin-1": latin, "raw": string(data),
	}
}

func TestNodeText(t *testing.T) {
	c := newCluster(t)
	data := c.pointer("zookeeper.pointer", "file:/ha/completedCheckpoint0123456789ab")
	for form, text := range printed(data) {
		for _, around := range []string{text, zkLog + "[zk: localhost:2181(CONNECTED) 0] get -s " + nodeOf + "\n" + text + zkStat} {
			l, err := ReadText("stdin", strings.NewReader(around))
			if err != nil {
				t.Errorf("%s: %v", form, err)
				continue
			}
			e := l.Entries[0]
			if len(l.Entries) != 1 || e.Err != nil || e.Target != "file:/ha/completedCheckpoint0123456789ab" || e.Bytes != 14049 || len(e.Payload) == 0 {
				t.Errorf("%s: %+v", form, l.Entries)
			}
			if strings.Contains(around, nodeOf) && (e.Node != nodeOf || e.Checkpoint != 7 || e.JobID() != "0123456789abcdef0123456789abcdef") {
				t.Errorf("%s: node %q, checkpoint %d", form, e.Node, e.Checkpoint)
			}
			if problems := c.problems(l); len(problems) > 0 {
				t.Errorf("%s: %q", form, problems)
			}
		}
	}
}

// TestNodeTextThatLostBytes: what zkCli prints without -b; the target is still
// legible, the bytes are gone.
func TestNodeTextThatLostBytes(t *testing.T) {
	c := newCluster(t)
	for _, target := range []string{"file:/ha/completedCheckpoint0123456789ab", "s3a://bucket/" + strings.Repeat("deep/", 20) + "completedCheckpoint0123456789ab"} {
		data := c.pointer("zookeeper.pointer", target)
		for _, mark := range []string{string(utf8.RuneError), "?"} {
			text := zkLog + "get " + nodeOf + "\n" + strings.ToValidUTF8(string(data), mark) + "\n"
			l, err := ReadText("stdin", strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if e := l.Entries[0]; e.Err != nil || e.Target != target || e.Payload != nil || e.Bytes != model.Unknown || e.Checkpoint != 7 {
				t.Errorf("%+v", e)
			}
		}
	}
	text := strings.ToValidUTF8(string(c.pointer("zookeeper.pointer", "file:/ha/other")), "?")
	l, err := ReadText("stdin", strings.NewReader(text))
	if err != nil || l.Entries[0].Err == nil || !strings.Contains(l.Entries[0].Err.Error(), "lost bytes") {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestNodeTextIsNone: other text is no pointer.
func TestNodeTextIsNone(t *testing.T) {
	for _, text := range []string{"", "127.0.0.1", "aced0005", `\xac\xed`, "00000000: aced", "|00000000| ac |", zkLog} {
		if l, err := ReadText("stdin", strings.NewReader(text)); err == nil {
			t.Errorf("%q: %+v", text, l)
		}
	}
}

// TestIndex: a tree of nodes kept as files beside an index.
func TestIndex(t *testing.T) {
	c := newCluster(t)
	c.remove("zk")
	c.write("zk/010.node", c.pointer("zookeeper.pointer", "file:/ha/completedCheckpoint0123456789ab"))
	c.write("zk/011.node", c.pointer("zookeeper.pointer", "file:/ha/completedCheckpointcccccccccccc"))
	c.write("zk/012.node", []byte{0, 0, 0, 8})
	c.write("zk/013.node", []byte("127.0.0.1"))
	jobs := "/flink/lab/jobs/0123456789abcdef0123456789abcdef"
	c.write("zk/index", []byte(jobs+" persistent 0 -\n"+jobs+"/checkpoint_id_counter persistent 4 012.node\n"+nodeOf+" persistent 477 010.node\n"+
		nodeOf+"/locks persistent 9 013.node\n"+jobs+"/checkpoints/0000000000000000006 persistent 477 011.node\n"))
	l, problems := c.check("zk")
	if len(l.Entries) != 2 || l.Counter != 8 || l.Skipped != 1 {
		t.Fatalf("%+v", l)
	}
	if e := l.Entries[0]; e.Checkpoint != 6 || !e.Marked {
		t.Errorf("a node without a lock is to be deleted: %+v", e)
	}
	if e := l.Entries[1]; e.Checkpoint != 7 || e.Marked || e.Node != nodeOf {
		t.Errorf("%+v", e)
	}
	if len(problems) != 1 || !strings.Contains(problems[0], "cccccccccccc is not there") {
		t.Errorf("%q", problems)
	}
	if list := l.Checkpoints(); len(list) != 1 || list[0].Checkpoint != 7 {
		t.Errorf("%+v", list)
	}
	c.write("zk/index", []byte("some other index\n"))
	if l, _ := c.check("zk"); len(l.Entries) != 2 || l.Entries[0].Checkpoint != model.Unknown || l.Entries[0].Node != "" {
		t.Errorf("an index of something else: %+v", l)
	}
}

// FuzzNodeText: no text makes a panic, and what is read from text is a pointer.
func FuzzNodeText(f *testing.F) {
	data := newCluster(f).pointer("zookeeper.pointer", "file:/ha/completedCheckpoint0123456789ab")
	for _, text := range printed(data) {
		f.Add([]byte(text))
		f.Add([]byte(text[:len(text)/2]))
	}
	f.Add([]byte(zkLog + strings.ToValidUTF8(string(data), "?")))
	f.Add([]byte(`\xac\xed\`))
	f.Fuzz(func(t *testing.T, text []byte) {
		payload, ok := nodeText(text)
		if payload != nil && (!ok || !bytes.HasPrefix(payload, magic)) {
			t.Errorf("%x", payload)
		}
		newListing().payload(Pointer{Where: "fuzz"}, "fuzz", text)
	})
}
