package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"magicode/internal/provider"
	"magicode/internal/provider/anthropic"
	"magicode/internal/provider/chat"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/responses"
)

const deltas = 20000

// burst is a reply of 20,000 small deltas as each API streams it.
func burst(wire string) []byte {
	var b bytes.Buffer
	line := func(event, format string, args ...any) {
		if event != "" {
			b.WriteString("event: " + event + "\n")
		}
		fmt.Fprintf(&b, "data: "+format+"\n\n", args...)
	}
	for i := range deltas {
		switch wire {
		case "responses":
			line("response.output_text.delta", `{"type": "response.output_text.delta", "sequence_number": %d, "item_id": "msg_0_0", "output_index": 0, "content_index": 0, "delta": "token %d "}`, i, i)
		case "chat":
			line("", `{"id": "c0", "object": "chat.completion.chunk", "created": 1, "model": "fixture-model", "choices": [{"index": 0, "delta": {"content": "token %d "}, "finish_reason": null}]}`, i)
		case "messages":
			line("content_block_delta", `{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "token %d "}}`, i)
		}
	}
	switch wire {
	case "responses":
		line("response.completed", `{"type": "response.completed", "response": {"status": "completed", "output": []}}`)
	case "chat":
		line("", "[DONE]")
	case "messages":
		line("message_stop", `{"type": "message_stop"}`)
	}
	return b.Bytes()
}

// reads gives a stream in reads of one size, as a socket does.
type reads struct {
	data []byte
	size int
}

func (r *reads) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.data[:min(r.size, len(r.data))])
	r.data = r.data[n:]
	return n, nil
}

// BenchmarkSSE takes a burst apart: bytes to merged text events, whose text is
// checked. "read" is what one read of the socket brings.
func BenchmarkSSE(b *testing.B) {
	for _, w := range []struct {
		name   string
		parser func(*exchange.Sink) exchange.Parser
	}{{"responses", responses.NewParser}, {"chat", chat.NewParser}, {"messages", anthropic.NewParser}} {
		stream := burst(w.name)
		for _, size := range []int{200, 4096, 32768} {
			b.Run(fmt.Sprintf("api=%s/read=%d", w.name, size), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(stream)))
				for b.Loop() {
					n := 0
					err := exchange.Read(context.Background(), &reads{stream, size}, w.parser, func(ev provider.Event) error {
						n += len(ev.Text)
						return nil
					})
					if err != nil || n < 6*deltas {
						b.Fatalf("%d bytes of text, error %v", n, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/deltas, "ns/delta")
			})
		}
	}
}

// BenchmarkSSEPlain is the floor: the same work with the standard library alone.
func BenchmarkSSEPlain(b *testing.B) {
	stream := burst("responses")
	b.ReportAllocs()
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		n := 0
		for line := range bytes.Lines(stream) {
			data, ok := bytes.CutPrefix(line, []byte("data: "))
			if !ok {
				continue
			}
			var ev struct{ Type, Delta string }
			if err := json.Unmarshal(data, &ev); err != nil {
				b.Fatal(err)
			}
			n += len(ev.Delta)
		}
		if n < 6*deltas {
			b.Fatalf("%d bytes of text", n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/deltas, "ns/delta")
}

// conversation is a long session of 400 KiB: 200 turns with a tool call each.
func conversation(cached bool) provider.Request {
	cache := func() *provider.Cache {
		if cached {
			return new(provider.Cache)
		}
		return nil
	}
	text := strings.Repeat("a line of ordinary source code, with \"quotes\" in it\n", 10)
	req := provider.Request{Model: "m1", PromptCacheKey: "key", Levels: 4, ToolsCache: cache()}
	req.Items = append(req.Items, provider.Item{Kind: provider.ItemMessage, Role: "system", Text: strings.Repeat(text, 20), Cache: cache()})
	for i := range 200 {
		id := fmt.Sprintf("call_%d", i)
		req.Items = append(req.Items,
			provider.Item{Kind: provider.ItemMessage, Role: "user", Text: text, Cache: cache()},
			provider.Item{Kind: provider.ItemMessage, Role: "assistant", Text: text, Cache: cache()},
			provider.Item{Kind: provider.ItemCall, CallID: id, Name: "read", Arguments: `{"paths":["main.go"]}`, Cache: cache()},
			provider.Item{Kind: provider.ItemResult, CallID: id, Name: "read", Success: true, Text: text + text, Cache: cache()})
	}
	for i := range 13 {
		req.Tools = append(req.Tools, provider.ToolDef{Name: fmt.Sprintf("tool_%d", i), Description: text, Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"where"}},"required":["path"]}`)})
	}
	return req
}

// BenchmarkRequestBody puts the body of a long session together and reads it
// once, as the connection does.
func BenchmarkRequestBody(b *testing.B) {
	for _, cached := range []bool{false, true} {
		req := conversation(cached)
		for _, w := range []struct {
			name  string
			build func() (io.Reader, int64)
		}{
			{"responses", func() (io.Reader, int64) {
				body := responses.Body(&req, responses.Options{})
				return body.Reader(), body.Len()
			}},
			{"chat", func() (io.Reader, int64) { body := chat.Body(&req, chat.Options{}); return body.Reader(), body.Len() }},
			{"messages", func() (io.Reader, int64) {
				body := anthropic.Body(&req, anthropic.Options{})
				return body.Reader(), body.Len()
			}},
		} {
			b.Run(fmt.Sprintf("api=%s/cached=%v", w.name, cached), func(b *testing.B) {
				b.ReportAllocs()
				_, size := w.build()
				b.SetBytes(size)
				for b.Loop() {
					r, size := w.build()
					if n, err := io.Copy(io.Discard, r); err != nil || n != size {
						b.Fatalf("%d of %d bytes, error %v", n, size, err)
					}
				}
			})
		}
	}
}
