package redact

import (
	"flag"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMain raises the number of draws: one takes microseconds.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("3000")
	}
	os.Exit(m.Run())
}

// pieces are what random texts are made of: all that a construct can begin,
// go on or end with.
var pieces = []string{
	"ordinary words that fill a block, and some more of them: a, b and c.d = e ", "x86_64 wordsOfAllKinds-in_one/line.go:12 ",
	" ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "é", "ſ", "\u212a", "=", ":", " = ", ": ", ":=", "=>", ",", ";", "}", "{", "[", "]", "(", ")", `"`, "'", `\"`, `\`, "`", "```", "~~~",
	"a", "B", "7", "_", "-", ".", "/", "+", "~", "@", "<", ">", mark, "<red", "-----", "-----BEGIN ", "PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\n", "-----END PRIVATE KEY-----", "-----END ", "BEGIN",
	"data:", "image/png", ";base64,", "data:a/b;base64,QUJD", "ghp_", "github_pat_", "abcdefghijklmnopqrst", "AKIA", "ABCDEFGHIJKLMNOP", "sk-", "eyJ", "bearer", "Bearer ", "abcdefgh",
	"acme_", "acme-", "aB3dE5gH7jK9mN1pQ3sT5", "aB3", "12", ".atlasv1.", "0123456789abcdef", "-us1", "8Q~", "MTA", ".aB3dEf.", "https://", "user:", "pass@host", "/path", "123456789:", "AAabcdefghijklmnopqrstuvwxyz0123456789", "Basic ", "QWxhZGRpbjpvcGVu", "\n```\n", "\n```", "\nQUJDREVGR0g=\n", "::", "==", "sig", "xoxb-1", "SG.", "s.", "live_", "\\n", "\\\\", "${X}", "nil", "f()", "bearer=",
	"token", "password", "secret", "api_key", "Authorization", "my_", "my", "Key", "key", "\"token\":\"", "://", "u:p@h",
}

func randomText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 24).Draw(t, "pieces"), "")
}

// checkStream writes text cut at the given places and checks all that Stream promises.
func checkStream(t interface{ Fatalf(string, ...any) }, text string, cuts []int) {
	var s Stream
	released, at := "", 0
	step := func(to int) {
		released += s.Write(text[at:to])
		at = to
		if want := Text(text[:at]); s.Text() != want {
			t.Fatalf("after %q\nStream.Text %q\n       Text %q", text[:at], s.Text(), want)
		}
		if s.Text() != released+s.Rest() || s.Len() != at {
			t.Fatalf("after %q: released %q and rest %q are not the text, length %d", text[:at], released, s.Rest(), s.Len())
		}
	}
	for _, cut := range cuts {
		if cut > at && cut < len(text) {
			step(cut)
		}
	}
	step(len(text))
}

func TestStreamIsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := randomText(t)
		cuts := make([]int, len(text))
		for i := range cuts {
			cuts[i] = i
		}
		if rapid.Bool().Draw(t, "few") {
			cuts = rapid.SliceOfN(rapid.IntRange(0, len(text)), 0, 5).Draw(t, "cuts")
		}
		checkStream(t, text, cuts)
	})
}

func TestTextIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomText(t)
		once := Text(s)
		if twice := Text(once); twice != once {
			t.Fatalf("%q\nonce  %q\ntwice %q", s, once, twice)
		}
	})
}
