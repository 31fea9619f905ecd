package web

import (
	"net/url"
	"strings"
	"testing"
)

// TestLongLinks: addresses that are too long to be opened take no room: the text
// behind them is shown.
func TestLongLinks(t *testing.T) {
	base, err := url.Parse("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	for name, href := range map[string]string{"long": strings.Repeat("a", 300<<10), "long when escaped": strings.Repeat("é", 900)} {
		_, text, _, cut := readable(`<p><a href="/`+href+`">the link</a> and <a href="/b">another</a></p>`, base)
		if text != "the link and [another](https://example.org/b)" || cut {
			t.Errorf("%s: %d bytes, %.60q", name, len(text), text)
		}
	}
}
