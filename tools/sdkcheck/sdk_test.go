package sdkcheck

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicstream "github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"github.com/openai/openai-go"
	openaistream "github.com/openai/openai-go/packages/ssestream"
	openairesponses "github.com/openai/openai-go/responses"

	"magicode/internal/provider"
	ours "magicode/internal/provider/anthropic"
	"magicode/internal/provider/chat"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/responses"
)

func message(role, text string) provider.Item {
	return provider.Item{Kind: provider.ItemMessage, Role: role, Text: text}
}

// request has one of everything that we send.
func request() *provider.Request {
	return &provider.Request{Model: "m-1", Level: provider.LevelHigh, Levels: 3, MaxOutputTokens: 20000, PromptCacheKey: "key", ConversationID: "conv",
		Tools: []provider.ToolDef{{Name: "read", Description: "Reads.", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}},
		Items: []provider.Item{message("system", "Be short."), message("user", "Read a."),
			{Kind: provider.ItemCall, CallID: "c1", Name: "read", Arguments: `{"path":"a"}`},
			{Kind: provider.ItemResult, CallID: "c1", Name: "read", Success: true, Text: "content"},
			message("assistant", "It says content."), message("user", "Thanks.")}}
}

// again decodes a body into the SDK's type and encodes it: whatever the SDK
// does not know is missing then.
func again(t *testing.T, raw []byte, params any) map[string]any {
	t.Helper()
	if err := json.Unmarshal(raw, params); err != nil {
		t.Fatalf("the SDK does not read our request: %v\n%s", err, raw)
	}
	back, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	var sent, got map[string]any
	if err := json.Unmarshal(raw, &sent); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(back, &got); err != nil {
		t.Fatal(err)
	}
	for key := range sent {
		if _, ok := got[key]; !ok && key != "stream" {
			t.Errorf("the SDK knows no %q", key)
		}
	}
	return got
}

func length(v any) int {
	list, _ := v.([]any)
	return len(list)
}

func TestRequests(t *testing.T) {
	t.Run("responses", func(t *testing.T) {
		// The API lets a message go without its type; the SDK writes it that way,
		// but its decoder wants to see one.
		raw := bytes.ReplaceAll(responses.Body(request(), responses.Options{}).Bytes(), []byte(`,"role":"user"}`), []byte(`,"role":"user","type":"message"}`))
		got := again(t, raw, new(openairesponses.ResponseNewParams))
		if length(got["input"]) != 5 || length(got["tools"]) != 1 || got["model"] != "m-1" {
			t.Errorf("%v", got)
		}
	})
	t.Run("chat", func(t *testing.T) {
		got := again(t, chat.Body(request(), chat.Options{}).Bytes(), new(openai.ChatCompletionNewParams))
		if length(got["messages"]) != 6 || length(got["tools"]) != 1 || got["model"] != "m-1" {
			t.Errorf("%v", got)
		}
	})
	t.Run("messages", func(t *testing.T) {
		got := again(t, ours.Body(request(), ours.Options{CacheTTL: "1h"}).Bytes(), new(anthropic.MessageNewParams))
		if length(got["messages"]) != 5 || length(got["tools"]) != 1 || got["model"] != "m-1" {
			t.Errorf("%v", got)
		}
	})
}

// said is what both sides must read from a stream.
type said struct {
	text  string
	calls []string
}

func (s said) String() string { return s.text + " | " + strings.Join(s.calls, " ") }

func response(stream []byte) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(stream))}
}

func read(t *testing.T, stream []byte, parser func(*exchange.Sink) exchange.Parser) (said, error) {
	var out said
	err := exchange.Read(context.Background(), bytes.NewReader(stream), parser, func(ev provider.Event) error {
		switch ev.Kind {
		case provider.EventText:
			out.text += ev.Text
		case provider.EventCall:
			out.calls = append(out.calls, ev.Call.Name+ev.Call.Arguments)
		}
		return nil
	})
	return out, err
}

func viaChat(stream []byte) (said, error) {
	s := openaistream.NewStream[openai.ChatCompletionChunk](openaistream.NewDecoder(response(stream)), nil)
	var acc openai.ChatCompletionAccumulator
	for s.Next() {
		acc.AddChunk(s.Current())
	}
	var out said
	if len(acc.Choices) > 0 {
		out.text = acc.Choices[0].Message.Content
		for _, c := range acc.Choices[0].Message.ToolCalls {
			out.calls = append(out.calls, c.Function.Name+c.Function.Arguments)
		}
	}
	return out, s.Err()
}

func viaResponses(stream []byte) (said, error) {
	s := openaistream.NewStream[openairesponses.ResponseStreamEventUnion](openaistream.NewDecoder(response(stream)), nil)
	var out said
	for s.Next() {
		switch ev := s.Current(); ev.Type {
		case "response.output_text.delta":
			out.text += ev.AsResponseOutputTextDelta().Delta
		case "response.output_item.done":
			if c := ev.AsResponseOutputItemDone().Item; c.Type == "function_call" {
				out.calls = append(out.calls, c.Name+c.Arguments)
			}
		}
	}
	return out, s.Err()
}

func viaMessages(stream []byte) (said, error) {
	s := anthropicstream.NewStream[anthropic.MessageStreamEventUnion](anthropicstream.NewDecoder(response(stream)), nil)
	var acc anthropic.Message
	for s.Next() {
		if err := acc.Accumulate(s.Current()); err != nil {
			return said{}, err
		}
	}
	var out said
	for _, b := range acc.Content {
		switch b.Type {
		case "text":
			out.text += b.Text
		case "tool_use":
			out.calls = append(out.calls, b.Name+string(b.Input))
		}
	}
	return out, s.Err()
}

// TestStreams holds what we read from the corpus against what the SDKs read.
// Most of the corpus is what servers do wrong; where an SDK gives up, or we do,
// there is nothing to compare. What both read must be the same, and that must
// be a good part.
func TestStreams(t *testing.T) {
	for wire, c := range map[string]struct {
		parser func(*exchange.Sink) exchange.Parser
		sdk    func([]byte) (said, error)
	}{"chat": {chat.NewParser, viaChat}, "responses": {responses.NewParser, viaResponses}, "messages": {ours.NewParser, viaMessages}} {
		files, err := filepath.Glob("../../internal/provider/testdata/" + wire + "/*.txt")
		if err != nil || len(files) == 0 {
			t.Fatal(len(files), err)
		}
		same, differ := 0, 0
		for _, f := range files {
			stream := streamOf(t, f)
			if stream == nil {
				continue
			}
			mine, err := read(t, stream, c.parser)
			theirs, serr := c.sdk(stream)
			switch {
			case err != nil || serr != nil:
			case mine.String() == theirs.String():
				same++
			default:
				differ++
				t.Logf("%s %s:\n ours %s\n SDK  %s", wire, filepath.Base(f), mine, theirs)
			}
		}
		t.Logf("%s: %d streams read the same, %d differ", wire, same, differ)
		if same < 5 {
			t.Errorf("%s: only %d streams read the same", wire, same)
		}
	}
}

// streamOf is the plain stream of a corpus file; nil for the ones that are
// written in another form.
func streamOf(t *testing.T, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(raw), "-- stream --\n")
	if !ok {
		return nil
	}
	stream, _, ok := strings.Cut(rest, "-- ")
	if !ok {
		return nil
	}
	return []byte(stream)
}
