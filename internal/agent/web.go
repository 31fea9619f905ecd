package agent

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"magicode/internal/httpx"
	"magicode/internal/provider"
	"magicode/internal/provider/codex"
	"magicode/internal/tool"
	"magicode/internal/tool/web"
)

// Limits of a request to the search service: tools.md 1.16.
const (
	searchConnect = 5 * time.Second
	searchHeaders = 20 * time.Second
)

// newWeb makes the tool that all runs of a child share, with its cache.
func newWeb(a *Agent) *web.Tool {
	return web.New(web.Options{
		UserAgent: "magi-code/" + Version,
		Key:       func() string { key, _ := a.lookup("EXA_API_KEY"); return key },
		Search: httpx.New(httpx.Options{Environ: a.environ, HeaderTimeout: searchHeaders,
			Dial: (&net.Dialer{Timeout: searchConnect}).DialContext}),
	})
}

// webSearch is what the provider of a run searches the web with; nil where it
// has no search of its own.
func (r *agentRuntime) webSearch(sel provider.Selection) func(context.Context, string, int) (tool.SearchAnswer, error) {
	if sel.Provider != codex.ID {
		return nil
	}
	return func(ctx context.Context, query string, limit int) (tool.SearchAnswer, error) {
		out := tool.SearchAnswer{Provider: sel.Provider}
		p, err := r.providers.Make(ctx, sel, provider.PurposeWeb)
		if err != nil {
			return out, err
		}
		var text strings.Builder
		err = p.Stream(ctx, provider.Request{Model: sel.Model, Level: sel.Level, WebSearch: true, Items: []provider.Item{
			{Kind: provider.ItemMessage, Role: "system", Text: fmt.Sprintf("Search the web for what the user asks. Answer concisely, from about %d sources, and cite each of them.", limit)},
			{Kind: provider.ItemMessage, Role: "user", Text: query},
		}}, func(ev provider.Event) error {
			switch ev.Kind {
			case provider.EventText:
				text.WriteString(ev.Text)
			case provider.EventSource:
				out.Sources = append(out.Sources, tool.Source{URL: ev.ItemID, Title: ev.Text})
			}
			return nil
		})
		out.Text = text.String()
		return out, err
	}
}
