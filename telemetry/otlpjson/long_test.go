package otlpjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"magicode/telemetry/point"
)

// TestManySeries: metrics with many series are several lines, each of which stands
// alone and is short enough to be read, with every point once and in order.
func TestManySeries(t *testing.T) {
	const points = 513
	bounds := []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	var metrics []point.Metric
	var want []string
	for _, form := range []point.Type{point.Histogram, point.Counter, point.Gauge} {
		m := point.Metric{Name: fmt.Sprint("m", form), Type: form, Bounds: bounds}
		for i := range points {
			p := point.Point{Labels: []point.Label{{Key: "k", Value: fmt.Sprintf("%03d", i)}}, Value: 1, Count: 1}
			if form == point.Histogram {
				p.Buckets = make([]uint64, len(bounds)+1)
			}
			m.Points = append(m.Points, p)
			want = append(want, fmt.Sprintf("%s %03d", m.Name, i))
		}
		metrics = append(metrics, m, point.Metric{Name: "nothing"})
	}
	e := New(nil, "s", "1", func(Record, string, attribute.Value) bool { return true })
	lines := e.AppendMetrics(nil, metrics, time.Unix(1, 0), time.Unix(2, 0))
	var got []string
	n := 0
	for line := range bytes.Lines(lines) {
		n++
		if len(line) > 68<<10 {
			t.Errorf("a line of %d bytes", len(line))
		}
		var l struct {
			ResourceMetrics []struct {
				ScopeMetrics []struct {
					Metrics []struct {
						Name                  string
						Sum, Gauge, Histogram struct {
							DataPoints []struct {
								Attributes []struct{ Value struct{ StringValue string } }
							}
						}
					}
				}
			}
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		for _, m := range l.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			for _, p := range slices.Concat(m.Sum.DataPoints, m.Gauge.DataPoints, m.Histogram.DataPoints) {
				got = append(got, m.Name+" "+p.Attributes[0].Value.StringValue)
			}
		}
	}
	if !slices.Equal(got, want) || n < 2 {
		t.Errorf("%d points in %d lines, want %d", len(got), n, len(want))
	}
	if out := e.AppendMetrics(nil, []point.Metric{{Name: "nothing"}}, time.Unix(1, 0), time.Unix(2, 0)); len(out) > 0 {
		t.Errorf("nothing is %q", out)
	}
}
