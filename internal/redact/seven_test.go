package redact

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"magicode/internal/redact/redacttest"
)

// sevenPieces make lines on which ours says what the seven rules say: no longer
// names, no code, no formats but those of the rules.
var sevenPieces = []string{
	" ", "  ", "\t", "\u00a0", "\u2003", "é", "日", "ſecret", "to\u212aen", ",", ";", "}", "=", ":", " = ", ": ", "; ", ", ", "-", ".", "/",
	"abcdefgh", "hunter2", "42", "x", "pass word", `"a b"`, `'a b'`, `"q`, "'q",
	"token", "TOKEN", "password", "Passwd", "secret", "secrets", "credential", "credentials", "authorization", "bearer", "Bearer ", "api_key", "api-key", "apikey", "exa_api_key",
	"access_token", "accessToken", "refresh-token", "auth_token", "id_token", "client_secret", "account_id", "accountId", "chatgpt-account-id",
	"aws_secret_access_key", "secret_access_key", "session_token", "aws-session-token", "secret_key",
	"ghp_abcdefghijklmnopqrst", "ghp_short", "github_pat_abcdefghijklmnopqrst", "AKIAABCDEFGHIJKLMNOP", "ASIAABCDEFGHIJKLMNOPQ", "sk-", "sk-abc", "sk-a.b-c_d", "eyJ", "eyJabc.x",
	"data:image/png;base64,iVBORw0KGgo=", "data:a/b;base64,", "data:",
}

// keyInKey is a key with another in it, one whose shape alone tells it, or one
// cut off at the end: ours hides more.
var keyInKey = regexp.MustCompile(`(?i:sk-|eyJ|bearer[\s\p{Zs}]+)[\w.~+/=-]*(?:A[KS]IA|gh[pousr]_|github_pat_|sk-|eyJ)|_\w*[0-9]\w*[A-Z]{10}|(?:gh[pousr]_|github_pat_|A[KS]IA)\w{8,19}$`)

// beyond tells lines on which ours is meant to differ.
func beyond(line string) bool {
	dense := strings.Join(strings.Fields(line), "")
	for _, p := range []string{"::", "==", "=:", ":=", "\":", "'=", "/"} {
		if strings.Contains(dense, p) {
			return true
		}
	}
	return keyInKey.MatchString(line)
}

// TestSevenRules holds Text against the rules of storage.md 11.1 as regular expressions.
func TestSevenRules(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	same := 0
	for range draws(8_000) {
		var b strings.Builder
		for range 1 + r.IntN(9) {
			b.WriteString(sevenPieces[r.IntN(len(sevenPieces))])
		}
		line := b.String()
		want := redacttest.Seven(line)
		if beyond(line) || redacttest.Seven(want) != want || longer(line) {
			continue
		}
		same++
		if got := Text(line); got != want {
			t.Errorf("%q\n got %q\nwant %q", line, got, want)
		}
	}
	if same < 3_000 {
		t.Errorf("only %d lines were compared", same)
	}
}

// longer reports whether line holds a name or a key of decision 46.
func longer(line string) bool {
	c := scan{s: line, final: true}
	for i := range line {
		if line[i] == ':' || line[i] == '=' {
			if k := c.keyBefore(i); k == longKey || k == weakKey {
				return true
			}
		}
	}
	return false
}

// TestNeverLessThanSeven: whatever stands around it, a value that the seven
// rules hide in a line is hidden in ours.
func TestNeverLessThanSeven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[A-Za-z0-9!#%+/@^~._-]{8,40}`).Draw(t, "value")
		before := rapid.SampledFrom(pieces).Draw(t, "before")
		after := rapid.SampledFrom(pieces).Draw(t, "after")
		name := rapid.SampledFrom([]string{"password", "api_key", "Token", "client-secret"}).Draw(t, "name")
		sep := rapid.SampledFrom([]string{"=", ": ", " = ", `": "`}).Draw(t, "sep")
		line := before + " " + name + sep + value + " " + after
		seven := redacttest.Seven(line)
		if leak(seven, []string{value}) != "" || isPlaceholder(value) || isCall(value) || isKnownPath(value) || strings.Contains(before, mark) {
			return
		}
		if got := leak(Text(line), []string{value}); got != "" {
			t.Fatalf("%q shows %q of the value: %q (the seven rules: %q)", line, got, Text(line), seven)
		}
	})
}
