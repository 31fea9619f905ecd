package redact

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"magicode/internal/redact/redacttest"
)

// secretKinds are the kinds of storage.md 11.1: a construct with a made-up value in it.
var secretKinds = []struct {
	name string
	make func(r *rand.Rand, n int) (construct, value string)
}{
	{"private key", func(r *rand.Rand, n int) (string, string) {
		v := redacttest.Random(r, redacttest.Std64, n)
		body := v
		for at := 64; at < len(body); at += 65 {
			body = body[:at] + "\n" + body[at:]
		}
		label := []string{"", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "}[r.IntN(5)]
		return "-----BEGIN " + label + "PRIVATE KEY-----\n" + body + "\n-----END " + label + "PRIVATE KEY-----", v
	}},
	{"data URL", func(r *rand.Rand, n int) (string, string) {
		v := redacttest.Random(r, redacttest.Std64, n)
		return "data:image/png;base64," + v, v
	}},
	{"GitHub", func(r *rand.Rand, n int) (string, string) {
		v := redacttest.Random(r, redacttest.Alnum, max(n, 20))
		return []string{"gh" + "p_", "gh" + "o_", "gh" + "s_", "github" + "_pat_"}[r.IntN(4)] + v, v
	}},
	{"AWS", func(r *rand.Rand, _ int) (string, string) {
		v := redacttest.Random(r, redacttest.Capital, 16)
		return []string{"AK", "AS"}[r.IntN(2)] + "IA" + v, v
	}},
	{"sk and JWT", func(r *rand.Rand, n int) (string, string) {
		v := redacttest.Random(r, redacttest.URL64, n-1) + redacttest.Random(r, redacttest.Alnum, 1)
		return []string{"s" + "k-", "ey" + "J"}[r.IntN(2)] + v, v
	}},
	{"bearer", func(r *rand.Rand, n int) (string, string) {
		v := redacttest.Random(r, redacttest.Alnum+"._~+/=-", n)
		return []string{"Bearer ", "bearer\t", "Authorization: Bearer "}[r.IntN(3)] + v, v
	}},
	{"assignment", func(r *rand.Rand, n int) (string, string) {
		v := redacttest.Random(r, redacttest.Alnum+"!#%+/@^~._-", n)
		name := []string{"password", "api_key", "Token", "client-secret", "AWS_SECRET_ACCESS_KEY", "MY_SERVICE_TOKEN", "dbPassword"}[r.IntN(7)]
		sep := []string{"=", ": ", " = ", " : "}[r.IntN(4)]
		quote := []string{"", `"`, "'"}[r.IntN(3)]
		return name + sep + quote + v + quote, v
	}},
}

// secretPlaces are where a construct may stand.
var secretPlaces = []struct {
	name string
	put  func(r *rand.Rand, construct string) string
}{
	{"prose", func(_ *rand.Rand, c string) string {
		return "You asked for it, so here it is: " + c + " and that is all."
	}},
	{"JSON", func(_ *rand.Rand, c string) string {
		b, _ := json.Marshal(map[string]any{"note": "use " + c, "n": 1})
		return string(b) + "\n"
	}},
	{"code fence", func(_ *rand.Rand, c string) string {
		return "Run this:\n\n```sh\nexport A=1\n" + c + "\n```\n\nThen go on."
	}},
	{"header line", func(_ *rand.Rand, c string) string {
		return "GET / HTTP/1.1\r\nHost: x\r\n" + c + "\r\nAccept: */*\r\n\r\n"
	}},
	{"escape sequences", func(r *rand.Rand, c string) string {
		var b strings.Builder
		for _, ch := range c {
			if r.IntN(12) == 0 {
				b.WriteString([]string{"\x1b[31m", "\x1b[0m", "\x1b]0;t\a", "\x07", "\x1bM", "\x1b_x\x1b\\"}[r.IntN(6)])
			}
			b.WriteRune(ch)
		}
		c = b.String()
		return "out: " + c + "\x1b[0m done\n"
	}},
}

func draws(n int) int {
	if os.Getenv("REDACT_LONG") != "" {
		return 20 * n
	}
	return n
}

// streamed writes text through a Stripper and a Stream, cut at random places,
// and returns what was shown and what the segment is.
func streamed(r *rand.Rand, text string) (shown, segment string) {
	var p Stripper
	var s Stream
	var out strings.Builder
	for text != "" {
		n := min(1+r.IntN(1+r.IntN(40)), len(text))
		out.WriteString(s.Write(p.Write(text[:n])))
		text = text[n:]
	}
	out.WriteString(s.Write(p.Flush()))
	return out.String(), s.Text()
}

// TestSecretsStayHidden: no 8 consecutive characters of a value are shown, at
// any cut, nor when the text ends early.
func TestSecretsStayHidden(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for k := range draws(10_000) {
		kind, place := secretKinds[k%len(secretKinds)], secretPlaces[r.IntN(len(secretPlaces))]
		construct, value := kind.make(r, 8+r.IntN(193))
		text := place.put(r, construct)
		if r.IntN(3) == 0 {
			text = text[:r.IntN(len(text)+1)]
		}
		shown, segment := streamed(r, text)
		for what, s := range map[string]string{"the deltas": shown, "the segment": segment, "Display": Display(text)} {
			if got := leak(s, []string{value}); got != "" {
				t.Fatalf("%s in %s: %s show %q\ntext  %q\nshown %q", kind.name, place.name, what, got, text, s)
			}
		}
		if !strings.HasPrefix(segment, shown) || segment != Display(text) {
			t.Fatalf("%s in %s: deltas %q\nsegment %q\nDisplay %q", kind.name, place.name, shown, segment, Display(text))
		}
	}
}

// TestOrdinaryTextFlows: of ordinary texts at least 95 % is shown before the boundary.
func TestOrdinaryTextFlows(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	all, early, short := 0, 0, 0
	for range draws(10_000) {
		text := redacttest.Clean(r.Uint64(), 100+r.IntN(500))
		shown, segment := streamed(r, text)
		if segment != text {
			t.Fatalf("an ordinary text changed:\n%s\n%s", text, segment)
		}
		all, early = all+len(text), early+len(shown)
		if len(shown)*100 < 95*len(text) {
			short++
		}
	}
	if early*1000 < 999*all || short > 200 {
		t.Errorf("%d of %d bytes were shown early, %d texts less than 95 %%", early, all, short)
	}
}

// TestWordsFlow: single words are shown when they come, not with the next one.
func TestWordsFlow(t *testing.T) {
	for _, word := range []string{"Hello", "Yes.", "The", "Done!", "Working on it", "ok", "password", "basic", "Zürich", "日本"} {
		var s Stream
		if got := s.Write(word); got != word {
			t.Errorf("of %q only %q is shown", word, got)
		}
	}
}
