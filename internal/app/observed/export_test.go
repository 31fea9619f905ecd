package observed

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"magicode/telemetry/otlp/otlptest"
)

// TestExport: over either transport an endpoint that the settings name gets
// every span that the capture has, metrics that agree with the frames, the
// header that is meant for it, and nothing of what is nobody's business.
func TestExport(t *testing.T) {
	for protocol, collector := range map[string]func() *otlptest.Collector{
		"http/protobuf": func() *otlptest.Collector { return otlptest.HTTP(t) },
		"grpc":          func() *otlptest.Collector { return otlptest.GRPC(t) },
	} {
		t.Run(protocol, func(t *testing.T) {
			w, c, said := exporting(t, protocol, collector)
			if said.exit != 0 || said.stderr != "" {
				t.Errorf("exit %d, stderr %q", said.exit, said.stderr)
			}
			if diff := cmp.Diff(captured(t, w), collected(c)); diff != "" {
				t.Errorf("spans (-captured +collected)\n%s", diff)
			}
			if out := framesOut(t, c); out != len(said.frames) {
				t.Errorf("magi.frames says %d out, the host has %d", out, len(said.frames))
			}
			headers, bodies := c.Requests()
			for i, h := range headers {
				if h.Get("Authorization") != "Bearer "+canaryHeader {
					t.Errorf("request %d has no token", i)
				}
				h.Del("Authorization")
				holdsNone(t, w, "a request", fmt.Sprint(h)+string(bodies[i]))
			}
			if len(bodies) < 3 || len(c.Failures()) != 0 {
				t.Errorf("%d requests, %v", len(bodies), c.Failures())
			}
			holdNone(t, w, files(t, w.home))
		})
	}
}

// exporting plays a conversation whose endpoint got everything. The exit gives it
// half a second; a machine that has something else to do is asked again.
func exporting(t *testing.T, protocol string, collector func() *otlptest.Collector) (*world, *otlptest.Collector, talk) {
	t.Helper()
	for range 6 {
		w, c := newWorld(t), collector()
		w.settings["telemetry"] = map[string]any{"enabled": true, "shutdown_ms": 500, "file": map[string]any{"enabled": true},
			"otlp": map[string]any{"enabled": true, "endpoint": c.URL, "protocol": protocol, "headers_env": "THE_HEADERS"}}
		said := w.converse(t, "THE_HEADERS=authorization=Bearer%20"+canaryHeader, // what is meant for another endpoint stays here (T-12)
			"OTEL_EXPORTER_OTLP_HEADERS=x-other="+canaryEnv, "OTEL_EXPORTER_OTLP_TRACES_HEADERS=x-other="+canaryEnv, "OTEL_EXPORTER_OTLP_ENDPOINT=https://"+canaryEnv+".example.org")
		b, err := os.ReadFile(filepath.Join(w.home, "state", "telemetry-status.json"))
		var status struct {
			State string
			Sinks map[string]struct {
				State   string
				Dropped int
			}
		}
		if err != nil || json.Unmarshal(b, &status) != nil || status.Sinks["otlp"].State != "on" {
			t.Fatalf("%v %s", err, b)
		}
		if status.State == "closed" && status.Sinks["otlp"].Dropped == 0 && len(c.Snapshots()) > 0 {
			return w, c, said
		}
	}
	t.Fatal("something is lost at every exit")
	return nil, nil, talk{}
}

func captured(t *testing.T, w *world) (out []string) {
	t.Helper()
	for _, s := range spans(t, w) {
		out = append(out, fmt.Sprint(s.TraceID, " ", s.SpanID, " ", s.ParentSpanID, " ", s.Name, " ", len(s.Attributes), " ", len(s.Events), " ", s.Status.Code))
	}
	if len(out) < 25 {
		t.Errorf("only %d spans", len(out))
	}
	slices.Sort(out)
	return out
}

func collected(c *otlptest.Collector) (out []string) {
	for _, s := range c.Spans() {
		out = append(out, fmt.Sprint(hex.EncodeToString(s.TraceId), " ", hex.EncodeToString(s.SpanId), " ", hex.EncodeToString(s.ParentSpanId), " ", s.Name, " ",
			len(s.Attributes), " ", len(s.Events), " ", int(s.Status.GetCode())))
	}
	slices.Sort(out)
	return out
}

// framesOut is what the last snapshot counts.
func framesOut(t *testing.T, c *otlptest.Collector) (out int) {
	t.Helper()
	snapshots := c.Snapshots()
	if len(snapshots) == 0 {
		t.Fatal("no metrics")
	}
	last := snapshots[len(snapshots)-1]
	i := slices.IndexFunc(last, func(m *metricspb.Metric) bool { return m.Name == "magi.frames" })
	if i < 0 {
		t.Fatal("no magi.frames")
	}
	for _, p := range last[i].GetSum().DataPoints {
		for _, a := range p.Attributes {
			if a.Key == "magi.direction" && a.Value.GetStringValue() == "out" {
				out += int(p.GetAsDouble())
			}
		}
	}
	return out
}
