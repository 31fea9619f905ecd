package chat

import (
	"strconv"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/body"
	"magicode/internal/provider/transcript"
)

const wire = "chat"

// Options are what a provider's settings change.
type Options struct {
	// ServiceTier is sent when it is not empty.
	ServiceTier string
	// AnthropicLike sends a thinking budget in place of an effort (providers.md 16.2).
	AnthropicLike bool
}

// Body builds a Chat Completions request (providers.md 13.1).
func Body(req *provider.Request, o Options) *body.Body {
	parts := transcript.Arrange(transcript.Parts(req.Items, wire, encode))
	budget, maxTokens := provider.ThinkingBudget(req.Level, req.MaxOutputTokens)
	var b body.Builder
	b.Open("{")
	if o.AnthropicLike {
		b.Member("max_tokens", strconv.Itoa(maxTokens))
	}
	messages(&b, parts)
	b.Str("model", req.Model)
	if effort := req.Level.Effort(); effort != "" && req.Levels > 1 && !o.AnthropicLike {
		b.Str("reasoning_effort", effort)
	}
	if o.ServiceTier != "" {
		b.Str("service_tier", o.ServiceTier)
	}
	b.Member("stream", strconv.FormatBool(!req.Whole))
	if !req.Whole {
		b.Member("stream_options", `{"include_usage":true}`)
	}
	if o.AnthropicLike && budget > 0 {
		b.Member("thinking", `{"budget_tokens":`+strconv.Itoa(budget)+`,"type":"enabled"}`)
	}
	if len(req.Tools) > 0 {
		b.Member("tool_choice", `"auto"`)
		b.Key("tools")
		b.Raw(tools(req))
	}
	b.Close("}")
	return b.Done()
}

// messages writes the conversation. An assistant's text and the calls behind it
// are one message: servers want every result right behind the message that
// holds its call.
func messages(b *body.Builder, parts []*transcript.Part) {
	b.Key("messages")
	b.Open("[")
	for i := 0; i < len(parts); i++ {
		p := parts[i]
		if p.JSON == nil {
			continue
		}
		b.Elem()
		switch p.Kind {
		case transcript.Assistant, transcript.Call:
			i = assistant(b, parts, i)
		default:
			b.Raw(p.JSON)
		}
	}
	b.Close("]")
}

// assistant writes one message that begins at parts[i], and returns the index
// of its last part.
func assistant(b *body.Builder, parts []*transcript.Part, i int) int {
	text := []byte(`" "`)
	end := i // the last part of the message so far
	if parts[i].Kind == transcript.Assistant {
		text = parts[i].JSON
	} else {
		end = i - 1
	}
	b.Lit(`{"content":`)
	b.Raw(text)
	b.Lit(`,"role":"assistant"`)
	calls := 0
	for k := end + 1; k < len(parts); k++ {
		if parts[k].Kind != transcript.Call {
			if parts[k].JSON == nil {
				continue // reasoning between calls is not sent
			}
			break
		}
		if calls == 0 {
			b.Lit(`,"tool_calls":[`)
		} else {
			b.Lit(",")
		}
		b.Raw(parts[k].JSON)
		calls, end = calls+1, k
	}
	if calls > 0 {
		b.Lit("]")
	}
	b.Lit("}")
	return end
}

// encode gives a part its form: a message; of an assistant's text only the
// string, and of a call only its entry of tool_calls.
func encode(p *transcript.Part) []byte {
	switch p.Kind {
	case transcript.System:
		return append(content(`{"content":`, p.Text), `,"role":"system"}`...)
	case transcript.User:
		if p.Image != nil {
			out := append(content(`{"content":[{"text":`, p.Text), `,"type":"text"},`...)
			return transcript.AppendImage(out, `{"image_url":{"url":"data:`+p.Image.MediaType+`;base64,`, p.Image, `"},"type":"image_url"}],"role":"user"}`)
		}
		return append(content(`{"content":`, p.Text), `,"role":"user"}`...)
	case transcript.Assistant:
		return content("", p.Text)
	case transcript.Call:
		out := jsonscan.AppendString([]byte(`{"function":{"arguments":`), p.Arguments)
		out = jsonscan.AppendString(append(out, `,"name":`...), p.Name)
		out = jsonscan.AppendString(append(out, `},"id":`...), p.CallID)
		return append(out, `,"type":"function"}`...)
	case transcript.Result:
		out := append(content(`{"content":`, p.Text), `,"role":"tool","tool_call_id":`...)
		return append(jsonscan.AppendString(out, p.CallID), '}')
	}
	return nil
}

// content writes a message's text; some servers refuse an empty one.
func content(lead, text string) []byte {
	if text == "" {
		text = " "
	}
	out := make([]byte, 0, len(lead)+len(text)+len(text)/16+64)
	return jsonscan.AppendString(append(out, lead...), text)
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
		out = jsonscan.AppendString(append(out, `{"function":{"description":`...), t.Description)
		out = jsonscan.AppendString(append(out, `,"name":`...), t.Name)
		out = body.AppendSchema(append(out, `,"parameters":`...), t.Parameters)
		out = append(out, `},"type":"function"}`...)
	}
	out = append(out, ']')
	req.ToolsCache.Store(wire, out)
	return out
}
