package where

import (
	"encoding/hex"
	"math"
	"math/big"
	"regexp"
	"strings"
	"time"

	"chkscope/decoder/serde"
)

// node is a part of a condition.
type node interface {
	eval(f Fields) (serde.Value, error)
}

type (
	constant  struct{ v serde.Value }
	fieldNode string
	listNode  []node
	notNode   struct{ x node }
	logical   struct { // or, and
		or   bool
		a, b node
	}
	binaryNode struct {
		op   string
		a, b node
	}
	matchNode struct {
		x  node
		re *regexp.Regexp
	}
	memberNode struct{ x, i node }
	call       struct {
		f func(serde.Value) (serde.Value, error)
		x node
	}
)

func text(s string) serde.Value { return serde.Value{Form: serde.Text, Text: s, N: int64(len(s))} }
func real(f float64) serde.Value {
	return serde.Value{Form: serde.Real64, N: int64(math.Float64bits(f))}
}
func integer(n int64) serde.Value { return serde.Value{Form: serde.Integer, N: n} }
func boolean(b bool) serde.Value {
	if b {
		return serde.Value{Form: serde.Bool, N: 1}
	}
	return serde.Value{Form: serde.Bool}
}

func (c constant) eval(Fields) (serde.Value, error) { return c.v, nil }

func (n fieldNode) eval(f Fields) (serde.Value, error) {
	v := f.Field(string(n))
	note(f, v.Form == serde.Missing)
	return known(v, string(n))
}

// strict are fields of which is noted whether all that were asked for are there.
type strict struct {
	Fields
	absent bool
}

// note notes a field or part that is not there.
func note(f Fields, absent bool) {
	if s, ok := f.(*strict); ok && absent {
		s.absent = true
	}
}

// known refuses what could not be decoded, and takes wrappers off.
func known(v serde.Value, what string) (serde.Value, error) {
	if v.Form == serde.TTLValue {
		v = v.Items[0]
	}
	switch {
	case v.Form == serde.Opaque:
		return v, undecided("%s could not be decoded (%s)", what, v.Why)
	case v.Form == serde.Missing:
		return serde.Value{Form: serde.Null}, nil
	}
	return v, nil
}

func (l listNode) eval(f Fields) (serde.Value, error) {
	v := serde.Value{Form: serde.Sequence, N: int64(len(l))}
	for _, x := range l {
		e, err := x.eval(f)
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, e)
	}
	return v, nil
}

func truth(v serde.Value) (bool, error) {
	switch v.Form {
	case serde.Bool:
		return v.N != 0, nil
	case serde.Null:
		return false, nil
	}
	return false, undecided("%s is neither true nor false", short(v))
}

