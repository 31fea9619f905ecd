package observed

import (
	"regexp"
	"strings"
	"testing"

	logspb "go.opentelemetry.io/proto/slim/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// ids of OTLP JSON are hexadecimal; the official reader takes them for base64,
// whose alphabet holds that of hexadecimal digits.
var idMember = regexp.MustCompile(`"(traceId|spanId|parentSpanId)":"([^"]*)"`)

// TestOfficialReader: every line of a capture is a document of its signal, by the
// official types, which refuse a member that they do not know and a value of
// another type.
func TestOfficialReader(t *testing.T) {
	w := newWorld(t)
	w.during = w.told(t)
	w.converse(t, "MC_TELEMETRY=file")
	items := map[string]int{}
	for name, text := range files(t, w.home) {
		for line := range strings.Lines(text) {
			if strings.Contains(name, ".jsonl") {
				officially(t, name, line, items)
			}
		}
	}
	if items["spans"] < 25 || items["logs"] < 3 || items["metrics"] < 20 {
		t.Errorf("%v", items)
	}
}

// officially reads one line of a file and counts what is in it.
func officially(t *testing.T, name, line string, items map[string]int) {
	t.Helper()
	var spans tracepb.TracesData
	var logs logspb.LogsData
	var metrics metricspb.MetricsData
	var doc proto.Message = &metrics
	switch {
	case strings.Contains(name, ".traces."):
		doc = &spans
	case strings.Contains(name, ".logs."):
		doc = &logs
	}
	if err := protojson.Unmarshal([]byte(line), doc); err != nil {
		t.Errorf("%s: %v in %s", name, err, line)
	}
	for _, id := range idMember.FindAllStringSubmatch(line, -1) {
		if n := map[string]int{"traceId": 32, "spanId": 16, "parentSpanId": 16}[id[1]]; len(id[2]) != n || strings.Trim(id[2], "0123456789abcdef") != "" {
			t.Errorf("%s: %s", name, id[0])
		}
	}
	for _, r := range spans.ResourceSpans {
		for _, s := range r.ScopeSpans[0].Spans {
			items["spans"]++
			if s.Kind == tracepb.Span_SPAN_KIND_UNSPECIFIED || s.EndTimeUnixNano < s.StartTimeUnixNano || s.Name == "" {
				t.Errorf("%s: %v", name, s)
			}
		}
	}
	for _, r := range logs.ResourceLogs {
		items["logs"] += len(r.ScopeLogs[0].LogRecords)
	}
	for _, r := range metrics.ResourceMetrics {
		items["metrics"] += len(r.ScopeMetrics[0].Metrics)
	}
}
