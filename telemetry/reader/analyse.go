package reader

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"magicode/telemetry"
)

// Analysis is what a capture says. It is also the form of --json.
type Analysis struct {
	Version    int          `json:"version"`
	Program    string       `json:"program"`
	Torn       int          `json:"torn_lines"`
	Duration   float64      `json:"duration_ms"`
	Exit       *Exit        `json:"exit"`
	Verdicts   []Verdict    `json:"verdicts"`
	Cleanup    []Step       `json:"cleanup"`
	Runs       []Run        `json:"runs"`
	Unfinished []Unfinished `json:"unfinished"`
	Requests   []Request    `json:"requests"`
	Goroutines string       `json:"goroutines,omitempty"`
}

// Exit is how the child ended; nil when the capture does not say.
type Exit struct {
	Code     int64  `json:"code"`
	Reason   string `json:"reason"`
	Detached bool   `json:"detached"`
}

// Verdict is one finding, with what it rests on.
type Verdict struct {
	Code     string   `json:"code"`
	Severe   bool     `json:"severe"`
	Text     string   `json:"text"`
	Evidence []string `json:"evidence,omitempty"`
}

// Step is one part of the cleanup. Open steps end where the capture does.
type Step struct {
	Name  string  `json:"name"`
	From  float64 `json:"from_ms"` // since the cleanup began
	Took  float64 `json:"took_ms"`
	Open  bool    `json:"open"`
	start time.Time
}

// Run is one turn.
type Run struct {
	Seq         int64    `json:"seq"`
	Outcome     string   `json:"outcome"` // "" when it never ended
	Persistence string   `json:"persistence"`
	Took        float64  `json:"took_ms"`
	Parts       []string `json:"parts"`
}

// Unfinished is a span without an end of its own.
type Unfinished struct {
	Name  string  `json:"name"`
	Age   float64 `json:"age_ms"` // at least
	Depth int     `json:"depth"`  // unfinished spans above it
	Phase string  `json:"phase,omitempty"`
	id    string
	above string
}

