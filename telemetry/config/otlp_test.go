package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseEndpoint(t *testing.T) {
	for in, want := range map[string]string{
		"https://otel.example.org:4318":          "https://otel.example.org:4318/v1/traces",
		"https://otel.example.org/otlp/":         "https://otel.example.org/otlp/v1/traces",
		"HTTPS://otel.example.org":               "https://otel.example.org/v1/traces",
		"http://localhost:4318":                  "http://localhost:4318/v1/traces",
		"http://127.9.0.1:4318":                  "http://127.9.0.1:4318/v1/traces",
		"http://[::1]:4318":                      "http://[::1]:4318/v1/traces",
		"http://otel.example.org":                CodeInsecure,
		"http://localhost.example.org":           CodeInsecure,
		"http://10.0.0.1":                        CodeInsecure,
		"http://0.0.0.0:4318":                    CodeInsecure,
		"http://[::]:4318":                       CodeInsecure,
		"http://127.0.0.1.example.org":           CodeInsecure,
		"":                                       CodeEndpointInvalid,
		"localhost:4318":                         CodeEndpointInvalid,
		"//localhost:4318":                       CodeEndpointInvalid,
		"ftp://localhost":                        CodeEndpointInvalid,
		"unix:///run/otel":                       CodeEndpointInvalid,
		"https://":                               CodeEndpointInvalid,
		"https://:4318":                          CodeEndpointInvalid,
		"https://x:":                             CodeEndpointInvalid,
		"https://x:0":                            CodeEndpointInvalid,
		"https://x:65536":                        CodeEndpointInvalid,
		"https://user:pass@x":                    CodeEndpointInvalid,
		"https://user@x":                         CodeEndpointInvalid,
		"https://x?key=1":                        CodeEndpointInvalid,
		"https://x?":                             CodeEndpointInvalid,
		"https://x#f":                            CodeEndpointInvalid,
		"https://x/a b":                          CodeEndpointInvalid,
		"https://x/a%2fb":                        CodeEndpointInvalid,
		"https://x\n":                            CodeEndpointInvalid,
		"https:x":                                CodeEndpointInvalid,
		"https://[fe80::1%25en0]":                CodeEndpointInvalid,
		"https://x/" + strings.Repeat("a", 2048): CodeEndpointInvalid,
	} {
		e, code := parseEndpoint(in)
		got := code
		if code == "" {
			got = e.signal(pathTraces)
		}
		if got != want {
			t.Errorf("%.60q: %q, want %q", in, got, want)
		}
	}
}

func TestParseHeaders(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat("h%d=1,", 17), ",")
	for i := range 17 {
		many = strings.Replace(many, "%d", fmt.Sprint(i), 1)
	}
	for in, want := range map[string]string{
		"":                               "map[]",
		"Authorization=Bearer%20abc":     "map[authorization:Bearer abc]",
		" a = b , c=d%2C=e ":             "map[a:b c:d,=e]",
		"a=1,A=2":                        "map[a:2]",
		"a=":                             "map[a:]",
		"a":                              "bad",
		"=b":                             "bad",
		"a=b,":                           "bad",
		"a=%zz":                          "bad",
		"a=x%0d%0aInjected:%201":         "bad",
		"a b=c":                          "bad",
		"a=\xc3\xa9":                     "bad",
		"host=evil":                      "bad",
		"Content-Length=5":               "bad",
		"transfer-encoding=chunked":      "bad",
		"grpc-timeout=1S":                "bad",
		":path=/x":                       "bad",
		many:                             "bad",
		"a=" + strings.Repeat("x", 4096): "bad",
	} {
		h, ok := parseHeaders(in)
		got := "bad"
		if ok {
			got = fmt.Sprint(map[string]string(h))
		}
		if got != want {
			t.Errorf("%.60q: %s, want %s", in, got, want)
		}
	}
}

