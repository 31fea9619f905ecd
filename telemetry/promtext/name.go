package promtext

import (
	"strings"

	"magicode/telemetry/point"
)

// Name is the name of a metric with its unit and, for a counter, _total.
func Name(m *point.Metric) string {
	name := underscored(m.Name)
	switch m.Unit {
	case "s":
		name += "_seconds"
	case "By":
		name += "_bytes"
	}
	if m.Type == point.Counter {
		name += "_total"
	}
	return name
}

func underscored(s string) string { return strings.ReplaceAll(s, ".", "_") }
