package catalog

import (
	"context"
	"errors"

	"magicode/internal/jsonscan"
)

// complete adds the public facts. A model that they do not know stays bare.
func (f *Fetcher) complete(ctx context.Context, s Source, entries []Entry) ([]Entry, error) {
	if f.Facts == "" {
		return entries, nil
	}
	v, err := f.get(ctx, f.Facts, nil, factsTimeout, maxFacts)
	if errors.Is(err, ErrRejected) {
		err = ErrUnavailable // it has no credential of ours to refuse
	}
	if err != nil {
		if f.FactsFailed == nil || s.URL == "" || context.Cause(ctx) != nil {
			return nil, err
		}
		f.FactsFailed(err)
		return entries, nil
	}
	known := make(map[string]jsonscan.Value)
	var names []string
	for k, m := range v.Get(namespace(s.Provider)).Get("models").Members() {
		name := k.LenientText()
		if _, ok := known[name]; !ok {
			names = append(names, name)
		}
		known[name] = m
	}
	if s.URL == "" {
		for _, name := range names {
			entries = append(entries, Entry{Model: name})
		}
	}
	for i := range entries {
		entries[i].complete(known[entries[i].Model], s.Provider.ID == "openai-codex")
	}
	return entries, nil
}

// namespace is where the facts about a provider's models stand.
func namespace(p Provider) string {
	switch {
	case p.Custom && p.ModelsDev != "":
		return p.ModelsDev
	case p.Custom:
		return p.ID
	case p.ID == "openai-codex":
		return "openai"
	}
	return "anthropic"
}

// complete fills what the provider did not tell. ownReasoning keeps the
// provider's word about thinking, even its silence.
func (e *Entry) complete(m jsonscan.Value, ownReasoning bool) {
	if m.Kind() != jsonscan.Object {
		return
	}
	text := func(dst *string, v jsonscan.Value) {
		if *dst == "" {
			*dst = v.LenientText()
		}
	}
	number := func(dst *uint64, vs ...jsonscan.Value) {
		for _, v := range vs {
			if n, ok := v.Uint64(); ok && *dst == 0 {
				*dst = n
			}
		}
	}
	text(&e.DisplayName, m.Get("name"))
	text(&e.Description, m.Get("description"))
	limit := m.Get("limit")
	number(&e.ContextWindow, limit.Get("context"), limit.Get("input"))
	number(&e.MaxOutputTokens, limit.Get("output"))
	e.InputCost, e.OutputCost = price(m.Get("cost").Get("input")), price(m.Get("cost").Get("output"))
	for v := range m.Get("modalities").Elements() {
		e.Modalities = append(e.Modalities, v.LenientText())
	}
	if !ownReasoning {
		e.reasoning(m)
	}
}

func price(v jsonscan.Value) string {
	if v.Kind() == jsonscan.Number {
		return string(v)
	}
	return v.LenientText()
}

func (e *Entry) reasoning(m jsonscan.Value) {
	if yes, ok := m.Get("reasoning").Bool(); ok {
		e.SupportsReasoning = &yes
	}
	for o := range m.Get("reasoning_options").Elements() {
		if !o.Get("type").Is("effort") {
			continue
		}
		for v := range o.Get("values").Elements() {
			e.addEffort(v.LenientText())
		}
	}
	if len(e.ReasoningEfforts) > 0 {
		return
	}
	for v := range m.Get("reasoning").Get("efforts").Elements() {
		e.addEffort(v.LenientText())
	}
}
