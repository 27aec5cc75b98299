package ui

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 100, []string{"one two three"}},
		{"  two spaces before", 12, []string{"  two spaces", "  before"}},
		{"/a/path/that/is/long end", 8, []string{"/a/path/", "that/is/", "long end"}},
		{"a\n\nb", 5, []string{"a", "", "b"}},
		{"状態の名前", 4, []string{"状態", "の名", "前"}},
		{"状", 1, []string{"状"}},
		{"", 5, []string{""}},
		{"x", 0, nil},
	} {
		if got := wrap(c.in, c.w); !slices.Equal(got, c.want) {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("one two three", 5)
	f.Add(" 状態 の名前", 3)
	f.Fuzz(func(t *testing.T, s string, w int) {
		if w < 2 || w > 200 || len(s) > 1000 {
			return
		}
		s = clean(s)
		words := strings.Join(strings.Fields(s), "")
		lines := wrap(s, w)
		for _, l := range lines {
			if width(l) > w {
				t.Errorf("%q has %d cells, not %d", l, width(l), w)
			}
		}
		if got := strings.Join(strings.Fields(strings.Join(lines, "")), ""); got != words {
			t.Errorf("wrap lost text: %q, was %q", got, words)
		}
	})
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{cut("topic-partition", 8, "…"), "topic-p…"},
		{cut("short", 8, "…"), "short"},
		{cut("状態の名前", 5, "…"), "状態…"},
		{cut("x", 0, "…"), ""},
		{cutLeft("/flink/checkpoints/chk-9", 8, "…"), "…s/chk-9"},
		{cutLeft("chk-9", 8, "…"), "chk-9"},
		{padLeft("9", 3), "  9"},
		{padRight("状", 3), "状 "},
		{padRight("long", 2), "long"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestNumbersInFewCells(t *testing.T) {
	for n, want := range map[int64]string{-1: "?", 0: "0", 9999: "9999", 10000: "10.0K", 20971520: "21.0M", 999950: "1.0M", 25165824: "25.2M", 1 << 62: "4.6E"} {
		if got := short(n); got != want || len(got) > 6 {
			t.Errorf("short(%d) = %q, want %q", n, got, want)
		}
	}
	for _, c := range []struct {
		part, whole int64
		want        string
	}{{1, 2, "50.0%"}, {5, 5, "100.0%"}, {0, 0, "0.0%"}, {-1, 5, ""}, {5, -1, ""}} {
		if got := percent(c.part, c.whole); got != c.want {
			t.Errorf("percent(%d, %d) = %q", c.part, c.whole, got)
		}
	}
}

func TestOnlyASCII(t *testing.T) {
	for in, want := range map[string]string{"plain": "plain", "a…": "a~", "状": "??", "\x1b[1mé\x1b[m": "\x1b[1m?\x1b[m"} {
		if got := onlyASCII(in); got != want {
			t.Errorf("onlyASCII(%q) = %q", in, got)
		}
	}
}

func TestAges(t *testing.T) {
	for d, want := range map[time.Duration]string{3 * time.Second: "", time.Minute: "1 min ago", 59 * time.Minute: "59 min ago", 3 * time.Hour: "3 h ago"} {
		if got := age(d); got != want {
			t.Errorf("age(%v) = %q", d, got)
		}
	}
}

func TestJobDescription(t *testing.T) {
	j := &job{what: "copying", started: testTime}
	j.progress(700<<20, 2<<30)
	if got, want := j.describe(testTime.Add(7*time.Second), "·"), "copying · 700.0 MiB of 2.0 GiB · 100.0 MiB/s · 14 s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	j = &job{what: "reading", unit: "streams", started: testTime}
	j.progress(3, 1200)
	if got, want := j.describe(testTime.Add(time.Second), "·"), "reading · 3 of 1,200 streams"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
