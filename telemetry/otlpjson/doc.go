// Package otlpjson appends OTLP JSON lines: one object per line that stands
// alone, its resource included (telemetry.md 8.2). A library that turns protobuf
// into JSON does not make this form: ids are hexadecimal, 64-bit integers are
// strings, enumerations are integers.
//
// An encoder lets through only what its allowlist knows; it is a second check
// that is independent of the one that made the values.
package otlpjson
