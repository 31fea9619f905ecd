package config

import (
	"slices"
	"time"
)

// Config is what to do. The zero value is off.
type Config struct {
	// Asked: somebody asked for telemetry, even if nothing came of it.
	Asked           bool
	Plain           bool // names leave as they are, where telemetry.md 7.3 lets them
	LinkParent      bool
	MetricsInterval time.Duration
	Shutdown        time.Duration
	File            File
	OTLP            OTLP
	Prometheus      Prometheus
	Problems        []Problem
	// Hints say of a problem which variable it comes from and what that, or the key, takes.
	// Like Unknown, they are for the terminal alone.
	Hints map[Problem]string
	// Unknown are the variables that look like ours and are none, at most 32. They are
	// for the terminal of whoever set them: a name can be any text.
	Unknown []string
}

// File is the capture sink.
type File struct {
	On           bool
	Dir          string // "" is the default folder
	MaxMB        int
	Keep         int
	TotalMB      int
	Goroutines   bool
	RuntimeTrace string // "off", "cleanup" or "always"
}

// Prometheus is the text file sink.
type Prometheus struct {
	On       bool
	Path     string
	Interval time.Duration
	Mode     uint32
}

// On reports whether any sink is.
func (c *Config) On() bool { return c.File.On || c.OTLP.On || c.Prometheus.On }

// Add adds a problem that stands in no setting: of what a setting leads to.
func (c *Config) Add(p Problem, hint string) {
	if c.Hints == nil {
		c.Hints = map[Problem]string{}
	}
	c.Problems = append(c.Problems, p)
	c.Hints[p] = hint
}

// Problem says what was wrong: a code of the closed set of telemetry.md 2.4 and
// at most the key it concerns, never a value.
type Problem struct {
	Code string `json:"code"`
	Key  string `json:"key,omitempty"`
}

// Codes of problems.
const (
	CodeType            = "config_type"
	CodeRange           = "config_range"
	CodeUnknownKey      = "config_unknown_key"
	CodeNoSink          = "no_sink"
	CodeEnvInvalid      = "env_invalid"
	CodeEnvUnknown      = "env_unknown"
	CodeProject         = "project_ignored"
	CodeEndpointMissing = "otlp_endpoint_missing"
	CodeEndpointInvalid = "otlp_endpoint_invalid"
	CodeInsecure        = "otlp_insecure"
	CodeHeaders         = "otlp_headers"
	CodeTLS             = "otlp_tls"
	CodeUnreachable     = "otlp_unreachable"
	CodeRejected        = "otlp_rejected"
	CodePromPath        = "prom_path"
	CodeDirMissing      = "dir_missing"
)

// KnownCode reports a code of the closed set of telemetry.md 2.4.
func KnownCode(s string) bool {
	return slices.Contains([]string{CodeType, CodeRange, CodeUnknownKey, CodeNoSink, CodeEnvInvalid, CodeEnvUnknown, CodeProject, CodeDirMissing,
		"dir_unsafe", "dir_owner", "dir_network", "file_open", "file_io", "disk_full", "quota", "salt_unavailable", CodeEndpointMissing,
		CodeEndpointInvalid, CodeInsecure, CodeHeaders, CodeTLS, CodeUnreachable, CodeRejected, "otlp_not_built", CodePromPath, "prom_locked", "prom_io", "internal"}, s)
}
