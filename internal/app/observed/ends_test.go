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

// TestKilled: of a child that is killed the open chain is in the capture.
func TestKilled(t *testing.T) {
	w := newWorld(t)
	c := w.start(t, "MC_TELEMETRY=file")
	ctx := t.Context()
	if _, err := c.Initialize(ctx, client.AllCapabilities()...); err != nil {
		t.Fatal(err)
	}
	session, err := c.CreateSession(ctx)
	if err != nil {
		t.Fatal(err)
	}
	run, err := c.StartTurn(ctx, session.SessionID, canaryPrompt)
	if err != nil {
		t.Fatal(err)
	}
	for ev := range c.Events() {
		if err := run.Apply(ev); err != nil {
			t.Fatal(err)
		}
		if ev.Name == localagent.EventApprovalRequested {
			break
		}
	}
	dir := filepath.Join(w.home, "state", "telemetry")
	for deadline := time.Now().Add(10 * time.Second); ; {
		logs := files(t, w.home)
		written := false
		for name, text := range logs {
			written = written || strings.Contains(name, ".logs.") && strings.Contains(text, "magi.approval.wait")
		}
		if written {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the approval's start record is not written")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.end(t)
	got := explained(t, dir)
	for _, want := range []string{"● vanished", "open: magi.approval.wait", "open: execute_tool", "open: invoke_agent magi-code", "no exit"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
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
