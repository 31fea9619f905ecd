package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
	"magicode/internal/tool"
)

// Bounds of a result, in bytes: tools.md 6.5.
const (
	maxOutput     = 65_536
	maxStructured = 16_384
	// maxKept bounds each half of what a script gets of a result.
	maxKept = 65_536
)

// project turns a tools/call result into ours: text for the model, and the
// structured form for scripts.
func project(res jsonscan.Value) (tool.Result, error) {
	content := res.Get("content")
	structured := res.Get("structuredContent")
	if res.Kind() != jsonscan.Object || content != nil && content.Kind() != jsonscan.Array || content == nil && structured == nil {
		return tool.Result{}, fmt.Errorf("%w: a result without content", errProtocol)
	}
	failed, _ := res.Get("isError").Bool()
	p := projection{complete: true, kept: []byte{'['}}
	for block := range content.Elements() {
		p.block(block)
	}
	meta := p.structured(structured)
	return tool.Result{Success: !failed, Content: p.output(), Metadata: map[string]any{
		"mcp": true, "is_error": failed,
		"structured_result": map[string]any{"content": json.RawMessage(append(p.kept, ']')), "structuredContent": meta, "complete": p.complete},
	}}, nil
}

type projection struct {
	text     []string
	kept     []byte // elements of a JSON array
	complete bool   // nothing was replaced or left out
}

func (p *projection) block(b jsonscan.Value) {
	kind, text := b.Get("type"), b.Get("text")
	if kind.Is("text") && text.IsText() {
		p.text = append(p.text, redact.Text(strings.ToValidUTF8(text.LenientText(), "\uFFFD")))
		p.keep(redact.AppendJSON(nil, b))
		return
	}
	name, mime := word(kind.LenientText(), "unknown"), blockType(b)
	placeholder := "[mcp content block redacted: " + name
	if mime != "" {
		placeholder += " " + mime
	}
	p.text = append(p.text, placeholder+"]")
	stub := jsonscan.AppendString([]byte(`{"type":`), name)
	if mime != "" {
		stub = jsonscan.AppendString(append(stub, `,"mimeType":`...), mime)
	}
	p.keep(append(stub, `,"redacted":true}`...))
	p.complete = false
}

func blockType(b jsonscan.Value) string {
	for _, v := range []jsonscan.Value{b.Get("mimeType"), b.Get("resource").Get("mimeType")} {
		if s := word(v.LenientText(), ""); s != "" {
			return s
		}
	}
	return ""
}

// word lets through what can be a kind or a MIME type, and no other text of a
// server.
func word(s, otherwise string) string {
	if s == "" || len(s) > 128 {
		return otherwise
	}
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-+./;=", c) >= 0) {
			return otherwise
		}
	}
	return redact.Text(s)
}

// keep adds a block for scripts, if it fits.
func (p *projection) keep(b []byte) {
	if len(p.kept)+len(b) > maxKept {
		p.complete = false
		return
	}
	if len(p.kept) > 1 {
		p.kept = append(p.kept, ',')
	}
	p.kept = append(p.kept, b...)
}

// structured adds the structured half and returns it for scripts, nil for none.
func (p *projection) structured(v jsonscan.Value) any {
	if v == nil || v.Kind() == jsonscan.Null {
		return nil
	}
	clean := redact.AppendJSON(nil, v)
	shown := string(clean)
	if len(shown) > maxStructured {
		shown = truncate(shown, maxStructured)
	}
	p.text = append(p.text, "structuredContent: "+shown)
	if len(clean) > maxKept {
		p.complete = false
		return nil
	}
	return json.RawMessage(clean)
}

// output joins the text, bounded as a whole.
func (p *projection) output() string {
	out := strings.Join(p.text, "\n")
	if len(out) <= maxOutput {
		return out
	}
	return truncate(out, maxOutput)
}

// truncate keeps at most limit bytes, the notice included.
func truncate(s string, limit int) string {
	notice := fmt.Sprintf("\n[truncated: MCP output exceeded %d bytes]", limit)
	return redact.Cut(s, limit-len(notice)) + notice
}