// Request is one method's answers.
type Request struct {
	Method  string  `json:"method"`
	Count   int     `json:"count"`
	Slowest float64 `json:"slowest_ms"`
	Failed  int     `json:"failed"`
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Analyse explains a capture.
func Analyse(c *Capture) *Analysis {
	a := &Analysis{Version: 1, Torn: c.Torn, Program: strings.TrimSpace(c.Resource["service.name"] + " " + c.Resource["service.version"])}
	a.exit(c)
	a.open(c)
	first := c.Last
	for i := range c.Spans {
		if s := &c.Spans[i]; s.Start.Before(first) {
			first = s.Start
		}
	}
	for _, r := range c.Records {
		if !r.Time.IsZero() && r.Time.Before(first) {
			first = r.Time
		}
		if r.Name == "magi.goroutines" {
			a.Goroutines = r.Body
		}
	}
	a.Duration = millis(c.Last.Sub(first))
	a.cleanup(c)
	a.runs(c)
	a.requests(c)
	a.judge(c)
	return a
}

func (a *Analysis) exit(c *Capture) {
	for _, r := range c.Records {
		if r.Name == "magi.exit" {
			code, _ := r.Attributes["process.exit.code"].(int64)
			a.Exit = &Exit{Code: code, Reason: text(r.Attributes, "magi.exit.reason"), Detached: text(r.Attributes, "magi.detached") == "true"}
		}
	}
}

// open finds the spans that began and did not end: those with a start record
// alone, and those that the exit cut off.
func (a *Analysis) open(c *Capture) {
	ended := map[string]bool{}
	for i := range c.Spans {
		s := &c.Spans[i]
		ended[s.ID] = true
		if s.cut() {
			a.Unfinished = append(a.Unfinished, Unfinished{Name: s.Name, Age: millis(s.End.Sub(s.Start)), Phase: phase(s.Attributes), id: s.ID, above: s.Parent})
		}
	}
	for _, r := range c.Records {
		if r.Name != "magi.span.start" || ended[r.SpanID] {
			continue
		}
		ended[r.SpanID] = true
		a.Unfinished = append(a.Unfinished, Unfinished{Name: text(r.Attributes, "magi.span.name"), Age: millis(c.Last.Sub(r.Time)),
			Phase: phase(r.Attributes), id: r.SpanID, above: text(r.Attributes, "magi.span.parent")})
	}
	above := map[string]string{}
	for _, u := range a.Unfinished {
		above[u.id] = u.above
	}
	for i := range a.Unfinished {
		u := &a.Unfinished[i]
		for id := u.above; u.Depth < len(above); u.Depth++ {
			next, ok := above[id]
			if !ok {
				break
			}
			id = next
		}
	}
	slices.SortStableFunc(a.Unfinished, func(x, y Unfinished) int { return cmp.Or(cmp.Compare(y.Depth, x.Depth), cmp.Compare(y.Age, x.Age)) })
}

// phase is how far a span had come, if it says.
func phase(attributes map[string]any) string {
	for _, key := range []string{"magi.mcp.step", "magi.mcp.phase", "magi.attempt.phase", "magi.worker", "magi.mcp.server", telemetry.KeyTool.String()} {
		if s := text(attributes, key); s != "" {
			return s
		}
	}
	return ""
}

func (a *Analysis) cleanup(c *Capture) {
	var began time.Time
	for i := range c.Spans {
		s := &c.Spans[i]
		if strings.HasPrefix(s.Name, "magi.cleanup") && s.Name != "magi.cleanup.snapshot" {
			a.Cleanup = append(a.Cleanup, Step{Name: s.Name, start: s.Start, Took: millis(s.End.Sub(s.Start)), Open: s.cut()})
		}
	}
	for _, r := range c.Records {
		name := text(r.Attributes, "magi.span.name")
		if r.Name == "magi.span.start" && strings.HasPrefix(name, "magi.cleanup") && !slices.ContainsFunc(c.Spans, func(s Span) bool { return s.ID == r.SpanID }) {
			a.Cleanup = append(a.Cleanup, Step{Name: name, start: r.Time, Took: millis(c.Last.Sub(r.Time)), Open: true})
		}
	}
	slices.SortStableFunc(a.Cleanup, func(x, y Step) int { return cmp.Or(x.start.Compare(y.start), len(x.Name)-len(y.Name)) })
	for i := range a.Cleanup {
		if i == 0 {
			began = a.Cleanup[0].start
		}
		a.Cleanup[i].From = millis(a.Cleanup[i].start.Sub(began))
	}
}

const runSpan = "invoke_agent magi-code"

func (a *Analysis) runs(c *Capture) {
	for i := range c.Spans {
		s := &c.Spans[i]
		if s.Name != runSpan {
			continue
		}
		seq, _ := s.Attributes["magi.run.seq"].(int64)
		run := Run{Seq: seq, Outcome: text(s.Attributes, "magi.run.outcome"), Persistence: text(s.Attributes, "magi.run.persistence"), Took: millis(s.End.Sub(s.Start))}
		for k := range c.Spans {
			if p := &c.Spans[k]; p.Parent == s.ID && (strings.HasPrefix(p.Name, "chat") || strings.HasPrefix(p.Name, "execute_tool")) {
				run.Parts = append(run.Parts, fmt.Sprintf("%s %.0f ms", p.Name, millis(p.End.Sub(p.Start))))
			}
		}
		a.Runs = append(a.Runs, run)
	}
	slices.SortFunc(a.Runs, func(x, y Run) int { return cmp.Compare(x.Seq, y.Seq) })
}

func (a *Analysis) requests(c *Capture) {
	at := map[string]int{}
	for i := range c.Spans {
		s := &c.Spans[i]
		method := text(s.Attributes, "rpc.method")
		if method == "" {
			continue
		}
		k, ok := at[method]
		if !ok {
			k = len(a.Requests)
			at[method] = k
			a.Requests = append(a.Requests, Request{Method: method})
		}
		r := &a.Requests[k]
		r.Count++
		r.Slowest = max(r.Slowest, millis(s.End.Sub(s.Start)))
		if text(s.Attributes, "error.type") != "" {
			r.Failed++
		}
	}
}
