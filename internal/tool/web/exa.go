package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
)

// The search service and the bounds of a request: tools.md 1.16.
const (
	exaURL        = "https://api.exa.ai/search"
	searchTimeout = 20 * time.Second
	maxAnswer     = 2 << 20
	maxHits       = 100 // that are looked at; 10 are asked for at most
	hitCharacters = 10_000
)

// exaRequest is what the service wants, as its documentation has it.
type exaRequest struct {
	Query    string   `json:"query"`
	Type     string   `json:"type"`
	Results  int      `json:"numResults"`
	Contents contents `json:"contents"`
	Include  []string `json:"includeDomains,omitempty"`
	Exclude  []string `json:"excludeDomains,omitempty"`
	From     string   `json:"startPublishedDate,omitempty"`
}

type contents struct {
	Text struct {
		Max int `json:"maxCharacters"`
	} `json:"text"`
}

// exa asks the service once.
func (t *Tool) exa(parent context.Context, q *query) ([]hit, error) {
	key := ""
	if t.o.Key != nil {
		key = strings.TrimSpace(t.o.Key())
	}
	if key == "" {
		return nil, errNoKey
	}
	ctx, cancel := context.WithTimeoutCause(parent, searchTimeout, errors.New("the service took too long"))
	defer cancel()
	raw, err := t.askExa(ctx, q, key)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return parseHits(raw)
}

func (t *Tool) askExa(ctx context.Context, q *query, key string) ([]byte, error) {
	r := exaRequest{Query: q.text, Type: "auto", Results: q.limit, Include: q.include, Exclude: q.exclude}
	r.Contents.Text.Max = hitCharacters
	if q.days > 0 {
		r.From = t.o.Now().UTC().AddDate(0, 0, -q.days).Format("2006-01-02T15:04:05.000Z")
	}
	body, err := jsonv2.Marshal(r)
	if err != nil {
		return nil, errors.New("the query does not encode")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, exaURL, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the request could not be made")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", t.o.UserAgent)
	req.Header.Set("X-Api-Key", key)
	resp, err := t.o.Search.RoundTrip(req)
	if err != nil {
		return nil, errors.New("the service could not be reached")
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, errors.New("the answer broke off")
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return nil, fmt.Errorf("the service answered with status %d%s", resp.StatusCode, detail(raw, key))
	case len(raw) > maxAnswer:
		return nil, fmt.Errorf("the answer is too large: limit %d bytes", maxAnswer)
	}
	return raw, nil
}

// detail is the service's own word about a failure.
func detail(raw []byte, key string) string {
	v, err := jsonscan.Parse(raw, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
	if err != nil {
		return ""
	}
	text := v.Get("error").LenientText()
	if text == "" {
		text = v.Get("message").LenientText()
	}
	if text = oneLine(redact.Display(strings.ReplaceAll(text, key, "<redacted>"))); text == "" {
		return ""
	}
	return ": " + text
}

func parseHits(raw []byte) ([]hit, error) {
	v, err := jsonscan.Parse(raw, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
	if err != nil || v.Get("results").Kind() != jsonscan.Array {
		return nil, errors.New("the answer is not what the service documents")
	}
	var out []hit
	for r := range v.Get("results").Elements() {
		if len(out) == maxHits {
			break
		}
		out = append(out, hit{title: redact.Strip(r.Get("title").LenientText()), url: r.Get("url").LenientText(), text: redact.Strip(r.Get("text").LenientText())})
	}
	return out, nil
}
