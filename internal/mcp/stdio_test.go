package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"magicode/internal/config"
	"magicode/internal/racetest"
	"magicode/internal/tool"
)

func find(t *testing.T, m *Manager, name string) tool.Tool {
	t.Helper()
	for _, x := range m.Tools() {
		if x.Definition().Name == name {
			return x
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil
}

func run(t *testing.T, m *Manager, name, args string) tool.Result {
	t.Helper()
	return find(t, m, name).Run(context.Background(), tool.Env{}, json.RawMessage(args))
}

func TestDefinitions(t *testing.T) {
	s, log := stdioServer(t, "fx", "")
	_ = s
	s.Stdio.Env[fixtureMode] = "plain"
	m := connect(t, options(), s)
	var names []string
	for _, x := range m.Tools() {
		names = append(names, x.Definition().Name)
	}
	if len(names) != 13 || !slices.IsSorted(names) {
		t.Errorf("%q", names)
	}
	for name, want := range map[string][2]string{
		"mcp__fx__echo":  {"Echo.", `{"type":"object","properties":{"text":{"type":"string"}}}`},
		"mcp__fx__hang":  {"Never answers", `{"type":"object"}`},
		"mcp__fx__twice": {"MCP tool from server fx", anyObject},
		"mcp__fx__late":  {"MCP tool from server fx", anyObject},
		"mcp__fx__asks":  {"MCP tool from server fx", anyObject},
	} {
		d := find(t, m, name).Definition()
		if d.Description != want[0] || string(d.Parameters) != want[1] {
			t.Errorf("%s: %q %s", name, d.Description, d.Parameters)
		}
	}
	if got := m.links[0].protocol; got != "2025-11-25" {
		t.Errorf("protocol %s", got)
	}
	log.await("notifications/initialized")
}

// TestCalls runs tools that misbehave one after the other: the connection
// survives them all.
func TestCalls(t *testing.T) {
	s, log := stdioServer(t, "fx", "plain")
	m := connect(t, options(), s)
	for _, c := range []struct {
		tool, args, want string
		success          bool
	}{
		{"echo", `{"text":"ü"}`, `ECHO {"text":"ü"}`, true},
		{"echo", `{"intent":"look","arguments":{"text":"in"}}`, `ECHO {"text":"in"}`, true},
		{"intent", `{"intent":"look","arguments":{"text":"in"}}`, `{"arguments":{"text":"in"},"intent":"look"}`, true},
		{"echo", "{\n\"text\":\n\"lines\"}", `ECHO {"text":"lines"}`, true},
		{"twice", `{}`, "first", true},
		{"asks", `{}`, "asked", true},
		{"rude", `{}`, "polite", true},
		{"batch", `{}`, "batched", true},
		{"fails", `{}`, "MCP server fx: the server answered with error -32602: bad arguments for Bearer <redacted>", false},
		{"echo", `{}`, "ECHO {}", true},
	} {
		got := run(t, m, "mcp__fx__"+c.tool, c.args)
		if got.Content != c.want || got.Success != c.success || got.Metadata["mcp"] != true {
			t.Errorf("%s: %+v", c.tool, got)
		}
	}
	log.await(`answer "q1" {}`)
	log.await(`answer 7 {"code":-32601`)
}

// TestOverlappingCalls: a call that hangs is cancelled, and neither that nor its
// hanging touches the others.
func TestOverlappingCalls(t *testing.T) {
	s, log := stdioServer(t, "fx", "plain")
	m := connect(t, options(), s)
	ctx, cancel := context.WithCancel(context.Background())
	hung := make(chan tool.Result)
	go func() { hung <- find(t, m, "mcp__fx__hang").Run(ctx, tool.Env{}, json.RawMessage(`{}`)) }()
	log.await("tools/call")
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if got := run(t, m, "mcp__fx__echo", fmt.Sprintf(`{"n":%d}`, i)); got.Content != fmt.Sprintf(`ECHO {"n":%d}`, i) {
				t.Errorf("%d: %+v", i, got)
			}
		})
	}
	wg.Wait()
	began := time.Now()
	cancel()
	if got := <-hung; got.Success || got.Content != tool.CancelledText || time.Since(began) > 200*time.Millisecond {
		t.Errorf("after %v: %+v", time.Since(began), got)
	}
	log.await("cancelled 4")
	if got := run(t, m, "mcp__fx__echo", `{}`); !got.Success {
		t.Errorf("after the cancellation: %+v", got)
	}
}

