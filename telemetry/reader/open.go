package reader

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"magicode/telemetry"
)

// open finds the spans that began and did not end: those with a start record
// alone, and those that the exit cut off. What later records say of a span,
// how far it came and who it is about, counts.
func (a *Analysis) open(c *Capture) {
	ended := map[string]bool{}
	for i := range c.Spans {
		s := &c.Spans[i]
		ended[s.ID] = true
		if s.cut() {
			a.Unfinished = append(a.Unfinished, unfinished(s.Name, s.ID, s.Parent, s.Start, s.End, s.Attributes))
		}
	}
	known := told(c)
	for i := range c.Records {
		r := &c.Records[i]
		if r.Name != "magi.span.start" || ended[r.SpanID] {
			continue
		}
		ended[r.SpanID] = true
		attributes := known[r.SpanID]
		a.Unfinished = append(a.Unfinished, unfinished(text(attributes, "magi.span.name"), r.SpanID, text(r.Attributes, "magi.span.parent"), r.Time, c.Last, attributes))
	}
	above := map[string]string{}
	for i := range a.Unfinished {
		above[a.Unfinished[i].id] = a.Unfinished[i].above
	}
	deep := depths(above)
	for i := range a.Unfinished {
		if d, ok := deep[a.Unfinished[i].above]; ok {
			a.Unfinished[i].Depth = d + 1
		}
	}
	slices.SortStableFunc(a.Unfinished, func(x, y Unfinished) int { return cmp.Or(cmp.Compare(y.Depth, x.Depth), cmp.Compare(y.Age, x.Age)) })
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

// told is what all records say of a span, the latest last.
func told(c *Capture) map[string]map[string]any {
	out := map[string]map[string]any{}
	for i := range c.Records {
		r := &c.Records[i]
		if r.SpanID == "" || !strings.HasPrefix(r.Name, "magi.span.") {
			continue
		}
		if out[r.SpanID] == nil {
			out[r.SpanID] = map[string]any{}
		}
		maps.Copy(out[r.SpanID], r.Attributes)
	}
	return out
}

func unfinished(name, id, above string, start, end time.Time, attributes map[string]any) Unfinished {
	u := Unfinished{Name: name, Age: millis(end.Sub(start)), id: id, above: above, start: start}
	u.Server = text(attributes, "magi.mcp.server")
	if t := text(attributes, "network.transport"); t != "" && u.Server != "" {
		u.what = u.Server + " (" + carriers[t] + ")"
	}
	for _, key := range []string{"magi.mcp.step", "magi.mcp.phase", "magi.attempt.phase", "magi.worker", telemetry.KeyTool.String(), "magi.session.action"} {
		if s := text(attributes, key); s != "" {
			u.Phase = s
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
