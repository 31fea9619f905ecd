package observed

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/mcp/mcptest"
	"magicode/pkg/client"
	"magicode/pkg/localagent"
	"magicode/telemetry/otlp/otlptest"
)

// What only errors and definitions say.
const (
	canaryError  = "CANARYERRORqx13"
	canaryServer = "canaryserverqx14"
	canaryTool   = "canarytoolqx15"
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
			b, _ := json.Marshal(map[string]any{"id": "x", "model": "m", "choices": []any{choice}})
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
	made := files(t, w.home)
	for name, text := range files(t, filepath.Dir(prom)) {
		made[name] = text
	}
	_, bodies := collector.Requests()
	for i, b := range bodies {
		made["request "+string(rune('0'+i))] = string(b)
	}
	if len(made) < 8 {
		t.Errorf("only %d things to look into", len(made))
	}
	failed := false
	for name, text := range made {
		if strings.HasSuffix(name, ".salt") || strings.HasSuffix(name, ".lock") {
			continue
		}
		failed = failed || strings.Contains(text, `"stringValue":"400"`)
		holdsNone(t, w, name, text)
	}
	if !failed {
		t.Error("the refusal is in no capture")
	}
}
