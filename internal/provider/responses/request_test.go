package responses_test

import (
	"encoding/json"
	"strings"
	"testing"

	"magicode/internal/provider"
	"magicode/internal/provider/responses"

	"github.com/google/go-cmp/cmp"
)

var twoTools = []provider.ToolDef{
	{Name: "read", Description: "Reads.", Parameters: json.RawMessage(`{"type": "object", "properties": {"path": {"type": "string"}}}`)},
	{Name: "bash", Description: "Runs.", Parameters: json.RawMessage(`{"type":"object"}`)},
}

func msg(role, text string) provider.Item {
	return provider.Item{Kind: provider.ItemMessage, Role: role, Text: text}
}

func call(id, args string) provider.Item {
	return provider.Item{Kind: provider.ItemCall, CallID: id, Name: "read", Arguments: args}
}

func result(id, text string) provider.Item {
	return provider.Item{Kind: provider.ItemResult, CallID: id, Name: "read", Success: true, Text: text}
}

func raw(s string) provider.Item {
	return provider.Item{Kind: provider.ItemResponse, Raw: json.RawMessage(s)}
}

// TestFirstRequest is the body of providers.md 11.1, to the byte.
func TestFirstRequest(t *testing.T) {
	req := provider.Request{Model: "m1", PromptCacheKey: "magi-code-session-0f1e2d3c4b5a69788796a5b4c3d2e1f0", Levels: 1, Tools: twoTools,
		Items: []provider.Item{msg("system", "<system prompt>"), msg("user", "List the files.")}}
	want := `{"include":["reasoning.encrypted_content"],"input":[{"content":"List the files.","role":"user"}],"instructions":"<system prompt>","model":"m1",` +
		`"prompt_cache_key":"magi-code-session-0f1e2d3c4b5a69788796a5b4c3d2e1f0","store":false,"stream":true,"tool_choice":"auto","tools":[` +
		`{"description":"Reads.","name":"read","parameters":{"properties":{"path":{"type":"string"}},"type":"object"},"type":"function"},` +
		`{"description":"Runs.","name":"bash","parameters":{"type":"object"},"type":"function"}]}`
	b := responses.Body(&req, responses.Options{})
	if diff := cmp.Diff(want, string(b.Bytes())); diff != "" {
		t.Error(diff)
	}
	if b.Len() != int64(len(want)) {
		t.Errorf("length %d, want %d", b.Len(), len(want))
	}
}

