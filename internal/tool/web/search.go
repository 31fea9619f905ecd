package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"magicode/internal/tool"
)

// Bounds of a search: tools.md 1.16.
const (
	maxQuery    = 512 // characters
	maxLimit    = 10
	fewest      = 5 // results, when no limit is given
	maxDomains  = 20
	maxHitText  = 1200     // bytes shown of a result
	maxSearched = 48 << 10 // bytes of the whole output
)

// query is a search that was let through.
type query struct {
	text             string
	limit            int
	include, exclude []string
	days             int // 0: whatever the age
}

func (q *query) filtered() bool { return len(q.include)+len(q.exclude)+q.days > 0 }

func (t *Tool) search(ctx context.Context, env tool.Env, a *arguments) tool.Result {
	q, err := queryOf(a)
	if err != nil {
		return tool.Failed("%v", err)
	}
	if env.WebSearch != nil {
		return native(ctx, env, q)
	}
	hits, err := t.exa(ctx, q)
	if err != nil {
		return tool.Failed("the search failed: %v", err)
	}
	return t.list(q, hits)
}

func queryOf(a *arguments) (*query, error) {
	if a.URL != nil || a.Reference != nil {
		return nil, errors.New("url and reference belong to open")
	}
	text, err := tool.Text("query", a.Query)
	if err != nil {
		return nil, err
	}
	q := &query{text: text}
	if n := utf8.RuneCountInString(text); n > maxQuery || strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("query must hold 1 to %d characters that are not all blank", maxQuery)
	}
	if q.limit, err = tool.Number("limit", a.Limit, 1, maxLimit, fewest); err != nil {
		return nil, err
	}
	if len(a.DomainFilter) > maxDomains {
		return nil, fmt.Errorf("domainFilter takes at most %d names", maxDomains)
	}
	for _, d := range a.DomainFilter {
		name, out := strings.CutPrefix(d, "-")
		if !hostName(name) || !strings.Contains(name, ".") {
			return nil, errors.New("domainFilter takes bare host names such as example.org or -example.org")
		}
		if out {
			q.exclude = append(q.exclude, strings.ToLower(name))
		} else {
			q.include = append(q.include, strings.ToLower(name))
		}
	}
	if a.RecencyFilter != nil {
		ages := map[string]int{"day": 1, "week": 7, "month": 30, "year": 365}
		if q.days = ages[*a.RecencyFilter]; q.days == 0 {
			return nil, errors.New("recencyFilter must be day, week, month or year")
		}
	}
	return q, nil
}

// native uses the search of the run's own provider.
func native(ctx context.Context, env tool.Env, q *query) tool.Result {
	if q.filtered() {
		return tool.Failed("domainFilter and recencyFilter are not available: this provider searches by itself")
	}
	found, err := env.WebSearch(ctx, q.text, q.limit)
	if err != nil {
		return tool.Failed("the search failed: %v", err)
	}
	if strings.TrimSpace(found.Text) == "" {
		return tool.Failed("the search failed: the provider gave no answer")
	}
	var b strings.Builder
	text := cutText(found.Text, maxSearched*3/4)
	b.WriteString(text)
	listed := 0
	for _, s := range found.Sources {
		line := "\n- " + oneLine(s.Title) + " " + s.URL
		if b.Len()+len(line)+len("\n\nSources:") > maxSearched {
			break
		}
		if listed++; listed == 1 {
			b.WriteString("\n\nSources:")
		}
		b.WriteString(line)
	}
	return tool.Result{Success: true, Content: b.String(), Metadata: map[string]any{
		"provider": found.Provider, "results": listed, "omitted": len(found.Sources) - listed, "truncated": len(text) < len(found.Text), "scope": scopeExcerpt,
	}}
}

// hit is one result of the search service.
type hit struct{ title, url, text string }

// list shows what is usable and remembers it under references.
func (t *Tool) list(q *query, hits []hit) tool.Result {
	var b strings.Builder
	shown, cut := 0, false
	for _, h := range hits {
		u, err := checkURL(h.url)
		if err != nil || strings.TrimSpace(h.text) == "" || shown == q.limit {
			continue
		}
		p := page{url: u.String(), title: oneLine(h.title), scope: scopeExcerpt}
		p.text, p.cut = clip(h.text, false)
		if p.title == "" {
			p.title = p.url
		}
		entry := fmt.Sprintf("[%s] %s\nURL: %s\n%s\n\n", referenceOf(p.url), p.title, p.url, strings.TrimSpace(cutText(p.text, maxHitText)))
		if b.Len()+len(entry) > maxSearched {
			cut = true
			break
		}
		cut = cut || len(p.text) > maxHitText
		t.cache.put(p)
		b.WriteString(entry)
		shown++
	}
	content := strings.TrimRight(b.String(), "\n")
	if shown == 0 {
		content = "The search found nothing that can be used."
	}
	return tool.Result{Success: true, Content: content, Metadata: map[string]any{
		"provider": "exa", "results": shown, "omitted": len(hits) - shown, "truncated": cut, "scope": scopeExcerpt,
	}}
}

func oneLine(s string) string {
	return strings.Join(slices.Collect(strings.FieldsSeq(cutText(s, 300))), " ")
}
