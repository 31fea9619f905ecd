package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/tool"
)

// exa is the search service of the test.
type exa struct {
	status int
	answer string
	header http.Header
	url    string
	body   map[string]any
}

func (e *exa) RoundTrip(r *http.Request) (*http.Response, error) {
	e.header, e.url = r.Header, r.Method+" "+r.URL.String()
	if err := json.NewDecoder(r.Body).Decode(&e.body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: e.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(e.answer))}, nil
}

const key = "exa-key-of-the-test"

func searching(e http.RoundTripper) *Tool {
	return New(Options{Key: func() string { return key }, Search: e, UserAgent: "magi-code/9", Now: func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }})
}

func run(t *Tool, env tool.Env, args string) tool.Result {
	return t.Run(context.Background(), env, json.RawMessage(args))
}

func TestSearch(t *testing.T) {
	e := &exa{status: 200, answer: `{"requestId":"r","results":[
		{"title":"One\n\u001b[31m","url":"https://one.example/a","text":"` + strings.Repeat("word ", 500) + `"},
		{"title":null,"url":"https://two.example/","text":"Two."},
		{"title":"Key","url":"https://three.example/?api_key=1","text":"no"},{"title":"Inside","url":"http://127.0.0.1/","text":"no"},{"title":"Empty","url":"https://four.example/","text":" "},{"url":5},7
	]}`}
	tl := searching(e)
	res := run(tl, tool.Env{}, `{"operation":"search","query":"what is it","limit":7,"domainFilter":["Example.org","-bad.example","a.example"],"recencyFilter":"week"}`)
	want := map[string]any{"query": "what is it", "type": "auto", "numResults": 7.0, "contents": map[string]any{"text": map[string]any{"maxCharacters": 10000.0}},
		"includeDomains": []any{"example.org", "a.example"}, "excludeDomains": []any{"bad.example"}, "startPublishedDate": "2026-03-03T12:00:00.000Z"}
	if diff := cmp.Diff(want, e.body); diff != "" {
		t.Error(diff)
	}
	if e.url != "POST https://api.exa.ai/search" || e.header.Get("X-Api-Key") != key {
		t.Errorf("%s %v", e.url, e.header)
	}
	one, two := referenceOf("https://one.example/a"), referenceOf("https://two.example/")
	start := fmt.Sprintf("[%s] One\nURL: https://one.example/a\nword word", one)
	end := fmt.Sprintf("\n\n[%s] https://two.example/\nURL: https://two.example/\nTwo.", two)
	if !res.Success || !strings.HasPrefix(res.Content, start) || !strings.HasSuffix(res.Content, end) || len(res.Content) > 1700 {
		t.Errorf("%v %s", res.Success, res.Content)
	}
	if diff := cmp.Diff(map[string]any{"provider": "exa", "results": 2, "omitted": 5, "truncated": true, "scope": "excerpt"}, res.Metadata); diff != "" {
		t.Error(diff)
	}
	opened := run(tl, tool.Env{}, `{"operation":"open","reference":"`+one+`"}`)
	if !opened.Success || !strings.Contains(opened.Content, strings.TrimSpace(strings.Repeat("word ", 500))) || opened.Metadata["scope"] != "excerpt" || opened.Metadata["url"] != "https://one.example/a" {
		t.Errorf("%v %v", opened.Success, opened.Metadata)
	}
	e.body = nil
	plain := searching(e)
	run(plain, tool.Env{}, `{"operation":"search","query":"x"}`)
	if diff := cmp.Diff(map[string]any{"query": "x", "type": "auto", "numResults": 5.0, "contents": want["contents"]}, e.body); diff != "" {
		t.Error(diff)
	}
}

// TestExcerptAndPage: a search does not replace a page that was opened.
func TestExcerptAndPage(t *testing.T) {
	var c cache
	ref := c.put(page{url: "u", text: "whole", scope: scopePage})
	c.put(page{url: "u", text: "part", scope: scopeExcerpt})
	if p, _ := c.get(ref); p.text != "whole" {
		t.Error(p)
	}
	c.put(page{url: "u", text: "newer", scope: scopeMain})
	if p, _ := c.get(ref); p.text != "newer" || len(c.order) != 1 {
		t.Error(p)
	}
}

