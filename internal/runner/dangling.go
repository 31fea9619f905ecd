package runner

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"magicode/internal/provider"
	"magicode/internal/session"
)

// danglingReason and danglingPrompt are the record of this recovery. Readers
// know it by its reason (storage.md 6.6).
const (
	danglingReason = "dangling_tool_intent"
	danglingPrompt = "You said that you would use a tool, but called none. Call it now, or say why you do not."
)

// dangles reports whether a response that called nothing only promised to. It is
// asked once per run, and only while no tool was called yet (runner.md 15.3).
func (r *run) dangles() bool {
	if r.dangled || len(r.ids) > 0 || len(r.Request.Tools) == 0 {
		return false
	}
	text := strings.TrimSpace(r.text.short(maxPromiseChars * utf8.UTFMax))
	p := promises{names: toolNames(r.Request.Tools)}
	return p.strict(text) || p.plain(r.input) && p.loose(text)
}

func toolNames(defs []provider.ToolDef) []string {
	names := make([]string, len(defs))
	for i, d := range defs {
		names[i] = d.Name
	}
	return names
}

// askForTool keeps the promise as a message of its own and asks for the call.
func (r *run) askForTool(ctx context.Context) error {
	r.dangled, r.recovered = true, true
	if c, ok := r.text.close(true); ok {
		r.turn = append(r.turn, message("assistant", c.raw))
		if err := r.Sink.Emit(ctx, SegmentDone{Segment: c.index, Text: c.text, Closed: true}); err != nil {
			return err
		}
	}
	const told = "The model announced a tool and called none; it is asked once to call it."
	r.turn = append(r.turn, message("user", danglingPrompt))
	r.rec.later(session.Event{Kind: session.KindUserInput, Payload: map[string]any{
		"text": danglingPrompt, "auto_recovery": true, "reason": danglingReason}})
	r.rec.later(session.Event{Kind: session.KindDiagnostic, Payload: map[string]any{
		"level": "info", "message": told, "auto_recovery": true, "reason": danglingReason}})
	return r.Sink.Emit(ctx, Notice{Summary: told})
}

// promises knows sentences that announce a tool. It is a grammar of whole
// sentences, never a search for words: what it does not know is an answer.
type promises struct{ names []string }

// Bounds of the loose form.
const (
	maxPromiseSentences = 3
	maxPromiseWords     = 96
	maxPromiseChars     = 4096
)

var (
	subjects  = []string{"I'll", "I will", "Let me", "I'm going to", "I am going to"}
	useVerbs  = []string{"invoke", "use", "call"}
	runVerbs  = []string{"run", "use", "invoke", "call", "execute", "exercise", "test", "start"}
	fillers   = []string{"now", "actually", "first"}
	openings  = []string{"now", "okay", "now,", "okay,"}
	groups    = []string{"all of your tools", "all of the tools", "all of my tools", "all your tools", "all the tools", "all my tools", "all available tools", "all tools", "every tool", "each tool", "your tools", "the tools", "my tools", "the available tools", "available tools", "some tools", "tools"}
	smokes    = []string{"a smoke test of", "a quick smoke test of", "smoke tests of", "a smoke test for", "a smoke test on"}
	courtesy  = []string{"please", "can you", "could you", "can you please", "could you please"}
	forbidden = ":;\"`\n\r\u201c\u201d\u2018"
)

// strict is one sentence: a promise to invoke, use or call a target now, or
// "Now running" and a target.
func (p promises) strict(text string) bool {
	s, ok := sentence(text)
	if !ok {
		return false
	}
	if s.take("Now") {
		s.take("actually")
		return s.take("running") && p.target(&s) && s.done()
	}
	s.take("Okay,")
	if !s.takeAny(subjects) {
		return false
	}
	s.take("actually")
	return s.takeAny(useVerbs) && p.target(&s) && s.take("now") && s.done()
}

// target is "a tool", "tool x", "tools", or one or two different names.
func (p promises) target(s *words) bool {
	for _, t := range []string{"a tool", "an tool", "the tool", "tools"} {
		if s.take(t) {
			return true
		}
	}
	if s.take("tool") {
		p.name(s)
		return true
	}
	first, ok := p.name(s)
	if !ok {
		return false
	}
	if s.take("and") {
		second, ok := p.name(s)
		if !ok || second == first {
			return false
		}
	}
	_ = s.take("tool") || s.take("tools")
	return true
}