// short is a value for an error.
func short(v serde.Value) string {
	s := v.String()
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

func (n notNode) eval(f Fields) (serde.Value, error) {
	v, err := n.x.eval(f)
	if err != nil {
		return v, err
	}
	b, err := truth(v)
	return boolean(!b), err
}

// eval: what one side decides alone needs no answer of the other.
func (n logical) eval(f Fields) (serde.Value, error) {
	if _, ok := f.(*strict); ok {
		n.b.eval(f) // what it asks for has to be there too
	}
	var undecided error
	for _, x := range [2]node{n.a, n.b} {
		v, err := x.eval(f)
		b := false
		if err == nil {
			b, err = truth(v)
		}
		if err != nil {
			undecided = err
		} else if b == n.or {
			return boolean(b), nil
		}
	}
	return boolean(!n.or), undecided
}

func (n matchNode) eval(f Fields) (serde.Value, error) {
	v, err := n.x.eval(f)
	if err != nil || v.Form == serde.Null {
		return boolean(false), err
	}
	s, err := textOf(v)
	return boolean(err == nil && n.re.MatchString(s)), err
}

// textOf is the whole text of a value.
func textOf(v serde.Value) (string, error) {
	if v.Cut || !v.Decoded() {
		return "", undecided("%s is not known as a whole", short(v))
	}
	return v.String(), nil
}

func (n memberNode) eval(f Fields) (serde.Value, error) {
	x, err := n.x.eval(f)
	if err != nil {
		return x, err
	}
	i, err := n.i.eval(f)
	if err != nil {
		return i, err
	}
	null := serde.Value{Form: serde.Null}
	switch {
	case x.Form == serde.Sequence && i.Form == serde.Integer:
		if i.N < 0 || i.N >= x.N {
			return null, nil
		}
		if i.N >= int64(len(x.Items)) {
			return null, undecided("a list of %d elements is not known as a whole", x.N)
		}
		return known(x.Items[i.N], "an element")
	case x.Form == serde.Fields && i.Form == serde.Integer && i.N >= 0 && i.N < int64(len(x.Items)):
		return known(x.Items[i.N], "a field")
	case x.Form == serde.Pairs:
		for k := 0; k+1 < len(x.Items); k += 2 {
			if same, err := equal(x.Items[k], i); err == nil && same {
				return known(x.Items[k+1], "an entry")
			}
		}
		if x.Cut {
			return null, undecided("a map of %d entries is not known as a whole", x.N)
		}
	case i.Form == serde.Text:
		v := x.Field(i.Text)
		note(f, v.Form == serde.Missing)
		return known(v, i.Text)
	}
	note(f, true)
	return null, nil
}

func (c call) eval(f Fields) (serde.Value, error) {
	v, err := c.x.eval(f)
	if err != nil || v.Form == serde.Null {
		return v, err
	}
	return c.f(v)
}

var functions = map[string]func(serde.Value) (serde.Value, error){
	"len":   length,
	"lower": func(v serde.Value) (serde.Value, error) { s, err := textOf(v); return text(strings.ToLower(s)), err },
	"upper": func(v serde.Value) (serde.Value, error) { s, err := textOf(v); return text(strings.ToUpper(s)), err },
	"text":  func(v serde.Value) (serde.Value, error) { s, err := textOf(v); return text(s), err },
	"hex": func(v serde.Value) (serde.Value, error) {
		if v.Form != serde.Binary {
			return v, undecided("%s is no byte array", short(v))
		}
		return text(hex.EncodeToString([]byte(v.Text))), cutBytes(v)
	},
	"time": moment,
}

func cutBytes(v serde.Value) error {
	if v.Cut {
		return undecided("%d bytes are not known as a whole", v.N)
	}
	return nil
}

func length(v serde.Value) (serde.Value, error) {
	switch v.Form {
	case serde.Text, serde.Binary, serde.Sequence, serde.Pairs:
		return integer(v.N), nil
	case serde.Fields:
		return integer(int64(len(v.Items))), nil
	}
	return integer(int64(len(v.String()))), nil
}

var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999", "2006-01-02"}

// moment is a time as milliseconds since 1970; without a zone it is UTC.
func moment(v serde.Value) (serde.Value, error) {
	if isInteger(v) {
		return v, nil
	}
	for _, l := range timeLayouts {
		if t, err := time.Parse(l, v.Text); err == nil {
			return serde.Value{Form: serde.Millis, N: t.UnixMilli()}, nil
		}
	}
	return v, undecided("%s is no time", short(v))
}

// number64 gives a value as a number: n and f of an integer, f of a real, rat of
// others, which a float cannot hold exactly.
func number64(v serde.Value) (n int64, f float64, rat *big.Rat, ok bool) {
	switch v.Form {
	case serde.Integer, serde.Millis:
		return v.N, float64(v.N), nil, true
	case serde.Real32, serde.Real64:
		return 0, v.Real(), nil, true
	case serde.Number:
		if len(v.Text) > 1000 {
			return 0, 0, nil, false
		}
		r, ok := new(big.Rat).SetString(v.Text)
		return 0, 0, r, ok
	}
	return 0, 0, nil, false
}

func isInteger(v serde.Value) bool { return v.Form == serde.Integer || v.Form == serde.Millis }
func isText(v serde.Value) bool {
	return v.Form == serde.Text || v.Form == serde.EnumName || v.Form == serde.Moment
}

// order compares two values: -1, 0, 1; false where they cannot be compared.
func order(a, b serde.Value) (int, bool, error) {
	if a.Cut || b.Cut {
		return 0, false, undecided("%s is not known as a whole", short(a))
	}
	if isText(a) && isText(b) {
		return strings.Compare(a.Text, b.Text), true, nil
	}
	if isInteger(a) && isInteger(b) {
		return sign(a.N < b.N, a.N > b.N), true, nil
	}
	_, x, r, ok := number64(a)
	_, y, s, ok2 := number64(b)
	if !ok || !ok2 {
		return 0, false, nil
	}
	if r == nil && s == nil {
		return sign(x < y, x > y), x == x && y == y, nil
	}
	r, s = exact(a, x, r), exact(b, y, s)
	if r == nil || s == nil {
		return 0, false, nil
	}
	return r.Cmp(s), true, nil
}

// exact is a number as a fraction, nil for infinite ones and no numbers.
func exact(v serde.Value, f float64, r *big.Rat) *big.Rat {
	if r == nil && isInteger(v) {
		return new(big.Rat).SetInt64(v.N)
	} else if r == nil {
		return new(big.Rat).SetFloat64(f)
	}
	return r
}

func sign(less, more bool) int {
	switch {
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

func equal(a, b serde.Value) (bool, error) {
	switch {
	case a.Form == serde.Null || b.Form == serde.Null:
		return a.Form == b.Form, nil
	case a.Form == serde.Bool && b.Form == serde.Bool:
		return a.N == b.N, nil
	}
	if c, ok, err := order(a, b); ok || err != nil {
		return c == 0, err
	}
	if a.Form == b.Form || isText(a) || isText(b) {
		if _, _, _, n := number64(a); n {
			return false, nil
		}
		if _, _, _, n := number64(b); n {
			return false, nil
		}
		x, err := textOf(a)
		if err != nil {
			return false, err
		}
		y, err := textOf(b)
		return x == y, err
	}
	return false, nil
}

func (n binaryNode) eval(f Fields) (serde.Value, error) {
	a, err := n.a.eval(f)
	if err != nil {
		return a, err
	}
	b, err := n.b.eval(f)
	if err != nil {
		return b, err
	}
	switch n.op {
	case "==", "!=":
		same, err := equal(a, b)
		return boolean(same == (n.op == "==")), err
	case "<", "<=", ">", ">=":
		c, ok, err := order(a, b)
		holds := map[string]bool{"<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[n.op]
		return boolean(ok && holds), err
	case "in":
		return within(a, b)
	case "contains":
		if b.Form != serde.Null && (a.Form == serde.Sequence || a.Form == serde.Pairs) {
			return within(b, a)
		}
		fallthrough
	case "startsWith", "endsWith":
		return affix(n.op, a, b)
	}
	return arithmetic(n.op, a, b)
}

// within tells whether a is an element of the list, or a key of the map, b.
func within(a, b serde.Value) (serde.Value, error) {
	step := 1
	switch b.Form {
	case serde.Null:
		return boolean(false), nil
	case serde.Pairs:
		step = 2
	case serde.Sequence:
	default:
		return boolean(false), undecided("%s is neither a list nor a map", short(b))
	}
	for i := 0; i < len(b.Items); i += step {
		if same, err := equal(a, b.Items[i]); err == nil && same {
			return boolean(true), nil
		}
	}
	if b.Cut || !b.Decoded() {
		return boolean(false), undecided("%s is not known as a whole", short(b))
	}
	return boolean(false), nil
}

func affix(op string, a, b serde.Value) (serde.Value, error) {
	if a.Form == serde.Null || b.Form == serde.Null {
		return boolean(false), nil
	}
	x, err := textOf(a)
	if err != nil {
		return a, err
	}
	y, err := textOf(b)
	switch op {
	case "startsWith":
		return boolean(strings.HasPrefix(x, y)), err
	case "endsWith":
		return boolean(strings.HasSuffix(x, y)), err
	}
	return boolean(strings.Contains(x, y)), err
}

func arithmetic(op string, a, b serde.Value) (serde.Value, error) {
	if a.Form == serde.Null || b.Form == serde.Null {
		return serde.Value{Form: serde.Null}, nil
	}
	n, x, r, ok := number64(a)
	m, y, s, ok2 := number64(b)
	if !ok || !ok2 {
		return a, undecided("%s %s %s: no numbers", short(a), op, short(b))
	}
	if r != nil {
		x, _ = r.Float64()
	}
	if s != nil {
		y, _ = s.Float64()
	}
	if isInteger(a) && isInteger(b) {
		if v, ok := integers(op, n, m); ok {
			return integer(v), nil
		}
	}
	switch op {
	case "+":
		return real(x + y), nil
	case "-":
		return real(x - y), nil
	case "*":
		return real(x * y), nil
	case "/":
		return real(x / y), nil
	}
	return real(math.Mod(x, y)), nil
}

// integers computes with whole numbers, where the result is one that fits.
func integers(op string, n, m int64) (int64, bool) {
	switch op {
	case "+":
		return n + m, (n+m > n) == (m > 0)
	case "-":
		return n - m, (n-m < n) == (m > 0)
	case "*":
		if n == 0 || m == 0 {
			return 0, true
		}
		v := n * m
		return v, v/m == n && !(n == -1 && m == math.MinInt64) && !(m == -1 && n == math.MinInt64)
	case "%":
		if m == 0 || m == -1 {
			return 0, m == -1
		}
		return n % m, true
	}
	if m == 0 || n%m != 0 || m == -1 {
		return 0, false
	}
	return n / m, true
}
