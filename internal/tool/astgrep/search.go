package astgrep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"magicode/internal/syntax"
)

// maxRow bounds the text of one line in bytes. The bound of a row of grep.
const maxRow = 4096

// searchRequest is a checked search.
type searchRequest struct {
	pattern string
	rewrite *string
}

func (a *arguments) search() (*searchRequest, error) {
	if err := foreign("search", map[string]bool{"items": a.Items != nil, "view": a.View != nil, "name": a.Name != nil, "symbol_type": a.SymbolType != nil, "pub_members": a.PubMembers != nil}); err != nil {
		return nil, err
	}
	q := &searchRequest{pattern: or(a.Pattern, ""), rewrite: a.Rewrite}
	switch {
	case strings.TrimSpace(q.pattern) == "":
		return nil, errors.New(`invalid arguments: field "pattern" is required and must not be blank`)
	case len(q.pattern) > maxPattern, len(or(q.rewrite, "")) > maxPattern:
		return nil, fmt.Errorf("invalid arguments: pattern and rewrite are bounded by %d bytes each", maxPattern)
	}
	return q, nil
}

// job compiles the pattern for the languages it is known to be for. Without one
// it is compiled for those of the files, as they are met.
func (q *searchRequest) job(ctx context.Context, r request, s *scan) (job, error) {
	j := &search{request: q, compiled: map[*syntax.Language]*compiled{}}
	l := r.language
	if l == nil && s.file != "" {
		l = s.languageOf(s.file)
	}
	if l == nil {
		return j, nil
	}
	return j, j.of(ctx, l).err
}

// search is the job of a search.
type search struct {
	request *searchRequest

	mu       sync.Mutex
	compiled map[*syntax.Language]*compiled
}

// compiled is what became of the pattern in one language.
type compiled struct {
	pattern *pattern
	rewrite *rewrite
	err     error
}

// of compiles the pattern for a language, once.
func (j *search) of(ctx context.Context, l *syntax.Language) *compiled {
	j.mu.Lock()
	defer j.mu.Unlock()
	if c := j.compiled[l]; c != nil {
		return c
	}
	c := &compiled{}
	if c.pattern, c.err = compile(ctx, l, j.request.pattern); c.err == nil && j.request.rewrite != nil {
		c.rewrite, c.err = newRewrite(*j.request.rewrite, c.pattern.names)
	}
	j.compiled[l] = c
	return c
}

// wants: the pattern is one of the language, and all its words are there.
func (j *search) wants(ctx context.Context, l *syntax.Language, src []byte) bool {
	c := j.of(ctx, l)
	if c.err != nil {
		return false
	}
	for _, f := range c.pattern.forms {
		if !slices.ContainsFunc(f.needs, func(w string) bool { return !bytes.Contains(src, []byte(w)) }) {
			return true
		}
	}
	return false
}

// verdict: a pattern that is wrong in every language is the model's mistake.
func (j *search) verdict() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var first error
	for _, l := range syntax.Languages() {
		c := j.compiled[l]
		if c == nil {
			continue
		}
		if c.err == nil {
			return nil
		}
		if first == nil {
			first = c.err
		}
	}
	return first
}

func (j *search) look(ctx context.Context, t *syntax.Tree, path string, limit int) fileResult {
	c := j.of(ctx, t.Language)
	m := matcher{tree: t, stop: func() bool { return ctx.Err() != nil }}
	var r fileResult
	if c.rewrite != nil {
		r.groups = previews(t, path, c.rewrite, m.find(c.pattern, 1<<30), limit+1, &r.partial)
	} else {
		r.groups = rows(t, path, m.find(c.pattern, limit+1))
	}
	r.partial = r.partial || m.ended
	return r
}

// rows makes a row of each line of each match. A line is shown once.
func rows(t *syntax.Tree, path string, matches []match) []group {
	var out []group
	shown := 0
	for _, m := range matches {
		first, _ := t.Position(m.start)
		last, _ := t.Position(max(m.start, m.end-1))
		g := group{}
		for n := max(first, shown+1); n <= last; n++ {
			g = append(g, fmt.Sprintf("%s:%d:%s", path, n, excerpt(t.Line(n))))
		}
		shown = max(shown, last)
		out = append(out, g)
	}
	return out
}

// previews shows what a rewrite would do with the outermost matches.
func previews(t *syntax.Tree, path string, r *rewrite, matches []match, limit int, partial *bool) []group {
	var out []group
	end := -1
	for _, m := range matches {
		if m.start < end || len(out) == limit {
			continue
		}
		end = m.end
		text, ok := r.fill(t.Source, m)
		if !ok {
			*partial = true
			continue
		}
		line, _ := t.Position(m.start)
		g := group{fmt.Sprintf("@@ %s:%d bytes %d..%d @@", path, line, m.start, m.end)}
		g = append(g, prefixed("-", string(t.Source[m.start:m.end]))...)
		out = append(out, append(g, prefixed("+", text)...))
	}
	return out
}

// prefixed cuts a text into rows.
func prefixed(sign, text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, sign+excerpt([]byte(strings.TrimRight(line, "\r\n"))))
	}
	if out == nil {
		out = []string{sign}
	}
	return out
}

// excerpt shortens a line.
func excerpt(line []byte) string {
	if len(line) <= maxRow {
		return string(line)
	}
	end := maxRow - len("…")
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return string(line[:end]) + "…"
}
