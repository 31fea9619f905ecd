package observed

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"magicode/internal/mcp/mcptest"
	"magicode/internal/vfs"
	"magicode/pkg/client"
	"magicode/pkg/localagent"
	"magicode/telemetry/otlp/otlptest"
)

// TestErrorsDoNotLeak: neither the text of a provider's refusal, nor the names of
// an MCP server and of a tool that nobody has, leave by any sink.
func TestErrorsDoNotLeak(t *testing.T) {
	collector := otlptest.HTTP(t)
	asked := 0
	refusing := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if asked++; asked > 1 {
			rw.WriteHeader(http.StatusBadRequest)
			_, _ = rw.Write([]byte(`{"error":{"message":"` + canaryError + ` in a file"}}`))
			return
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		for _, choice := range []map[string]any{
			{"delta": map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": "c", "function": map[string]any{"name": canaryTool, "arguments": `{}`}}}}},
			{"delta": map[string]any{}, "finish_reason": "tool_calls"},
		} {
			choice["index"] = 0
			b, _ := json.Marshal(map[string]any{"id": "x", "model": canaryAnswering, "choices": []any{choice}})
			_, _ = rw.Write([]byte("data: " + string(b) + "\n\n"))
		}
		_, _ = rw.Write([]byte("data: [DONE]\n\n"))
	}))
	t.Cleanup(refusing.Close)
	w := newWorld(t)
	w.settings["providers"].(map[string]any)["custom"].(map[string]any)[canaryProvider].(map[string]any)["base_url"] = refusing.URL + "/v1"
	w.serveOne(t, canaryServer, mcptest.Ready)
	prom := filepath.Join(t.TempDir(), "m.prom")
	c := w.start(t, "MC_TELEMETRY=file,prom,otlp", "MC_TELEMETRY_PROM="+prom, "MC_TELEMETRY_OTLP_ENDPOINT="+collector.URL, "MC_TELEMETRY_SHUTDOWN_MS=500")
	if _, err := c.Initialize(t.Context(), client.AllCapabilities()...); err != nil {
		t.Fatal(err)
	}
	session, err := c.CreateSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run, err := c.StartTurn(t.Context(), session.SessionID, canaryPrompt)
	if err != nil {
		t.Fatal(err)
	}
	for run.Finished == nil {
		if err := run.Apply(<-c.Events()); err != nil {
			t.Fatal(err)
		}
	}
	if run.Finished.Outcome != localagent.OutcomeFailed || asked < 2 {
		t.Errorf("the run ended %s after %d requests", run.Finished.Outcome, asked)
	}
	if err := c.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.end(t)
	made := left(t, w, prom, collector)
	if len(made) < 8 {
		t.Errorf("only %d things to look into", len(made))
	}
	holdNone(t, w, made)
	failed := false
	for _, text := range made {
		failed = failed || strings.Contains(text, `"stringValue":"400"`)
	}
	if !failed {
		t.Error("the refusal is in no capture")
	}
	said := explained(t, filepath.Join(w.home, "state", "telemetry"))
	if first, _, _ := strings.Cut(said[strings.Index(said, "●"):], "\n"); !strings.HasPrefix(first, "● failed-run      run 1 failed: execution_failed; chat ") || !strings.HasSuffix(first, " ended with 400; attempt 1 of 1: HTTP status 400") {
		t.Errorf("support sees\n%s", said)
	}
}

// left is everything that has left a child: its files and what was exported.
func left(t *testing.T, w *world, prom string, collector *otlptest.Collector) map[string]string {
	t.Helper()
	made := files(t, w.home)
	for name, text := range files(t, filepath.Dir(prom)) {
		made[name] = text
	}
	headers, bodies := collector.Requests()
	for i, b := range bodies {
		made[fmt.Sprint("request ", i)] = fmt.Sprint(headers[i]) + string(b)
	}
	return made
}

// panicking is a file system that panics with a canary when the file of the
// workspace is opened.
type panicking struct{ vfs.FS }

func (p panicking) Open(name string, flags vfs.Flag, perm fs.FileMode) (vfs.File, error) {
	if strings.Contains(name, canaryFile) {
		panic(canaryPanic + " at " + name)
	}
	return p.FS.Open(name, flags, perm)
}

// TestNothingLeaks: what a tool panics with, the names of a profile, of an MCP
// server and of its tool, what that tool found and why it failed, a word of the
// answer that came in two pieces, reasoning, the provider's own ids, instructions,
// a skill and a hook leave by no sink, the runtime trace among them (T-28).
func TestNothingLeaks(t *testing.T) {
	collector, prom := otlptest.HTTP(t), filepath.Join(t.TempDir(), "m.prom")
	// A cleanup that is nearly given up: only then there is a runtime trace.
	s := newTimed(t, &delay{stage: "shutdown", where: "fs", match: "remove .writer", lasts: localagent.CleanupWait - 200*time.Millisecond})
	s.tool, s.fs = canaryTool, panicking{s.fs}
	s.refuse.Store(1)
	s.w.settings["automation"] = map[string]any{"hooks": map[string]any{"enabled": true, "after_tool": []any{map[string]any{"label": canaryHook, "command": "echo " + canaryHook}}}}
	s.serve(canaryServer)
	write(t, filepath.Join(s.w.work, "AGENTS.md"), canaryRule)
	skill := filepath.Join(s.w.home, "skills", strings.ToLower(canaryRule))
	if err := os.MkdirAll(skill, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(skill, "SKILL.md"), "---\nname: "+strings.ToLower(canaryRule)+"\ndescription: "+canaryRule+"\n---\n"+canaryRule+"\n")
	profiles := filepath.Join(s.w.home, "subagents")
	if err := os.MkdirAll(profiles, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(profiles, canaryProfile+".md"), "---\nname: "+canaryProfile+"\ndescription: "+canaryPrompt+"\noutput_schema: none\n---\nBe "+canaryPrompt+".\n")
	s.env = []string{"MC_TELEMETRY=file,otlp,prom", "MC_TELEMETRY_PROM=" + prom, "MC_TELEMETRY_OTLP_ENDPOINT=" + collector.URL, "MC_TELEMETRY_RUNTIME_TRACE=always", "MC_TELEMETRY_SHUTDOWN_MS=500"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.converse(ctx, plan{Steps: []string{"read", canaryTool, "reason", canaryTool, canaryProfile, "split"}})
	s.closed()
	made := left(t, s.w, prom, collector)
	kinds := map[string]int{}
	for name := range made {
		if strings.HasSuffix(name, ".salt") || strings.HasSuffix(name, ".lock") {
			continue
		}
		kinds[strings.TrimLeft(filepath.Ext(name), ".")]++
	}
	holdNone(t, s.w, made)
	if kinds["trace"] != 1 || kinds["prom"] != 1 || kinds["jsonl"] != 3 || kinds["json"] != 1 || kinds[""] < 2 {
		t.Errorf("looked into %v %s", kinds, made["telemetry-status.json"])
	}
	got := map[string]int{}
	for _, sp := range spans(t, s.w) {
		got[fmt.Sprint(sp.Name, " ", sp.get("magi.tool.outcome"))]++
	}
	for _, want := range []string{"execute_tool read error", "execute_tool mcp ok", "execute_tool mcp error", "execute_tool subagents ok", "magi.hook <nil>"} {
		if got[want] == 0 {
			t.Errorf("no %s among %v", want, got)
		}
	}
	// On their own machine they come back: the tool's from the session that called it.
	said, _, _ := s.w.trace(t, s.w.home, "--resolve")
	for _, want := range []string{"=" + canaryServer + " " + canaryTool, canaryProfile} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}
