package otlpjson

import (
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"magicode/telemetry/point"
)

// delta and cumulative are OTLP's temporalities.
const delta = 1

// metricsLine is when a line with metrics is long enough. A child with many series
// has several lines: none may be longer than readers take, or than a segment of a
// small capture.
const metricsLine = 64 << 10

// AppendMetrics appends all metrics that have points, what was counted between two
// times: one line, or several where there are many.
func (e *Encoder) AppendMetrics(dst []byte, metrics []point.Metric, from, to time.Time) []byte {
	begin, open := 0, false
	for _, m := range metrics {
		for len(m.Points) > 0 {
			if open {
				dst = append(dst, ',')
			} else {
				begin, open = len(dst), true
				dst = e.open(dst, "resourceMetrics", "scopeMetrics", "metrics")
			}
			n := 0
			dst, n = e.metric(dst, &m, from, to, begin+metricsLine)
			m.Points = m.Points[n:]
			if len(dst) >= begin+metricsLine {
				dst, open = closeLine(dst), false
			}
		}
	}
	if open {
		dst = closeLine(dst)
	}
	return dst
}

// metric appends the first points of one, until dst has this length, and returns
// how many.
func (e *Encoder) metric(dst []byte, m *point.Metric, from, to time.Time, until int) (out []byte, n int) {
	dst = appendString(append(dst, `{"name":`...), m.Name)
	dst = appendString(append(dst, `,"unit":`...), m.Unit)
	switch m.Type {
	case point.Counter:
		dst = append(dst, `,"sum":{"aggregationTemporality":1,"isMonotonic":true,"dataPoints":[`...)
	case point.Gauge:
		dst = append(dst, `,"gauge":{"dataPoints":[`...)
	case point.Histogram:
		dst = append(dst, `,"histogram":{"aggregationTemporality":`...)
		dst = append(strconv.AppendInt(dst, delta, 10), `,"dataPoints":[`...)
	}
	for n < len(m.Points) && (n == 0 || len(dst) < until) {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = e.point(dst, m, &m.Points[n], from, to)
		n++
	}
	return append(dst, "]}}"...), n
}

func (e *Encoder) point(dst []byte, m *point.Metric, p *point.Point, from, to time.Time) []byte {
	dst = append(dst, '{')
	kvs := make([]attribute.KeyValue, 0, len(p.Labels))
	for _, l := range p.Labels {
		kvs = append(kvs, l.Attribute())
	}
	dst = e.attributes(dst, RecordMetric, kvs)
	dst = appendTime(append(dst, `,"startTimeUnixNano":`...), from)
	dst = appendTime(append(dst, `,"timeUnixNano":`...), to)
	if m.Type != point.Histogram {
		return append(appendFloat(append(dst, `,"asDouble":`...), p.Value), '}')
	}
	dst = append(strconv.AppendUint(append(dst, `,"count":"`...), p.Count, 10), '"')
	dst = appendFloat(append(dst, `,"sum":`...), p.Sum)
	dst = append(dst, `,"bucketCounts":[`...)
	for i, n := range p.Buckets {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(strconv.AppendUint(append(dst, '"'), n, 10), '"')
	}
	dst = append(dst, `],"explicitBounds":[`...)
	for i, b := range m.Bounds {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendFloat(dst, b)
	}
	return append(dst, "]}"...)
}
