package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"magicode/internal/agenttest"
	"magicode/internal/server"
	"magicode/internal/subagent"
	"magicode/internal/tool"
	"magicode/internal/vfs"
	"magicode/telemetry"
)

// trap is a file system that panics on opening a name, once it is armed.
type trap struct {
	vfs.FS
	name atomic.Value // string; "": not armed
}

const secretOfPanic = "value-of-the-panic"

func (f *trap) Open(name string, flags vfs.Flag, perm os.FileMode) (vfs.File, error) {
	if on, _ := f.name.Load().(string); on != "" && strings.Contains(name, on) {
		f.name.Store("")
		panic(secretOfPanic)
	}
	return f.FS.Open(name, flags, perm)
}

// exploding is a tool that panics.
type exploding struct{}

func (exploding) Definition() tool.Definition {
	return tool.Definition{Name: "explode", Description: "explode", Parameters: json.RawMessage(`{"type":"object"}`)}
}
func (exploding) Run(context.Context, tool.Env, json.RawMessage) tool.Result { panic(secretOfPanic) }

// inProcess serves one connection in this process.
type inProcess struct {
	t     *testing.T
	agent *Agent
	trap  *trap

	provider *agenttest.Model

	home string
	conn net.Conn
	in   *bufio.Scanner
	exit chan server.Exit
	next int

	session, revision string
}

func serveInProcess(t *testing.T, script string) *inProcess { return serveWith(t, script, "", nil) }

// serveWith is serveInProcess with further settings, and what else is to be
// done to the agent before it starts.
func serveWith(t *testing.T, script, more string, change func(*Agent), environ ...string) *inProcess {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", dir) // a login shell of a tool must not run the tester's profile
	p := agenttest.Start(t, script)
	home := filepath.Join(dir, "home")
	if err := p.Settings(home, more); err != nil {
		t.Fatal(err)
	}
	fsys := &trap{FS: vfs.OS()}
	a := New(fsys, dir, append([]string{"MC_HOME=" + home, "HOME=" + dir, "NO_PROXY=127.0.0.1", "PATH=" + os.Getenv("PATH")}, environ...), telemetry.Tel{})
	if change != nil {
		change(a)
	}
	host, peer := net.Pipe()
	c := &inProcess{t: t, agent: a, provider: p, trap: fsys, home: home, conn: host, in: bufio.NewScanner(host), exit: make(chan server.Exit, 1)}
	c.in.Buffer(nil, 1<<17)
	if err := host.SetDeadline(time.Now().Add(agenttest.Patience)); err != nil {
		t.Fatal(err)
	}
	go func() {
		c.exit <- server.Serve(context.Background(), server.Config{Transport: peer, Startup: a, NewID: NewID, Panicked: a.panicked})
	}()
	return c
}

