// Package promtext writes metrics as a Prometheus text file for the textfile
// collector of a node exporter (telemetry.md 10). There is no listener. A path
// has one writer at a time, so that no series appears twice.
package promtext
