// Package config decides what telemetry was asked for: it layers the defaults,
// the "telemetry" value of the global settings file and the child's own
// environment, and decodes the result strictly (telemetry.md 2). It opens
// nothing, prints nothing and never fails: what it cannot use turns one sink
// off and leaves a problem code.
package config
