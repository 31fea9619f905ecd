package transcript

import (
	"encoding/base64"
	"slices"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/body"
)

// Kind says what a part is.
type Kind uint8

const (
	System    Kind = iota // Text
	User                  // Text, Image
	Assistant             // Text
	Call                  // CallID, Name, Arguments
	Result                // CallID, Text, Success
	Reasoning             // Raw: a reasoning item of the Responses API
	Thinking              // Raw: a thinking block of the Messages API
	Redacted              // Raw: a redacted_thinking block of the Messages API
	Other                 // Raw: an item that only its own API knows
)

// Part is one piece of a conversation. It is not changed once it is made.
type Part struct {
	Kind      Kind
	Text      string
	CallID    string
	Name      string
	Arguments string // one JSON value, always
	Success   bool
	Raw       jsonscan.Value
	Image     *provider.Image

	// JSON is what the wire's encoder made of the part; nil leaves it out.
	JSON []byte
}

// AppendImage appends an image's bytes as base64, behind lead and before tail.
func AppendImage(dst []byte, lead string, i *provider.Image, tail string) []byte {
	dst = slices.Grow(dst, len(lead)+base64.StdEncoding.EncodedLen(len(i.Data))+len(tail))
	dst = base64.StdEncoding.AppendEncode(append(dst, lead...), i.Data)
	return append(dst, tail...)
}

// Encoder gives a part its form on one wire.
type Encoder func(*Part) []byte

// Parts takes items apart and encodes them. wire names the encoder: what an
// item's cache keeps under that name was made by the same one.
func Parts(items []provider.Item, wire string, encode Encoder) []*Part {
	out := make([]*Part, 0, len(items)+8)
	for i := range items {
		it := &items[i]
		if kept, ok := it.Cache.Load(wire); ok {
			out = append(out, kept.([]*Part)...)
			continue
		}
		parts := expand(it)
		for _, p := range parts {
			p.JSON = encode(p)
		}
		it.Cache.Store(wire, parts)
		out = append(out, parts...)
	}
	return out
}

// Arrange puts parts in the order of a request: repeated calls and results are
// dropped, and between a call and the results of all open calls nothing stands
// but calls, results and reasoning (providers.md 11.2). Reasoning stays where
// it arrived: it belongs to the call behind it.
func Arrange(parts []*Part) []*Part {
	var (
		out     = make([]*Part, 0, len(parts))
		held    []*Part
		calls   = make(map[string]bool)
		done    = make(map[string]bool)
		waiting int
	)
	for _, p := range parts {
		switch p.Kind {
		case System, Reasoning, Thinking, Redacted:
			out = append(out, p)
		case Call:
			if p.CallID != "" && calls[p.CallID] {
				continue
			}
			calls[p.CallID] = true
			waiting++
			out = append(out, p)
		case Result:
			if p.CallID != "" && done[p.CallID] {
				continue
			}
			done[p.CallID] = true
			out = append(out, p)
			if calls[p.CallID] && waiting > 0 {
				waiting--
			}
			if waiting == 0 {
				out, held = append(out, held...), held[:0]
			}
		default:
			if waiting > 0 {
				held = append(held, p)
				continue
			}
			out = append(out, p)
		}
	}
	return append(out, held...)
}

// expand takes one item apart.
func expand(it *provider.Item) []*Part {
	switch it.Kind {
	case provider.ItemMessage:
		return []*Part{{Kind: roleKind(it.Role), Text: it.Text, Image: it.Image}}
	case provider.ItemNote:
		return []*Part{{Kind: User, Text: it.Text}}
	case provider.ItemCall:
		return []*Part{call(it.CallID, it.Name, it.Arguments)}
	case provider.ItemResult:
		return []*Part{{Kind: Result, CallID: it.CallID, Name: it.Name, Success: it.Success, Text: it.Text}}
	}
	v, err := body.Parse(it.Raw)
	if err != nil || v.Kind() != jsonscan.Object {
		return nil
	}
	return expandRaw(v)
}

func expandRaw(v jsonscan.Value) []*Part {
	typ := v.Get("type")
	switch {
	case typ.Is("function_call"):
		return []*Part{call(v.Get("call_id").LenientText(), v.Get("name").LenientText(), textOf(v.Get("arguments")))}
	case typ.Is("function_call_output"):
		return []*Part{{Kind: Result, CallID: v.Get("call_id").LenientText(), Success: true, Text: textOf(v.Get("output"))}}
	case typ.Is("reasoning"):
		return []*Part{{Kind: Reasoning, Raw: v}}
	case typ.Is("thinking"):
		return []*Part{{Kind: Thinking, Raw: v}}
	case typ.Is("redacted_thinking"):
		return []*Part{{Kind: Redacted, Raw: v}}
	case v.Get("tool_calls").Kind() == jsonscan.Array:
		return chatCalls(v)
	case v.Get("role").Kind() == jsonscan.String:
		return []*Part{{Kind: roleKind(v.Get("role").LenientText()), Text: content(v.Get("content")), Raw: v}}
	}
	return []*Part{{Kind: Other, Raw: v}}
}

// chatCalls is an assistant message of Chat Completions that holds calls.
func chatCalls(v jsonscan.Value) []*Part {
	var out []*Part
	if text := content(v.Get("content")); strings.TrimSpace(text) != "" {
		out = append(out, &Part{Kind: Assistant, Text: text})
	}
	for c := range v.Get("tool_calls").Elements() {
		fn := c.Get("function")
		out = append(out, call(c.Get("id").LenientText(), fn.Get("name").LenientText(), textOf(fn.Get("arguments"))))
	}
	return out
}

func call(id, name, arguments string) *Part {
	args, ok := Arguments(arguments)
	if !ok {
		args = "{}" // several servers refuse a body with broken arguments (decision 8)
	}
	return &Part{Kind: Call, CallID: id, Name: name, Arguments: args}
}

func roleKind(role string) Kind {
	switch role {
	case "system", "developer":
		return System
	case "assistant":
		return Assistant
	}
	return User
}

// content is the text of a message's content: a string, or the text parts of an
// array.
func content(v jsonscan.Value) string {
	if v.Kind() != jsonscan.Array {
		return v.LenientText()
	}
	var b strings.Builder
	for e := range v.Elements() {
		b.WriteString(e.Get("text").LenientText())
	}
	return b.String()
}

// textOf is a string's text, or the JSON text of any other value.
func textOf(v jsonscan.Value) string {
	if v.Kind() == jsonscan.String {
		return v.LenientText()
	}
	return string(v)
}
