package telemetry

import (
	"strings"

	"magicode/telemetry/point"
)

// difference is what was counted between two snapshots. Points that say nothing
// new are left out, so that an idle child writes nothing.
func difference(before, after []point.Metric) []point.Metric {
	old := make(map[string]*point.Point)
	for i := range before {
		for k := range before[i].Points {
			p := &before[i].Points[k]
			old[pointKey(&before[i], p)] = p
		}
	}
	var out []point.Metric
	for i := range after {
		m := after[i]
		m.Points = nil
		for k := range after[i].Points {
			p := after[i].Points[k]
			if subtract(&p, old[pointKey(&m, &p)], m.Type) {
				m.Points = append(m.Points, p)
			}
		}
		if len(m.Points) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// subtract reports whether anything is left.
func subtract(p, old *point.Point, t point.Type) bool {
	switch t {
	case point.Gauge:
		return old == nil && p.Value != 0 || old != nil && old.Value != p.Value
	case point.Counter:
		if old != nil {
			p.Value -= old.Value
		}
		return p.Value != 0
	case point.Histogram:
		if old == nil {
			return p.Count > 0
		}
		buckets := make([]uint64, len(p.Buckets))
		for i := range buckets {
			buckets[i] = p.Buckets[i] - old.Buckets[i]
		}
		p.Buckets, p.Count, p.Sum = buckets, p.Count-old.Count, p.Sum-old.Sum
		return p.Count > 0
	}
	return false
}

func pointKey(m *point.Metric, p *point.Point) string {
	var b strings.Builder
	b.WriteString(m.Name)
	for _, l := range p.Labels {
		b.WriteString("\x00" + l.Key + "\x01" + l.Value)
	}
	return b.String()
}
