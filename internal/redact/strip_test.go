package redact

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// slowStrip is storage.md 11.2 with all of the text at hand.
func slowStrip(s string) string {
	in := []rune(s)
	var out strings.Builder
	for i := 0; i < len(in); i++ {
		switch r := in[i]; {
		case r == 0x1b:
			i = slowEscape(in, i+1)
		case r == '\r':
			out.WriteByte('\n')
			if i+1 < len(in) && in[i+1] == '\n' {
				i++
			}
		case r == '\n' || r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f):
			out.WriteRune(r)
		}
	}
	return out.String()
}

// slowEscape returns the place of the last character of the sequence whose
// second character stands at i.
func slowEscape(in []rune, i int) int {
	if i >= len(in) {
		return i
	}
	switch in[i] {
	case '[':
		for i++; i < len(in) && (in[i] < '@' || in[i] > '~'); i++ {
		}
	case ']', 'P', '^', '_', 'X':
		for i++; i < len(in) && in[i] != '\a'; i++ {
			if in[i] == '\\' && in[i-1] == 0x1b {
				break
			}
		}
	}
	return i
}

var stripPieces = []string{"a", "é", "日", "\x1b", "\x1b[", "31m", "\x1b]0;t", "\a", "\x1b\\", "\\", "\r", "\n", "\r\n", "\t", "\x00", "\x7f", "\u009b", "\u0085", "\u00a0", "\u2028", "P", "X", "m", "[", "~", "0", ";", "\x1bM"}

func TestStrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(stripPieces), 0, 20).Draw(t, "pieces"), "")
		want := slowStrip(s)
		if got := Strip(s); got != want {
			t.Fatalf("Strip(%q)\n got %q\nwant %q", s, got, want)
		}
		if again := Strip(want); again != want {
			t.Fatalf("Strip(%q), which is stripped, gives %q", want, again)
		}
		var p Stripper
		var out strings.Builder
		for rest := s; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			out.WriteString(p.Write(rest[:n]))
			rest = rest[n:]
		}
		out.WriteString(p.Flush())
		if out.String() != want {
			t.Fatalf("%q in pieces\n got %q\nwant %q", s, out.String(), want)
		}
	})
}

func TestStripperFlush(t *testing.T) {
	var p Stripper
	if got := p.Write("a\xe6\x97") + "|" + p.Flush(); got != "a|\xe6\x97" {
		t.Errorf("a cut character: %q", got)
	}
	if got := p.Write("b\x1b]0;t\xe6") + "|" + p.Flush(); got != "b|" {
		t.Errorf("a cut character in a sequence: %q", got)
	}
	if got := p.Write("c"); got != "c" {
		t.Errorf("after Flush: %q", got)
	}
}

func TestStripReturnsItsInput(t *testing.T) {
	s := strings.Repeat("plain text\n", 100)
	if n := testing.AllocsPerRun(10, func() { Strip(s); Display(s) }); n != 0 {
		t.Errorf("%v allocations for plain text", n)
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		s    string
		max  int
		want string
	}{
		{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"aé", 2, "a"}, {"aé", 3, "aé"}, {"日本", 5, "日"}, {"日本", 2, ""}, {"abc", 0, ""}, {"abc", -1, ""}, {"", 4, ""}, {"😀", 3, ""},
	} {
		if got := Cut(tt.s, tt.max); got != tt.want || !utf8.ValidString(got) {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.s, tt.max, got, tt.want)
		}
	}
}
