package reader

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// Bounds of what is read (telemetry.md 11.2).
const (
	maxLine    = 1 << 20
	maxBytes   = 512 << 20
	maxRecords = 2_000_000
	// maxInside bounds the attributes, events, links, buckets and values of lists of
	// all records: three bytes of a line can be forty in memory. A capture that fills
	// maxBytes has half as many.
	maxInside = 16_000_000
)

// ErrTooLarge: the capture has more than can be a capture.
var ErrTooLarge = errors.New("the capture is too large")

// ErrForeign: there are lines, and none is one of a capture.
var ErrForeign = errors.New("this is no capture: no line of it is one that magi-code writes")

// Whole reports what keeps what was read from being a capture.
func (c *Capture) Whole() error {
	if c.Torn > 0 && len(c.Spans)+len(c.Records)+len(c.Points) == 0 {
		return ErrForeign
	}
	return nil
}

// Signals are what the files of a capture hold, each its own. A child makes the first
// of all three before it writes into any: one that is not there was taken away.
func Signals() []string { return []string{"traces", "logs", "metrics"} }

// Missing are the signals that no file was read of.
func (c *Capture) Missing() (out []string) {
	for _, signal := range Signals() {
		if _, ok := c.Signals[signal]; !ok {
			out = append(out, signal)
		}
	}
	return out
}

// Capture is what was read, in the order of the files.
type Capture struct {
	Resource map[string]string
	Spans    []Span // ended ones
	Records  []Record
	Points   []Point          // of the metrics, in the order of the files
	Signals  map[string]int64 // bytes of the files, by what they hold: traces, logs, metrics
	Rotated  bool             // there are segments missing between the first and the others
	Torn     int              // lines that are no JSON object
	// RuntimeTrace is how many bytes the runtime trace beside the files has.
	RuntimeTrace int64
	Bytes        int64     // that were read
	Last         time.Time // the last time that anything tells

	inside int      // see maxInside
	names  []string // of the files
	lineNo int32    // that is read, from 1

	newest map[string]int // the last segment of each signal
	gap    map[string]int // of each signal: the first file behind segments that are missing
}

// place is where something was read: which file, and which line of it.
type place struct{ file, line int32 }

// Evidence is where in a capture something stands.
type Evidence struct {
	File   string `json:"file"`
	Line   int    `json:"line"`           // from 1
	Record string `json:"record"`         // name of the span, record or metric
	Span   string `json:"span,omitempty"` // its id: a line can hold several
}

func (c *Capture) here() place { return place{int32(len(c.names) - 1), c.lineNo} }

func (c *Capture) evidence(at place, record, span string) Evidence {
	e := Evidence{Line: int(at.line), Record: record, Span: span}
	if int(at.file) < len(c.names) {
		e.File = c.names[at.file]
	}
	return e
}

// Span is one ended span, or one that only its records tell of.
type Span struct {
	Name, ID, Parent, Trace string
	Start, End              time.Time
	Error                   bool
	Attributes              map[string]any
	Events                  []Event
	Links                   []string // ids of spans

	open bool // it has no end: End is that of the capture
	at   place
}

// unended reports a span that nothing but the exit, if anything, has ended.
func (s *Span) unended() bool { return s.open || text(s.Attributes, "magi.span.cut") == "true" }

func (s *Span) evidence(c *Capture) Evidence { return c.evidence(s.at, s.Name, s.ID) }

// Event is something that happened inside a span.
type Event struct {
	Name string
	Time time.Time
}

// Record is one record of the log.
type Record struct {
	Name, SpanID, Trace string
	Time                time.Time
	Attributes          map[string]any
	Body                string

	at place
}

func (r *Record) evidence(c *Capture) Evidence { return c.evidence(r.at, r.Name, r.SpanID) }