func TestSearchFails(t *testing.T) {
	many := `{"title":"t","url":"https://x.example/%d","text":"` + strings.Repeat("x", 3000) + `"},`
	list := ""
	for i := range 9 {
		list += fmt.Sprintf(many, i)
	}
	for _, c := range []struct {
		name   string
		status int
		answer string
		want   string
		ok     bool
	}{
		{"nothing", 200, `{"results":[]}`, "found nothing", true},
		{"ten long ones", 200, `{"results":[` + strings.TrimSuffix(list, ",") + `]}`, "https://x.example/4\n", true},
		{"key", 401, `{"error":"invalid ` + key + `"}`, "status 401: invalid <redacted>", false},
		{"limit", 429, "slow down", "status 429", false},
		{"redirect", 302, "", "status 302", false},
		{"no JSON", 200, "<html>", "not what the service documents", false},
		{"other JSON", 200, `{"results":{}}`, "not what the service documents", false},
		{"large", 200, `{"results":[],"x":"` + strings.Repeat("x", 2<<20) + `"}`, "too large", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := run(searching(&exa{status: c.status, answer: c.answer}), tool.Env{}, `{"operation":"search","query":"x"}`)
			if res.Success != c.ok || !strings.Contains(res.Content, c.want) || strings.Contains(res.Content, key) || len(res.Content) > maxSearched {
				t.Errorf("%v %.300s", res.Success, res.Content)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		res := run(searching(hanging{}), tool.Env{}, `{"operation":"search","query":"x"}`)
		if res.Success || !strings.Contains(res.Content, "took too long") || time.Since(from) != 20*time.Second {
			t.Errorf("after %v: %s", time.Since(from), res.Content)
		}
	})
}

type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

func TestNativeSearch(t *testing.T) {
	var asked string
	env := tool.Env{WebSearch: func(_ context.Context, q string, limit int) (tool.SearchAnswer, error) {
		asked = fmt.Sprint(q, limit)
		switch q {
		case "blank":
			return tool.SearchAnswer{}, nil
		case "fails":
			return tool.SearchAnswer{}, errors.New("no")
		case "long":
			return tool.SearchAnswer{Provider: "p", Text: strings.Repeat("ä", 40_000), Sources: []tool.Source{{URL: "https://a.example", Title: strings.Repeat("t", 9000)}}}, nil
		}
		return tool.SearchAnswer{Provider: "openai-codex", Text: "An answer.", Sources: []tool.Source{{URL: "https://a.example", Title: "A\nB"}, {URL: "https://b.example"}}}, nil
	}}
	tl := searching(hanging{})
	res := run(tl, env, `{"operation":"search","query":"q","limit":3}`)
	if !res.Success || asked != "q3" || res.Content != "An answer.\n\nSources:\n- A B https://a.example\n-  https://b.example" {
		t.Errorf("%s: %v %q", asked, res.Success, res.Content)
	}
	if diff := cmp.Diff(map[string]any{"provider": "openai-codex", "results": 2, "omitted": 0, "truncated": false, "scope": "excerpt"}, res.Metadata); diff != "" {
		t.Error(diff)
	}
	if res := run(tl, env, `{"operation":"search","query":"long"}`); !res.Success || len(res.Content) > maxSearched || res.Metadata["truncated"] != true {
		t.Errorf("%v %d bytes %v", res.Success, len(res.Content), res.Metadata)
	}
	for args, want := range map[string]string{
		`{"operation":"search","query":"q","recencyFilter":"day"}`: "not available", `{"operation":"search","query":"q","domainFilter":["a.b"]}`: "not available",
		`{"operation":"search","query":"blank"}`: "no answer", `{"operation":"search","query":"fails"}`: "the search failed: no",
	} {
		if res := run(tl, env, args); res.Success || !strings.Contains(res.Content, want) {
			t.Errorf("%s: %v %s", args, res.Success, res.Content)
		}
	}
}
