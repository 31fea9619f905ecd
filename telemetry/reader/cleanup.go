package reader

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"magicode/telemetry"
)

// Step is one part of the cleanup. Open steps end where the capture does.
type Step struct {
	Name   string  `json:"name"`
	About  string  `json:"about,omitempty"` // whom it is about: a server and its transport, a worker
	Phase  string  `json:"phase,omitempty"` // the last one entered
	From   float64 `json:"from_ms"`         // since the cleanup began
	Took   float64 `json:"took_ms"`
	Open   bool    `json:"open"`
	Phases []Entry `json:"phases,omitempty"` // when each began
	start  time.Time
	before bool // the cleanup itself: of a start that failed, and ended what it had started
}

// Entry is a phase that a step entered.
type Entry struct {
	Name string  `json:"name"`
	From float64 `json:"from_ms"` // since the step began
}

const cleanupSpan = "magi.cleanup"

func (a *Analysis) cleanup(c *Capture) {
	known := told(c)
	ended := map[string]bool{}
	for i := range c.Spans {
		s := &c.Spans[i]
		ended[s.ID] = true
		if strings.HasPrefix(s.Name, cleanupSpan) && s.Name != "magi.cleanup.snapshot" {
			a.Cleanup = append(a.Cleanup, step(s.Name, s.Start, s.End, s.cut(), s.Attributes, s.Events))
		}
	}
	for i := range c.Records {
		r := &c.Records[i]
		name := text(r.Attributes, "magi.span.name")
		if r.Name == "magi.span.start" && strings.HasPrefix(name, cleanupSpan) && !ended[r.SpanID] {
			ended[r.SpanID] = true
			a.Cleanup = append(a.Cleanup, step(name, r.Time, c.Last, true, known[r.SpanID], nil))
		}
	}
	slices.SortStableFunc(a.Cleanup, func(x, y Step) int {
		return cmp.Or(x.start.Compare(y.start), cmp.Compare(len(x.Name), len(y.Name)), strings.Compare(x.About, y.About))
	})
	whole := slices.IndexFunc(a.Cleanup, func(s Step) bool { return s.Name == cleanupSpan })
	for i := range a.Cleanup {
		a.Cleanup[i].From = millis(a.Cleanup[i].start.Sub(a.Cleanup[0].start))
		a.Cleanup[i].before = i < whole
	}
}

func step(name string, start, end time.Time, open bool, attributes map[string]any, events []Event) Step {
	s := Step{Name: name, start: start, Took: millis(end.Sub(start)), Open: open, Phase: text(attributes, "magi.mcp.step")}
	s.About = text(attributes, "magi.mcp.server")
	if t := carriers[text(attributes, "network.transport")]; t != "" && s.About != "" {
		s.About += " (" + t + ")"
	}
	if w := text(attributes, "magi.worker"); w != "" {
		s.About = w
	}
	for _, e := range events {
		s.Phases = append(s.Phases, Entry{e.Name, millis(e.Time.Sub(start))})
	}
	return s
}

// title is what a waterfall calls a step.
func (s *Step) title() string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(s.Name, cleanupSpan), ".") + " " + s.About)
}

// longest is the phase in which a step spent most of its time.
func (s *Step) longest() (string, float64) {
	name, took := "", 0.0
	for i, p := range s.Phases {
		end := s.Took
		if i+1 < len(s.Phases) {
			end = s.Phases[i+1].From
		}
		if end-p.From > took {
			name, took = p.Name, end-p.From
		}
	}
	return name, took
}

// Run is one turn.
type Run struct {
	Seq         int64   `json:"seq"`
	Outcome     string  `json:"outcome"` // "" when it never ended
	Persistence string  `json:"persistence"`
	Took        float64 `json:"took_ms"`
	Parts       []Part  `json:"parts"`
}

// Part is a generation, a tool or something else that a run waited for.
type Part struct {
	Name string  `json:"name"`
	From float64 `json:"from_ms"` // since the run began
	Took float64 `json:"took_ms"`
	Note string  `json:"note,omitempty"`
}

const runSpan = "invoke_agent magi-code"

func (a *Analysis) runs(c *Capture) {
	below := map[string][]*Span{}
	for i := range c.Spans {
		below[c.Spans[i].Parent] = append(below[c.Spans[i].Parent], &c.Spans[i])
	}
	for i := range c.Spans {
		s := &c.Spans[i]
		if s.Name != runSpan {
			continue
		}
		seq, _ := s.Attributes["magi.run.seq"].(int64)
		run := Run{Parts: []Part{}, Seq: seq, Outcome: text(s.Attributes, "magi.run.outcome"), Persistence: text(s.Attributes, "magi.run.persistence"), Took: millis(s.End.Sub(s.Start))}
		for _, p := range below[s.ID] {
			if strings.HasPrefix(p.Name, "chat") || strings.HasPrefix(p.Name, "execute_tool") || p.Name == "magi.compaction" {
				run.Parts = append(run.Parts, Part{p.Name, millis(p.Start.Sub(s.Start)), millis(p.End.Sub(p.Start)), note(p)})
			}
		}
		slices.SortStableFunc(run.Parts, func(x, y Part) int { return cmp.Compare(x.From, y.From) })
		delete(below, s.ID) // an id that comes again has no parts of its own
		a.Runs = append(a.Runs, run)
	}
	slices.SortStableFunc(a.Runs, func(x, y Run) int { return cmp.Compare(x.Seq, y.Seq) })
}

// note is what stands behind a part's bar.
func note(s *Span) string {
	var out []string
	number := func(format string, k telemetry.IntKey) {
		if n, ok := s.Attributes[k.String()].(int64); ok {
			out = append(out, fmt.Sprintf(format, n))
		}
	}
	number("first chunk %d ms", telemetry.KeyFirstChunkMS)
	number("in %d", telemetry.KeyInputTokens)
	number("out %d", telemetry.KeyOutputTokens)
	for _, key := range []string{"magi.tool.outcome", "error.type"} {
		if v := text(s.Attributes, key); v != "" && v != "ok" {
			out = append(out, v)
		}
	}
	return strings.Join(out, " ")
}
