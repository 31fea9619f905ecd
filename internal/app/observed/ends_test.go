package observed

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"magicode/internal/mcp/mcptest"
	"magicode/internal/server"
	"magicode/internal/tracecmd"
	"magicode/pkg/client"
	"magicode/pkg/localagent"
	"magicode/telemetry"
	"magicode/telemetry/otlp/otlptest"
)

func explained(t *testing.T, dir string) string {
	t.Helper()
	var out bytes.Buffer
	if status := tracecmd.Run(tracecmd.Options{Dir: dir}, &out, &out); status != 0 {
		t.Fatalf("trace: %d %s", status, out.String())
	}
	return out.String()
}

// moment is when a child is killed: it plays up to it, and the capture has the
// start record of what is under way.
type moment struct {
	server string // of which kind the world's MCP server is; "": there is none
	play   func(t *testing.T, w *world, c *child)
	mark   string
	open   []string // innermost first
}

func moments() map[string]moment {
	greet := func(t *testing.T, c *child) {
		t.Helper()
		if _, err := c.Initialize(t.Context(), client.AllCapabilities()...); err != nil {
			t.Fatal(err)
		}
	}
	begin := func(t *testing.T, c *child) *client.Run {
		t.Helper()
		greet(t, c)
		session, err := c.CreateSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		run, err := c.StartTurn(t.Context(), session.SessionID, canaryPrompt)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	return map[string]moment{
		"startup": {server: mcptest.Mute, mark: "magi.mcp.connect", open: []string{"connecting MCP server mcp-1 (stdio)", "magi.startup"},
			play: func(t *testing.T, _ *world, c *child) {
				go func() { _, _ = c.Initialize(t.Context()) }() // it is never answered
			}},
		"run": {mark: "magi.provider.attempt", open: []string{"magi.provider.attempt", "chat", "invoke_agent magi-code"},
			play: func(t *testing.T, w *world, c *child) {
				w.gate = make(chan struct{}) // the model says something and waits
				begin(t, c)
			}},
		"approval": {mark: "magi.approval.wait", open: []string{"magi.approval.wait", "execute_tool", "invoke_agent magi-code"},
			play: func(t *testing.T, _ *world, c *child) {
				run := begin(t, c)
				for ev := range c.Events() {
					if err := run.Apply(ev); err != nil {
						t.Fatal(err)
					}
					if ev.Name == localagent.EventApprovalRequested {
						return
					}
				}
			}},
		"cleanup": {server: mcptest.Stubborn, mark: "magi.cleanup.mcp.close", open: []string{"closing MCP server mcp-1 (stdio)", "magi.cleanup"},
			play: func(t *testing.T, _ *world, c *child) {
				greet(t, c)
				if err := c.Shutdown(t.Context()); err != nil {
					t.Fatal(err)
				}
			}},
	}
}

// TestKilled: of a child that is killed the open chain is in the capture.
func TestKilled(t *testing.T) {
	for name, m := range moments() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if m.server != "" {
				w.serveOne(t, "notes", m.server)
			}
			c := w.start(t, "MC_TELEMETRY=file")
			m.play(t, w, c)
			dir := filepath.Join(w.home, "state", "telemetry")
			waitUntil(t, "the start record of "+m.mark, func() bool { return logged(t, w.home, m.mark) })
			if err := c.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			c.end(t)
			got := explained(t, dir)
			wanted := []string{"● vanished", "no exit"}
			for _, s := range m.open {
				wanted = append(wanted, "open: "+s)
			}
			for _, want := range wanted {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}

// waitUntil waits for what another process does.
func waitUntil(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// logged reports whether the log of a capture speaks of something.
func logged(t *testing.T, home, what string) bool {
	t.Helper()
	for name, text := range files(t, home) {
		if strings.Contains(name, ".logs.") && strings.Contains(text, what) {
			return true
		}
	}
	return false
}

// stubborn starts, and does not end before the test lets it.
type stubborn struct {
	server.Runtime
	tel     telemetry.Tel
	release chan struct{}
	start   func()
}

func (s *stubborn) Start(context.Context) (server.Runtime, server.Info, error) {
	s.start()
	return s, server.Info{}, nil
}

func (s *stubborn) Close(ctx context.Context) error {
	_, span := s.tel.Begin(ctx, telemetry.SpanCleanupMCPClose)
	defer span.End()
	span.Str(telemetry.KeyMCPServer, telemetry.WordOf("mcp-1"))
	span.Str(telemetry.KeyTransport, telemetry.WordOf("pipe"))
	span.Str(telemetry.KeyMCPStep, telemetry.WordOf("stdout_join"))
	<-s.release
	return nil
}

// detached plays a child whose teardown does not end, and returns its state
// folder. The exit is held to its bound.
func detached(t *testing.T, environ ...string) (state string) {
	t.Helper()
	state = filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	tel := telemetry.New(environ, time.Now())
	s := &stubborn{tel: tel, release: make(chan struct{}), start: func() {
		tel.Start(nil, telemetry.Identity{InstanceID: "6f1c5f0e-1", StateDir: state, Version: "1"})
	}}
	t.Cleanup(func() { close(s.release) })
	here, there := net.Pipe()
	c := client.New(here, here, nil)
	ended := make(chan server.Exit, 1)
	go func() {
		ended <- server.Serve(context.Background(), server.Config{Transport: there, Startup: s, NewID: func() string { return "00000000-0000-4000-8000-000000000000" }, Tel: tel})
	}()
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := c.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	exit := <-ended
	tel.Exit(exit.Code, telemetry.WordOf(string(exit.Reason)), exit.Detached)
	if took := time.Since(began); !exit.Detached || took < localagent.CleanupWait || took > localagent.CleanupWait+300*time.Millisecond {
		t.Errorf("detached %v after %v", exit.Detached, took)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) { // a process would be gone
		b, err := os.ReadFile(filepath.Join(state, "telemetry-status.json"))
		if err == nil && strings.Contains(string(b), `"state":"closed"`) {
			return state
		}
		if time.Now().After(deadline) {
			t.Fatalf("telemetry does not end: %v %s", err, b)
		}
	}
}

// TestDetached: a teardown that does not end costs 2,000 ms and not more, and
// the capture names it.
func TestDetached(t *testing.T) {
	t.Parallel()
	state := detached(t, "MC_TELEMETRY=file")
	var got string
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got = explained(t, filepath.Join(state, "telemetry")); !strings.Contains(got, "no exit") {
			break
		}
	}
	for _, want := range []string{"DETACHED", "● stuck-cleanup   closing MCP server mcp-1 (stdio) did not finish: open ≥", "last step  stdout_join", "goroutine"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	t.Log("\n" + got)
}

// TestDetachedExports: the same with an endpoint that hangs; one that answers
// learns of it while the child still waits.
func TestDetachedExports(t *testing.T) {
	hanging, _ := otlptest.Hanging(t)
	collector := otlptest.HTTP(t)
	for name, url := range map[string]string{"hanging": hanging, "answering": collector.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			detached(t, "MC_TELEMETRY=otlp", "MC_TELEMETRY_OTLP_ENDPOINT="+url)
			if name == "hanging" {
				return
			}
			for _, s := range collector.Spans() {
				if s.Name == "magi.cleanup.snapshot" {
					return
				}
			}
			t.Error("the endpoint does not know what the cleanup waits for")
		})
	}
}
