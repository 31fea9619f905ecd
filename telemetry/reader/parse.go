package reader

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"
)

// Bounds of what is read (telemetry.md 11.2).
const (
	maxLine    = 1 << 20
	maxBytes   = 512 << 20
	maxRecords = 2_000_000
)

// ErrTooLarge: the capture has more than can be a capture.
var ErrTooLarge = errors.New("the capture is too large")

// Capture is what was read, in the order of the files.
type Capture struct {
	Resource map[string]string
	Spans    []Span // ended ones
	Records  []Record
	Torn     int // lines that are no JSON object
	Bytes    int64
	Last     time.Time // the last time that anything tells
}

// Span is one ended span.
type Span struct {
	Name, ID, Parent, Trace string
	Start, End              time.Time
	Error                   bool
	Attributes              map[string]any
}

// Record is one record of the log.
type Record struct {
	Name, SpanID, Trace string
	Time                time.Time
	Attributes          map[string]any
	Body                string
}

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

func (s *Span) cut() bool { return text(s.Attributes, "magi.span.cut") == "true" }

// Read adds the lines of one file. A line that is no JSON is counted and
// skipped; unknown keys and records are fine.
func (c *Capture) Read(r io.Reader) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(lines)
		c.Bytes += int64(len(line))
		if c.Bytes > maxBytes || len(c.Spans)+len(c.Records) > maxRecords {
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

// readLine returns a line without its end; one that is too long comes back as
// its beginning, which is no JSON.
func readLine(r *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		part, err := r.ReadSlice('\n')
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
		return out, err
	}
}

type wireValue struct {
	StringValue *string
	IntValue    *json.RawMessage
	BoolValue   *bool
	DoubleValue *float64
}

type wireAttributes []struct {
	Key   string
	Value wireValue
}

func (w wireAttributes) values() map[string]any {
	out := make(map[string]any, len(w))
	for _, a := range w {
		switch v := a.Value; {
		case v.StringValue != nil:
			out[a.Key] = *v.StringValue
		case v.BoolValue != nil:
			out[a.Key] = *v.BoolValue
		case v.DoubleValue != nil:
			out[a.Key] = *v.DoubleValue
		case v.IntValue != nil:
			out[a.Key] = integer(*v.IntValue)
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
	ResourceMetrics []json.RawMessage
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
				c.Spans = append(c.Spans, Span{Name: s.Name, ID: s.SpanID, Parent: s.ParentSpanID, Trace: s.TraceID,
					Start: nanos(s.StartTimeUnixNano), End: nanos(s.EndTimeUnixNano), Error: s.Status.Code == 2, Attributes: s.Attributes.values()})
				c.seen(nanos(s.EndTimeUnixNano))
			}
		}
	}
	for _, r := range w.ResourceLogs {
		c.resource(r.Resource)
		for _, scope := range r.ScopeLogs {
			for _, l := range scope.LogRecords {
				rec := Record{Name: l.EventName, SpanID: l.SpanID, Trace: l.TraceID, Time: nanos(l.TimeUnixNano), Attributes: l.Attributes.values()}
				if l.Body.StringValue != nil {
					rec.Body = *l.Body.StringValue
				}
				c.Records = append(c.Records, rec)
				c.seen(rec.Time)
			}
		}
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
