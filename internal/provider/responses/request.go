package responses

import (
	"strconv"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/body"
	"magicode/internal/provider/transcript"
)

const wire = "responses"

// Options are what the providers that share this API send differently.
type Options struct {
	// Verbosity is sent when it is not empty.
	Verbosity string
	// ServiceTier is sent when it is not empty.
	ServiceTier string
	// ParallelCalls sends parallel_tool_calls together with tools.
	ParallelCalls bool
	// AnthropicLike sends a thinking budget in place of reasoning (providers.md 16.2).
	AnthropicLike bool
}

// Body builds the body of a request (providers.md 11.1, 12.1).
func Body(req *provider.Request, o Options) *body.Body {
	parts := transcript.Arrange(transcript.Parts(req.Items, wire, encode))
	var b body.Builder
	b.Open("{")
	if req.WebSearch {
		b.Member("include", "[]")
	} else {
		b.Member("include", `["reasoning.encrypted_content"]`)
	}
	input(&b, parts)
	instructions(&b, parts)
	budget, maxTokens := provider.ThinkingBudget(req.Level, req.MaxOutputTokens)
	if o.AnthropicLike {
		b.Member("max_tokens", strconv.Itoa(maxTokens))
	}
	b.Str("model", req.Model)
	if o.ParallelCalls && (len(req.Tools) > 0 || req.WebSearch) {
		b.Member("parallel_tool_calls", "true")
	}
	if req.PromptCacheKey != "" {
		b.Str("prompt_cache_key", req.PromptCacheKey)
	}
	if !o.AnthropicLike && req.Levels > 1 {
		reasoning(&b, req.Level)
	}
	if o.ServiceTier != "" {
		b.Str("service_tier", o.ServiceTier)
	}
	b.Member("store", "false")
	b.Member("stream", strconv.FormatBool(!req.Whole))
	if o.Verbosity != "" {
		b.Key("text")
		b.Open("{")
		b.Str("verbosity", o.Verbosity)
		b.Close("}")
	}
	if o.AnthropicLike && budget > 0 {
		b.Member("thinking", `{"budget_tokens":`+strconv.Itoa(budget)+`,"type":"enabled"}`)
	}
	switch {
	case req.WebSearch: // providers.md 12.5
		b.Member("tool_choice", `"required"`)
		b.Member("tools", `[{"external_web_access":true,"search_context_size":"medium","type":"web_search"}]`)
	case len(req.Tools) > 0:
		b.Member("tool_choice", `"auto"`)
		b.Key("tools")
		b.Raw(tools(req))
	}
	b.Close("}")
	return b.Done()
}

func input(b *body.Builder, parts []*transcript.Part) {
	b.Key("input")
	b.Open("[")
	for _, p := range parts {
		if p.Kind != transcript.System && p.JSON != nil {
			b.Elem()
			b.Raw(p.JSON)
		}
	}
	b.Close("]")
}

// instructions are all system messages, joined with a blank line.
func instructions(b *body.Builder, parts []*transcript.Part) {
	b.Key("instructions")
	b.Lit(`"`)
	first := true
	for _, p := range parts {
		if p.Kind != transcript.System {
			continue
		}
		if !first {
			b.Lit(`\n\n`)
		}
		first = false
		b.Raw(p.JSON[1 : len(p.JSON)-1])
	}
	b.Lit(`"`)
}

func reasoning(b *body.Builder, level provider.Level) {
	b.Key("reasoning")
	b.Open("{")
	if effort := level.Effort(); effort != "" {
		b.Str("effort", effort)
	}
	b.Member("summary", `"detailed"`)
	b.Close("}")
}

// encode gives a part its form as an entry of input; a system message is only
// its text, as a JSON string.
func encode(p *transcript.Part) []byte {
	text := p.Text
	if text == "" && p.Raw != nil {
		text = " " // a stored message without content
	}
	switch p.Kind {
	case transcript.System:
		return jsonscan.AppendString(nil, p.Text)
	case transcript.User:
		if p.Image != nil {
			out := jsonscan.AppendString([]byte(`{"content":[{"text":`), text)
			return transcript.AppendImage(out, `,"type":"input_text"},{"image_url":"data:`+p.Image.MediaType+`;base64,`, p.Image, `","type":"input_image"}],"role":"user"}`)
		}
		return lit(jsonscan.AppendString([]byte(`{"content":`), text), `,"role":"user"}`)
	case transcript.Assistant:
		return lit(jsonscan.AppendString([]byte(`{"content":`), text), `,"role":"assistant","type":"message"}`)
	case transcript.Call:
		out := jsonscan.AppendString([]byte(`{"arguments":`), p.Arguments)
		out = jsonscan.AppendString(lit(out, `,"call_id":`), p.CallID)
		out = jsonscan.AppendString(lit(out, `,"name":`), p.Name)
		return lit(out, `,"type":"function_call"}`)
	case transcript.Result:
		out := jsonscan.AppendString([]byte(`{"call_id":`), p.CallID)
		out = jsonscan.AppendString(lit(out, `,"output":`), p.Text)
		return lit(out, `,"type":"function_call_output"}`)
	case transcript.Reasoning:
		// Without its encrypted part it says nothing to the model (providers.md 11.5).
		if p.Raw.Get("encrypted_content").Kind() != jsonscan.String {
			return nil
		}
		return body.AppendSorted(nil, p.Raw, func(key string) bool { return key == "id" || key == "status" })
	case transcript.Other:
		return body.AppendSorted(nil, p.Raw, nil)
	}
	return nil // thinking blocks of another API
}

func lit(dst []byte, s string) []byte { return append(dst, s...) }

// tools is the serialized list of functions.
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
		out = jsonscan.AppendString(append(out, `,"name":`...), t.Name)
		out = body.AppendSchema(append(out, `,"parameters":`...), t.Parameters)
		out = append(out, `,"type":"function"}`...)
	}
	out = append(out, ']')
	req.ToolsCache.Store(wire, out)
	return out
}
