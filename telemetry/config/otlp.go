package config

import "time"

// OTLP is the export sink.
type OTLP struct {
	On      bool
	Traces  Target // without a URL: not sent
	Metrics Target
	GRPC    bool
	Timeout time.Duration // of one request
	Gzip    bool
	// Delta asks for metrics counted since the last request, where that can be.
	Delta bool
	// Paths of PEM files, "" for none. Nothing was read yet.
	Certificate       string // of the authority that signed the endpoint's
	ClientCertificate string
	ClientKey         string
	// Resource is what the user's own variables say about the process. It goes to
	// the endpoint and nowhere else. The last of a key counts.
	Resource []Attribute
}

// Target is where one signal goes.
type Target struct {
	URL     string
	Headers Headers
}

// Attribute is a key and its text.
type Attribute struct{ Key, Value string }

// Paths that are appended to an endpoint for all signals.
const (
	pathTraces  = "/v1/traces"
	pathMetrics = "/v1/metrics"
)

// Bounds of a request's time, in milliseconds.
const (
	minTimeout = 100
	maxTimeout = 10000
)

func (l *loader) otlp(o *OTLP, s section, environ []string) {
	on := s.bool("enabled")
	text, headersEnv := s.text("endpoint", maxURL), s.text("headers_env", 128)
	o.GRPC = s.word("protocol", "http/protobuf", "grpc") == "grpc"
	o.Timeout = time.Duration(s.int("timeout_ms", minTimeout, maxTimeout)) * time.Millisecond
	o.Gzip = s.word("compression", "gzip", "none") == "gzip"
	traces, metrics := s.bool("traces"), s.bool("metrics")
	if headersEnv != "" && !variableName(headersEnv) {
		s.wrong(CodeRange, "headers_env", "the name of a variable, in capital letters")
	}
	if !on || s.bad {
		return
	}
	std := standard{l: l, environ: environ}
	switch {
	case text != "":
		l.ownTargets(o, text, headersEnv, environ)
	case std.targets(o):
		std.options(o, func(key string) bool { return l.given[key] })
	default:
		l.unfit(CodeEndpointMissing, s.path+".endpoint")
	}
	std.always(o)
	if !traces {
		o.Traces = Target{}
	}
	if !metrics {
		o.Metrics = Target{}
	}
	o.On = !l.noOTLP && (o.Traces.URL != "" || o.Metrics.URL != "")
}

// unfit tells why the sink stays off.
func (l *loader) unfit(code, key string) {
	l.noOTLP = true
	l.problem(code, key)
}

// ownTargets are those of an endpoint of the settings or of our own variable.
// Headers go only to the endpoint that they were written beside: a variable that
// sends this child elsewhere does not take along what is for somebody else.
func (l *loader) ownTargets(o *OTLP, text, headersEnv string, environ []string) {
	e, code := parseEndpoint(text)
	if code != "" {
		l.unfit(code, "telemetry.otlp.endpoint")
		return
	}
	o.Traces.URL, o.Metrics.URL = e.signal(pathTraces), e.signal(pathMetrics)
	if headersEnv == "" {
		return
	}
	if l.settingsEndpoint != "" && l.settingsEndpoint != text {
		if other, code := parseEndpoint(l.settingsEndpoint); code != "" || other.origin() != e.origin() {
			l.problem(CodeHeaders, "telemetry.otlp.headers_env")
			return
		}
	}
	list := lookup(environ, headersEnv)
	if list == "" {
		l.unfit(CodeHeaders, "telemetry.otlp.headers_env")
		return
	}
	o.Traces.Headers = l.headers(list)
	o.Metrics.Headers = o.Traces.Headers
}

// headers reads a list. With one that cannot be read nothing is sent.
func (l *loader) headers(list string) Headers {
	h, ok := parseHeaders(list)
	if !ok {
		l.unfit(CodeHeaders, "telemetry.otlp")
	}
	return h
}
