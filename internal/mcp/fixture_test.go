package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"magicode/internal/config"
)

// fixtureMode makes the test binary a stdio server. Its value names what kind.
const fixtureMode = "MAGI_MCP_FIXTURE"

func TestMain(m *testing.M) {
	if mode := os.Getenv(fixtureMode); mode != "" {
		new(fixture).run(mode)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// fixture is a stdio server with tools that misbehave in as many ways as there
// are names for them.
type fixture struct{ mode string }

type wire struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Cursor    string          `json:"cursor"`
		RequestID json.RawMessage `json:"requestId"`
		Arguments map[string]any  `json:"arguments"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (f *fixture) run(mode string) {
	f.mode = mode
	note("pid %d", os.Getpid())
	switch mode {
	case "dies":
		fmt.Fprintln(os.Stderr, "fixture: no config; api_key=abcdefgh12345678")
		os.Exit(3)
	case "stubborn", "family":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	case "launcher":
		fmt.Print("> launcher 1.0\n\n{ not json\nDownloading...\n")
	case "babbler":
		for range 1000 {
			fmt.Println("this is no message")
		}
	case "huge":
		fmt.Println(strings.Repeat("x", maxMessage+1))
	case "noisy":
		for range 2000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("e", 100))
		}
	case "slow":
		time.Sleep(time.Second)
	}
	if mode == "family" {
		grandchild()
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 4<<20)
	for in.Scan() {
		var m wire
		if json.Unmarshal(in.Bytes(), &m) == nil {
			f.serve(m)
		}
	}
	if mode == "stubborn" || mode == "family" {
		select {}
	}
}

// grandchild leaves a process behind that outlives its input and ignores TERM.
func grandchild() {
	cmd := exec.Command("sh", "-c", "trap '' TERM HUP; while :; do sleep 1; done")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Start() == nil {
		note("pid %d", cmd.Process.Pid)
	}
}

// note writes a line to the log that the test reads.
func note(format string, args ...any) {
	file, err := os.OpenFile(os.Getenv("FIXTURE_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintf(file, format+"\n", args...)
		file.Close()
	}
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func (f *fixture) serve(m wire) {
	if m.Method == "" {
		note("answer %s %s%s", m.ID, m.Result, m.Error)
		return
	}
	note("%s %s", m.Method, m.ID)
	if f.mode == "mute" {
		return
	}
	switch m.Method {
	case "initialize":
		f.hello(m)
	case "ping":
		say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
	case "tools/list":
		f.list(m)
	case "tools/call":
		f.call(m)
	case "notifications/cancelled":
		note("cancelled %s", m.Params.RequestID)
	}
}

func (f *fixture) hello(m wire) {
	version := "2025-11-25"
	switch f.mode {
	case "old":
		version = "2024-11-05"
	case "future":
		version = "2099-01-01"
	case "refuses":
		say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no, because token=abcdefgh12345678"}}`, m.ID)
		return
	}
	say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}}`, m.ID, version)
}

// fixtureTools is the list in two pages.
var fixtureTools = []string{
	`{"name":"echo","description":"Echo.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},` +
		`{"name":"hang","title":"Never answers","inputSchema":{"type":"object"}},{"name":"twice","inputSchema":true}`,
	`{"name":"late","inputSchema":{"type":"array"}},{"name":"asks"},{"name":"rude"},{"name":"fails"},{"name":"long"},{"name":"exit"},` +
		`{"name":"deaf"},{"name":"batch"},{"name":"gone"},{"name":"intent","inputSchema":{"type":"object","properties":{"intent":{}}}}`,
}

func (f *fixture) list(m wire) {
	switch f.mode {
	case "badname":
		say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"a.b"}]}}`, m.ID)
	case "double":
		say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"a"},{"name":"a"}]}}`, m.ID)
	case "endless":
		say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[],"nextCursor":"%s+"}}`, m.ID, m.Params.Cursor)
	case "circle":
		say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[],"nextCursor":"again"}}`, m.ID)
	case "listless":
	default:
		if m.Params.Cursor == "" {
			say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s],"nextCursor":"2"}}`, m.ID, fixtureTools[0])
			return
		}
		say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}`, m.ID, fixtureTools[1])
	}
}

