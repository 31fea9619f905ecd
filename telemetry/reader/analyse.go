package reader

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Analysis is what a capture says. It is also the form of --json.
type Analysis struct {
	Version    int          `json:"version"`
	Capture    Source       `json:"capture"`
	Duration   float64      `json:"duration_ms"`
	Exit       *Exit        `json:"exit"`
	Verdicts   []Verdict    `json:"verdicts"`
	Cleanup    []Step       `json:"cleanup"`
	Runs       []Run        `json:"runs"`
	Queues     Queues       `json:"queues"`
	Unfinished []Unfinished `json:"unfinished"`
	Requests   []Request    `json:"requests"`
	Phases     []Phase      `json:"phases"`
	Goroutines string       `json:"goroutines,omitempty"`
	Names      []Name       `json:"names,omitempty"` // with --resolve: the hashes in the capture

	began  time.Time
	dump   Evidence // of the goroutines
	lanes  []lane   // the child's own spans, for the timeline
	opened []Span   // those without an end, of which only records tell
}

// Source is which child the capture is of, and how whole it is.
type Source struct {
	Name     string           `json:"name"`
	Program  string           `json:"program"`
	Platform string           `json:"platform"`
	Runtime  string           `json:"runtime"`
	Bytes    map[string]int64 `json:"bytes"` // by signal
	Torn     int              `json:"torn_lines"`
	Dropped  int64            `json:"dropped"`
	Missing  []string         `json:"missing"`                       // signals without a file
	Rotated  bool             `json:"rotated"`                       // segments between the first and the newest are gone
	Trace    int64            `json:"runtime_trace_bytes,omitempty"` // of the scheduler trace beside the files; it is not read
}

// Exit is how the child ended; nil when the capture does not say.
type Exit struct {
	Code     int64  `json:"code"`
	Reason   string `json:"reason"`
	Detached bool   `json:"detached"`
	at       Evidence
}

// Verdict is one finding, with what it rests on and what to try.
type Verdict struct {
	Code     string     `json:"code"`
	Severe   bool       `json:"severe"`
	Text     string     `json:"text"`
	Details  []string   `json:"details"`  // what the capture says of it, in words
	Evidence []Evidence `json:"evidence"` // where that stands; at most 16 places
	Try      string     `json:"try,omitempty"`
}

// Unfinished is a span without an end of its own.
type Unfinished struct {
	Name   string  `json:"name"`
	Age    float64 `json:"age_ms"` // at least
	Depth  int     `json:"depth"`  // unfinished spans above it
	Phase  string  `json:"phase,omitempty"`
	Server string  `json:"server,omitempty"` // an MCP server
	span   *Span
	what   string
}

// Request is one method's answers.
type Request struct {
	Method  string  `json:"method"`
	Count   int     `json:"count"`
	Slowest float64 `json:"slowest_ms"`
	Failed  int     `json:"failed"`
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Analyse explains a capture. name is what it is called.
func Analyse(name string, c *Capture) *Analysis {
	// None is an empty list for a program, not null.
	a := &Analysis{Version: 1, Cleanup: []Step{}, Runs: []Run{}, Unfinished: []Unfinished{}, Requests: []Request{}}
	a.source(name, c)
	a.exit(c)
	a.open(c)
	a.began = c.Last
	for i := range c.Spans {
		a.began = earlier(a.began, c.Spans[i].Start)
	}
	for i := range c.Records {
		r := &c.Records[i]
		a.began = earlier(a.began, r.Time)
		if r.Name == "magi.goroutines" {
			a.Goroutines, a.dump = r.Body, r.evidence(c)
		}
	}
	a.Duration = millis(c.Last.Sub(a.began))
	a.cleanup(c)
	a.runs(c)
	a.queues(c)
	a.requests(c)
	a.Phases = phases(c, a.Unfinished)
	a.lane(c)
	a.judge(c)
	return a
}

func earlier(a, b time.Time) time.Time {
	if !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (a *Analysis) source(name string, c *Capture) {
	r := c.Resource
	a.Capture = Source{Name: name, Program: strings.TrimSpace(r["service.name"] + " " + r["service.version"]), Runtime: r["process.runtime.version"],
		Platform: strings.Trim(r["os.type"]+"/"+r["host.arch"], "/"), Bytes: c.Signals, Torn: c.Torn, Missing: append([]string{}, c.Missing()...), Rotated: c.Rotated, Trace: c.RuntimeTrace}
	a.Capture.Dropped = max(c.beatDropped(), int64(c.Total("magi.telemetry.dropped")))
}

// exit is what the record of it says, which is in the logs, or the child's own span.
func (a *Analysis) exit(c *Capture) {
	for i := range c.Records {
		if r := &c.Records[i]; r.Name == "magi.exit" {
			code, _ := r.Attributes["process.exit.code"].(int64)
			a.Exit = &Exit{code, text(r.Attributes, "magi.exit.reason"), text(r.Attributes, "magi.detached") == "true", r.evidence(c)}
		}
	}
	if a.Exit != nil {
		return
	}
	for _, s := range c.named("magi.child", func(s *Span) bool { return text(s.Attributes, "magi.exit.reason") != "" }) {
		code, _ := s.Attributes["process.exit.code"].(int64)
		a.Exit = &Exit{code, text(s.Attributes, "magi.exit.reason"), text(s.Attributes, "magi.detached") == "true", s.evidence(c)}
	}
}

// Ending is how the child ended, in words.
func (a *Analysis) Ending() string {
	switch {
	case a.Exit != nil:
		return fmt.Sprintf("exit %d (%s)", a.Exit.Code, a.Exit.Reason)
	case a.missing("logs"):
		return "exit not known"
	}
	return "no exit"
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

// lane is one bar of the child's timeline.
type lane struct {
	name        string
	start, end  time.Time
	open, error bool
}

// maxLanes bounds the timeline.
const maxLanes = 200

// lane collects the spans right below the child, the stages of its start, and what
// never ended.
func (a *Analysis) lane(c *Capture) {
	child := ""
	for i := range c.Spans {
		if c.Spans[i].Name == "magi.child" {
			child = c.Spans[i].ID
		}
	}
	for s := range a.begun(c) {
		switch {
		case s.Name == "magi.child":
		case s.unended():
			a.lanes = append(a.lanes, lane{describe(unfinished(s)), s.Start, s.End, true, false})
		case s.Parent == child || strings.HasPrefix(s.Name, "magi.startup") || s.Name == "magi.mcp.connect" || s.Name == runSpan:
			a.lanes = append(a.lanes, lane{label(s.Name, s.Attributes), s.Start, s.End, false, s.Error})
		}
	}
	slices.SortStableFunc(a.lanes, func(x, y lane) int { return x.start.Compare(y.start) })
	a.lanes = a.lanes[:min(len(a.lanes), maxLanes)]
}

// label is a span's name with what tells it from its like.
func label(name string, attributes map[string]any) string {
	if server := text(attributes, "magi.mcp.server"); server != "" {
		name += " " + server
	}
	if worker := text(attributes, "magi.worker"); worker != "" {
		name += " " + worker
	}
	return name
}
