package tokens

import (
	"strings"
	"testing"

	"magicode/internal/provider"
)

func TestCharacters(t *testing.T) {
	c := For("local", "m")
	for s, want := range map[string]int{"": 1, "a": 1, "abcd": 1, "abcde": 2, strings.Repeat("é", 8): 2} {
		if got := c.Text(s); got != want {
			t.Errorf("%q: %d, wanted %d", s, got, want)
		}
	}
	items := []provider.Item{{Kind: provider.ItemMessage, Role: "user", Text: "12345678"}, {Kind: provider.ItemCall, CallID: "c", Name: "n", Arguments: "{}"}}
	if got := c.Items(items); got != 4+2+4+4+1+1+1 {
		t.Errorf("items: %d", got)
	}
}

// TestBPE holds the embedded tables against counts that are public knowledge of
// the encodings: a common English word with its space is one token.
func TestBPE(t *testing.T) {
	for _, model := range []string{"gpt-5.5", "gpt-4-turbo"} {
		c := For("openai-codex", model)
		if got := c.Text("hello world"); got != 2 {
			t.Errorf("%s: %d", model, got)
		}
		long := strings.Repeat("hello world ", 1000)
		if a, b := c.Text(long), c.Text(long); a != b || a < 2000 || a > 2100 {
			t.Errorf("%s: %d, then %d", model, a, b)
		}
	}
	if For("openai-codex", "unheard-of").encoding != "" || For("local", "gpt-5").encoding != "" {
		t.Error("a table for a model that has none")
	}
}

func TestToolsAndJSON(t *testing.T) {
	c := For("local", "m")
	if got := c.JSON([]byte(`{"ab":["cd",1,{"e":null}]}`)); got != 3 {
		t.Errorf("%d", got)
	}
	if got := c.Tools([]provider.ToolDef{{Name: "n", Description: "d", Parameters: []byte(`{"type":"object"}`)}}); got != 5 {
		t.Errorf("%d", got)
	}
}

func BenchmarkCount(b *testing.B) {
	items := make([]provider.Item, 500)
	for i := range items {
		items[i] = provider.Item{Kind: provider.ItemResult, CallID: "c", Text: strings.Repeat("some text of a result ", 700)}
	}
	c := For("local", "m")
	b.SetBytes(int64(len(items) * len(items[0].Text)))
	b.ReportAllocs()
	for b.Loop() {
		c.Items(items)
	}
}
