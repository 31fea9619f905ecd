package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/config"
	"magicode/internal/vfs"
)

// place is a workspace with a server of a mode.
type place struct {
	t    *testing.T
	m    *Manager
	root string
	log  string
}

func newPlace(t *testing.T, mode string, change func(*Options)) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, root: root, log: filepath.Join(root, "server.log")}
	o := Options{FS: vfs.OS(), Path: os.Getenv("PATH"), Home: root, Version: "test", Wait: 20 * time.Second, Idle: time.Hour,
		Servers: map[string]Server{"go": {Command: exe, Args: []string{fixtureArg, mode, p.log}}}}
	if change != nil {
		change(&o)
	}
	p.m = New(o)
	t.Cleanup(func() { p.stop() })
	return p
}

func (p *place) write(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.root, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *place) diagnose(paths ...string) string {
	p.t.Helper()
	return strings.ReplaceAll(p.m.Diagnose(p.t.Context(), p.root, paths), p.root, "/w")
}

func (p *place) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := p.m.Stop(ctx); err != nil {
		p.t.Error(err)
	}
}

// noted are the lines of the server's log that begin so.
func (p *place) noted(prefix string) (lines []string) {
	raw, _ := os.ReadFile(p.log)
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// alive are the processes that the server noted and that still run.
func (p *place) alive() (left []int) {
	for _, line := range p.noted("pid ") {
		pid, _ := strconv.Atoi(strings.TrimPrefix(line, "pid "))
		for range 100 {
			if p, err := os.FindProcess(pid); err != nil || p.Signal(syscall.Signal(0)) != nil {
				pid = 0
				break
			}
			time.Sleep(20 * time.Millisecond) // the kernel takes a killed process down when it gets the processor
		}
		if pid != 0 {
			left = append(left, pid)
		}
	}
	return left
}

const head = "DIAGNOSTICS (lsp.test, /w/a.go):\n"

// TestServers: what edits get of servers that behave, and of those that do not.
func TestServers(t *testing.T) {
	const one = head + "- error [compiler] Bad at 1:1: found bad one"
	for mode, c := range map[string]struct {
		wait time.Duration // 0: more than it needs
		want string
	}{
		"good":             {0, one},
		"asks":             {0, one},
		"saves":            {0, one},
		"noisy":            {0, one},
		"slow start":       {0, one},
		"old first":        {0, one},
		"in two steps":     {0, one},
		"without versions": {0, one},
		"late":             {0, one},
		"another file":     {0, one},
		"other spelling":   {0, one},
		"stubborn":         {0, one},
		"family":           {0, one},
		"many":             {0, "…"},
		"odd":              {0, one + "\n- error 12 at 1:1: no place\n- error at 1:1: far"},
		"silent":           {300 * time.Millisecond, ""},
		"mute":             {300 * time.Millisecond, ""},
		"deaf":             {300 * time.Millisecond, ""},
		"refuses":          {0, ""},
		"crashes":          {0, ""},
		"crashes slowly":   {0, ""},
		"dies":             {0, ""},
		"rubbish":          {0, ""},
		"binary":           {0, ""},
		"huge":             {0, ""},
		"long header":      {0, ""},
		"no length":        {0, ""},
		"no json":          {0, ""},
		"cut":              {0, ""},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, mode, func(o *Options) {
				if c.wait > 0 {
					o.Wait = c.wait
				}
			})
			path := p.write("a.go", "bad one")
			began := time.Now()
			got := p.diagnose(path)
			if took := time.Since(began); c.wait > 0 && took > c.wait+2*time.Second {
				t.Errorf("the edit waited %v", took)
			}
			if c.want == "…" {
				if rows := strings.Count(got, "\n- "); rows != maxRows || len(got) > maxBytes || !strings.HasSuffix(got, fmt.Sprintf("\n(%d more)", maxKept-maxRows)) {
					t.Errorf("%d rows in %d bytes: %s", rows, len(got), got)
				}
			} else if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			began = time.Now()
			p.stop()
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("the stop took %v", took)
			}
			if left := p.alive(); len(left) > 0 {
				t.Errorf("still running: %v", left)
			}
			if mode == "asks" {
				want := []string{"answer \"q0\" [null,null]", `answer "q1" {"applied":false,"failureReason":"edits are not taken"}`, `answer "q2" null`, `answer "q3" {"code":-32601,"message":"method not found"}`}
				if got := p.noted("answer"); len(got) != 5 || cmp.Diff(want, got[:4]) != "" {
					t.Error(got)
				}
			}
			if mode == "saves" != (len(p.noted("didSave a.go")) == 1) {
				t.Errorf("%q", p.noted("didSave"))
			}
		})
	}
}

