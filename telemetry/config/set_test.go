package config

import (
	"strings"
	"testing"
)

// TestUnfit: a value is judged where it is put, as if all was on, and not for what its
// neighbours lack.
func TestUnfit(t *testing.T) {
	for name, row := range map[string]struct{ global, path, value, want string }{
		"fine":              {"", "file.max_mb", "8", ""},
		"off":               {"", "enabled", "false", ""},
		"no switch":         {"", "enabled", `"yes"`, "telemetry.enabled takes true or false"},
		"a sink's":          {"", "otlp.enabled", "1", "telemetry.otlp.enabled takes true or false"},
		"sink first":        {"", "otlp.enabled", "true", ""},
		"far":               {"", "otlp.endpoint", `"http://far.example"`, "telemetry.otlp.endpoint cannot be used: otlp_insecure"},
		"headers elsewhere": {`{"otlp":{"endpoint":"https://x"}}`, "otlp.headers_env", `"NOT_SET"`, ""},
		"prom":              {"", "prometheus.path", `"x.txt"`, "telemetry.prometheus.path takes an absolute path that ends in .prom"},
		"total":             {`{"file":{"max_mb":8}}`, "file.total_mb", "16", ""},
		"total too small":   {"", "file.total_mb", "16", "telemetry.file.total_mb takes telemetry.file.max_mb to 4096"},
		"too much at once":  {"", "file.max_mb", "512", "telemetry.file.total_mb takes telemetry.file.max_mb to 4096"},
		"total first":       {`{"file":{"total_mb":1024}}`, "file.max_mb", "512", ""},
		"neighbour":         {`{"file":{"keep":0}}`, "file.max_mb", "8", ""},
		"no object":         {"", "", "5", "telemetry takes an object"},
		"sink is none":      {"", "file", "5", "telemetry.file takes an object"},
		"section is none":   {"5", "enabled", "true", ""},
		"unknown":           {"", "file.foo", "1", ""},
	} {
		var path []string
		if row.path != "" {
			path = strings.Split(row.path, ".")
		}
		if got := Unfit([]byte(row.global), path, []byte(row.value)); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
	for path, want := range map[string]bool{"enabled": true, "file": true, "file.max_mb": true, "foo": false, "file.foo": false, "enabled.x": false} {
		if Known(strings.Split(path, ".")) != want {
			t.Errorf("%s: known is %v", path, !want)
		}
	}
}
