package replay_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"magicode/internal/provider"
	"magicode/internal/provider/anthropic"
	"magicode/internal/replay"
	"magicode/internal/session"
)

// BenchmarkRequestOfALongSession serializes the request of a session of 500
// turns with two calls each (2.4 MB): the first one of a child, and those that
// follow. Items keep their serialized form in between.
func BenchmarkRequestOfALongSession(b *testing.B) {
	conversation := func() []provider.Item {
		f := new(replay.Fold)
		at := 0
		add := func(kind session.Kind, payload any) {
			raw, err := json.Marshal(payload)
			if err != nil {
				b.Fatal(err)
			}
			if err := f.Apply(session.Record{Kind: kind, Payload: raw, Index: at}); err != nil {
				b.Fatal(err)
			}
			at++
		}
		output := strings.Repeat("a line of output with \"quotes\" and\ttabs\n", 50)
		for i := range 500 {
			add(session.KindUserInput, map[string]any{"text": fmt.Sprint("question ", i), "origin": "user"})
			for j := range 2 {
				id := fmt.Sprintf("call_%d_%d", i, j)
				add(session.KindToolCall, map[string]any{"id": id, "name": "read", "arguments": map[string]any{"path": "a/b/c.go", "offset": i}})
				add(session.KindToolResult, map[string]any{"call_id": id, "result": map[string]any{"tool_name": "read", "success": true, "content": output, "metadata": nil}})
			}
			add(session.KindAssistantOutput, map[string]any{"text": fmt.Sprint("answer ", i, " with some words")})
		}
		return f.Items()
	}
	send := func(items []provider.Item) int64 {
		return anthropic.Body(&provider.Request{Model: "m", Items: items}, anthropic.Options{}).Len()
	}
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			b.StopTimer()
			items := conversation()
			b.StartTimer()
			b.SetBytes(send(items))
		}
	})
	b.Run("later", func(b *testing.B) {
		items := conversation()
		send(items)
		b.ReportAllocs()
		for b.Loop() {
			b.SetBytes(send(items))
		}
	})
}
