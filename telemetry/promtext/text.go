//go:build !promclient

package promtext

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"magicode/telemetry/point"
)

// Encode returns metrics in the text format. Building with the tag promclient
// lets the Prometheus client's registry and encoder do it, which checks more and
// costs a millisecond of every start.
func Encode(metrics []point.Metric) ([]byte, error) { return Append(nil, metrics), nil }

// Append appends the exposition of metrics: names with underscores and units,
// series in a fixed order, no timestamps.
func Append(dst []byte, metrics []point.Metric) []byte {
	for i := range metrics {
		dst = appendMetric(dst, &metrics[i])
	}
	return dst
}

func appendMetric(dst []byte, m *point.Metric) []byte {
	name := Name(m)
	kind := [...]string{point.Counter: "counter", point.Gauge: "gauge", point.Histogram: "histogram"}[m.Type]
	dst = append(append(append(append(append(dst, "# TYPE "...), name...), ' '), kind...), '\n')
	points := slices.Clone(m.Points)
	slices.SortFunc(points, func(a, b point.Point) int {
		return slices.CompareFunc(a.Labels, b.Labels, func(x, y point.Label) int {
			return cmp.Or(cmp.Compare(x.Key, y.Key), cmp.Compare(x.Value, y.Value))
		})
	})
	for i := range points {
		p := &points[i]
		if m.Type != point.Histogram {
			dst = appendSample(dst, name, "", p.Labels, "", p.Value)
			continue
		}
		sum := uint64(0)
		for k, n := range p.Buckets {
			sum += n
			le := "+Inf"
			if k < len(m.Bounds) {
				le = strconv.FormatFloat(m.Bounds[k], 'g', -1, 64)
			}
			dst = appendSample(dst, name, "_bucket", p.Labels, le, float64(sum))
		}
		dst = appendSample(dst, name, "_sum", p.Labels, "", p.Sum)
		dst = appendSample(dst, name, "_count", p.Labels, "", float64(sum))
	}
	return dst
}

func appendSample(dst []byte, name, suffix string, labels []point.Label, le string, v float64) []byte {
	dst = append(append(dst, name...), suffix...)
	sep := byte('{')
	for _, l := range labels {
		dst = append(append(append(dst, sep), underscored(l.Key)...), `="`...)
		dst = append(appendEscaped(dst, l.Value), '"')
		sep = ','
	}
	if le != "" {
		dst = append(append(append(append(dst, sep), `le="`...), le...), '"')
		sep = ','
	}
	if sep == ',' {
		dst = append(dst, '}')
	}
	dst = append(dst, ' ')
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		dst = strconv.AppendInt(dst, int64(v), 10)
	} else {
		dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
	}
	return append(dst, '\n')
}

func appendEscaped(dst []byte, s string) []byte {
	for i := range len(s) {
		switch s[i] {
		case '\\', '"':
			dst = append(dst, '\\', s[i])
		case '\n':
			dst = append(dst, `\n`...)
		default:
			dst = append(dst, s[i])
		}
	}
	return dst
}