// ask sends a request and returns its response; events before it are passed over.
func (c *inProcess) ask(method, params string) agenttest.Frame {
	c.t.Helper()
	c.next++
	id := fmt.Sprint("r", c.next)
	if _, err := fmt.Fprintf(c.conn, `{"protocol":"magi-code.local-agent","version":1,"id":%q,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		c.t.Fatal(err)
	}
	return c.await(func(f agenttest.Frame) bool { return f.ID != nil && *f.ID == id })
}

func (c *inProcess) await(wanted func(agenttest.Frame) bool) agenttest.Frame {
	c.t.Helper()
	for c.in.Scan() {
		var f agenttest.Frame
		if err := json.Unmarshal(c.in.Bytes(), &f); err != nil {
			c.t.Fatal(err)
		}
		f.Raw = c.in.Text()
		if rev, ok := f.Data["revision"].(string); ok {
			c.revision = rev
		}
		if wanted(f) {
			return f
		}
	}
	c.t.Fatalf("the connection ended: %v", c.in.Err())
	return agenttest.Frame{}
}

// turn runs a turn and says how it ended.
func (c *inProcess) turn() string {
	c.t.Helper()
	c.ask("turn.start", `{"session_id":"`+c.session+`","prompt":"go"}`)
	f := c.await(func(f agenttest.Frame) bool { return f.Event == "run.finished" })
	return fmt.Sprint(f.Data["outcome"], " ", f.Data["persistence"], " ", f.Data["error_code"])
}

func (c *inProcess) start() {
	c.t.Helper()
	if f := c.ask("initialize", `{"required_capabilities":[]}`); f.Error != nil {
		c.t.Fatal(f.Raw)
	}
	c.session = c.ask("session.create", `{}`).Res["session_id"].(string)
}

// leaves ends the child and returns the diagnostics of its session.
func (c *inProcess) leaves() (diagnostics string) {
	c.t.Helper()
	if f := c.ask("status", `{}`); f.Res["state"] == nil {
		c.t.Errorf("the child does not live on: %s", f.Raw)
	}
	c.ask("shutdown", `{}`)
	if exit := <-c.exit; exit.Code != 0 {
		c.t.Errorf("exit %+v", exit)
	}
	c.conn.Close()
	text, err := os.ReadFile(filepath.Join(c.home, "sessions", c.session+".jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	if strings.Contains(string(text), secretOfPanic) {
		c.t.Error("the session holds the panic's value")
	}
	for _, line := range strings.Split(string(text), "\n") {
		if strings.Contains(line, `"event_type":"diagnostic"`) {
			diagnostics += line + "\n"
		}
	}
	return diagnostics
}

// TestPanics: an internal error has the code of its job, the child lives on, and
// the session says in which function, file and line, and nothing else.
func TestPanics(t *testing.T) {
	where := func(t *testing.T, got, who, function, file string) {
		t.Helper()
		if !strings.Contains(got, "internal error in the "+who+" at ") || !strings.Contains(got, function) || !strings.Contains(got, "("+file+":") {
			t.Errorf("diagnostics %q", got)
		}
	}
	t.Run("startup", func(t *testing.T) {
		c := serveInProcess(t, "text:never")
		c.trap.name.Store("settings.json")
		if f := c.ask("initialize", `{"required_capabilities":[]}`); f.Error == nil || f.Error.Code != "startup_failed" {
			t.Errorf("%s", f.Raw)
		}
		if f := c.ask("status", `{}`); f.Res["state"] != "failed" || f.Res["readiness"] != "startup_failed" {
			t.Errorf("%s", f.Raw)
		}
		if f := c.ask("session.create", `{}`); f.Error == nil || f.Error.Code != "startup_failed" {
			t.Errorf("%s", f.Raw)
		}
		c.ask("shutdown", `{}`)
		if exit := <-c.exit; exit.Code != 0 {
			t.Errorf("exit %+v", exit)
		}
		c.conn.Close()
	})
	t.Run("session operation", func(t *testing.T) {
		c := serveInProcess(t, "text:one\ntext:two")
		c.start()
		if got := c.turn(); got != "completed durable <nil>" {
			t.Fatal(got)
		}
		c.trap.name.Store("another.jsonl")
		if err := os.WriteFile(filepath.Join(c.home, "sessions", "another.jsonl"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if f := c.ask("session.open", `{"session_id":"another"}`); f.Error == nil || f.Error.Code != "session_invalid" {
			t.Errorf("%s", f.Raw)
		}
		where(t, c.leaves(), "session worker", "magicode/internal/agent.(*trap).Open", "panic_test.go")
	})
	t.Run("turn", func(t *testing.T) {
		c := serveInProcess(t, "text:one\ntext:two")
		c.start()
		if got := c.turn(); got != "completed durable <nil>" {
			t.Fatal(got)
		}
		tools := c.agent.runtime.tools
		c.agent.runtime.tools = nil // between turns nobody else looks at it
		if got := c.turn(); got != "failed not_started execution_failed" {
			t.Error(got)
		}
		c.agent.runtime.tools = tools
		where(t, c.leaves(), "turn worker", "magicode/internal/agent.(*toolset).rights", "delegation.go")
	})
	t.Run("tool", func(t *testing.T) {
		c := serveInProcess(t, "tool:explode {}\ntext:It failed.")
		c.start()
		tools := c.agent.runtime.tools
		tools.tools = append(tools.tools, c.agent.watch([]tool.Tool{exploding{}})...)
		tools.whole = tools.forRights(tools.rights(), subagent.New(subagent.Options{}))
		if got := c.turn(); got != "completed durable <nil>" {
			t.Error(got)
		}
		where(t, c.leaves(), "tool", "magicode/internal/agent.exploding.Run", "panic_test.go")
	})
}
