package otlpjson

import (
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"magicode/telemetry/point"
)

// delta and cumulative are OTLP's temporalities.
const delta = 1

// AppendMetrics appends one line with all metrics that have points: what was
// counted between two times.
func (e *Encoder) AppendMetrics(dst []byte, metrics []point.Metric, from, to time.Time) []byte {
	begin := len(dst)
	dst = e.open(dst, "resourceMetrics", "scopeMetrics", "metrics")
	first := true
	for i := range metrics {
		m := &metrics[i]
		if len(m.Points) == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = e.metric(dst, m, from, to)
	}
	if first {
		return dst[:begin]
	}
	return closeLine(dst)
}

func (e *Encoder) metric(dst []byte, m *point.Metric, from, to time.Time) []byte {
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
	for i := range m.Points {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.point(dst, m, &m.Points[i], from, to)
	}
	return append(dst, "]}}"...)
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
