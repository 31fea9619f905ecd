package telemetry

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"magicode/telemetry/config"
	"magicode/telemetry/otlp/otlptest"
)

// exporting returns a handle that writes a capture and exports to url.
func exporting(t *testing.T, url string, environ ...string) (Tel, string) {
	t.Helper()
	dir := stateDir(t)
	tel := New(append([]string{"MC_TELEMETRY=file,otlp", "MC_TELEMETRY_OTLP_ENDPOINT=" + url, "MC_TELEMETRY_SHUTDOWN_MS=500"}, environ...), time.Now())
	tel.Start(nil, Identity{InstanceID: instance, StateDir: dir, Version: "1"})
	return tel, dir
}

// conversation is a child that does one of everything.
func conversation(tel Tel) {
	ctx, child := tel.Begin(context.Background(), SpanChild)
	for k := SpanRequest; k < kindCount; k++ {
		_, s := tel.Begin(ctx, k)
		s.Int(KeyCount, int64(k))
		s.Str(KeyMethod, WordOf("status"))
		s.Name(KeyRequestHash, WireID("x"))
		if k%5 == 0 {
			s.Fail(CodeOf("execution_failed"))
		}
		s.Event(EventHeaders)
		s.End()
	}
	exercise(tel)
	child.End()
}

// capturedSpans are the spans of a traces file: id, parent, name and attributes.
func capturedSpans(t *testing.T, text string) (out []string) {
	t.Helper()
	for line := range strings.Lines(text) {
		var doc struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct {
						SpanID, ParentSpanID, Name string
						Attributes                 []struct{ Key string }
						Events, Links              []struct{}
						Status                     struct{ Code int }
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		for _, s := range doc.ResourceSpans[0].ScopeSpans[0].Spans {
			var keys []string
			for _, a := range s.Attributes {
				keys = append(keys, a.Key)
			}
			out = append(out, fmt.Sprint(s.SpanID, s.ParentSpanID, s.Name, keys, len(s.Events), len(s.Links), s.Status.Code))
		}
	}
	slices.Sort(out)
	return out
}

func collectedSpans(c *otlptest.Collector) (out []string) {
	for _, s := range c.Spans() {
		var keys []string
		for _, a := range s.Attributes {
			keys = append(keys, a.Key)
		}
		out = append(out, fmt.Sprint(hex.EncodeToString(s.SpanId), hex.EncodeToString(s.ParentSpanId), s.Name, keys, len(s.Events), len(s.Links), int(s.Status.GetCode())))
	}
	slices.Sort(out)
	return out
}

// TestExport: over either transport an endpoint gets every span that the capture
// has, and every metric (T-38).
func TestExport(t *testing.T) {
	for protocol, collector := range map[string]func() *otlptest.Collector{
		"http/protobuf": func() *otlptest.Collector { return otlptest.HTTP(t) },
		"grpc":          func() *otlptest.Collector { return otlptest.GRPC(t) },
	} {
		t.Run(protocol, func(t *testing.T) {
			var c *otlptest.Collector
			var dir string
			var files map[string]string
			for range 6 { // a machine that has something else to do can need more than the half second
				var tel Tel
				c = collector()
				tel, dir = exporting(t, c.URL, "MC_TELEMETRY_OTLP_PROTOCOL="+protocol, "OTEL_RESOURCE_ATTRIBUTES=team=CANARYTEAM")
				conversation(tel)
				files = stop(t, tel, dir)
				if readStatus(t, dir).Sinks["otlp"].Dropped == 0 {
					break
				}
			}
			captured := capturedSpans(t, files["traces"])
			if diff := cmp.Diff(captured, collectedSpans(c)); diff != "" || len(captured) < int(kindCount) {
				t.Errorf("%d spans (-captured +collected)\n%s", len(captured), diff)
			}
			snapshots := c.Snapshots()
			if len(snapshots) == 0 {
				t.Fatal("no metrics")
			}
			last := map[string]*metricspb.Metric{}
			for _, m := range snapshots[len(snapshots)-1] {
				last[m.Name] = m
			}
			for name := range metricNames(t, files["metrics"]) {
				if last[name] == nil {
					t.Errorf("the endpoint did not get %s", name)
				}
			}
			if sum := last["magi.frames"].GetSum(); sum.GetAggregationTemporality() != 2 || len(sum.GetDataPoints()) < 3 {
				t.Errorf("magi.frames: %v", sum)
			}
			for _, r := range c.Resources() {
				var keys []string
				for _, a := range r.Attributes {
					keys = append(keys, a.Key)
				}
				if !slices.Contains(keys, "team") || !slices.Contains(keys, "service.instance.id") {
					t.Errorf("resource: %v", keys)
				}
			}
			if strings.Contains(files["traces"]+files["metrics"]+files["logs"], "CANARYTEAM") {
				t.Error("what is meant for the endpoint is in the capture")
			}
			status := readStatus(t, dir)
			if s := status.Sinks["otlp"]; s.State != sinkOn || s.Dropped != 0 || len(status.Problems) != 0 || status.State != "closed" {
				t.Errorf("status: %+v", status)
			}
		})
	}
}

func metricNames(t *testing.T, text string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for line := range strings.Lines(text) {
		var doc struct {
			ResourceMetrics []struct {
				ScopeMetrics []struct{ Metrics []struct{ Name string } }
			}
		}
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		for _, m := range doc.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			out[m.Name] = true
		}
	}
	if len(out) < 20 {
		t.Fatalf("only %d metrics", len(out))
	}
	return out
}