// Text is an attribute as text, "" when there is none.
func text(attributes map[string]any, key string) string {
	switch v := attributes[key].(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// Read adds the lines of one file. name is the file's, whose second part is its
// signal, or the signal alone: traces, logs or metrics. A line that is no JSON is
// counted and skipped; unknown keys and records are fine.
func (c *Capture) Read(r io.Reader, name string) error {
	if c.Signals == nil {
		c.Signals, c.newest, c.gap = map[string]int64{}, map[string]int{}, map[string]int{}
	}
	signal := c.begin(name)
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, n, err := readLine(lines)
		c.lineNo++
		c.Bytes += n
		c.Signals[signal] += int64(len(line)) + 1
		if c.Bytes > maxBytes || len(c.Spans)+len(c.Records)+len(c.Points) > maxRecords || c.inside > maxInside {
			return ErrTooLarge
		}
		if len(line) > 0 && !c.line(line) {
			c.Torn++
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// begin notes which file is read, and whether segments are missing before it.
func (c *Capture) begin(name string) (signal string) {
	signal, n := Segment(name)
	if before, ok := c.newest[signal]; !ok && n > 0 || ok && n > before+1 {
		c.Rotated = true
		c.gap[signal] = len(c.names)
	}
	c.newest[signal] = n
	c.names, c.lineNo = append(c.names, name), 0
	return signal
}

// Segment is what a file's name says: its signal, and the number of its segment, 0
// for the first.
func Segment(name string) (signal string, n int) {
	parts := strings.Split(name, ".")
	if len(parts) == 1 {
		return name, 0
	}
	if len(parts) > 3 {
		n, _ = strconv.Atoi(parts[2]) // what is no number is no segment
	}
	return parts[1], n
}

// readLine returns a line without its end, and how many bytes were read; one that is
// too long comes back as its beginning, which is no JSON.
func readLine(r *bufio.Reader) (out []byte, size int64, err error) {
	for size <= maxBytes {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		if room := maxLine - len(out); len(part) > room {
			out = append(out, part[:room]...)
		} else {
			out = append(out, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if n := len(out); n > 0 && out[n-1] == '\n' {
			out = out[:n-1]
		}
		return out, size, err
	}
	return out, size, nil
}

type wireValue struct {
	StringValue *string
	IntValue    *json.RawMessage
	BoolValue   *bool
	DoubleValue *float64
	ArrayValue  *struct{ Values []wireValue }
}

// value is a text, a number, a yes or no, or a list of them; nil for nothing.
func (v *wireValue) value() any {
	switch {
	case v.StringValue != nil:
		return *v.StringValue
	case v.BoolValue != nil:
		return *v.BoolValue
	case v.DoubleValue != nil:
		return *v.DoubleValue
	case v.IntValue != nil:
		return integer(*v.IntValue)
	case v.ArrayValue != nil:
		var list []any
		for i := range v.ArrayValue.Values {
			if v.ArrayValue.Values[i].ArrayValue == nil { // none of ours lies in another
				list = append(list, v.ArrayValue.Values[i].value())
			}
		}
		return list
	}
	return nil
}

type wireAttributes []struct {
	Key   string
	Value wireValue
}

// values are attributes of a record that is kept: they count.
func (c *Capture) values(w wireAttributes) map[string]any {
	c.inside += len(w)
	for i := range w {
		if list := w[i].Value.ArrayValue; list != nil {
			c.inside += len(list.Values)
		}
	}
	return w.values()
}

func (w wireAttributes) values() map[string]any {
	out := make(map[string]any, len(w))
	for _, a := range w {
		if v := a.Value.value(); v != nil {
			out[a.Key] = v
		}
	}
	return out
}

// integer reads a number, quoted or not.
func integer(raw json.RawMessage) int64 {
	s := string(raw)
	if unquoted, err := strconv.Unquote(s); err == nil {
		s = unquoted
	}
	n, _ := strconv.ParseInt(s, 10, 64) // what is no number counts nothing
	return n
}

func nanos(s string) time.Time {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

type wireResource struct{ Attributes wireAttributes }

type wireLine struct {
	ResourceSpans []struct {
		Resource   wireResource
		ScopeSpans []struct {
			Spans []struct {
				Name, TraceID, SpanID, ParentSpanID string
				StartTimeUnixNano, EndTimeUnixNano  string
				Attributes                          wireAttributes
				Status                              struct{ Code int }
				Events                              []struct{ TimeUnixNano, Name string }
				Links                               []struct{ SpanID string }
			}
		}
	}
	ResourceLogs []struct {
		Resource  wireResource
		ScopeLogs []struct {
			LogRecords []struct {
				EventName, TraceID, SpanID, TimeUnixNano string
				Attributes                               wireAttributes
				Body                                     wireValue
			}
		}
	}
	ResourceMetrics []wireMetrics
}

// line takes one line in. false: it is none.
func (c *Capture) line(line []byte) bool {
	var w wireLine
	if json.Unmarshal(line, &w) != nil {
		return false
	}
	for _, r := range w.ResourceSpans {
		c.resource(r.Resource)
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				span := Span{Name: s.Name, ID: s.SpanID, Parent: s.ParentSpanID, Trace: s.TraceID,
					Start: nanos(s.StartTimeUnixNano), End: nanos(s.EndTimeUnixNano), Error: s.Status.Code == 2, Attributes: c.values(s.Attributes), at: c.here()}
				c.inside += len(s.Events) + len(s.Links)
				for _, e := range s.Events {
					span.Events = append(span.Events, Event{e.Name, nanos(e.TimeUnixNano)})
				}
				for _, l := range s.Links {
					span.Links = append(span.Links, l.SpanID)
				}
				c.Spans = append(c.Spans, span)
				c.seen(nanos(s.EndTimeUnixNano))
			}
		}
	}
	for _, r := range w.ResourceLogs {
		c.resource(r.Resource)
		for _, scope := range r.ScopeLogs {
			for _, l := range scope.LogRecords {
				rec := Record{Name: l.EventName, SpanID: l.SpanID, Trace: l.TraceID, Time: nanos(l.TimeUnixNano), Attributes: c.values(l.Attributes), at: c.here()}
				if l.Body.StringValue != nil {
					rec.Body = *l.Body.StringValue
				}
				c.Records = append(c.Records, rec)
				c.seen(rec.Time)
			}
		}
	}
	for i := range w.ResourceMetrics {
		c.metrics(&w.ResourceMetrics[i])
	}
	return w.ResourceSpans != nil || w.ResourceLogs != nil || w.ResourceMetrics != nil
}

func (c *Capture) resource(r wireResource) {
	if c.Resource != nil {
		return
	}
	c.Resource = map[string]string{}
	for k, v := range r.Attributes.values() {
		if s, ok := v.(string); ok {
			c.Resource[k] = s
		}
	}
}

func (c *Capture) seen(t time.Time) {
	if t.After(c.Last) {
		c.Last = t
	}
}