func TestTimeoutKeepsTheConnection(t *testing.T) {
	s, log := stdioServer(t, "fx", "plain")
	s.Timeout = time.Second
	m := connect(t, options(), s)
	if got := run(t, m, "mcp__fx__late", `{}`); got.Success || got.Content != "MCP server fx gave no answer within 1s" {
		t.Errorf("%+v", got)
	}
	log.await("cancelled 4")
	if got := run(t, m, "mcp__fx__echo", `{}`); got.Content != "ECHO {}" {
		t.Errorf("the late answer was taken for another: %+v", got)
	}
}

// TestBrokenConnections: what ends a connection fails the call at once, says
// why, and fails later calls without a wait.
func TestBrokenConnections(t *testing.T) {
	for name, want := range map[string]string{
		"exit": "the server exited with status 4",
		"long": "the server broke the framing: a line has more than 1048576 bytes",
		"gone": "the server closed its output",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, log := stdioServer(t, "fx", "plain")
			m := connect(t, options(), s)
			for range 2 {
				if got := run(t, m, "mcp__fx__"+name, `{}`); got.Success || got.Content != "MCP server fx: "+want {
					t.Errorf("%+v", got)
				}
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			log.mustBeGone()
		})
	}
}

// TestServerThatDoesNotRead: requests fill the pipe; those that time out before
// their first byte harm nobody, one that is cut ends the connection.
func TestServerThatDoesNotRead(t *testing.T) {
	s, log := stdioServer(t, "fx", "plain")
	s.Timeout = time.Second
	m := connect(t, options(), s)
	if got := run(t, m, "mcp__fx__deaf", `{}`); !got.Success {
		t.Fatalf("%+v", got)
	}
	args, _ := json.Marshal(map[string]string{"text": strings.Repeat("z", 100<<10)})
	first := run(t, m, "mcp__fx__echo", string(args))
	second := run(t, m, "mcp__fx__echo", `{}`)
	if first.Success || second.Content != "MCP server fx: a request was not written whole" {
		t.Errorf("%q %q", first.Content, second.Content)
	}
	_ = m.Close()
	log.mustBeGone()
}

// TestSilence: a server that still answers pings may let calls hang as often as
// it likes; one that answers nothing is given up.
func TestSilence(t *testing.T) {
	s, log := stdioServer(t, "fx", "plain")
	s.Timeout = time.Second
	m := connect(t, options(), s)
	m.links[0].server.Timeout = 50 * time.Millisecond
	for i := range maxSilence + 2 {
		run(t, m, "mcp__fx__hang", `{}`)
		log.await(fmt.Sprintf("ping %d", 5+2*i))
	}
	m.links[0].server.Timeout = time.Second
	if got := run(t, m, "mcp__fx__echo", `{}`); !got.Success {
		t.Errorf("a server that lives was given up: %+v", got)
	}
	run(t, m, "mcp__fx__deaf", `{}`)
	m.links[0].server.Timeout = 20 * time.Millisecond
	var last tool.Result
	for range maxSilence + 1 {
		last = run(t, m, "mcp__fx__hang", `{}`)
	}
	if last.Content != "MCP server fx: the server has stopped answering" {
		t.Errorf("%+v", last)
	}
}

// TestFailedStarts: one server that cannot be connected fails the start with its
// name and reason, and the others are gone when Connect returns.
func TestFailedStarts(t *testing.T) {
	for mode, want := range map[string]string{
		"dies":     "initialize: the server exited with status 3",
		"babbler":  "initialize: the server broke the framing: its output is no JSON-RPC",
		"huge":     "initialize: the server broke the framing: a line has more than 1048576 bytes",
		"future":   `initialize: protocol error: the server speaks version "2099-01-01", which is not supported`,
		"refuses":  "initialize: the server answered with error -32000: no, because token=<redacted>",
		"mute":     "initialize: no answer in time",
		"listless": "tools_list: no answer in time",
		"badname":  `routes: the tool "a.b" cannot be offered: names have letters, digits, hyphens and single underscores, and at most 64 bytes with the server's`,
		"double":   "routes: protocol error: the tool a is listed twice",
		"endless":  "tools_list: the list of tools has more than 100 pages",
		"circle":   "tools_list: protocol error: the list of tools repeats a cursor",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			good, goodLog := stdioServer(t, "good", "plain")
			bad, badLog := stdioServer(t, "bad", mode)
			bad.Timeout = 3 * time.Second
			_, err := Connect(context.Background(), options(), []config.MCPServer{bad, good})
			var e *Error
			if !errors.As(err, &e) || e.Error() != "MCP server bad: "+want {
				t.Errorf("%v", err)
			}
			if mode == "dies" && (e == nil || e.Stderr != "fixture: no config; api_key=<redacted>\n") {
				t.Errorf("stderr %q", e.Stderr)
			}
			if key, reason := e.Place(); key != "mcpServers.bad" || !strings.Contains(reason, string(e.Phase)) {
				t.Error(key, reason)
			}
			badLog.mustBeGone()
			for _, pid := range goodLog.pids() {
				if alive(pid) {
					t.Error("the good server is alive")
				}
			}
		})
	}
}