func TestHeadersDoNotPrint(t *testing.T) {
	h := Headers{"authorization": "CANARY"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if s := fmt.Sprintf(verb, OTLP{Traces: Target{URL: "u", Headers: h}}); strings.Contains(s, "CANARY") || strings.Contains(s, "authorization") {
			t.Errorf("%s: %s", verb, s)
		}
	}
}

func TestOTLP(t *testing.T) {
	const on = `{"enabled":true,"otlp":{"enabled":true%s}}`
	settings := func(rest string) string { return strings.Replace(on, "%s", rest, 1) }
	target := func(base string, h Headers) (Target, Target) {
		return Target{base + "/v1/traces", h}, Target{base + "/v1/metrics", h}
	}
	full := func(base string, h Headers, change func(*OTLP)) OTLP {
		o := OTLP{On: true, Timeout: 2 * time.Second, Gzip: true}
		o.Traces, o.Metrics = target(base, h)
		if change != nil {
			change(&o)
		}
		return o
	}
	none := OTLP{Timeout: 2 * time.Second, Gzip: true}
	for name, c := range map[string]struct {
		global   string
		environ  []string
		want     OTLP
		problems string
	}{
		"settings": {global: settings(`,"endpoint":"https://a:4318"`), want: full("https://a:4318", nil, nil)},
		"our variable beats settings": {global: settings(`,"endpoint":"https://a"`), environ: []string{"MC_TELEMETRY_OTLP_ENDPOINT=https://b"},
			want: full("https://b", nil, nil)},
		"settings beat the standard": {global: settings(`,"endpoint":"https://a"`),
			environ: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://o", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://o", "OTEL_EXPORTER_OTLP_HEADERS=k=CANARY",
				"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_TIMEOUT=1", "OTEL_EXPORTER_OTLP_COMPRESSION=none"},
			want: full("https://a", nil, nil)},
		"the standard": {global: settings(""), environ: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://o/", "OTEL_EXPORTER_OTLP_HEADERS=k=v",
			"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_TIMEOUT=1", "OTEL_EXPORTER_OTLP_COMPRESSION=none"},
			want: full("https://o", Headers{"k": "v"}, func(o *OTLP) { o.GRPC, o.Timeout, o.Gzip = true, 100*time.Millisecond, false })},
		"the standard, signal by signal": {global: settings(""), environ: []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://t/x", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=https://m",
			"OTEL_EXPORTER_OTLP_METRICS_HEADERS=m=1", "OTEL_EXPORTER_OTLP_HEADERS=k=v"},
			want: full("", nil, func(o *OTLP) {
				o.Traces, o.Metrics = Target{"https://t/x", Headers{"k": "v"}}, Target{"https://m", Headers{"m": "1"}}
			})},
		"the standard, one signal": {global: settings(""), environ: []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://t"},
			want: full("", nil, func(o *OTLP) { o.Traces, o.Metrics = Target{"https://t", Headers{}}, Target{} })},
		"what settings say beats the standard": {global: settings(`,"protocol":"http/protobuf","timeout_ms":500,"compression":"gzip"`),
			environ: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://o", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_TIMEOUT=9000", "OTEL_EXPORTER_OTLP_COMPRESSION=none"},
			want:    full("https://o", Headers{}, func(o *OTLP) { o.Timeout = 500 * time.Millisecond })},
		"bad standard values": {global: settings(""),
			environ:  []string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://o", "OTEL_EXPORTER_OTLP_PROTOCOL=x", "OTEL_EXPORTER_OTLP_TIMEOUT=x", "OTEL_EXPORTER_OTLP_COMPRESSION=x"},
			want:     full("https://o", Headers{}, nil),
			problems: "env_invalid:telemetry.otlp.protocol env_invalid:telemetry.otlp.timeout_ms env_invalid:telemetry.otlp.compression"},
		"headers by name": {global: settings(`,"endpoint":"https://a","headers_env":"H"`), environ: []string{"H=k=v"}, want: full("https://a", Headers{"k": "v"}, nil)},
		"headers, endpoint of the variable": {global: settings(`,"headers_env":"H"`), environ: []string{"H=k=v", "MC_TELEMETRY_OTLP_ENDPOINT=https://b"},
			want: full("https://b", Headers{"k": "v"}, nil)},
		"headers do not follow to another receiver": {global: settings(`,"endpoint":"https://a","headers_env":"H"`), environ: []string{"H=k=v", "MC_TELEMETRY_OTLP_ENDPOINT=https://b"},
			want: full("https://b", nil, nil), problems: "otlp_headers:telemetry.otlp.headers_env"},
		"headers do not follow to the standard's": {global: settings(`,"headers_env":"H"`), environ: []string{"H=k=v", "OTEL_EXPORTER_OTLP_ENDPOINT=https://o"},
			want: full("https://o", Headers{}, nil)},
		"headers that are not there": {global: settings(`,"endpoint":"https://a","headers_env":"H"`), want: func() OTLP { o := full("https://a", nil, nil); o.On = false; return o }(),
			problems: "otlp_headers:telemetry.otlp.headers_env"},
		"no endpoint":  {global: settings(""), want: none, problems: "otlp_endpoint_missing:telemetry.otlp.endpoint"},
		"bad endpoint": {global: settings(`,"endpoint":"ftp://a"`), want: none, problems: "otlp_endpoint_invalid:telemetry.otlp.endpoint"},
		"plain":        {global: settings(`,"endpoint":"http://a"`), want: none, problems: "otlp_insecure:telemetry.otlp.endpoint"},
		"traces only": {global: settings(`,"endpoint":"https://a","metrics":false`),
			want: full("https://a", nil, func(o *OTLP) { o.Metrics = Target{} })},
		"always": {global: settings(`,"endpoint":"https://a"`), environ: []string{"OTEL_EXPORTER_OTLP_CERTIFICATE=/c", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=/d",
			"OTEL_EXPORTER_OTLP_CLIENT_KEY=/e", "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=Delta",
			"OTEL_RESOURCE_ATTRIBUTES=team=a%20b, service.name=x", "OTEL_SERVICE_NAME=y"},
			want: full("https://a", nil, func(o *OTLP) {
				o.Certificate, o.ClientCertificate, o.ClientKey, o.Delta = "/c", "/d", "/e", true
				o.Resource = []Attribute{{"team", "a b"}, {"service.name", "x"}, {"service.name", "y"}}
			})},
		"bad resource": {global: settings(`,"endpoint":"https://a"`), environ: []string{"OTEL_RESOURCE_ATTRIBUTES=a=b,c"},
			want: full("https://a", nil, nil), problems: "env_invalid:telemetry.otlp"},
		"ignored": {global: settings(`,"endpoint":"https://a"`), environ: []string{"OTEL_TRACES_SAMPLER=always_off", "OTEL_BSP_SCHEDULE_DELAY=1", "OTEL_EXPORTER_OTLP_INSECURE=true",
			"OTEL_METRIC_EXPORT_INTERVAL=1", "OTEL_TRACES_EXPORTER=console"}, want: full("https://a", nil, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			got := Load(c.environ, []byte(c.global), false)
			if diff := cmp.Diff(c.want, got.OTLP); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var problems []string
			for _, p := range got.Problems {
				problems = append(problems, p.Code+":"+p.Key)
			}
			if s := strings.Join(problems, " "); s != c.problems {
				t.Errorf("problems: %q, want %q", s, c.problems)
			}
		})
	}
}

// TestBrokenListHidesNoProblem: a full list of problems must not let a sink on
// that one more would have turned off.
func TestBrokenListHidesNoProblem(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"enabled":true,"otlp":{"enabled":true,"endpoint":"https://a","headers_env":"H"`)
	for i := range 40 {
		fmt.Fprintf(&b, `},"x%d":{"y":1`, i)
	}
	b.WriteString(`}}`)
	for _, h := range []string{"H=bad", "H="} {
		if got := Load([]string{h}, []byte(b.String()), false); got.OTLP.On {
			t.Errorf("%s: on, to %v", h, got.OTLP.Traces)
		}
	}
}
