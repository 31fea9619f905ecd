package redact

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"magicode/internal/redact/redacttest"
)

// contexts are the places where a key is met.
var contexts = []struct{ name, text string }{
	{"alone", "%s"},
	{"code", "\tclient := acme.New(ctx, \"%s\", acme.WithRetry(3))\n"},
	{"JSON", `{"id": 7, "value": "%s", "tags": ["a", "b"]}` + "\n"},
	{"header", "GET /v1/items HTTP/1.1\nX-Custom: %s\nAccept: */*\n"},
	{"URL", "see https://api.example.org/v1/items?page=2&k=%s&n=1 for more"},
}

// leak returns 8 characters of a secret that stand in shown.
func leak(shown string, secrets []string) string {
	for _, s := range secrets {
		for k := 0; k+8 <= len(s); k++ {
			if strings.Contains(shown, s[k:k+8]) {
				return s[k : k+8]
			}
		}
	}
	return ""
}

// TestPublicKeyFormats: decision 46, each format alone, in code, in JSON, in a
// header and in a URL, at once and streamed with any cut.
func TestPublicKeyFormats(t *testing.T) {
	if n := len(redacttest.Formats); n < 120 {
		t.Fatalf("%d formats", n)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, f := range redacttest.Formats {
		t.Run(f.Name, func(t *testing.T) {
			for _, c := range contexts {
				key, secrets := f.Make(r)
				text := fmt.Sprintf(c.text, key)
				if got := leak(Text(text), secrets); got != "" {
					t.Errorf("%s: %q of %q in %q", c.name, got, key, Text(text))
					continue
				}
				for at := 1; at < len(text); at++ {
					var s Stream
					shown := s.Write(text[:at]) + s.Write(text[at:])
					if got := leak(shown, secrets); got != "" || !strings.HasPrefix(Text(text), shown) {
						t.Errorf("%s: cut at %d: %q of %q in %q", c.name, at, got, key, shown)
						break
					}
				}
			}
		})
	}
}