func text(id json.RawMessage, s string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, s)
}

func (f *fixture) call(m wire) {
	switch m.Params.Name {
	case "echo":
		args, _ := json.Marshal(m.Params.Arguments)
		say("%s", text(m.ID, "ECHO "+string(args)))
	case "twice":
		say("%s", text(m.ID, "first"))
		say("%s", text(m.ID, "second"))
		say("%s", text(json.RawMessage("999999"), "to nobody"))
		say("%s", text(json.RawMessage(`"abc"`), "to nobody"))
		say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`)
	case "late":
		time.Sleep(1200 * time.Millisecond)
		say("%s", text(m.ID, "too late"))
	case "asks":
		say(`{"jsonrpc":"2.0","id":"q1","method":"ping"}`)
		say(`{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}`)
		say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"hi"}}`)
		say("%s", text(m.ID, "asked"))
	case "rude":
		fmt.Print("stray print before the answer\n\r\n")
		say("%s", text(m.ID, "polite"))
	case "fails":
		say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"bad arguments for Bearer abcdefgh12345678"}}`, m.ID)
	case "long":
		say("%s", text(m.ID, strings.Repeat("y", maxMessage)))
	case "exit":
		os.Exit(4)
	case "deaf":
		say("%s", text(m.ID, "deaf now"))
		time.Sleep(time.Hour)
	case "batch":
		say(`[{"jsonrpc":"2.0","method":"notifications/progress","params":{}},%s]`, text(m.ID, "batched"))
	case "gone":
		os.Stdout.Close()
	case "intent":
		args, _ := json.Marshal(m.Params.Arguments)
		say("%s", text(m.ID, string(args)))
	}
}

// stdioServer is a definition of the fixture; what it notes goes to the log.
func stdioServer(t *testing.T, name, mode string) (config.MCPServer, *log) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := &log{t: t, path: t.TempDir() + "/log"}
	return config.MCPServer{Name: name, Timeout: 10 * time.Second, Stdio: &config.StdioServer{
		Command: exe, Env: map[string]string{fixtureMode: mode, "FIXTURE_LOG": l.path},
	}}, l
}

// log is what a fixture noted.
type log struct {
	t    *testing.T
	path string
}

func (l *log) lines() []string {
	data, _ := os.ReadFile(l.path)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// await waits for a line that holds s.
func (l *log) await(s string) {
	l.t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for !strings.Contains(strings.Join(l.lines(), "\n"), s) {
		if time.Now().After(deadline) {
			l.t.Fatalf("%q was not noted: %q", s, l.lines())
		}
		time.Sleep(5 * time.Millisecond) // another process has no event to wait for
	}
}

// pids of the server and of what it started.
func (l *log) pids() (out []int) {
	for _, line := range l.lines() {
		var pid int
		if _, err := fmt.Sscanf(line, "pid %d", &pid); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// mustBeGone fails if one of the processes is alive.
func (l *log) mustBeGone() {
	l.t.Helper()
	pids := l.pids()
	if len(pids) == 0 {
		l.t.Error("the server was never started")
	}
	for _, pid := range pids {
		if alive(pid) {
			l.t.Errorf("process %d is alive", pid)
		}
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		p, ferr := os.FindProcess(pid)
		return ferr == nil && p.Signal(syscall.Signal(0)) == nil && !os.IsNotExist(err)
	}
	return !strings.Contains(string(stat), ") Z ")
}

func options() Options { return Options{Lookup: os.LookupEnv, Dir: "/", Version: "test"} }

// connect connects or fails the test.
func connect(t *testing.T, o Options, servers ...config.MCPServer) *Manager {
	t.Helper()
	m, err := Connect(context.Background(), o, servers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return m
}
