package reader

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"magicode/telemetry"
)

// Foreign is something in a capture that this program does not write.
type Foreign struct {
	Line int    // from 1
	What string // where in the line, and what is wrong with it; never the value
}

// strict is the exact form of our lines: another key makes it none.
type strict struct {
	ResourceSpans   []strictResource `json:"resourceSpans"`
	ResourceLogs    []strictResource `json:"resourceLogs"`
	ResourceMetrics []strictResource `json:"resourceMetrics"`
}

type strictResource struct {
	Resource struct {
		Attributes []strictAttribute `json:"attributes"`
	} `json:"resource"`
	ScopeSpans   []strictScope `json:"scopeSpans"`
	ScopeLogs    []strictScope `json:"scopeLogs"`
	ScopeMetrics []strictScope `json:"scopeMetrics"`
}

type strictScope struct {
	Scope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"scope"`
	Spans      []strictSpan   `json:"spans"`
	LogRecords []strictRecord `json:"logRecords"`
	Metrics    []strictMetric `json:"metrics"`
}

type strictAttribute struct {
	Key   string      `json:"key"`
	Value strictValue `json:"value"`
}

type strictValue struct {
	StringValue *string  `json:"stringValue"`
	BoolValue   *bool    `json:"boolValue"`
	IntValue    *string  `json:"intValue"`
	DoubleValue *float64 `json:"doubleValue"`
	ArrayValue  *struct {
		Values []strictValue `json:"values"`
	} `json:"arrayValue"`
}

type strictSpan struct {
	TraceID           string            `json:"traceId"`
	SpanID            string            `json:"spanId"`
	ParentSpanID      string            `json:"parentSpanId"`
	Flags             int               `json:"flags"`
	Name              string            `json:"name"`
	Kind              int               `json:"kind"`
	StartTimeUnixNano string            `json:"startTimeUnixNano"`
	EndTimeUnixNano   string            `json:"endTimeUnixNano"`
	Attributes        []strictAttribute `json:"attributes"`
	Events            []struct {
		TimeUnixNano string            `json:"timeUnixNano"`
		Name         string            `json:"name"`
		Attributes   []strictAttribute `json:"attributes"`
	} `json:"events"`
	Links []struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
	} `json:"links"`
	Status struct {
		Code int `json:"code"`
	} `json:"status"`
}

type strictRecord struct {
	TimeUnixNano   string            `json:"timeUnixNano"`
	SeverityNumber int               `json:"severityNumber"`
	EventName      string            `json:"eventName"`
	TraceID        string            `json:"traceId"`
	SpanID         string            `json:"spanId"`
	Body           strictValue       `json:"body"`
	Attributes     []strictAttribute `json:"attributes"`
}

type strictMetric struct {
	Name      string      `json:"name"`
	Unit      string      `json:"unit"`
	Sum       *strictData `json:"sum"`
	Gauge     *strictData `json:"gauge"`
	Histogram *strictData `json:"histogram"`
}

type strictData struct {
	AggregationTemporality int  `json:"aggregationTemporality"`
	IsMonotonic            bool `json:"isMonotonic"`
	DataPoints             []struct {
		Attributes        []strictAttribute `json:"attributes"`
		StartTimeUnixNano string            `json:"startTimeUnixNano"`
		TimeUnixNano      string            `json:"timeUnixNano"`
		AsDouble          float64           `json:"asDouble"`
		Count             string            `json:"count"`
		Sum               float64           `json:"sum"`
		BucketCounts      []string          `json:"bucketCounts"`
		ExplicitBounds    []float64         `json:"explicitBounds"`
	} `json:"dataPoints"`
}

// audit is the check of one file.
type audit struct {
	line    int
	foreign []Foreign
}

// maxForeign bounds what a check reports of one file.
const maxForeign = 100

// Check holds every key and value of a file against the lists that are asked
// before anything is written. A last line without an end was cut off, not
// changed, and is skipped. What it reports holds nothing of the file.
func Check(data []byte) []Foreign {
	a := new(audit)
	for len(data) > 0 && len(a.foreign) < maxForeign {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		a.line++
		if len(line) > maxLine {
			a.add("is longer than a line of a capture")
			continue
		}
		var s strict
		if err := json.Unmarshal(line, &s, json.RejectUnknownMembers(true)); err != nil {
			if whole {
				a.add("is no line of a capture, or has keys or types that none has")
			}
			continue
		}
		a.resources(s.ResourceSpans)
		a.resources(s.ResourceLogs)
		a.resources(s.ResourceMetrics)
	}
	return a.foreign
}

func (a *audit) add(format string, args ...any) {
	if len(a.foreign) < maxForeign {
		a.foreign = append(a.foreign, Foreign{a.line, fmt.Sprintf(format, args...)})
	}
}

// must reports where, unless it is fine.
func (a *audit) must(fine bool, where string) {
	if !fine {
		a.add("%s is none of ours", where)
	}
}

func (a *audit) resources(list []strictResource) {
	for i := range list {
		r := &list[i]
		a.attributes("resource", r.Resource.Attributes)
		for _, scopes := range [][]strictScope{r.ScopeSpans, r.ScopeLogs, r.ScopeMetrics} {
			for k := range scopes {
				a.scope(&scopes[k])
			}
		}
	}
}

func (a *audit) scope(s *strictScope) {
	a.must(telemetry.AuditScope(s.Scope.Name, s.Scope.Version), "the name or version of a scope")
	for i := range s.Spans {
		a.span(&s.Spans[i])
	}
	for i := range s.LogRecords {
		a.record(&s.LogRecords[i])
	}
	for i := range s.Metrics {
		a.metric(&s.Metrics[i])
	}
}

func (a *audit) span(s *strictSpan) {
	a.must(telemetry.AuditSpanName(s.Name), "the name of a span")
	a.ids(s.TraceID, s.SpanID, s.ParentSpanID)
	a.must(number(s.StartTimeUnixNano) && number(s.EndTimeUnixNano), "a time")
	a.attributes("span", s.Attributes)
	for _, e := range s.Events {
		a.must(telemetry.AuditEventName(e.Name), "the name of an event")
		a.must(number(e.TimeUnixNano), "a time")
		a.attributes("event", e.Attributes)
	}
	for _, l := range s.Links {
		a.ids(l.TraceID, l.SpanID)
	}
}

func (a *audit) record(r *strictRecord) {
	a.must(telemetry.AuditRecordName(r.EventName), "the name of a record")
	a.must(number(r.TimeUnixNano), "a time")
	a.ids(r.TraceID, r.SpanID)
	a.attributes("record", r.Attributes)
	if r.Body.StringValue != nil {
		a.must(cleanDump(*r.Body.StringValue), "a body")
	}
	a.must(r.Body.BoolValue == nil && r.Body.IntValue == nil && r.Body.DoubleValue == nil && r.Body.ArrayValue == nil, "a body")
}

func (a *audit) metric(m *strictMetric) {
	a.must(telemetry.AuditMetric(m.Name, m.Unit), "the name or unit of a metric")
	for _, d := range []*strictData{m.Sum, m.Gauge, m.Histogram} {
		if d == nil {
			continue
		}
		for i := range d.DataPoints {
			p := &d.DataPoints[i]
			a.attributes("metric", p.Attributes)
			a.must(number(p.StartTimeUnixNano) && number(p.TimeUnixNano) && number(p.Count), "a time or a count")
			for _, n := range p.BucketCounts {
				a.must(number(n), "a count")
			}
		}
	}
}

func (a *audit) attributes(where string, list []strictAttribute) {
	for i := range list {
		v, ok := list[i].Value.plain()
		a.must(ok && telemetry.Audit(where == "resource", list[i].Key, v), "an attribute of a "+where)
	}
}

// plain is the value as telemetry.Audit takes it.
func (v *strictValue) plain() (any, bool) {
	switch {
	case v.StringValue != nil:
		return *v.StringValue, true
	case v.BoolValue != nil:
		return *v.BoolValue, true
	case v.IntValue != nil:
		return int64(0), number(strings.TrimPrefix(*v.IntValue, "-"))
	case v.ArrayValue != nil:
		return v.list()
	}
	return nil, false
}

// list is a list of texts, or of numbers.
func (v *strictValue) list() (any, bool) {
	var texts []string
	var numbers []int64
	for i := range v.ArrayValue.Values {
		x := &v.ArrayValue.Values[i]
		switch {
		case x.StringValue != nil:
			texts = append(texts, *x.StringValue)
		case x.IntValue != nil && number(*x.IntValue):
			numbers = append(numbers, 0)
		default:
			return nil, false
		}
	}
	if len(texts) > 0 {
		return texts, len(numbers) == 0
	}
	return numbers, true
}

func (a *audit) ids(list ...string) {
	for _, id := range list {
		a.must(len(id) <= 32 && strings.Trim(id, "0123456789abcdef") == "", "an id")
	}
}

func number(s string) bool { return len(s) <= 20 && strings.Trim(s, "0123456789") == "" }

// dumpLine is a line of a cleaned goroutine dump: a header, or a function of a
// package with the name of its file. No address, no folder, no text. It is made
// on first use, not at every start (decision 38).
var dumpLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(goroutine \d+ (gp=\S+ m=\S+ )?\[[a-zA-Z0-9 ,.()]{1,80}\]( ×\d+)?|  (created by )?[\pL\pN_.*()\[\],{}·%\-]{1,200}( ([\pL\pN_.\-]{1,100}|<autogenerated>):\d+)?|)$`)
})

func cleanDump(s string) bool {
	for line := range strings.Lines(s) {
		if !dumpLine().MatchString(strings.TrimRight(line, "\n")) || strings.Contains(line, "0x") {
			return false
		}
	}
	return true
}
