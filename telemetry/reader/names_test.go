package reader

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"magicode/telemetry"
)

// TestResolve: names come into every place where their hashes stand, and are
// escaped like everything else: a configuration may hold any text.
func TestResolve(t *testing.T) {
	state := t.TempDir()
	salt := bytes.Repeat([]byte{7}, 32)
	if err := os.WriteFile(filepath.Join(state, "telemetry.salt"), salt, 0o600); err != nil {
		t.Fatal(err)
	}
	read, ok := telemetry.ReadSalt(state)
	if !ok || !bytes.Equal(read, salt) {
		t.Fatalf("the salt is %x, %v", read, ok)
	}
	const hostile = "mod\x1b[31mel\u202e"
	names := []telemetry.UserName{telemetry.ServerName("files"), telemetry.Model(hostile, false, true), telemetry.AgentName("reviewer"), telemetry.SessionID("one"), telemetry.ToolName("search", true)}
	// "magi-telemetry-1" 00 kind 00 salt 00 value, SHA-256, 12 digits (telemetry.md 7.3).
	server, model, agent, session := "173209647000", "75f82b343311", "6678238569e6", "s-1423ab447467"
	b := new(build)
	b.span("magi.mcp.connect", 0, 10, "magi.mcp.server", "mcp-12", "magi.mcp.hash", server)
	b.span("magi.startup", 0, 20).span("chat "+model, 20, 30, telemetry.KeyModel.String(), model, telemetry.KeyConversation.String(), session)
	b.span("invoke_agent subagent", 20, 30, "magi.subagent.hash", agent, "magi.request.hash", "0123456789ab")
	b.span("execute_tool mcp", 20, 30).span("tools/call", 21, 29, "magi.mcp.tool", "d2a169916f2c")
	b.record("magi.span.start", 40, "c1", "magi.span.name", "chat "+model)
	b.record("magi.span.start", 40, "c2", "magi.span.name", "magi.cleanup.mcp.close", "magi.mcp.server", "mcp-12", "magi.provider.hash", "ffffffffffff")
	c := new(Capture)
	for signal, text := range map[string]string{"traces": b.traces.String(), "logs": b.logs.String()} {
		if err := c.Read(strings.NewReader(text), signal); err != nil {
			t.Fatal(err)
		}
	}
	found := c.Resolve(telemetry.NewResolver(salt, names))
	a := Analyse("x", c)
	a.Names = found
	js, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"kind":"mcp","ref":"mcp-12","name":"files"}`, `"ref":"` + agent + `","name":"reviewer"`, `"ref":"` + session + `","name":"one"`,
		`{"kind":"provider","ref":"ffffffffffff","name":null}`} {
		if !strings.Contains(string(js), want) {
			t.Errorf("no %s in %s", want, js)
		}
	}
	if strings.Contains(string(js), "0123456789ab") || len(found) != 6 {
		t.Errorf("a protocol id is among %s", js)
	}
	var text, page bytes.Buffer
	Print(&text, a, Look{All: true})
	HTML(&page, a)
	for form, got := range map[string]string{"text": text.String(), "page": page.String()} {
		for _, want := range []string{"mcp-12=files", `chat mod\x1b[31mel\x202e`, "reviewer", "not known here", "search"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", form, want, got)
			}
		}
		if strings.ContainsAny(got, "\x1b\u202e") || strings.Contains(got, "chat "+model) {
			t.Errorf("%s: %q", form, got)
		}
	}
}

// TestReadSalt: what is no salt is none, and none is made.
func TestReadSalt(t *testing.T) {
	state := t.TempDir()
	path := filepath.Join(state, "telemetry.salt")
	if _, ok := telemetry.ReadSalt(state); ok {
		t.Error("there is a salt")
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("a salt was made")
	}
	for name, put := range map[string]func() error{
		"short": func() error { return os.WriteFile(path, make([]byte, 31), 0o600) },
		"long":  func() error { return os.WriteFile(path, make([]byte, 33), 0o600) },
		"link":  func() error { return os.Symlink(filepath.Join(state, "elsewhere"), path) },
	} {
		_ = os.Remove(path)
		if err := os.WriteFile(filepath.Join(state, "elsewhere"), make([]byte, 32), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if _, ok := telemetry.ReadSalt(state); ok {
			t.Errorf("%s: taken for a salt", name)
		}
	}
}
