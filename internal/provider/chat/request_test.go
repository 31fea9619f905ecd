package chat_test

import (
	"encoding/json"
	"testing"

	"magicode/internal/provider"
	"magicode/internal/provider/chat"

	"github.com/google/go-cmp/cmp"
)

func msg(role, text string) provider.Item {
	return provider.Item{Kind: provider.ItemMessage, Role: role, Text: text}
}

func call(id, args string) provider.Item {
	return provider.Item{Kind: provider.ItemCall, CallID: id, Name: "list_files", Arguments: args}
}

func result(id, text string) provider.Item {
	return provider.Item{Kind: provider.ItemResult, CallID: id, Success: true, Text: text}
}

func raw(s string) provider.Item {
	return provider.Item{Kind: provider.ItemResponse, Raw: json.RawMessage(s)}
}

// TestToolFollowUp is the body of providers.md 13.1, to the byte.
func TestToolFollowUp(t *testing.T) {
	req := provider.Request{Model: "m1", Levels: 1,
		Tools: []provider.ToolDef{{Name: "list_files", Description: "Lists.", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Items: []provider.Item{msg("system", "<system prompt>"), msg("user", "List the files."), call("call_1", `{"path":"."}`), result("call_1", "a.txt\nb.txt")}}
	want := `{"messages":[{"content":"<system prompt>","role":"system"},{"content":"List the files.","role":"user"},` +
		`{"content":" ","role":"assistant","tool_calls":[{"function":{"arguments":"{\"path\":\".\"}","name":"list_files"},"id":"call_1","type":"function"}]},` +
		`{"content":"a.txt\nb.txt","role":"tool","tool_call_id":"call_1"}],"model":"m1","stream":true,"stream_options":{"include_usage":true},"tool_choice":"auto",` +
		`"tools":[{"function":{"description":"Lists.","name":"list_files","parameters":{"type":"object"}},"type":"function"}]}`
	if diff := cmp.Diff(want, string(chat.Body(&req, chat.Options{}).Bytes())); diff != "" {
		t.Error(diff)
	}
}

func TestMessages(t *testing.T) {
	const (
		tc1   = `{"function":{"arguments":"{}","name":"list_files"},"id":"c1","type":"function"}`
		tc2   = `{"function":{"arguments":"{}","name":"list_files"},"id":"c2","type":"function"}`
		out1  = `{"content":"one","role":"tool","tool_call_id":"c1"}`
		out2  = `{"content":"two","role":"tool","tool_call_id":"c2"}`
		userA = `{"content":"a","role":"user"}`
	)
	for _, c := range []struct {
		name  string
		items []provider.Item
		want  string
	}{
		{"empty contents", []provider.Item{msg("system", ""), msg("user", ""), msg("assistant", ""), result("c1", "")},
			`{"content":" ","role":"system"},{"content":" ","role":"user"},{"content":" ","role":"assistant"},{"content":" ","role":"tool","tool_call_id":"c1"}`},
		{"text and calls are one message", []provider.Item{msg("assistant", "b"), call("c1", "{}"), call("c2", "{}"), result("c1", "one"), result("c2", "two")},
			`{"content":"b","role":"assistant","tool_calls":[` + tc1 + `,` + tc2 + `]},` + out1 + `,` + out2},
		{"results between calls", []provider.Item{call("c1", "{}"), result("c1", "one"), call("c2", "{}"), result("c2", "two")},
			`{"content":" ","role":"assistant","tool_calls":[` + tc1 + `]},` + out1 + `,{"content":" ","role":"assistant","tool_calls":[` + tc2 + `]},` + out2},
		{"two texts", []provider.Item{msg("assistant", "b"), msg("assistant", "c"), call("c1", "{}")},
			`{"content":"b","role":"assistant"},{"content":"c","role":"assistant","tool_calls":[` + tc1 + `]}`},
		{"reasoning between is dropped", []provider.Item{msg("assistant", "b"), raw(`{"type":"reasoning","encrypted_content":"x"}`), call("c1", "{}"), raw(`{"type":"thinking","signature":"s"}`), call("c2", "{}")},
			`{"content":"b","role":"assistant","tool_calls":[` + tc1 + `,` + tc2 + `]}`},
		{"held back", []provider.Item{call("c1", "{}"), msg("user", "a"), result("c1", "one")}, `{"content":" ","role":"assistant","tool_calls":[` + tc1 + `]},` + out1 + `,` + userA},
		{"repeats", []provider.Item{call("c1", "{}"), call("c1", "{}"), result("c1", "one"), result("c1", "two")}, `{"content":" ","role":"assistant","tool_calls":[` + tc1 + `]},` + out1},
		{"stored calls, and the same as items", []provider.Item{raw(`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"list_files","arguments":"{}"}}]}`), call("c1", "{}"), result("c1", "one")},
			`{"content":" ","role":"assistant","tool_calls":[` + tc1 + `]},` + out1},
		{"a call of Responses", []provider.Item{raw(`{"type":"function_call","call_id":"c1","name":"list_files","arguments":"{}"}`), raw(`{"type":"function_call_output","call_id":"c1","output":"one"}`)},
			`{"content":" ","role":"assistant","tool_calls":[` + tc1 + `]},` + out1},
		{"broken arguments", []provider.Item{call("c1", "{not json")}, `{"content":" ","role":"assistant","tool_calls":[` + tc1 + `]}`},
		{"stored messages", []provider.Item{raw(`{"role":"user","content":[{"type":"input_text","text":"a"}]}`), raw(`{"type":"web_search_call"}`)}, userA},
		{"system in place", []provider.Item{msg("user", "a"), msg("system", "s")}, userA + `,{"content":"s","role":"system"}`},
	} {
		req := provider.Request{Model: "m", Items: c.items}
		body := chat.Body(&req, chat.Options{}).Bytes()
		var got struct{ Messages json.RawMessage }
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%s: %v: %s", c.name, err, body)
		}
		if string(got.Messages) != "["+c.want+"]" {
			t.Errorf("%s:\n got %s\nwant [%s]", c.name, got.Messages, c.want)
		}
	}
}

func TestFields(t *testing.T) {
	for _, c := range []struct {
		name string
		req  provider.Request
		opts chat.Options
		want string
	}{
		{"bare", provider.Request{Levels: 4}, chat.Options{}, `{"messages":[],"model":"m","stream":true,"stream_options":{"include_usage":true}}`},
		{"a level", provider.Request{Levels: 4, Level: provider.LevelLow}, chat.Options{}, `{"messages":[],"model":"m","reasoning_effort":"low","stream":true,"stream_options":{"include_usage":true}}`},
		{"one level", provider.Request{Levels: 1, Level: provider.LevelLow}, chat.Options{}, `{"messages":[],"model":"m","stream":true,"stream_options":{"include_usage":true}}`},
		{"keys are not sent", provider.Request{PromptCacheKey: "k", ConversationID: "c", Verbosity: "low"}, chat.Options{}, `{"messages":[],"model":"m","stream":true,"stream_options":{"include_usage":true}}`},
		{"tier", provider.Request{}, chat.Options{ServiceTier: "flex"}, `{"messages":[],"model":"m","service_tier":"flex","stream":true,"stream_options":{"include_usage":true}}`},
		{"anthropic-like", provider.Request{Levels: 3, Level: provider.LevelMax, MaxOutputTokens: 50000}, chat.Options{AnthropicLike: true},
			`{"max_tokens":50000,"messages":[],"model":"m","stream":true,"stream_options":{"include_usage":true},"thinking":{"budget_tokens":32768,"type":"enabled"}}`},
	} {
		c.req.Model = "m"
		if diff := cmp.Diff(c.want, string(chat.Body(&c.req, c.opts).Bytes())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
