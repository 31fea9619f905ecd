// Package point is the form in which metrics leave their instruments: one
// snapshot, cumulative since the start. It knows neither where values come from
// nor where they go.
package point

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// Type is what a metric's points hold.
type Type uint8

// Types.
const (
	Counter Type = iota
	Gauge
	Histogram
)

// Label is one attribute of a point.
type Label struct{ Key, Value string }

// Overflow is the attribute of the series for what came beyond the bound on a
// metric's series: it is the one that is true, not a text.
const Overflow = "otel.metric.overflow"

// Attribute is the label as OpenTelemetry has it.
func (l Label) Attribute() attribute.KeyValue {
	if l.Key == Overflow {
		return attribute.Bool(Overflow, true)
	}
	return attribute.String(l.Key, l.Value)
}

// Metric is one metric with all its points.
type Metric struct {
	Name string
	Unit string // UCUM
	Type Type
	// Bounds are a histogram's upper bounds, ascending, inclusive.
	Bounds []float64
	Points []Point
}

// Point is one value.
type Point struct {
	Labels []Label
	Value  float64 // of a counter or gauge
	// Of a histogram: Buckets has one more element than Bounds, each not
	// including the ones before it.
	Buckets []uint64
	Count   uint64
	Sum     float64
	// Exemplars are single values of a histogram, at most one of each bucket.
	Exemplars []Exemplar
}

// Exemplar is a value and the span that it was taken of.
type Exemplar struct {
	Value float64
	At    time.Time // the zero time: none
	Trace [16]byte
	Span  [8]byte
}
