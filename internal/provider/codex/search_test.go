package codex_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"magicode/internal/provider"
	"magicode/internal/provider/codex"

	"github.com/google/go-cmp/cmp"
)

// message is an item with cited text.
func message(text string, urls ...string) string {
	var notes []string
	for i, u := range urls {
		notes = append(notes, fmt.Sprintf(`{"type":"url_citation","url":%q,"title":"T%d","start_index":0,"end_index":1}`, u, i))
	}
	return fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q,"annotations":[%s,{"type":"file_citation"}]}]}`, text, strings.Join(append(notes, "{}"), ","))
}

func event(typ, rest string) string {
	return `data: {"type":"` + typ + `"` + rest + "}\n\n"
}

// TestWebSearch: providers.md 12.5. What is told comes from the final response,
// else from the finished items, else from the deltas, once it is complete.
func TestWebSearch(t *testing.T) {
	delta := event("response.output_text.delta", `,"delta":"delta text"`)
	item := event("response.output_item.done", `,"item":`+message("item text", "https://i.example"))
	call := event("response.output_item.done", `,"item":{"type":"web_search_call","status":"completed"}`)
	final := event("response.completed", `,"response":{"status":"completed","output":[`+message("final ", "https://a.example", "https://b.example", "https://a.example")+`,`+message("text", "https://b.example")+`]}`)
	for _, c := range []struct {
		name   string
		script []string
		want   string // text and sources
		fails  string
	}{
		{"final", []string{delta + call + item + final}, "final text|https://a.example T0|https://b.example T1", ""},
		{"items", []string{delta + item + done}, "item text|https://i.example T0", ""},
		{"deltas", []string{delta + delta + done}, "delta textdelta text", ""},
		{"broken, then whole", []string{delta + item, delta + done}, "delta text", ""},
		{"never complete", []string{delta, delta, delta}, "", "ended before"},
		{"failed", []string{delta + event("response.failed", `,"response":{"error":{"code":"bad","message":"no search"}}`)}, "", "no search"},
		{"incomplete", []string{event("response.incomplete", `,"response":{}`)}, "", "did not finish"},
		{"error", []string{event("error", `,"message":"over quota"`)}, "", "over quota"},
		{"too large", []string{strings.Repeat(event("response.output_text.delta", `,"delta":"`+strings.Repeat("x", 4000)+`"`), 600) + done}, "", "web search answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // attempts are apart in time
				s := &server{}
				for _, body := range c.script {
					s.script = append(s.script, answer{status: 200, body: body})
				}
				for len(s.script) < 3 && c.fails != "" {
					s.script = append(s.script, s.script[0])
				}
				p := newProvider(t, s, &logins{rec: login("tok", "acct_1")}, codex.Config{})
				var got []string
				err := p.Stream(t.Context(), searchRequest, func(ev provider.Event) error {
					switch ev.Kind {
					case provider.EventText:
						got = append(got, ev.Text)
					case provider.EventSource:
						got = append(got, ev.ItemID+" "+ev.Text)
					}
					return nil
				})
				if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
					t.Errorf("error %v", err)
				}
				if strings.Join(got, "|") != c.want {
					t.Errorf("%q", got)
				}
			})
		})
	}
}

var searchRequest = provider.Request{Model: "terra", WebSearch: true, Tools: nil, Items: []provider.Item{
	{Kind: provider.ItemMessage, Role: "system", Text: "Search."}, {Kind: provider.ItemMessage, Role: "user", Text: "q"}}}

func TestWebSearchRequest(t *testing.T) {
	s := &server{script: []answer{{status: 200, body: done}}}
	p := newProvider(t, s, &logins{rec: login("tok", "acct_1")}, codex.Config{})
	if err := p.Stream(t.Context(), searchRequest, ignore); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(s.bodies[0]), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"model": "gpt-5.6-terra", "instructions": "Search.", "input": []any{map[string]any{"role": "user", "content": "q"}}, "include": []any{}, "parallel_tool_calls": true, "tool_choice": "required",
		"tools": []any{map[string]any{"type": "web_search", "external_web_access": true, "search_context_size": "medium"}}, "store": false, "stream": true, "text": map[string]any{"verbosity": "low"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