func readStatus(t *testing.T, dir string) (doc statusDocument) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, statusName))
	if err != nil || json.Unmarshal(b, &doc) != nil {
		t.Fatalf("%v %s", err, b)
	}
	return doc
}

// TestDelta: what the standard variable asks for holds for what spans count; the
// frame path stays cumulative.
func TestDelta(t *testing.T) {
	c := otlptest.HTTP(t)
	tel, dir := exporting(t, c.URL, "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta")
	conversation(tel)
	stop(t, tel, dir)
	stall := 0.0
	for _, snapshot := range c.Snapshots() {
		for _, m := range snapshot {
			if m.Name == "magi.frames" && m.GetSum().AggregationTemporality != 2 {
				t.Errorf("frames: %v", m)
			}
			if m.Name == "magi.admission.rejections" {
				if m.GetSum().AggregationTemporality != 1 {
					t.Errorf("rejections: %v", m)
				}
				stall += m.GetSum().DataPoints[0].GetAsDouble()
			}
		}
	}
	if stall != 1 {
		t.Errorf("%v rejections in all, of 1", stall)
	}
}

// TestExportAlone: without a capture no file is made but the status and the salt.
func TestExportAlone(t *testing.T) {
	c, dir := otlptest.HTTP(t), stateDir(t)
	tel := New([]string{"MC_TELEMETRY=otlp", "MC_TELEMETRY_OTLP_ENDPOINT=" + c.URL, "MC_TELEMETRY_SHUTDOWN_MS=500"}, time.Now())
	tel.Start(nil, Identity{InstanceID: instance, StateDir: dir, Version: "1"})
	conversation(tel)
	d := tel.core().decided.Load()
	tel.Exit(0, WordOf("shutdown"), false)
	<-d.stopped
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
	if len(c.Spans()) < int(kindCount) || len(c.Snapshots()) == 0 {
		t.Errorf("%d spans", len(c.Spans()))
	}
}

// TestExportTrouble: of an endpoint that fails only numbers and a code are left.
func TestExportTrouble(t *testing.T) {
	hanging, _ := otlptest.Hanging(t)
	busy, _ := otlptest.Answering(t, 429)
	_, secure := otlptest.HTTPS(t)
	for name, c := range map[string]struct {
		url, key string
		code     string
	}{
		"refusing": {url: otlptest.Refusing(t), code: config.CodeUnreachable}, "429": {url: busy, code: config.CodeRejected},
		"authority": {url: secure.URL, code: config.CodeTLS}, "hanging": {url: hanging},
		"certificate": {url: secure.URL, key: "OTEL_EXPORTER_OTLP_CERTIFICATE=/no/CANARY", code: config.CodeTLS},
	} {
		t.Run(name, func(t *testing.T) {
			tel, dir := exporting(t, c.url, c.key)
			conversation(tel)
			if c.code != "" {
				waitFor(t, func() bool { return len(tel.core().losses.found()) > 0 })
			}
			began := time.Now()
			files := stop(t, tel, dir)
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("it took %v", took)
			}
			status := readStatus(t, dir)
			sink := status.Sinks["otlp"]
			if c.key == "" && sink.Dropped < uint64(kindCount) || c.key != "" && sink.State != sinkOff {
				t.Errorf("otlp: %+v", sink)
			}
			if status.Sinks["file"].Dropped != 0 || len(capturedSpans(t, files["traces"])) < int(kindCount) {
				t.Error("the capture suffers")
			}
			if got := fmt.Sprint(status.Problems); c.code != "" && got != "[{"+c.code+" telemetry.otlp}]" || c.code == "" && got != "[]" {
				t.Errorf("problems: %s", got)
			}
		})
	}
}

