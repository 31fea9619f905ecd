package tokens

import (
	"hash/maphash"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
)

// perItem is what a conversation item costs beside its text.
const perItem = 4

// Counter counts for one model. It is safe for concurrent use.
type Counter struct {
	encoding tokenizer.Encoding // "" counts characters
	load     sync.Once
	codec    tokenizer.Codec

	mu   sync.Mutex
	seed maphash.Seed
	memo map[uint64]int
}

// For returns the counter of a model.
func For(providerID, model string) *Counter {
	c := &Counter{seed: maphash.MakeSeed(), memo: make(map[uint64]int)}
	if providerID == "openai-codex" {
		c.encoding = encodingOf(model)
	}
	return c
}

func encodingOf(model string) tokenizer.Encoding {
	for _, p := range []string{"gpt-5", "gpt-4.1", "gpt-4o", "gpt-4.5", "o1", "o3", "o4", "codex-"} {
		if strings.HasPrefix(model, p) {
			return tokenizer.O200kBase
		}
	}
	for _, p := range []string{"gpt-4", "gpt-3.5-turbo", "text-embedding-"} {
		if strings.HasPrefix(model, p) {
			return tokenizer.Cl100kBase
		}
	}
	return ""
}

// Text counts one string: at least 1.
func (c *Counter) Text(s string) int {
	if c.encoding == "" {
		return max(1, (utf8.RuneCountInString(s)+3)/4)
	}
	key := maphash.String(c.seed, s)
	if n, ok := c.remembered(key); ok {
		return n
	}
	n := max(1, c.encode(s))
	c.remember(key, n)
	return n
}

func (c *Counter) encode(s string) int {
	c.load.Do(func() { c.codec, _ = tokenizer.Get(c.encoding) })
	if c.codec == nil {
		return (utf8.RuneCountInString(s) + 3) / 4
	}
	n, err := c.codec.Count(s)
	if err != nil {
		return (utf8.RuneCountInString(s) + 3) / 4
	}
	return n
}

// maxMemo bounds what is remembered; a table that is full starts anew.
const maxMemo = 16384

func (c *Counter) remembered(key uint64) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.memo[key]
	return n, ok
}

func (c *Counter) remember(key uint64, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.memo) >= maxMemo {
		clear(c.memo)
	}
	c.memo[key] = n
}

// Item counts one conversation item.
func (c *Counter) Item(it *provider.Item) int {
	switch it.Kind {
	case provider.ItemCall:
		return perItem + c.Text("function_call") + c.Text(it.CallID) + c.Text(it.Name) + c.Text(it.Arguments)
	case provider.ItemResult:
		return perItem + c.Text(it.CallID) + c.Text(it.Text)
	case provider.ItemResponse:
		return perItem + c.JSON(it.Raw)
	}
	n := perItem + c.Text(it.Text)
	if c.encoding != "" {
		n += c.Text(it.Role)
	}
	return n
}

// Items counts a conversation.
func (c *Counter) Items(items []provider.Item) int {
	n := 0
	for i := range items {
		n += c.Item(&items[i])
	}
	return n
}

// Tools counts tool definitions: every key and string.
func (c *Counter) Tools(defs []provider.ToolDef) int {
	n := 0
	for _, d := range defs {
		n += c.Text(d.Name) + c.Text(d.Description) + c.JSON(d.Parameters)
	}
	return n
}

// JSON counts every key and string of a value, recursively.
func (c *Counter) JSON(raw []byte) int {
	v, err := jsonscan.Parse(raw, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
	if err != nil {
		return c.Text(string(raw))
	}
	return c.value(v)
}

func (c *Counter) value(v jsonscan.Value) int {
	n := 0
	switch v.Kind() {
	case jsonscan.String:
		n = c.Text(v.LenientText())
	case jsonscan.Object:
		for key, val := range v.Members() {
			n += c.Text(key.LenientText()) + c.value(val)
		}
	case jsonscan.Array:
		for e := range v.Elements() {
			n += c.value(e)
		}
	}
	return n
}