// loose is up to three sentences, each a promise to run something that is a
// tool. It counts only when the user asked for nothing else.
func (p promises) loose(text string) bool {
	if len([]rune(text)) > maxPromiseChars || strings.ContainsAny(text, forbidden) || len(strings.Fields(text)) > maxPromiseWords {
		return false
	}
	rest, ok := strings.CutSuffix(text, ".")
	if !ok {
		return false
	}
	all := strings.Split(rest, ". ")
	if len(all) > maxPromiseSentences {
		return false
	}
	for _, one := range all {
		s, ok := sentence(one + ".")
		if !ok || !p.announces(&s) {
			return false
		}
	}
	return true
}

func (p promises) announces(s *words) bool {
	for s.takeFold(openings) {
	}
	if !s.takeFold(subjects) {
		return false
	}
	for s.takeAny(fillers) {
	}
	return s.takeAny(runVerbs) && p.aim(s)
}

// aim is the rest of a sentence: a name, a group, or a smoke test of one.
func (p promises) aim(s *words) bool {
	s.takeAny(smokes)
	if !s.takeAny(groups) {
		s.take("the")
		if _, ok := p.name(s); !ok {
			return false
		}
		_ = s.take("tool")
	}
	_ = s.take("now") || s.take("first")
	return s.done()
}

// plain reports whether the user's own request was to run tools and no more.
func (p promises) plain(request string) bool {
	text := strings.TrimSpace(request)
	if strings.ContainsAny(text, forbidden) {
		return false
	}
	text = strings.TrimRight(text, ".!?")
	s, ok := sentence(text + ".")
	if !ok {
		return false
	}
	s.takeFold(courtesy)
	if !s.takeFold(runVerbs) {
		return false
	}
	if n := len(s.left); n > 1 && s.left[n-1] == "please" {
		s.left = s.left[:n-1]
	}
	return p.aim(&s)
}

// name takes the name of an advertised tool.
func (p promises) name(s *words) (string, bool) {
	if len(s.left) == 0 || !slices.Contains(p.names, s.left[0]) {
		return "", false
	}
	name := s.left[0]
	s.left = s.left[1:]
	return name, true
}

// words is a sentence that is being read.
type words struct{ left []string }

// sentence takes text apart that is one sentence: it ends in a full stop, with
// single spaces between its words and no quotes in it.
func sentence(text string) (words, bool) {
	text = strings.ReplaceAll(text, "\u2019", "'")
	body, ok := strings.CutSuffix(text, ".")
	if !ok || body == "" || strings.ContainsAny(body, "\"`.!?\n\r\t\u201c\u201d\u2018") || strings.Contains(body, "  ") || body[0] == ' ' || strings.HasSuffix(body, " ") {
		return words{}, false
	}
	return words{strings.Split(body, " ")}, true
}

// take takes a phrase if the sentence goes on with it.
func (w *words) take(phrase string) bool {
	return w.match(phrase, func(a, b string) bool { return a == b })
}

func (w *words) match(phrase string, same func(a, b string) bool) bool {
	want := strings.Split(phrase, " ")
	if len(w.left) < len(want) || !slices.EqualFunc(w.left[:len(want)], want, same) {
		return false
	}
	w.left = w.left[len(want):]
	return true
}

// takeAny takes the longest phrase that fits.
func (w *words) takeAny(phrases []string) bool {
	return w.longest(phrases, func(a, b string) bool { return a == b })
}

// takeFold is takeAny without regard to case.
func (w *words) takeFold(phrases []string) bool { return w.longest(phrases, strings.EqualFold) }

func (w *words) longest(phrases []string, same func(a, b string) bool) bool {
	best := words{w.left}
	for _, p := range phrases {
		try := words{w.left}
		if try.match(p, same) && len(try.left) < len(best.left) {
			best = try
		}
	}
	taken := len(best.left) < len(w.left)
	w.left = best.left
	return taken
}

func (w *words) done() bool { return len(w.left) == 0 }
