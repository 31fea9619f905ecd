package anthropic_test

import (
	"encoding/json"
	"testing"

	"magicode/internal/provider"
	"magicode/internal/provider/anthropic"

	"github.com/google/go-cmp/cmp"
)

func msg(role, text string) provider.Item {
	return provider.Item{Kind: provider.ItemMessage, Role: role, Text: text}
}

func call(id, args string) provider.Item {
	return provider.Item{Kind: provider.ItemCall, CallID: id, Name: "list_files", Arguments: args}
}

func result(id, text string, ok bool) provider.Item {
	return provider.Item{Kind: provider.ItemResult, CallID: id, Success: ok, Text: text}
}

func raw(s string) provider.Item {
	return provider.Item{Kind: provider.ItemResponse, Raw: json.RawMessage(s)}
}

// TestToolFollowUp is the body of providers.md 14.1, to the byte.
func TestToolFollowUp(t *testing.T) {
	req := provider.Request{Model: "claude-sonnet-4-5-20250929", Levels: 3,
		Tools: []provider.ToolDef{{Name: "list_files", Description: "Lists.", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Items: []provider.Item{msg("system", "<system prompt>"), msg("user", "List the files."), call("toolu_1", `{"path":"."}`), result("toolu_1", "a.txt\nb.txt", true)}}
	want := `{"max_tokens":4096,"messages":[{"content":[{"text":"List the files.","type":"text"}],"role":"user"},` +
		`{"content":[{"id":"toolu_1","input":{"path":"."},"name":"list_files","type":"tool_use"}],"role":"assistant"},` +
		`{"content":[{"content":"a.txt\nb.txt","is_error":false,"tool_use_id":"toolu_1","type":"tool_result"}],"role":"user"}],` +
		`"model":"claude-sonnet-4-5-20250929","stream":true,"system":"<system prompt>",` +
		`"tools":[{"description":"Lists.","input_schema":{"type":"object"},"name":"list_files"}]}`
	if diff := cmp.Diff(want, string(anthropic.Body(&req, anthropic.Options{}).Bytes())); diff != "" {
		t.Error(diff)
	}
}

func TestMessages(t *testing.T) {
	const (
		use1 = `{"id":"c1","input":{},"name":"list_files","type":"tool_use"}`
		use2 = `{"id":"c2","input":{},"name":"list_files","type":"tool_use"}`
		res1 = `{"content":"one","is_error":false,"tool_use_id":"c1","type":"tool_result"}`
		res2 = `{"content":"two","is_error":false,"tool_use_id":"c2","type":"tool_result"}`
		a    = `{"text":"a","type":"text"}`
		b    = `{"text":"b","type":"text"}`
	)
	user := func(blocks string) string { return `{"content":[` + blocks + `],"role":"user"}` }
	asst := func(blocks string) string { return `{"content":[` + blocks + `],"role":"assistant"}` }
	for _, c := range []struct {
		name  string
		items []provider.Item
		want  string
	}{
		{"neighbours merge", []provider.Item{msg("user", "a"), msg("user", "b"), msg("assistant", "a"), call("c1", "{}"), call("c2", "{}"), result("c1", "one", true), result("c2", "two", true), msg("user", "b")},
			user(a+","+b) + "," + asst(a+","+use1+","+use2) + "," + user(res1+","+res2+","+b)},
		{"results come first", []provider.Item{call("c1", "{}"), msg("user", "a"), result("c1", "one", true)}, asst(use1) + "," + user(res1+","+a)},
		{"blank texts are skipped", []provider.Item{msg("user", "a"), msg("assistant", " \n"), msg("user", ""), msg("user", "b")}, user(a + "," + b)},
		{"system between does not split", []provider.Item{msg("user", "a"), msg("system", "s"), msg("user", "b")}, user(a + "," + b)},
		{"only blanks", []provider.Item{msg("assistant", ""), msg("user", "a")}, user(a)},
		{"failed without output", []provider.Item{result("c1", " ", false)}, user(`{"content":"Tool failed with no output.","is_error":true,"tool_use_id":"c1","type":"tool_result"}`)},
		{"failed with output", []provider.Item{result("c1", "why", false)}, user(`{"content":"why","is_error":true,"tool_use_id":"c1","type":"tool_result"}`)},
		{"succeeded without output", []provider.Item{result("c1", "", true)}, user(`{"content":"","is_error":false,"tool_use_id":"c1","type":"tool_result"}`)},
		{"broken input", []provider.Item{call("c1", `{not`), call("c2", `[1]`)}, asst(use1 + "," + use2)},
		{"input is sorted", []provider.Item{call("c1", `{"z": 1, "a": {"y":2,"b":3}}`)}, asst(`{"id":"c1","input":{"a":{"b":3,"y":2},"z":1},"name":"list_files","type":"tool_use"}`)},
		{"ids of other APIs", []provider.Item{call("functions.read:0", "{}"), result("functions.read:0", "one", true)},
			asst(`{"id":"functions_read_0","input":{},"name":"list_files","type":"tool_use"}`) + "," + user(`{"content":"one","is_error":false,"tool_use_id":"functions_read_0","type":"tool_result"}`)},
		{"thinking", []provider.Item{raw(`{"type":"thinking","thinking":"t","signature":"s"}`), raw(`{"type":"redacted_thinking","data":"d"}`), msg("assistant", "a")},
			asst(`{"signature":"s","thinking":"t","type":"thinking"},{"data":"d","type":"redacted_thinking"},` + a)},
		{"thinking without a signature", []provider.Item{raw(`{"type":"thinking","thinking":"t","signature":""}`), raw(`{"type":"thinking","thinking":"t"}`), msg("assistant", "a")}, asst(a)},
		{"items of other APIs", []provider.Item{raw(`{"type":"reasoning","encrypted_content":"x"}`), raw(`{"type":"web_search_call"}`), msg("user", "a")}, user(a)},
		{"a stored call", []provider.Item{raw(`{"type":"function_call","call_id":"c1","name":"list_files","arguments":"{}","status":"completed"}`), call("c1", "{}")}, asst(use1)},
	} {
		req := provider.Request{Model: "m", Items: c.items}
		body := anthropic.Body(&req, anthropic.Options{}).Bytes()
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
		ttl  string
		want string
	}{
		{"catalog maximum", provider.Request{Model: "claude-haiku-4-5", MaxOutputTokens: 8192}, "", `{"max_tokens":8192,"messages":[],"model":"claude-haiku-4-5","stream":true}`},
		{"five minutes", provider.Request{Model: "m"}, "5m", `{"cache_control":{"type":"ephemeral"},"max_tokens":4096,"messages":[],"model":"m","stream":true}`},
		{"one hour", provider.Request{Model: "m"}, "1h", `{"cache_control":{"ttl":"1h","type":"ephemeral"},"max_tokens":4096,"messages":[],"model":"m","stream":true}`},
		{"high", provider.Request{Model: "claude-sonnet-4-5-20250929", Level: provider.LevelHigh, MaxOutputTokens: 64000}, "", `{"max_tokens":64000,"messages":[],"model":"claude-sonnet-4-5-20250929","stream":true,"thinking":{"budget_tokens":16384,"type":"enabled"}}`},
		{"high, unknown maximum", provider.Request{Model: "m", Level: provider.LevelHigh}, "", `{"max_tokens":20480,"messages":[],"model":"m","stream":true,"thinking":{"budget_tokens":16384,"type":"enabled"}}`},
		{"max, small maximum", provider.Request{Model: "m", Level: provider.LevelMax, MaxOutputTokens: 1000}, "", `{"max_tokens":1000,"messages":[],"model":"m","stream":true,"thinking":{"budget_tokens":999,"type":"enabled"}}`},
		{"no room to think", provider.Request{Model: "m", Level: provider.LevelMax, MaxOutputTokens: 1}, "", `{"max_tokens":1,"messages":[],"model":"m","stream":true}`},
		{"adaptive", provider.Request{Model: "claude-opus-5-5", Level: provider.LevelMax, MaxOutputTokens: 9000}, "", `{"max_tokens":9000,"messages":[],"model":"claude-opus-5-5","output_config":{"effort":"max"},"stream":true,"thinking":{"type":"adaptive"}}`},
		{"adaptive, default", provider.Request{Model: "claude-opus-5-5"}, "", `{"max_tokens":4096,"messages":[],"model":"claude-opus-5-5","stream":true}`},
		{"systems join", provider.Request{Model: "m", Items: []provider.Item{msg("system", "a"), msg("system", ""), msg("system", "b")}}, "", `{"max_tokens":4096,"messages":[],"model":"m","stream":true,"system":"a\n\nb"}`},
		{"no cache key", provider.Request{Model: "m", PromptCacheKey: "k", ConversationID: "c"}, "", `{"max_tokens":4096,"messages":[],"model":"m","stream":true}`},
	} {
		if diff := cmp.Diff(c.want, string(anthropic.Body(&c.req, anthropic.Options{CacheTTL: c.ttl}).Bytes())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestAdaptive: a date in second place is no version (providers.md 20, 12).
func TestAdaptive(t *testing.T) {
	for model, want := range map[string]bool{
		"claude-sonnet-4-5-20250929": false, "claude-sonnet-5": true, "claude-sonnet-5-20260101": true, "claude-sonnet-10-1": true, "claude-sonnet-4": false,
		"claude-opus-4-20250514": false, "claude-opus-4-7": true, "claude-opus-4-6": false, "claude-opus-4-10": true, "claude-opus-5": true, "claude-opus-4": false,
		"claude-fable-1": true, "claude-mythos-x": true, "claude-haiku-9": false, "claude-3-opus-20240229": false, "claude-sonnet-x": false, "claude-opus-4-99999": true,
	} {
		req := provider.Request{Model: model, Level: provider.LevelHigh, MaxOutputTokens: 9000}
		var got struct{ Thinking struct{ Type string } }
		if err := json.Unmarshal(anthropic.Body(&req, anthropic.Options{}).Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if adaptive := got.Thinking.Type == "adaptive"; adaptive != want {
			t.Errorf("%s: adaptive %v", model, adaptive)
		}
	}
}
