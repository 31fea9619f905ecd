package telemetry

import (
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"magicode/telemetry/otlpjson"
)

// What leaves the process, as the second check of schema.go sees it: for whoever
// holds a capture against it (telemetry.md 11.1, "trace check"). None of these
// look at anything but their arguments.

// Audit reports whether an attribute may stand in a capture. The value is a
// string, a bool, an int64, or a list of strings or int64s.
func Audit(resource bool, key string, value any) bool {
	r := otlpjson.RecordSpan
	if resource {
		r = otlpjson.RecordResource
	}
	switch v := value.(type) {
	case string:
		return allowed(r, key, attribute.StringValue(v))
	case bool:
		return allowed(r, key, attribute.BoolValue(v))
	case int64:
		return allowed(r, key, attribute.Int64Value(v))
	case []string:
		return allowed(r, key, attribute.StringSliceValue(v))
	case []int64:
		return allowed(r, key, attribute.Int64SliceValue(v))
	}
	return false
}

// AuditSpanName reports a name of the catalogue.
func AuditSpanName(s string) bool { return knownSpanName(s) }

// AuditEventName reports a name of an event inside a span.
func AuditEventName(s string) bool { return contains(eventNames[:], s) }

// AuditRecordName reports a name of a record of the log.
func AuditRecordName(s string) bool {
	return oneOf(s, recordStart, recordOpen, recordEvent, recordHeartbeat, recordGoroutines, recordExit)
}

// AuditScope reports our scope.
func AuditScope(name, version string) bool {
	return name == scopeName && (version == "" || printable(version))
}

// AuditMetric reports a metric of the catalogue with its unit.
func AuditMetric(name, unit string) bool {
	u, ok := metricUnits()[name]
	return ok && u == unit
}

var metricUnits = sync.OnceValue(func() map[string]string {
	units := map[string]string{nameFileSize: "By"}
	for _, m := range slowInfos {
		units[m.name] = m.unit
	}
	for _, m := range runtimeInfos { // those of other systems too
		units[m.Name] = m.Unit
	}
	j := &journal{core: newCore(nil, time.Now()), d: new(decision)}
	for _, m := range j.metrics(new(peaks)) {
		units[m.Name] = m.Unit
	}
	return units
})
