package config

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// standard reads the variables of OpenTelemetry that count once the OTLP sink
// has been asked for (telemetry.md 2.2). The last of a name counts.
type standard struct {
	l       *loader
	environ []string
}

// get returns a variable; "" when it is unset, empty or no text that we take.
func (s standard) get(name string) string {
	value := lookup(s.environ, name)
	if len(value) > maxValue || !clean(value) {
		s.invalid("telemetry.otlp", name, fmt.Sprintf("at most %d bytes without control characters", maxValue))
		return ""
	}
	return value
}

// invalid tells of a standard variable that a key would have come from.
func (s standard) invalid(key, name, takes string) {
	s.l.name(key, name)
	s.l.takes(CodeEnvInvalid, key, takes)
}

func lookup(environ []string, name string) (value string) {
	for _, kv := range environ {
		if key, v, ok := strings.Cut(kv, "="); ok && key == name {
			value = v
		}
	}
	return value
}

const otelPrefix = "OTEL_EXPORTER_OTLP_"

// targets are the endpoints of the standard variables, with the headers of the
// same source. ok is false when there is no endpoint among them.
func (s standard) targets(o *OTLP) (ok bool) {
	general := s.get(otelPrefix + "ENDPOINT")
	read := func(signal, path string) (t Target) {
		text, own := s.get(otelPrefix+signal+"_ENDPOINT"), true
		if text == "" {
			text, own = general, false
		}
		if text == "" {
			return t
		}
		ok = true
		e, code := parseEndpoint(text)
		if code != "" {
			s.l.unfit(code, "telemetry.otlp.endpoint")
			return t
		}
		t.URL = e.signal(path)
		if own {
			t.URL = e.String()
		}
		list := lookup(s.environ, otelPrefix+signal+"_HEADERS")
		if list == "" {
			list = lookup(s.environ, otelPrefix+"HEADERS")
		}
		t.Headers = s.l.headers(list)
		return t
	}
	o.Traces, o.Metrics = read("TRACES", pathTraces), read("METRICS", pathMetrics)
	return ok
}

// options fill in what neither settings nor our own variables have said; they
// count only with an endpoint of the same source.
func (s standard) options(o *OTLP, given func(key string) bool) {
	if v := s.get(otelPrefix + "PROTOCOL"); v != "" && !given("protocol") {
		switch v {
		case "grpc":
			o.GRPC = true
		case "http/protobuf", "http/json": // what we send is protobuf
			o.GRPC = false
		default:
			s.invalid("telemetry.otlp.protocol", otelPrefix+"PROTOCOL", "grpc or http/protobuf")
		}
	}
	if v := s.get(otelPrefix + "TIMEOUT"); v != "" && !given("timeout_ms") {
		if n, err := strconv.Atoi(v); err == nil {
			o.Timeout = time.Duration(min(max(n, minTimeout), maxTimeout)) * time.Millisecond
		} else {
			s.invalid("telemetry.otlp.timeout_ms", otelPrefix+"TIMEOUT", "a whole number of milliseconds")
		}
	}
	if v := s.get(otelPrefix + "COMPRESSION"); v != "" && !given("compression") {
		if v == "gzip" || v == "none" {
			o.Gzip = v == "gzip"
		} else {
			s.invalid("telemetry.otlp.compression", otelPrefix+"COMPRESSION", "gzip or none")
		}
	}
}

// always are the variables that count wherever the endpoint comes from.
func (s standard) always(o *OTLP) {
	o.Certificate, o.ClientCertificate = s.get(otelPrefix+"CERTIFICATE"), s.get(otelPrefix+"CLIENT_CERTIFICATE")
	o.ClientKey = s.get(otelPrefix + "CLIENT_KEY")
	switch strings.ToLower(s.get(otelPrefix + "METRICS_TEMPORALITY_PREFERENCE")) {
	case "delta", "lowmemory":
		o.Delta = true
	}
	o.Resource = s.resource()
}

// Bounds of what a user may say about the resource (telemetry.md 2.2).
const (
	maxResource      = 16
	maxResourceValue = 256
)

// resource reads OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME. As the standard
// says, a list with an error in it counts for nothing.
func (s standard) resource() []Attribute {
	var out []Attribute
	for pair := range strings.SplitSeq(s.get("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || key == "" || len(key) > maxResourceValue || len(value) > maxResourceValue || !clean(value) || len(out) == maxResource {
			s.l.problem(CodeEnvInvalid, "telemetry.otlp")
			out = nil
			break
		}
		out = append(out, Attribute{Key: key, Value: value})
	}
	if name := s.get("OTEL_SERVICE_NAME"); name != "" && len(name) <= maxResourceValue {
		out = append(out, Attribute{Key: "service.name", Value: name}) // the last of a key counts
	}
	return out
}
