// Package deploycheck is the module of the programs that `make deploy-check`
// builds: an OpenTelemetry Collector and a reader of Grafana's dashboard schema.
// It is a module of its own so that the product knows nothing of what they need.
package deploycheck
