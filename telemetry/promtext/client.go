package promtext

import (
	"bytes"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"magicode/telemetry/point"
)

// collector gives a snapshot to a registry. It describes nothing beforehand:
// which series there are is known when they are there.
type collector []point.Metric

func (collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(out chan<- prometheus.Metric) {
	for i := range c {
		m := &c[i]
		for k := range m.Points {
			out <- sample(m, &m.Points[k])
		}
	}
}

func sample(m *point.Metric, p *point.Point) prometheus.Metric {
	keys, values := make([]string, len(p.Labels)), make([]string, len(p.Labels))
	for i, l := range p.Labels {
		keys[i], values[i] = underscored(l.Key), l.Value
	}
	desc := prometheus.NewDesc(Name(m), m.Name+" ("+m.Unit+")", keys, nil)
	var out prometheus.Metric
	var err error
	switch m.Type {
	case point.Histogram:
		buckets := make(map[float64]uint64, len(m.Bounds))
		sum := uint64(0)
		for i, b := range m.Bounds {
			sum += p.Buckets[i]
			buckets[b] = sum
		}
		out, err = prometheus.NewConstHistogram(desc, p.Count, p.Sum, buckets, values...)
	case point.Gauge:
		out, err = prometheus.NewConstMetric(desc, prometheus.GaugeValue, p.Value, values...)
	default:
		out, err = prometheus.NewConstMetric(desc, prometheus.CounterValue, p.Value, values...)
	}
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return out
}

// Encode gathers a snapshot through a private registry and returns it in the
// text format.
func Encode(metrics []point.Metric) ([]byte, error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(collector(metrics)); err != nil {
		return nil, err
	}
	families, err := registry.Gather()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := expfmt.NewEncoder(&b, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range families {
		if err := enc.Encode(f); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