func TestNoSuchProgram(t *testing.T) {
	s := config.MCPServer{Name: "x", Timeout: time.Second, Stdio: &config.StdioServer{Command: "/nonexistent/mcp-server"}}
	_, err := Connect(context.Background(), options(), []config.MCPServer{s})
	var e *Error
	if !errors.As(err, &e) || e.Phase != PhaseSpawn {
		t.Errorf("%v", err)
	}
}

// TestTolerance: what servers do that is untidy and harms nobody.
func TestTolerance(t *testing.T) {
	for _, mode := range []string{"launcher", "noisy", "old"} {
		s, _ := stdioServer(t, "fx", mode)
		m := connect(t, options(), s)
		if got := run(t, m, "mcp__fx__echo", `{}`); !got.Success {
			t.Errorf("%s: %+v", mode, got)
		}
		if n := len(m.links[0].stderr()); mode == "noisy" && n > stderrTail || mode == "noisy" && n == 0 {
			t.Errorf("%d bytes of stderr", n)
		}
	}
}

func TestCancelledStart(t *testing.T) {
	s, log := stdioServer(t, "fx", "mute")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		log.await("initialize")
		cancel(cause)
	}()
	if _, err := Connect(ctx, options(), []config.MCPServer{s}); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	log.mustBeGone()
}

// TestParallelStart: twenty servers, one of them slow by a second, take as long
// as the slowest and at most 300 ms more. The best of three counts: the machine
// may have other things to do.
func TestParallelStart(t *testing.T) {
	start := func(n int) time.Duration {
		var servers []config.MCPServer
		for i := range n {
			mode := "plain"
			if i == n/2 {
				mode = "slow"
			}
			s, _ := stdioServer(t, fmt.Sprintf("s%02d", i), mode)
			servers = append(servers, s)
		}
		began := time.Now()
		m := connect(t, options(), servers...)
		took := time.Since(began)
		if len(m.Tools()) != n*13 {
			t.Errorf("%d tools", len(m.Tools()))
		}
		_ = m.Close()
		return took
	}
	more := 300 * time.Millisecond
	if racetest.On {
		more = 2 * time.Second
	}
	alone := start(1)
	var took time.Duration
	for range 3 {
		if took = start(20); took <= alone+more {
			t.Logf("alone %v, twenty %v", alone, took)
			return
		}
	}
	t.Errorf("twenty servers took %v, the slowest alone %v", took, alone)
}

// TestStubbornServersStop: five that ignore the end of input and SIGTERM, and
// have children that do, are gone within the cleanup wait.
func TestStubbornServersStop(t *testing.T) {
	var servers []config.MCPServer
	var logs []*log
	for i := range 5 {
		mode := "stubborn"
		if i%2 == 0 {
			mode = "family"
		}
		s, log := stdioServer(t, fmt.Sprintf("s%d", i), mode)
		servers, logs = append(servers, s), append(logs, log)
	}
	m := connect(t, options(), servers...)
	began := time.Now()
	err := m.Close()
	took := time.Since(began)
	t.Logf("stopped in %v", took)
	if err != nil || took > stopWait {
		t.Errorf("after %v: %v", took, err)
	}
	for _, l := range logs {
		l.mustBeGone()
	}
	if got := run(t, m, "mcp__s0__echo", `{}`); got.Content != "MCP server s0: the connection is closed" {
		t.Errorf("%+v", got)
	}
}

func TestStopBeforeAndTwice(t *testing.T) {
	m := &Manager{links: []*link{{server: config.MCPServer{Name: "never"}, peer: newPeer()}}}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
