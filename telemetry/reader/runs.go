package reader

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"magicode/telemetry"
)

// Run is one turn.
type Run struct {
	Seq         int64   `json:"seq"`
	Outcome     string  `json:"outcome"` // "" when it never ended
	Persistence string  `json:"persistence"`
	Error       string  `json:"error,omitempty"` // error.type, of one that failed
	Took        float64 `json:"took_ms"`         // at least, of one that never ended
	Open        bool    `json:"open,omitempty"`  // it never ended
	Parts       []Part  `json:"parts"`
	span        *Span
	cause       *cause // why it failed
}

// Part is a generation, a tool or something else that a run waited for.
type Part struct {
	Name   string  `json:"name"`
	From   float64 `json:"from_ms"` // since the run began
	Took   float64 `json:"took_ms"`
	Open   bool    `json:"open,omitempty"` // it never ended
	Note   string  `json:"note,omitempty"`
	failed bool
}

const runSpan = "invoke_agent magi-code"

// children are spans by the id of the one above.
type children map[string][]*Span

// maxBelow bounds how many spans below a part are looked at: ids in a file may be
// the same, and those below them then belong to each.
const maxBelow = 100

// of are the first spans below a part.
func (b children) of(id string) []*Span { return b[id][:min(len(b[id]), maxBelow)] }

func (a *Analysis) runs(c *Capture) {
	below := children{}
	for s := range a.begun(c) {
		below[s.Parent] = append(below[s.Parent], s)
	}
	for s := range a.begun(c) {
		if s.Name != runSpan {
			continue
		}
		seq, _ := s.Attributes["magi.run.seq"].(int64)
		run := Run{Parts: []Part{}, Seq: seq, Outcome: text(s.Attributes, "magi.run.outcome"), Persistence: text(s.Attributes, "magi.run.persistence"),
			Error: text(s.Attributes, "error.type"), Took: millis(s.End.Sub(s.Start)), Open: s.unended(), span: s}
		for _, p := range below[s.ID] {
			if isChat(p) || strings.HasPrefix(p.Name, "execute_tool") || p.Name == "magi.compaction" {
				run.Parts = append(run.Parts, Part{p.Name, millis(p.Start.Sub(s.Start)), millis(p.End.Sub(p.Start)), p.unended(), note(p, below), p.Error})
			}
		}
		slices.SortStableFunc(run.Parts, func(x, y Part) int { return cmp.Compare(x.From, y.From) })
		if run.Outcome == "failed" {
			run.cause = causeOf(s, below)
		}
		delete(below, s.ID) // an id that comes again has no parts of its own
		a.Runs = append(a.Runs, run)
	}
	slices.SortStableFunc(a.Runs, func(x, y Run) int { return cmp.Compare(x.Seq, y.Seq) })
}

// isChat reports a generation, whose name ends with its model.
func isChat(s *Span) bool { return strings.HasPrefix(s.Name, telemetry.SpanChat.String()) }

// note is what stands behind a part's bar.
func note(s *Span, below children) string {
	var out []string
	number := func(format, key string, least int64) {
		if n, ok := s.Attributes[key].(int64); ok && n >= least {
			out = append(out, fmt.Sprintf(format, n))
		}
	}
	number("first chunk %d ms", telemetry.KeyFirstChunkMS.String(), 0)
	number("in %d", telemetry.KeyInputTokens.String(), 0)
	number("out %d", telemetry.KeyOutputTokens.String(), 0)
	for _, key := range []string{"magi.tool.outcome", "error.type"} {
		if v := text(s.Attributes, key); v != "" && v != "ok" {
			out = append(out, v)
		}
	}
	number("after %d attempts", "magi.provider.attempts", 2)
	for _, call := range below.of(s.ID) { // of the tool mcp: whom it called
		if server := text(call.Attributes, serverKey); server != "" {
			out = append(out, server)
			if name := text(call.Attributes, telemetry.KeyMCPTool.String()); !telemetry.IsHash(name) {
				out = append(out, name)
			}
			break
		}
	}
	return strings.Join(out, " ")
}

// cause is why a run failed: the part that ended with an error last, and of a
// generation its last attempt.
type cause struct {
	part, attempt *Span
	attempts      int64
}

// causeOf looks for it. nil: nothing below the run has an error.
func causeOf(run *Span, below children) *cause {
	var out cause
	for _, p := range below[run.ID] {
		// A tool's error goes to the model, and the run goes on.
		if text(p.Attributes, "error.type") != "" && !strings.HasPrefix(p.Name, "execute_tool") && (out.part == nil || p.End.After(out.part.End)) {
			out.part = p
		}
	}
	if out.part == nil {
		return nil
	}
	out.attempts, _ = out.part.Attributes["magi.provider.attempts"].(int64)
	for _, p := range below.of(out.part.ID) {
		if p.Name == "magi.provider.attempt" && (out.attempt == nil || p.End.After(out.attempt.End)) {
			out.attempt = p
		}
	}
	return &out
}

// String is the cause in words.
func (f *cause) String() string {
	if f == nil {
		return ""
	}
	out := fmt.Sprintf("%s ended with %s", f.part.Name, text(f.part.Attributes, "error.type"))
	if f.attempt == nil {
		return out
	}
	n, _ := f.attempt.Attributes["magi.attempt"].(int64)
	out += fmt.Sprintf("; attempt %d of %d", n, max(f.attempts, n))
	status, answered := f.attempt.Attributes["http.response.status_code"].(int64)
	phase := text(f.attempt.Attributes, "magi.attempt.phase")
	switch {
	case answered:
		out += fmt.Sprintf(": HTTP status %d", status)
	case phase != "":
		out += ": no answer, in the phase " + phase
	}
	if answered && status < 300 && phase != "" {
		out += ", in the phase " + phase
	}
	return out
}

// error is the error.type of what failed, "" when nothing has one.
func (f *cause) error() string {
	if f == nil {
		return ""
	}
	return text(f.part.Attributes, "error.type")
}

// evidence are the places of what failed.
func (f *cause) evidence(c *Capture) (out []Evidence) {
	if f != nil {
		out = append(out, f.part.evidence(c))
		if f.attempt != nil {
			out = append(out, f.attempt.evidence(c))
		}
	}
	return out
}

// during names the runs that were under way in the time of points, "" for none or
// too many to name.
func (a *Analysis) during(points []*Point) string {
	var names []string
	for i := range a.Runs {
		r := &a.Runs[i]
		if len(points) <= maxEvidence && slices.ContainsFunc(points, func(p *Point) bool { return !r.span.Start.After(p.To) && !r.span.End.Before(p.From) }) {
			names = append(names, fmt.Sprint(r.Seq))
		}
	}
	if len(names) == 0 || len(names) > 3 {
		return ""
	}
	if len(names) == 1 {
		return " (during run " + names[0] + ")"
	}
	return " (during runs " + strings.Join(names, ", ") + ")"
}
