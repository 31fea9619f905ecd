package observed

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/mcp/mcptest"
	"magicode/internal/server/servertest"
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

// told waits in a conversation until the log has begun: of what is over before
// the first look only the end is told.
func (w *world) told(t *testing.T) func(*child) {
	return func(*child) {
		waitUntil(t, "the child's start record", func() bool { return logged(t, w.home, "magi.child") })
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

// newTeardown returns a child that has not started, and its state folder.
func newTeardown(t *testing.T, wait func(), environ ...string) (d *servertest.Teardown, state string) {
	t.Helper()
	state = filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	d = &servertest.Teardown{Tel: telemetry.New(environ, time.Now()), Wait: wait}
	d.Start = func() {
		d.Tel.Start(nil, telemetry.Identity{InstanceID: "6f1c5f0e-1", StateDir: state, Version: "1"})
	}
	return d, state
}

// TestLastMoment: a teardown that ends 10 ms before its bound is none that is
// given up: the child waits for it, cuts nothing, and its capture is whole, with
// what was told of it meanwhile (T-24). Time is the bubble's.
func TestLastMoment(t *testing.T) {
	const takes = localagent.CleanupWait - 10*time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		d, state := newTeardown(t, func() { time.Sleep(takes) }, "MC_TELEMETRY=file")
		exit, took := d.Play(t)
		synctest.Wait() // the rest of a process that would be gone
		if exit.Detached || took != takes {
			t.Errorf("detached %v after %v", exit.Detached, took)
		}
		made, ended := files(t, state), map[string]bool{}
		w := &world{home: state}
		for _, s := range spans(t, w) {
			ended[s.SpanID] = true
			if s.get("magi.span.cut") != nil || s.Status.Code != 0 {
				t.Errorf("%s is cut or failed", s.Name)
			}
			if at := s.get("magi.detached"); at != nil && at != false {
				t.Errorf("%s is detached", s.Name)
			}
		}
		logs := ""
		for name, text := range made {
			if strings.Contains(name, ".logs.") {
				logs = text
			}
		}
		begun := regexp.MustCompile(`"spanId":"([0-9a-f]{16})"`).FindAllStringSubmatch(logs, -1)
		for _, id := range begun {
			if !ended[id[1]] {
				t.Errorf("span %s has no end", id[1])
			}
		}
		if len(ended) < 7 || len(begun) < 7 {
			t.Errorf("only %d spans, %d records of spans", len(ended), len(begun))
		}
		for _, want := range []string{`"magi.span.open"`, `"magi.goroutines"`} {
			if !strings.Contains(logs, want) {
				t.Errorf("no %s: nothing was told before the bound", want)
			}
		}
		lines := strings.Split(strings.TrimSpace(logs), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, `"magi.exit"`) {
			t.Errorf("the last record is %s", last)
		}
		if status := made["telemetry-status.json"]; !strings.Contains(status, `"state":"closed"`) || !strings.Contains(status, `"dropped":0`) || !strings.Contains(status, `"problems":[]`) {
			t.Errorf("status %s", status)
		}
	})
}

// detached plays a child whose teardown does not end, and returns its state
// folder and how long the exit took, which is held to a bound that holds on a
// machine that has something else to do.
func detached(t *testing.T, environ ...string) (state string, took time.Duration) {
	t.Helper()
	over := make(chan struct{})
	d, state := newTeardown(t, func() { <-over }, environ...)
	t.Cleanup(func() { close(over) })
	exit, took := d.Play(t)
	if !exit.Detached || took < localagent.CleanupWait || took > localagent.CleanupWait+300*time.Millisecond {
		t.Errorf("detached %v after %v", exit.Detached, took)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) { // a process would be gone
		b, err := os.ReadFile(filepath.Join(state, "telemetry-status.json"))
		if err == nil && strings.Contains(string(b), `"state":"closed"`) {
			return state, took
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
	state, _ := detached(t, "MC_TELEMETRY=file")
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

// TestDetachedExports: the same with an endpoint that hangs, which costs no more
// than the 10 ms that a file has (T-23; here with as much for timers that are
// late); one that answers learns of it while the child still waits.
func TestDetachedExports(t *testing.T) {
	hanging, _ := otlptest.Hanging(t)
	collector := otlptest.HTTP(t)
	for name, url := range map[string]string{"hanging": hanging, "answering": collector.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const bound = localagent.CleanupWait + (10+10)*time.Millisecond
			_, took := detached(t, "MC_TELEMETRY=otlp", "MC_TELEMETRY_OTLP_ENDPOINT="+url)
			for range 4 { // a machine that has something else to do
				if took <= bound || name != "hanging" {
					break
				}
				_, again := detached(t, "MC_TELEMETRY=otlp", "MC_TELEMETRY_OTLP_ENDPOINT="+url)
				took = min(took, again)
			}
			if name == "hanging" {
				if took > bound {
					t.Errorf("gone after %v", took)
				}
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
