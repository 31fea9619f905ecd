package promtext

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"magicode/telemetry/point"
)

// family is the series of one name: their lines, each with what it is sorted by.
type family struct {
	head   string
	series []series
}

type series struct {
	values []string // of the labels
	lines  []byte
}

// Encode returns a snapshot in the text format, version 0.0.4, sorted by name and
// then by the values of the labels: the same snapshot is the same text.
//
// Prometheus's own libraries would write it. Their initialisation, most of it that
// of protocol buffers, takes 1.3 ms of every child's start, whether there is a
// text file or not. Tests read what is written here with theirs.
func Encode(metrics []point.Metric) []byte {
	families := make(map[string]*family)
	for i := range metrics {
		m := &metrics[i]
		name := Name(m)
		f := families[name]
		if f == nil {
			f = &family{head: head(name, m)}
			families[name] = f
		}
		for k := range m.Points {
			f.series = append(f.series, encode(name, m, &m.Points[k]))
		}
	}
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(families)) {
		f := families[name]
		if len(f.series) == 0 {
			continue
		}
		b = append(b, f.head...)
		slices.SortStableFunc(f.series, func(x, y series) int { return slices.Compare(x.values, y.values) })
		for i := range f.series {
			b = append(b, f.series[i].lines...)
		}
	}
	return b
}

func head(name string, m *point.Metric) string {
	kind := "counter"
	switch m.Type {
	case point.Histogram:
		kind = "histogram"
	case point.Gauge:
		kind = "gauge"
	}
	return "# HELP " + name + " " + helpEscapes.Replace(m.Name+" ("+m.Unit+")") + "\n# TYPE " + name + " " + kind + "\n"
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	valueEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func encode(name string, m *point.Metric, p *point.Point) series {
	own := slices.SortedFunc(slices.Values(p.Labels), func(a, b point.Label) int { return cmp.Compare(underscored(a.Key), underscored(b.Key)) })
	var s series
	var labels []byte
	for _, l := range own {
		s.values = append(s.values, l.Value)
		labels = append(append(append(labels, underscored(l.Key)...), `="`...), valueEscapes.Replace(strings.ToValidUTF8(l.Value, "\uFFFD"))...)
		labels = append(labels, `",`...)
	}
	line := func(end, bound, value string) {
		all := string(labels)
		if bound != "" {
			all += `le="` + bound + `",`
		}
		s.lines = append(append(s.lines, name...), end...)
		if all != "" {
			s.lines = append(append(append(s.lines, '{'), strings.TrimSuffix(all, ",")...), '}')
		}
		s.lines = append(append(append(s.lines, ' '), value...), '\n')
	}
	if m.Type != point.Histogram {
		line("", "", number(p.Value))
		return s
	}
	// A bucket counts those below it, too.
	sum := uint64(0)
	for i, bound := range m.Bounds {
		sum += p.Buckets[i]
		line("_bucket", number(bound), strconv.FormatUint(sum, 10))
	}
	count := strconv.FormatUint(p.Count, 10)
	line("_bucket", "+Inf", count)
	line("_sum", "", number(p.Sum))
	line("_count", "", count)
	return s
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