// TestFollows: what is opened, changed and closed as files change, also by others.
func TestFollows(t *testing.T) {
	p := newPlace(t, "good", nil)
	a, b := p.write("a.go", "fine"), p.write("b.go", "bad b")
	if got := p.diagnose(a, a); got != "" {
		t.Error(got)
	}
	if got := p.diagnose(b, p.write("c.txt", "bad"), p.write("d.rs", "bad")); got != "DIAGNOSTICS (lsp.test, /w/b.go):\n- error [compiler] Bad at 1:1: found bad b" {
		t.Error(got)
	}
	p.write("a.go", "bad a, and longer") // by somebody else: the server must know before b is judged
	if got := p.diagnose(b); !strings.Contains(got, "b.go") || strings.Contains(got, "a.go") {
		t.Error(got)
	}
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	p.write("b.go", "ok\nbad b\nbad token=sk-proj-A1b2C3d4A1b2C3d4A1b2C3d4A1b2C3d4A1b2C3d4A1b2C3d4\n\x1b[31mbad red")
	want := "DIAGNOSTICS (lsp.test, /w/b.go):\n- error [compiler] Bad at 3:1: found bad token=<redacted>\n- warning [compiler] Bad at 2:1: found bad b\n- warning [compiler] Bad at 4:6: found bad red"
	if d := cmp.Diff(want, p.diagnose(a, b)); d != "" {
		t.Error(d)
	}
	p.stop()
	var verbs []string
	for _, line := range append(p.noted("open"), append(p.noted("change"), p.noted("didClose")...)...) {
		f := strings.Fields(line)
		verbs = append(verbs, f[0]+" "+f[1])
	}
	if d := cmp.Diff([]string{"open a.go", "open b.go", "change b.go", "change a.go", "change b.go", "didClose a.go"}, verbs); d != "" {
		t.Error(d)
	}
	if got := p.diagnose(b); got != "" || len(p.noted("pid")) != 1 {
		t.Errorf("after the stop: %q %v", got, p.noted("pid"))
	}
}

// TestOutside: a file outside of the workspace is shown to no server.
func TestOutside(t *testing.T) {
	p := newPlace(t, "good", nil)
	other := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(other, []byte("bad"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := p.diagnose(other); got != "" || p.noted("pid") != nil {
		t.Errorf("%q %v", got, p.noted(""))
	}
}

// TestThreeFailures: then the server is left alone.
func TestThreeFailures(t *testing.T) {
	for _, mode := range []string{"dies", "crashes", "rubbish"} {
		p := newPlace(t, mode, nil)
		path := p.write("a.go", "bad")
		for range 6 {
			if got := p.diagnose(path); got != "" {
				t.Error(got)
			}
			p.m.all.Wait()
		}
		if n := len(p.noted("pid")); n != maxFailures {
			t.Errorf("%s: started %d times", mode, n)
		}
	}
	p := newPlace(t, "", func(o *Options) { o.Servers["go"] = Server{Command: "/no/such/program"} })
	if got := p.diagnose(p.write("a.go", "bad")); got != "" {
		t.Error(got)
	}
}

// TestIdle: a server that is not used ends, which is no failure, and comes back.
func TestIdle(t *testing.T) {
	p := newPlace(t, "good", func(o *Options) { o.Idle = time.Second })
	path := p.write("a.go", "bad one")
	for i := range 5 {
		if got := p.diagnose(path); !strings.HasPrefix(got, head) {
			t.Errorf("%d: %q", i, got)
		}
		p.m.all.Wait() // the server's end
	}
	if n := len(p.noted("pid")); n != 5 {
		t.Errorf("started %d times", n)
	}
}

// TestCancelled: an edit whose run is cancelled waits no longer.
func TestCancelled(t *testing.T) {
	p := newPlace(t, "silent", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if got := p.m.Diagnose(ctx, p.root, []string{p.write("a.go", "bad")}); got != "" || time.Since(began) > 5*time.Second {
		t.Errorf("%q after %v", got, time.Since(began))
	}
}

// TestTell: all servers end at once, so that several take no longer than one.
func TestTell(t *testing.T) {
	p := newPlace(t, "family", nil)
	roots := []string{p.root}
	for i := range 4 {
		dir := filepath.Join(p.root, fmt.Sprint("sub", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		roots = append(roots, dir)
	}
	for _, root := range roots {
		rel, _ := filepath.Rel(p.root, root)
		if got := p.m.Diagnose(t.Context(), root, []string{p.write(filepath.Join(rel, "a.go"), "bad")}); got == "" {
			t.Error("nothing")
		}
	}
	began := time.Now()
	p.stop()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("%d servers took %v", len(roots), took)
	}
	if left := p.alive(); len(left) > 0 || len(p.noted("pid")) != 2*len(roots) {
		t.Errorf("%v of %v", left, p.noted("pid"))
	}
}

func TestServersOf(t *testing.T) {
	s := func(command string, enabled bool) config.LSPServer {
		return config.LSPServer{Command: command, Enabled: enabled}
	}
	for name, c := range map[string]struct {
		settings map[string]config.LSPServer
		want     map[string]string // differences
	}{
		"none":         {nil, nil},
		"by command":   {map[string]config.LSPServer{"gopls": s("/opt/gopls", true)}, map[string]string{"go": "/opt/gopls"}},
		"by language":  {map[string]config.LSPServer{"typescript": s("t", true)}, map[string]string{"ts": "t", "tsx": "t", "js": "t", "jsx": "t"}},
		"by extension": {map[string]config.LSPServer{".TSX": s("x", true), "typescript": s("t", true), "c": s("clangd", true)}, map[string]string{"ts": "t", "tsx": "x", "js": "t", "jsx": "t", "c": "clangd"}},
		"switched off": {map[string]config.LSPServer{"python": s("p", false), "rs": s("r", false)}, map[string]string{"py": "", "rs": ""}},
	} {
		want := map[string]string{"rs": "rust-analyzer", "ts": "typescript-language-server", "tsx": "typescript-language-server", "js": "typescript-language-server", "jsx": "typescript-language-server", "py": "pyright-langserver", "go": "gopls"}
		for ext, command := range c.want {
			want[ext] = command
		}
		got := Servers(c.settings)
		for ext, command := range want {
			if got[ext].Command != command {
				t.Errorf("%s: %s is %q", name, ext, got[ext].Command)
			}
		}
	}
}