// TestPatience: how long an exit may wait, with and without a deadline.
func TestPatience(t *testing.T) {
	const ms = time.Millisecond
	now := time.Now()
	c := newCore(nil, now)
	for name, want := range map[string]struct {
		shutdown, left time.Duration // left 0: no deadline
		detached       bool
		all, export    time.Duration
	}{
		"usual":                  {50 * ms, 0, false, 60 * ms, 50 * ms},
		"none for the endpoint":  {0, 0, false, 50 * ms, 0},
		"long":                   {500 * ms, 0, false, 510 * ms, 500 * ms},
		"long, deadline near":    {500 * ms, 200 * ms, false, 200 * ms, 200 * ms},
		"deadline nearly there":  {50 * ms, 3 * ms, false, 10 * ms, 3 * ms},
		"deadline over":          {50 * ms, -5 * ms, false, 10 * ms, 0},
		"detached":               {500 * ms, 100 * ms, true, 10 * ms, 0},
		"deadline is far enough": {50 * ms, 1900 * ms, false, 60 * ms, 50 * ms},
	} {
		c.deadline.Store(nil)
		if want.left != 0 {
			until := now.Add(want.left)
			c.deadline.Store(&until)
		}
		d := &decision{config: config.Config{Shutdown: want.shutdown, OTLP: config.OTLP{On: true}}}
		d.otlp = newExporter(c, d)
		all, export := c.patience(d, want.detached, now)
		if all != want.all || export != want.export {
			t.Errorf("%s: %v and %v", name, all, export)
		}
		d.otlp.Close(now, nil)
	}
}

// TestSelfMetrics: what was dropped and what went wrong is counted by sink.
func TestSelfMetrics(t *testing.T) {
	c := newCore(nil, time.Now())
	c.exported(0, 2, 3)
	c.losses.drop(sinkFile, signalLog, dropQueue, 1)
	if !c.losses.problem(sinkOTLP, config.CodeRejected) || c.losses.problem(sinkOTLP, config.CodeRejected) {
		t.Error("a problem is new once")
	}
	got := map[string]float64{}
	for _, m := range c.losses.metrics(&config.Config{File: config.File{On: true}, OTLP: config.OTLP{On: true}}) {
		for _, p := range m.Points {
			if p.Value > 0 {
				got[m.Name+fmt.Sprint(p.Labels)] = p.Value
			}
		}
	}
	want := map[string]float64{
		"magi.telemetry.dropped[{magi.signal span} {magi.sink otlp} {magi.drop breaker}]": 3,
		"magi.telemetry.dropped[{magi.signal log} {magi.sink file} {magi.drop queue}]":    1,
		"magi.telemetry.errors[{magi.sink otlp} {magi.problem otlp_rejected}]":            2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestExemplars: what spans count has an exemplar in each bucket that it fell
// into, once, which is a span that is there; the frame path has none, and
// neither has a capture.
func TestExemplars(t *testing.T) {
	for _, preference := range []string{"cumulative", "delta"} {
		c := otlptest.HTTP(t)
		tel, dir := exporting(t, c.URL, "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE="+preference)
		conversation(tel) // which asks for a snapshot when it cleans up
		conversation(tel)
		files := stop(t, tel, dir)
		if strings.Contains(strings.ToLower(files["metrics"]), "exemplar") {
			t.Error("there are exemplars in the capture")
		}
		spans := map[string]string{}
		for _, s := range c.Spans() {
			spans[hex.EncodeToString(s.SpanId)] = hex.EncodeToString(s.TraceId)
		}
		slow, with := map[string]bool{}, map[string]int{}
		for i := range slowInfos {
			slow[slowInfos[i].name] = true
		}
		seen := map[string]bool{}
		for _, snapshot := range c.Snapshots() {
			for _, m := range snapshot {
				for _, p := range m.GetHistogram().GetDataPoints() {
					for _, e := range p.Exemplars {
						with[m.Name]++
						if spans[hex.EncodeToString(e.SpanId)] != hex.EncodeToString(e.TraceId) {
							t.Errorf("%s: an exemplar of a span that is not there", m.Name)
						}
						key := fmt.Sprint(m.Name, p.Attributes, e)
						if seen[key] {
							t.Errorf("%s: %s twice", preference, key)
						}
						seen[key] = true
						if i, _ := slices.BinarySearch(p.ExplicitBounds, e.GetAsDouble()); p.BucketCounts[i] == 0 {
							t.Errorf("%s: an exemplar of %v is in no bucket", m.Name, e.GetAsDouble())
						}
					}
					if !slow[m.Name] && len(p.Exemplars) > 0 {
						t.Errorf("%s has exemplars", m.Name)
					}
				}
			}
		}
		for _, name := range []string{"rpc.server.call.duration", nameRunDuration, nameChatDuration, "magi.session.append.duration", "magi.cleanup.duration"} {
			if with[name] == 0 {
				t.Errorf("%s has no exemplar", name)
			}
		}
	}
}
