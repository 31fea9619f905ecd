package reader

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"magicode/telemetry"
)

// begun are all spans that began: the ended ones, and those that only their records
// tell of.
func (a *Analysis) begun(c *Capture) iter.Seq[*Span] {
	return func(yield func(*Span) bool) {
		for _, spans := range [][]Span{c.Spans, a.opened} {
			for i := range spans {
				if !yield(&spans[i]) {
					return
				}
			}
		}
	}
}

// open finds the spans that began and did not end: those that only their records
// tell of, and those that the exit cut off.
func (a *Analysis) open(c *Capture) {
	a.opened = opened(c, a.Exit != nil)
	above := map[string]string{}
	for s := range a.begun(c) {
		if s.unended() {
			a.Unfinished = append(a.Unfinished, unfinished(s))
			above[s.ID] = s.Parent
		}
	}
	deep := depths(above)
	for i := range a.Unfinished {
		if d, ok := deep[a.Unfinished[i].span.Parent]; ok {
			a.Unfinished[i].Depth = d + 1
		}
	}
	slices.SortStableFunc(a.Unfinished, func(x, y Unfinished) int { return cmp.Or(cmp.Compare(y.Depth, x.Depth), cmp.Compare(x.Age, y.Age)) })
}

// opened are the spans without an end, each from the records that tell of it: what
// the later ones say of it, how far it came and who it is about, counts. exited: the
// capture has its exit record.
func opened(c *Capture, exited bool) []Span {
	ended := make(map[string]bool, len(c.Spans))
	for i := range c.Spans {
		ended[c.Spans[i].ID] = true
	}
	at := map[string]int{}
	var out []Span
	var latest []time.Time
	for i := range c.Records {
		r := &c.Records[i]
		name := text(r.Attributes, "magi.span.name")
		if ended[r.SpanID] || r.SpanID == "" || !strings.HasPrefix(r.Name, "magi.span.") {
			continue
		}
		k, known := at[r.SpanID]
		if !known {
			k = len(out)
			at[r.SpanID] = k
			out = append(out, Span{ID: r.SpanID, Trace: r.Trace, Start: began(r), End: c.Last, Attributes: map[string]any{}, open: true, at: r.at})
			latest = append(latest, time.Time{})
		}
		s := &out[k]
		s.Name, s.Parent = cmp.Or(name, s.Name), cmp.Or(text(r.Attributes, "magi.span.parent"), s.Parent)
		latest[k] = later(latest[k], r.Time)
		if e := text(r.Attributes, "magi.event.name"); e != "" {
			s.Events = append(s.Events, Event{e, r.Time})
		}
		maps.Copy(s.Attributes, r.Attributes)
	}
	return c.surelyOpen(out, latest, exited)
}

// began is when the span of a record began, as far as the record knows.
func began(r *Record) time.Time {
	age, _ := r.Attributes["magi.span.age_ms"].(int64)
	return r.Time.Add(-time.Duration(age) * time.Millisecond)
}

// surelyOpen leaves out spans whose ends may have been in a segment, or a file, that is gone: of
// a child that ended, all of them, since what it left open was cut off and stands at
// its end; of another one those that nothing is known of since the newest part
// begins, unless something below them is open.
func (c *Capture) surelyOpen(spans []Span, latest []time.Time, exited bool) []Span {
	first, partly := c.gap["traces"]
	if _, any := c.Signals["traces"]; !any {
		first, partly = len(c.names), true
	}
	if !partly {
		return spans
	}
	if exited {
		return nil
	}
	resumed := c.Last
	for i := range c.Spans {
		if s := &c.Spans[i]; int(s.at.file) >= first && s.End.Before(resumed) {
			resumed = s.End
		}
	}
	at := make(map[string]int, len(spans))
	for i := range spans {
		at[spans[i].ID] = i
	}
	sure := make([]bool, len(spans))
	for i := range spans {
		if latest[i].Before(resumed) && spans[i].Name != "magi.child" {
			continue
		}
		for k, ok := i, true; ok && !sure[k]; k, ok = at[spans[k].Parent] {
			sure[k] = true
		}
	}
	out := spans[:0]
	for i := range spans {
		if sure[i] {
			out = append(out, spans[i])
		}
	}
	return out
}

// depths is how many of the spans lie above each, where above leads from one to
// the next. Each is looked at once: a file may hold a chain of all of them, or a
// ring, which is as deep as the way around it.
func depths(above map[string]string) map[string]int {
	out := make(map[string]int, len(above))
	var path []string
	for id := range above {
		path = path[:0]
		for {
			next, open := above[id]
			if _, seen := out[id]; seen || !open {
				break
			}
			out[id] = 0
			path = append(path, id)
			id = next
		}
		for _, p := range slices.Backward(path) {
			if d, open := out[above[p]]; open {
				out[p] = d + 1
			}
		}
	}
	return out
}

// unfinished is a span in words: how long it took, whom it is about, how far it came.
func unfinished(s *Span) Unfinished {
	u := Unfinished{Name: s.Name, Age: millis(s.End.Sub(s.Start)), span: s}
	u.Server = text(s.Attributes, "magi.mcp.server")
	if t := text(s.Attributes, "network.transport"); t != "" && u.Server != "" {
		u.what = u.Server + " (" + carriers[t] + ")"
	}
	for _, key := range []string{"magi.mcp.step", "magi.mcp.phase", "magi.attempt.phase", "magi.worker", telemetry.KeyTool.String(), "magi.session.action"} {
		if v := text(s.Attributes, key); v != "" {
			u.Phase = v
			break
		}
	}
	return u
}

// carriers are the words of .mcp.json for the conventions' transports.
var carriers = map[string]string{"pipe": "stdio", "tcp": "HTTP"}

// describe says in words what a span is about.
func describe(u Unfinished) string {
	what := map[string]string{
		"magi.cleanup.mcp.close": "closing MCP server", "magi.cleanup.mcp.request": "asking the MCP servers to stop",
		"magi.cleanup.join": "waiting for the worker", "magi.cleanup.lease": "releasing the session", "magi.cleanup.drain": "writing what was queued",
		"magi.mcp.connect": "connecting MCP server",
	}[u.Name]
	if what == "" {
		what = u.Name
	}
	switch {
	case u.what != "":
		what += " " + u.what
	case u.Server != "":
		what += " " + u.Server
	}
	if u.Phase != "" {
		what += ", " + u.Phase
	}
	return what
}
