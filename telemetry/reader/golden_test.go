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
		span("magi.mcp.connect", 10, 222, "magi.mcp.server", "mcp-1", "network.transport", "pipe").span("session.create", 330, 334, "rpc.method", "session.create").
		span("magi.session.lease", 331, 332, "magi.lease", "active", "magi.lease.outcome", "ok").span("turn.start", 340, 341, "rpc.method", "turn.start", "error.type", "busy").
		span("status", 400, 401, "rpc.method", "status").span("status", 500, 502, "rpc.method", "status").span("status", 600, 601, "rpc.method", "status").
		span("magi.session.append", 700, 709)
	b.span(runSpan, 341, 763, "magi.run.seq", 1, "magi.run.outcome", "cancelled", "magi.run.persistence", "durable").below().
		span("chat gpt-5", 345, 645, "gen_ai.response.time_to_"+"first_chunk", 182, "gen_ai.usage.input_tokens", 4210, "gen_ai.usage.output_tokens", 96).
		span("execute_tool mcp", 645, 763, "magi.tool.outcome", "cancelled", "magi.span.cut", true).below().span("tools/call", 646, 763, "magi.mcp.server", "mcp-2")
	b.above = ""
	b.span("magi.cleanup.drain", 768, 770).span("magi.cleanup.mcp.request", 771, 771, "magi.count", 2).
		span("magi.cleanup.mcp.close", 771, 809, "magi.mcp.server", "mcp-1", "network.transport", "pipe")
	b.record("magi.span.start", 770, "c1", "magi.span.name", "magi.cleanup").
		record("magi.span.start", 771, "m2", "magi.span.name", "magi.cleanup.mcp.close", "magi.span.parent", "c1").
		record("magi.span.event", 780, "m2", "magi.mcp.server", "mcp-2", "network.transport", "pipe", "magi.mcp.step", "stdout_join").
		recordBody("magi.goroutines", 2520, "", "goroutine 34 [sync.Mutex.Lock]\n  mcp.(*Conn).waitReader stdio.go:187\n  mcp.(*Manager).Close manager.go:142\n  startup.cleanupWorker cleanup.go:88\n\n").
		metric("gauge", "magi.output.pending.peak", 9).metric("gauge", "magi.output.pending.peak", 1).metric("gauge", "magi.output.oldest_age.peak", 1.882).
		metric("gauge", "magi.worker.pending.peak", 31).metric("sum", "magi.admission.rejections", 2, "error.type", "busy").
		metric("sum", "magi.admission.rejections", 1, "error.type", "invalid_request").metric("sum", "magi.deltas", 198, "magi.delta.outcome", "queued").
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
			// Sentences stay whole; a terminal breaks them as it likes.
			sentence := strings.HasPrefix(line, "●") || strings.HasPrefix(line, "○") || strings.HasPrefix(line, "try ") || strings.HasPrefix(line, strings.Repeat(" ", 18))
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); !sentence && n > width {
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
