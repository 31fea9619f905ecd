// Package telemetry measures what a hook, a span and a record cost, with
// telemetry off and on (telemetry.md 13.6). It has benchmarks only.
package telemetry
