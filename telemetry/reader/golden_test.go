package reader

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/screen-*.txt anew")

// busy is a capture with something of everything that the screen shows.
func busy() *build {
	b := new(build).span("magi.child", 0, 2790).span("initialize", 0, 326).span("magi.startup", 1, 326).
		span("magi.mcp.connect", 10, 222, "magi.mcp.server", "mcp-1", "network.transport", "pipe").span("session.create", 330, 334).span("turn.start", 340, 341).
		span(runSpan, 341, 763, "magi.run.seq", 1, "magi.run.outcome", "cancelled", "magi.run.persistence", "durable").
		span("chat gpt-5", 345, 645, "gen_ai.response.time_to_"+"first_chunk", 182, "gen_ai.usage.input_tokens", 4210, "gen_ai.usage.output_tokens", 96).
		span("magi.session.append", 700, 709)
	b.record("magi.span.start", 770, "c1", "magi.span.name", "magi.cleanup").
		record("magi.span.start", 771, "m2", "magi.span.name", "magi.cleanup.mcp.close", "magi.span.parent", "c1").
		record("magi.span.event", 780, "m2", "magi.mcp.server", "mcp-2", "network.transport", "pipe", "magi.mcp.step", "stdout_join").
		metric("gauge", "magi.output.pending.peak", 9).metric("sum", "magi.deltas", 198, "magi.delta.outcome", "queued").
		metric("sum", "magi.deltas", 14, "magi.delta.outcome", "dropped").metric("sum", "magi.output.near_misses", 2)
	return b.exit(2775, "shutdown", true)
}

// TestScreen: what the terminal shows, 80 and 120 characters wide and without
// colour, is in testdata/screen-*.txt. go test ./telemetry/reader -run TestScreen
// -update writes them anew.
func TestScreen(t *testing.T) {
	for _, width := range []int{80, 120} {
		var out bytes.Buffer
		Print(&out, busy().analyse(t), Look{Width: width})
		if strings.Contains(out.String(), "\x1b") {
			t.Error("there is colour")
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); strings.ContainsAny(line, "█▶") && n > width {
				t.Errorf("%d characters of %d: %s", n, width, line)
			}
		}
		file := fmt.Sprintf("testdata/screen-%d.txt", width)
		if *update {
			if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("width %d (-want +got)\n%s", width, diff)
		}
	}
}
