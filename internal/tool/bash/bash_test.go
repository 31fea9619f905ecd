//go:build linux || darwin

package bash

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"magicode/internal/tool"
	"magicode/internal/tool/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var free = tool.ShellPolicy{AbsolutePaths: true, ShellExpansion: true}

func run(t *testing.T, policy tool.ShellPolicy, args map[string]any) tool.Result {
	t.Helper()
	t.Setenv("HOME", t.TempDir()) // no profile of the user
	raw, _ := json.Marshal(args)
	return New(policy).Run(context.Background(), tooltest.Workspace(t, nil), raw)
}

func TestOutput(t *testing.T) {
	for _, tc := range []struct {
		name, command, want string
		ok                  bool
		meta                map[string]any
	}{
		{"both labels", "printf hi", "stdout:\nhi\nstderr:\n", true, map[string]any{"exit_code": 0, "stdout": "hi", "stderr": "", "timed_out": false, "cleanup_warning": nil}},
		{"nothing", "true", "stdout:\nstderr:\n", true, nil},
		{"stderr", "echo out; echo err >&2", "stdout:\nout\nstderr:\nerr\n", true, map[string]any{"stderr": "err\n"}},
		{"exit code", "exit 7", "stdout:\nstderr:\n\n[exit code 7]", false, map[string]any{"exit_code": 7}},
		{"signal", "kill -9 $$", "stdout:\nstderr:\n\n[ended by signal 9]", false, map[string]any{"exit_code": nil}},
		{"stdin is closed", "cat; echo after", "stdout:\nafter\nstderr:\n", true, nil},
		{"login shell", "shopt -q login_shell && echo yes", "stdout:\nyes\nstderr:\n", true, nil},
		{"leaves nothing behind", "sleep 300 & echo on", "stdout:\non\nstderr:\n", true, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := run(t, free, map[string]any{"intent": "test", "command": tc.command})
			if d := cmp.Diff(tc.want, res.Content); d != "" || res.Success != tc.ok {
				t.Errorf("success %v\n%s", res.Success, d)
			}
			for k, want := range tc.meta {
				if res.Metadata[k] != want {
					t.Errorf("%s = %v, want %v", k, res.Metadata[k], want)
				}
			}
			if len(res.Changed) > 0 || len(res.Metadata) != 9 {
				t.Errorf("%v %v", res.Changed, res.Metadata)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	res := run(t, free, map[string]any{"intent": "flood", "command": "yes ünï"})
	if res.Success || res.Metadata["stdout_truncated"] != true || res.Metadata["stderr_truncated"] != false || len(res.Metadata["stdout"].(string)) > 65536 {
		t.Errorf("%v", res.Metadata["stdout_truncated"])
	}
	if !strings.HasSuffix(res.Content, "\n[output truncated: stdout limit 65536 bytes, stderr limit 16384 bytes]") || strings.Contains(res.Content, "\uFFFD") {
		t.Errorf("%q", res.Content[len(res.Content)-100:])
	}
	begin := time.Now()
	res = run(t, free, map[string]any{"intent": "wait", "command": "echo a; trap '' TERM; sleep 60", "timeout": 1})
	if d := time.Since(begin); d > 4*time.Second || res.Success || res.Metadata["timed_out"] != true || res.Metadata["exit_code"] != nil {
		t.Errorf("%v %v", d, res.Metadata)
	}
	if !strings.Contains(res.Content, "a\n") || !strings.HasSuffix(res.Content, "[timed out after 1 s]") {
		t.Errorf("%q", res.Content)
	}
}

func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"no intent", map[string]any{"command": "true"}, `"intent" is required`},
		{"blank intent", map[string]any{"command": "true", "intent": " "}, "must not be blank"},
		{"no command", map[string]any{"intent": "x"}, `"command" is required`},
		{"empty", map[string]any{"intent": "x", "command": ""}, "must not be empty"},
		{"NUL", map[string]any{"intent": "x", "command": "a\x00b"}, "NUL"},
		{"both", map[string]any{"intent": "x", "command": "a", "cmd": "b"}, `"command" only`},
		{"timeout low", map[string]any{"intent": "x", "command": "true", "timeout": 0}, "from 1 to 600"},
		{"timeout high", map[string]any{"intent": "x", "command": "true", "timeout": 601}, "from 1 to 600"},
		{"timeout type", map[string]any{"intent": "x", "command": "true", "timeout": "5"}, "whole number"},
		{"unknown", map[string]any{"intent": "x", "command": "true", "cwd": "/"}, `unknown field "cwd"`},
		{"preflight", map[string]any{"intent": "x", "command": "touch ../x"}, "parent path"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if res := run(t, free, tc.args); res.Success || !strings.Contains(res.Content, tc.want) {
				t.Errorf("%+v", res)
			}
		})
	}
	if res := run(t, free, map[string]any{"intent": "x", "cmd": "true", "timeout": nil}); !res.Success {
		t.Errorf("cmd: %+v", res)
	}
	if res := run(t, tool.ShellPolicy{}, map[string]any{"intent": "x", "command": "cat /etc/passwd"}); res.Success || !strings.Contains(res.Content, "absolute path") {
		t.Errorf("policy: %+v", res)
	}
}

func TestMissingShell(t *testing.T) {
	b := New(free)
	b.shell = "/nonexistent/bash"
	dir := t.TempDir()
	res := b.Run(context.Background(), tool.Env{Cwd: dir, CanonicalCwd: dir}, json.RawMessage(`{"intent":"x","command":"true"}`))
	if res.Success || !strings.Contains(res.Content, "/nonexistent/bash is missing") {
		t.Errorf("%+v", res)
	}
}

func TestCancel(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan tool.Result, 1)
	go func() {
		done <- New(free).Run(ctx, tool.Env{Cwd: dir, CanonicalCwd: dir}, json.RawMessage(`{"intent":"x","command":"mkfifo f; echo > f; sleep 60"}`))
	}()
	// Opening the FIFO waits until the command has opened it, so the command runs.
	var f *os.File
	for f == nil {
		f, _ = os.Open(filepath.Join(dir, "f"))
	}
	defer f.Close()
	begin := time.Now()
	cancel()
	res := <-done
	if res.Content != tool.CancelledText || res.Success || time.Since(begin) > 2*time.Second {
		t.Errorf("%+v after %v", res, time.Since(begin))
	}
}
