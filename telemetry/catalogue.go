package telemetry

import (
	"slices"
	"time"

	"magicode/telemetry/point"
)

// Catalogue lists every metric that can leave: names, units, types and bounds,
// without points. It is for tools: nothing on a child's way calls it.
func Catalogue() []point.Metric {
	idle := &journal{core: newCore(nil, time.Now()), d: new(decision)}
	out := slices.DeleteFunc(idle.metrics(new(peaks)), func(m point.Metric) bool { return !ofTheChild(m) })
	for i := range out {
		out[i].Points = nil
	}
	out = append(out, runtimeInfos[:]...) // whatever this system has of them
	for i := range slowInfos {
		info := &slowInfos[i]
		m := point.Metric{Name: info.name, Unit: info.unit, Type: point.Histogram, Bounds: info.bounds}
		if len(info.bounds) == 0 {
			m.Type = point.Counter
		}
		out = append(out, m)
	}
	return append(out, point.Metric{Name: nameFileSize, Unit: "By", Type: point.Gauge}) // it is there only with a capture
}
