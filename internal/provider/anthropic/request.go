package anthropic

import (
	"strconv"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/body"
	"magicode/internal/provider/transcript"
)

const wire = "messages"

// Options are what settings change.
type Options struct {
	// CacheTTL is "", "5m" or "1h" (providers.md 16.1).
	CacheTTL string
}

// Body builds the body of a request (providers.md 14.1).
func Body(req *provider.Request, o Options) *body.Body {
	parts := transcript.Arrange(transcript.Parts(req.Items, wire, Encode))
	level := req.Level
	if adaptive(req.Model) {
		level = provider.LevelDefault // no budget
	}
	budget, maxTokens := provider.ThinkingBudget(level, req.MaxOutputTokens)
	var b body.Builder
	b.Open("{")
	switch o.CacheTTL {
	case "5m":
		b.Member("cache_control", `{"type":"ephemeral"}`)
	case "1h":
		b.Member("cache_control", `{"ttl":"1h","type":"ephemeral"}`)
	}
	b.Member("max_tokens", strconv.Itoa(maxTokens))
	messages(&b, parts)
	b.Str("model", req.Model)
	effort := req.Level.Effort()
	adapts := effort != "" && adaptive(req.Model)
	if adapts {
		b.Key("output_config")
		b.Open("{")
		b.Str("effort", effort)
		b.Close("}")
	}
	b.Member("stream", strconv.FormatBool(!req.Whole))
	system(&b, parts)
	switch {
	case adapts:
		b.Member("thinking", `{"type":"adaptive"}`)
	case budget > 0:
		b.Member("thinking", `{"budget_tokens":`+strconv.Itoa(budget)+`,"type":"enabled"}`)
	}
	if len(req.Tools) > 0 {
		b.Key("tools")
		b.Raw(tools(req))
	}
	b.Close("}")
	return b.Done()
}

// system joins the system messages with a blank line; none is left out.
func system(b *body.Builder, parts []*transcript.Part) {
	first := true
	for _, p := range parts {
		if p.Kind != transcript.System || p.JSON == nil {
			continue
		}
		if first {
			b.Key("system")
			b.Lit(`"`)
		} else {
			b.Lit(`\n\n`)
		}
		first = false
		b.Raw(p.JSON[1 : len(p.JSON)-1])
	}
	if !first {
		b.Lit(`"`)
	}
}

// messages writes the conversation: neighbours of one role are one message, and
// in a user's message tool results come first.
func messages(b *body.Builder, parts []*transcript.Part) {
	b.Key("messages")
	b.Open("[")
	for i := 0; i < len(parts); {
		end := i
		for end < len(parts) && (skipped(parts[end]) || user(parts[end]) == user(parts[i])) {
			end++
		}
		if !skipped(parts[i]) {
			message(b, parts[i:end], user(parts[i]))
			i = end
			continue
		}
		i++
	}
	b.Close("]")
}

func skipped(p *transcript.Part) bool { return p.Kind == transcript.System || p.JSON == nil }

func user(p *transcript.Part) bool { return p.Kind == transcript.User || p.Kind == transcript.Result }

func message(b *body.Builder, parts []*transcript.Part, user bool) {
	b.Elem()
	b.Open("{")
	b.Key("content")
	b.Open("[")
	blocks := func(which func(transcript.Kind) bool) {
		for _, p := range parts {
			if !skipped(p) && which(p.Kind) {
				b.Elem()
				b.Raw(p.JSON)
			}
		}
	}
	blocks(func(k transcript.Kind) bool { return k == transcript.Result })
	blocks(func(k transcript.Kind) bool { return k != transcript.Result })
	b.Close("]")
	if user {
		b.Str("role", "user")
	} else {
		b.Str("role", "assistant")
	}
	b.Close("}")
}

// Encode gives a part its form as a content block; a system message is only its
// text, as a JSON string.
func Encode(p *transcript.Part) []byte {
	switch p.Kind {
	case transcript.System:
		if p.Text == "" {
			return nil
		}
		return jsonscan.AppendString(nil, p.Text)
	case transcript.User, transcript.Assistant:
		if p.Image != nil { // two blocks, the image first: its API reads best that way
			out := transcript.AppendImage(nil, `{"source":{"data":"`, p.Image, `","media_type":"`+p.Image.MediaType+`","type":"base64"},"type":"image"},{"text":`)
			return append(jsonscan.AppendString(out, p.Text), `,"type":"text"}`...)
		}
		if strings.TrimSpace(p.Text) == "" {
			return nil // the API refuses blank text blocks
		}
		return append(jsonscan.AppendString([]byte(`{"text":`), p.Text), `,"type":"text"}`...)
	case transcript.Call:
		out := jsonscan.AppendString([]byte(`{"id":`), cleanID(p.CallID))
		out = body.AppendObject(append(out, `,"input":`...), []byte(p.Arguments), "{}")
		out = jsonscan.AppendString(append(out, `,"name":`...), p.Name)
		return append(out, `,"type":"tool_use"}`...)
	case transcript.Result:
		return result(p)
	case transcript.Thinking:
		return thinking(p.Raw)
	case transcript.Redacted:
		out := body.AppendText([]byte(`{"data":`), orEmpty(p.Raw.Get("data")))
		return append(out, `,"type":"redacted_thinking"}`...)
	}
	return nil // items of other APIs
}

func result(p *transcript.Part) []byte {
	text := p.Text
	if !p.Success && strings.TrimSpace(text) == "" {
		text = "Tool failed with no output."
	}
	out := jsonscan.AppendString([]byte(`{"content":`), text)
	out = strconv.AppendBool(append(out, `,"is_error":`...), !p.Success)
	out = jsonscan.AppendString(append(out, `,"tool_use_id":`...), cleanID(p.CallID))
	return append(out, `,"type":"tool_result"}`...)
}

// thinking replays a block with its signature; without one the API refuses it.
func thinking(raw jsonscan.Value) []byte {
	signature := raw.Get("signature")
	if signature.Kind() != jsonscan.String || len(signature) == 2 {
		return nil
	}
	out := body.AppendText([]byte(`{"signature":`), signature)
	out = body.AppendText(append(out, `,"thinking":`...), orEmpty(raw.Get("thinking")))
	return append(out, `,"type":"thinking"}`...)
}

func orEmpty(v jsonscan.Value) jsonscan.Value {
	if v.Kind() != jsonscan.String {
		return jsonscan.Value(`""`)
	}
	return v
}

// cleanID makes an id of another API fit the pattern of this one,
// [A-Za-z0-9_-]+; call and result get the same.
func cleanID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
}

func tools(req *provider.Request) []byte {
	if kept, ok := req.ToolsCache.Load(wire); ok {
		return kept.([]byte)
	}
	out := []byte{'['}
	for i, t := range req.Tools {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsonscan.AppendString(append(out, `{"description":`...), t.Description)
		out = body.AppendSchema(append(out, `,"input_schema":`...), t.Parameters)
		out = jsonscan.AppendString(append(out, `,"name":`...), t.Name)
		out = append(out, '}')
	}
	out = append(out, ']')
	req.ToolsCache.Store(wire, out)
	return out
}
