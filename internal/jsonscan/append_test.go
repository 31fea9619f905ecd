package jsonscan

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendString(t *testing.T) {
	tests := map[string]string{
		"":                          ``,
		"abc/<>&'\x7f":              "abc/<>&'\x7f",
		"\"\\":                      `\"\\`,
		"\x00\x01\x1f\b\f\n\r\t\v":  `\u0000\u0001\u001f\b\f\n\r\t\u000b`,
		"é€😀":                       "é€😀",
		"\u2027\u2028\u2029\u202a":  "\u2027\\u2028\\u2029\u202a",
		"a\xffb":                    "a\ufffdb",
		"\xe2\x80":                  "\ufffd\ufffd",
		"\xed\xa0\x80":              "\ufffd\ufffd\ufffd",
		"\ufffd":                    "\ufffd",
		"0123456789\n0123456789é\"": `0123456789\n0123456789é\"`,
	}
	for in, want := range tests {
		if got := string(AppendString([]byte("x"), in)); got != `x"`+want+`"` {
			t.Errorf("%q: %s, wanted %s", in, got, want)
		}
	}
}

func checkAppend(t *testing.T, in string) {
	out := AppendString(nil, in)
	v, err := Parse(out, Options{})
	if err != nil {
		t.Fatalf("%q: %s: %v", in, out, err)
	}
	want := string([]rune(in)) // each invalid byte becomes U+FFFD
	if got, ok := v.Text(); got != want || !ok {
		t.Fatalf("%q came back as %q", in, got)
	}
	if !utf8.Valid(out) || strings.ContainsAny(string(out), "\u2028\u2029\n") {
		t.Fatalf("%q: %q", in, out)
	}
	// What is escaped needs it: nothing shorter would do.
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune("\"\\\u2028\u2029", r) {
			return -1
		}
		return r
	}, want)
	if len(AppendString(nil, plain)) != len(plain)+2 {
		t.Fatalf("%q is escaped without need", plain)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, in := range append(seeds(), "\u2028\u2029", "\xe2\x80\xa7\xe2\x80", strings.Repeat("plain ", 9)+"\x01") {
		f.Add(in)
	}
	f.Fuzz(checkAppend)
}

func FuzzText(f *testing.F) {
	for _, in := range seeds() {
		f.Add(in, in)
	}
	f.Fuzz(func(t *testing.T, in, other string) {
		v := Value(AppendString(nil, in))
		if want := string([]rune(in)); !v.Is(want) || v.Is(other) != (other == want) {
			t.Fatalf("%s and %q", v, other)
		}
	})
}
