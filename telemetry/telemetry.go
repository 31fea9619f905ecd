// Package telemetry is the facade that every package may use to report spans
// and metrics. The zero value does nothing and costs nothing; no OpenTelemetry
// type is in its API.
package telemetry
