package reader

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Step is one part of the cleanup. Open steps end where the capture does.
type Step struct {
	Name    string  `json:"name"`
	About   string  `json:"about,omitempty"` // whom it is about: a server and its transport, a worker, leases
	Phase   string  `json:"phase,omitempty"` // the last one entered
	From    float64 `json:"from_ms"`         // since the cleanup began
	Took    float64 `json:"took_ms"`
	Open    bool    `json:"open"`
	Waiting bool    `json:"waiting,omitempty"` // it never began, for what comes before it did not end
	Phases  []Entry `json:"phases,omitempty"`  // when each began
	start   time.Time
	before  bool // the cleanup itself: of a start that failed, and ended what it had started
	at      Evidence
}

// Entry is a phase that a step entered.
type Entry struct {
	Name string  `json:"name"`
	From float64 `json:"from_ms"` // since the step began
}

const (
	cleanupSpan = "magi.cleanup"
	leaseStep   = "magi.cleanup.lease"
)

func (a *Analysis) cleanup(c *Capture) {
	for s := range a.begun(c) {
		if strings.HasPrefix(s.Name, cleanupSpan) && s.Name != "magi.cleanup.snapshot" {
			a.Cleanup = append(a.Cleanup, step(s, s.evidence(c)))
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
	if a.held(c) && whole >= 0 && !slices.ContainsFunc(a.Cleanup, func(s Step) bool { return s.Name == leaseStep }) {
		w := a.Cleanup[whole]
		a.Cleanup = append(a.Cleanup, Step{Name: leaseStep, About: "writer, active", From: w.From, Took: w.Took, Open: true, Waiting: true, start: w.start, at: w.at})
	}
}

func step(s *Span, at Evidence) Step {
	out := Step{Name: s.Name, start: s.Start, Took: millis(s.End.Sub(s.Start)), Open: s.unended(), Phase: text(s.Attributes, "magi.mcp.step"), at: at}
	out.About = text(s.Attributes, "magi.mcp.server")
	if t := carriers[text(s.Attributes, "network.transport")]; t != "" && out.About != "" {
		out.About += " (" + t + ")"
	}
	if w := text(s.Attributes, "magi.worker"); w != "" {
		out.About = w
	}
	if n, ok := s.Attributes["magi.count"].(int64); ok && s.Name == "magi.cleanup.mcp.request" {
		out.About = fmt.Sprintf("(%d)", n)
	}
	for _, e := range s.Events {
		out.Phases = append(out.Phases, Entry{e.Name, millis(e.Time.Sub(s.Start))})
	}
	return out
}

// held reports that the child had a session's leases when it was given up: they
// were taken, and the part of the cleanup that gives them back never ended.
func (a *Analysis) held(c *Capture) bool {
	taken := false
	for i := range c.Spans {
		s := &c.Spans[i]
		taken = taken || s.Name == "magi.session.lease" && text(s.Attributes, "magi.lease.outcome") == "ok"
		if s.Name == leaseStep && !s.unended() {
			return false
		}
	}
	return taken && a.Exit != nil && a.Exit.Detached
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
