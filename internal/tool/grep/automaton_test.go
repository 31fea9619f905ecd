package grep

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// sameLines holds the matcher against regexp, line by line.
func sameLines(t interface {
	Fatalf(string, ...any)
}, pattern string, data []byte) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return
	}
	m := newMatcher(&expression{source: pattern, re: re}).clone()
	var got []int
	m.scan(data, utf8.Valid(data), func(s span) bool {
		got = append(got, s.number)
		return true
	})
	var want []int
	for i, line := range bytes.Split(data, []byte("\n")) {
		if i == bytes.Count(data, []byte("\n")) {
			if len(line) == 0 {
				break
			}
		} else {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		if re.Match(line) {
			want = append(want, i+1)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("pattern %q on %q: lines %v, regexp says %v", pattern, data, got, want)
	}
}

var (
	patternAtoms = []string{"a", "b", "ab", "é", "文", ".", "[a-c]", "[^a]", "[^é]", "\\w", "\\W", "\\d", "\\s", "\\b", "\\B", "^", "$", "(a|b)", "(?:ab|é)", "(?i)k", "(?i)é", "\\pL", "[[:alpha:]]", "x{2,3}", "\\x{e9}", "foo", "bar", "\\A", "\\z", "(?i:foo)", "(?i)xa", "|", "\uFFFD"}
	repeats      = []string{"", "", "", "*", "+", "?", "*?", "{0,2}", "{2}"}
	textAtoms    = []string{"a", "b", "ab", "é", "文", "x", "xx", "foo", "bar", "Foo", "K", "\u212a", " ", "_", "1", "\n", "\n", "\r\n", "\r", "\xff", "\xc3", "\xed\xa0\x80", "\U0001f600", "-"}
)

func TestAutomatonAgainstRegexp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pattern strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "length") {
			atom := rapid.SampledFrom(patternAtoms).Draw(t, "atom")
			pattern.WriteString(atom)
			if !strings.ContainsAny(atom, "^$|") {
				pattern.WriteString(rapid.SampledFrom(repeats).Draw(t, "repeat"))
			}
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(textAtoms), 0, 20).Draw(t, "text"), "")
		sameLines(t, pattern.String(), []byte(text))
	})
}

func FuzzAutomaton(f *testing.F) {
	for _, p := range []string{"a.c", "\\bfoo\\b", "^$", "(?i)straße", "[^\\x00-\\x{10FFFF}]", "foo|bar|baz", "x*y+", "(a+)+b", "\\B", "(foo)?bar{2,}"} {
		f.Add(p, []byte("abc\nfoo bar\n\nSTRASSE straẞe\r\nxxyy\nbarrr\xff"))
	}
	f.Fuzz(func(t *testing.T, pattern string, data []byte) {
		if len(pattern) > 100 || len(data) > 2000 {
			t.Skip()
		}
		sameLines(t, pattern, data)
	})
}

func TestAutomatonStartsAnew(t *testing.T) {
	// Each of 2^12 histories of the last twelve characters is a state.
	re := regexp.MustCompile("a[ab]{12}c")
	m := newMatcher(&expression{source: re.String(), re: re}).clone()
	line := make([]byte, 0, 40)
	for n := range 1 << 15 {
		line = line[:0]
		for i := range 15 {
			line = append(line, "ab"[n>>i&1])
		}
		line = append(line, "cd"[n&1])
		if got := m.auto.matches(line); got != re.Match(line) {
			t.Fatalf("%q: %v", line, got)
		}
	}
	if len(m.auto.states) > maxStates+40 {
		t.Errorf("%d states", len(m.auto.states))
	}
}

func TestRequired(t *testing.T) {
	for _, tc := range []struct {
		pattern string
		want    []string
		whole   bool
	}{
		{"foo", []string{"foo"}, true},
		{"foo|bar", []string{"foo", "bar"}, true},
		{"foo.*longer", []string{"longer"}, false},
		{"(foo)+x?", []string{"foo"}, false},
		{"(foo|ba)z", []string{"ba", "foo"}, false},
		{"foo|b*", nil, false},
		{"(?i)Foo", []string{"foo"}, true},
		{"(?i)a_ticket", []string{"a_tic"}, false},
		{"(?i)ks", nil, false},
		{"(?i)ÉÀ", nil, false},
		{"[a-z]+", nil, false},
		{"^foo$", []string{"foo"}, false},
		{"x{2,}", []string{"x"}, false},
		{"\uFFFD", nil, false},
	} {
		re, err := syntax.Parse(tc.pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		lits, whole := required(re.Simplify())
		var got []string
		for _, l := range lits {
			got = append(got, l.s)
		}
		slices.Sort(got)
		slices.Sort(tc.want)
		if !slices.Equal(got, tc.want) || whole != tc.whole {
			t.Errorf("%q: %q %v", tc.pattern, got, whole)
		}
	}
}

func TestLiteralIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.StringMatching(`[abAB\n]{0,300}`).Draw(t, "text")
		word := rapid.StringMatching(`[ab]{1,4}`).Draw(t, "word")
		from := rapid.IntRange(0, len(data)).Draw(t, "from")
		fold := rapid.Bool().Draw(t, "fold")
		want := strings.Index(data[from:], word)
		if fold {
			want = strings.Index(strings.ToLower(data[from:]), word)
		}
		if want >= 0 {
			want += from
		}
		l := newLiteral(text{word, fold})
		if got := l.index([]byte(data), from); got != want {
			t.Fatalf("%q in %q from %d: %d, want %d", word, data, from, got, want)
		}
	})
}

func TestSplitUTF8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.Int32Range(0, 0x10ffff)
		lo, hi := r.Draw(t, "lo"), r.Draw(t, "hi")
		if lo > hi {
			lo, hi = hi, lo
		}
		for _, c := range []rune{lo, hi, lo - 1, hi + 1, r.Draw(t, "any"), (lo + hi) / 2} {
			if !utf8.ValidRune(c) {
				continue
			}
			hits := 0
			enc := []byte(string(c))
			splitUTF8(lo, hi, func(a, b []byte) {
				in := len(a) == len(enc)
				for i := range a {
					in = in && a[i] <= enc[i] && enc[i] <= b[i]
				}
				if in {
					hits++
				}
			})
			if want := c >= lo && c <= hi; (hits == 1) != want || hits > 1 {
				t.Fatalf("%x-%x, %x: %d", lo, hi, c, hits)
			}
		}
	})
}
