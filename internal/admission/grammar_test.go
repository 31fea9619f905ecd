package admission

import (
	"strings"
	"testing"
	"unicode"
)

func TestIDs(t *testing.T) {
	tests := []struct {
		in          string
		id, session bool
	}{
		{"", false, false},
		{"a", true, true},
		{"AZaz09_-", true, true},
		{"a.b", true, false},
		{".", true, false},
		{strings.Repeat("x", 64), true, true},
		{strings.Repeat("x", 65), false, false},
		{"a b", false, false},
		{"a/b", false, false},
		{"é", false, false},
		{"a\x00", false, false},
		{"a\n", false, false},
		{"\u212a", false, false},
	}
	for _, tt := range tests {
		if ValidID(tt.in) != tt.id || ValidSessionID(tt.in) != tt.session {
			t.Errorf("%q: id %v, session id %v", tt.in, ValidID(tt.in), ValidSessionID(tt.in))
		}
	}
	for c := range 256 {
		s := string([]byte{byte(c)})
		if ValidID(s) != grammar.MatchString(s) {
			t.Errorf("byte %#x: %v", c, ValidID(s))
		}
	}
}

func TestPrompts(t *testing.T) {
	blank := "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
	tests := map[string]bool{
		"":                              false,
		" ":                             false,
		blank:                           false,
		blank + "x":                     true,
		"\u200b":                        true, // no white space by Unicode
		"\ufeff":                        true,
		"\x00":                          true,
		strings.Repeat("x", 16384):      true,
		strings.Repeat("x", 16385):      false,
		strings.Repeat("é", 8192):       true,
		strings.Repeat("é", 8192) + "x": false,
		strings.Repeat(" ", 16384):      false,
	}
	for in, want := range tests {
		if ValidPrompt(in) != want {
			t.Errorf("%.40q, %d bytes: %v", in, len(in), !want)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if Blank(string(r)) != unicode.Is(unicode.White_Space, r) {
			t.Errorf("%U: %v", r, Blank(string(r)))
		}
	}
}