func TestFields(t *testing.T) {
	for _, c := range []struct {
		name string
		req  provider.Request
		opts responses.Options
		want string // of the fields beside include, input, instructions, store and stream
	}{
		{"bare", provider.Request{Levels: 1}, responses.Options{}, `{"model":"m"}`},
		{"one level sends no reasoning", provider.Request{Levels: 1, Level: provider.LevelHigh}, responses.Options{}, `{"model":"m"}`},
		{"default level", provider.Request{Levels: 4}, responses.Options{}, `{"model":"m","reasoning":{"summary":"detailed"}}`},
		{"a level", provider.Request{Levels: 4, Level: provider.LevelXHigh}, responses.Options{}, `{"model":"m","reasoning":{"effort":"xhigh","summary":"detailed"}}`},
		{"verbosity and tier", provider.Request{}, responses.Options{Verbosity: "low", ServiceTier: "priority"}, `{"model":"m","service_tier":"priority","text":{"verbosity":"low"}}`},
		{"parallel calls need tools", provider.Request{}, responses.Options{ParallelCalls: true}, `{"model":"m"}`},
		{"anthropic-like", provider.Request{Levels: 3, Level: provider.LevelHigh, MaxOutputTokens: 64000}, responses.Options{AnthropicLike: true}, `{"max_tokens":64000,"model":"m","thinking":{"budget_tokens":16384,"type":"enabled"}}`},
		{"anthropic-like, small maximum", provider.Request{Levels: 3, Level: provider.LevelMax, MaxOutputTokens: 8192}, responses.Options{AnthropicLike: true}, `{"max_tokens":8192,"model":"m","thinking":{"budget_tokens":8191,"type":"enabled"}}`},
		{"anthropic-like, unknown maximum", provider.Request{Levels: 3, Level: provider.LevelHigh}, responses.Options{AnthropicLike: true}, `{"max_tokens":20480,"model":"m","thinking":{"budget_tokens":16384,"type":"enabled"}}`},
		{"anthropic-like, default", provider.Request{Levels: 3}, responses.Options{AnthropicLike: true}, `{"max_tokens":4096,"model":"m"}`},
	} {
		c.req.Model = "m"
		got := fields(t, responses.Body(&c.req, c.opts).Bytes())
		for _, k := range []string{"include", "input", "instructions", "store", "stream"} {
			if got[k] == nil {
				t.Errorf("%s: no %s", c.name, k)
			}
			delete(got, k)
		}
		if diff := cmp.Diff(fields(t, []byte(c.want)), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	req := provider.Request{Model: "m", Tools: twoTools}
	if got := fields(t, responses.Body(&req, responses.Options{ParallelCalls: true}).Bytes()); string(got["parallel_tool_calls"]) != "true" {
		t.Errorf("fields %v", got)
	}
}

func fields(t *testing.T, body []byte) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return m
}

func TestInput(t *testing.T) {
	const (
		outC1 = `{"call_id":"c1","output":"one","type":"function_call_output"}`
		outC2 = `{"call_id":"c2","output":"two","type":"function_call_output"}`
		fcC1  = `{"arguments":"{\"p\":1}","call_id":"c1","name":"read","type":"function_call"}`
		fcC2  = `{"arguments":"{\"p\":2}","call_id":"c2","name":"read","type":"function_call"}`
		userA = `{"content":"a","role":"user"}`
		asstB = `{"content":"b","role":"assistant","type":"message"}`
	)
	for _, c := range []struct {
		name  string
		items []provider.Item
		want  string
	}{
		{"messages", []provider.Item{msg("user", "a"), msg("assistant", "b"), {Kind: provider.ItemNote, Text: "a"}}, userA + "," + asstB + "," + userA},
		{"calls and outputs", []provider.Item{call("c1", `{"p":1}`), call("c2", `{"p":2}`), result("c1", "one"), result("c2", "two")}, fcC1 + "," + fcC2 + "," + outC1 + "," + outC2},
		{"a message is held back until all outputs are in", []provider.Item{call("c1", `{"p":1}`), msg("user", "a"), call("c2", `{"p":2}`), result("c1", "one"), msg("assistant", "b"), result("c2", "two")},
			fcC1 + "," + fcC2 + "," + outC1 + "," + outC2 + "," + userA + "," + asstB},
		{"held at the end", []provider.Item{call("c1", `{"p":1}`), msg("user", "a")}, fcC1 + "," + userA},
		{"repeated call and output", []provider.Item{call("c1", `{"p":1}`), call("c1", `{"p":9}`), result("c1", "one"), result("c1", "again"), msg("user", "a")}, fcC1 + "," + outC1 + "," + userA},
		{"an output without a call", []provider.Item{result("c1", "one"), msg("user", "a")}, outC1 + "," + userA},
		{"broken arguments", []provider.Item{call("c1", `{not json`)}, `{"arguments":"{}","call_id":"c1","name":"read","type":"function_call"}`},
		{"blank arguments", []provider.Item{call("c1", " ")}, `{"arguments":"{}","call_id":"c1","name":"read","type":"function_call"}`},
		{"stored call", []provider.Item{raw(`{"id":"fc_1","type":"function_call","status":"completed","name":"read","call_id":"c1","arguments":"{\"p\":1}"}`)}, fcC1},
		{"stored output", []provider.Item{raw(`{"type":"function_call_output","call_id":"c1","output":"one"}`)}, outC1},
		{"stored reasoning", []provider.Item{raw(`{"type":"reasoning","id":"rs_1","status":"completed","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"eA=="}`)},
			`{"encrypted_content":"eA==","summary":[{"text":"s","type":"summary_text"}],"type":"reasoning"}`},
		{"reasoning without its encrypted part", []provider.Item{raw(`{"type":"reasoning","summary":[]}`), raw(`{"type":"reasoning","summary":[],"encrypted_content":null}`), msg("user", "a")}, userA},
		{"reasoning stays before its call", []provider.Item{call("c1", `{"p":1}`), raw(`{"type":"reasoning","summary":[],"encrypted_content":"eA=="}`), call("c2", `{"p":2}`), result("c1", "one"), result("c2", "two")},
			fcC1 + `,{"encrypted_content":"eA==","summary":[],"type":"reasoning"},` + fcC2 + "," + outC1 + "," + outC2},
		{"thinking of another API", []provider.Item{raw(`{"type":"thinking","thinking":"t","signature":"s"}`), raw(`{"type":"redacted_thinking","data":"d"}`), msg("user", "a")}, userA},
		{"calls of Chat Completions", []provider.Item{raw(`{"role":"assistant","content":"b","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"p\":1}"}}]}`), result("c1", "one")}, asstB + "," + fcC1 + "," + outC1},
		{"stored message", []provider.Item{raw(`{"role":"assistant","content":[{"type":"output_text","text":"b"}]}`), raw(`{"role":"user","content":null}`)}, asstB + `,{"content":" ","role":"user"}`},
		{"other items", []provider.Item{raw(`{"type":"web_search_call","id":"ws","action":{"z":1,"a":2}}`)}, `{"action":{"a":2,"z":1},"id":"ws","type":"web_search_call"}`},
		{"no JSON", []provider.Item{raw(`{`), raw(`5`), msg("user", "a")}, userA},
		{"halves of pairs", []provider.Item{raw(`{"type":"x","t":"\ud800"}`)}, `{"t":"` + "\ufffd" + `","type":"x"}`},
		{"escapes", []provider.Item{msg("user", "\"\\\n\u2028\x01é")}, `{"content":"\"\\\n\u2028\u0001é","role":"user"}`},
	} {
		req := provider.Request{Model: "m", Items: c.items}
		body := responses.Body(&req, responses.Options{}).Bytes()
		if got := string(fields(t, body)["input"]); got != "["+c.want+"]" {
			t.Errorf("%s:\n got %s\nwant [%s]", c.name, got, c.want)
		}
	}
}

func TestInstructions(t *testing.T) {
	req := provider.Request{Items: []provider.Item{msg("system", "one \"x\""), msg("user", "u"), msg("system", "two")}}
	if got := string(fields(t, responses.Body(&req, responses.Options{}).Bytes())["instructions"]); got != `"one \"x\"\n\ntwo"` {
		t.Errorf("instructions %s", got)
	}
	req.Items = nil
	if got := string(fields(t, responses.Body(&req, responses.Options{}).Bytes())["instructions"]); got != `""` {
		t.Errorf("instructions %s", got)
	}
}

// TestCache: cached forms give the same bytes, for this wire only.
func TestCache(t *testing.T) {
	items := []provider.Item{msg("system", strings.Repeat("s", 2000)), msg("user", strings.Repeat("u", 2000)), call("c1", `{"p":1}`), result("c1", strings.Repeat("r", 5000))}
	req := provider.Request{Model: "m", Tools: twoTools, Items: items}
	want := responses.Body(&req, responses.Options{}).Bytes()
	for i := range items {
		items[i].Cache = new(provider.Cache)
	}
	req.ToolsCache = new(provider.Cache)
	for range 3 {
		if diff := cmp.Diff(string(want), string(responses.Body(&req, responses.Options{}).Bytes())); diff != "" {
			t.Fatal(diff)
		}
	}
	if _, ok := items[0].Cache.Load("chat"); ok {
		t.Error("the form of one wire was given to another")
	}
	if n := testing.AllocsPerRun(10, func() { responses.Body(&req, responses.Options{}) }); n > 25 {
		t.Errorf("%v allocations with everything cached", n)
	}
}
