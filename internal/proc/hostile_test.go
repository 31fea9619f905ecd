//go:build linux

package proc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostile are commands that try to outlive their call. Each keeps TESTMARK in
// the arguments of what it leaves, so that the test finds it without the
// environment.
var hostile = []struct{ name, script string }{
	{"background", "sleep 300.MARK &"},
	{"background holding pipes, many", "for i in 1 2 3 4 5; do sleep 300.MARK & done"},
	{"nohup", "nohup sleep 300.MARK >/dev/null 2>&1 &"},
	{"disown", "sleep 300.MARK & disown -a"},
	{"setsid", "setsid sleep 300.MARK &"},
	{"setsid with pipes closed", "setsid sleep 300.MARK </dev/null >/dev/null 2>&1 &"},
	{"setsid -f", "setsid -f sleep 300.MARK"},
	{"double fork", "( ( sleep 300.MARK & ) & )"},
	{"double fork, setsid", "( setsid bash -c '(sleep 300.MARK &) &' & )"},
	{"without environment", "setsid env -i sleep 300.MARK & sleep 0.1"},
	{"ignores TERM", "trap '' TERM; bash -c 'trap \"\" TERM; while :; do sleep 300.MARK; done' &"},
	{"ignores TERM, HUP, INT in a session of its own", "setsid bash -c 'trap \"\" TERM HUP INT; while :; do sleep 300.MARK; done' & sleep 0.1"},
	{"restarts on TERM", "setsid bash -c 'trap \"sleep 300.MARK &\" TERM; while :; do sleep 300.MARK; done' & sleep 0.1"},
	{"foreground", "sleep 300.MARK"},
	{"foreground, ignores TERM", "trap '' TERM; while :; do sleep 300.MARK; done"},
	{"foreground child in a session", "setsid -w sleep 300.MARK"},
	{"flood", "yes 300.MARK"},
	{"flood from a session", "setsid yes 300.MARK & sleep 5"},
	{"flood of stderr", "yes 300.MARK >&2"},
	{"reads stdin", "cat - 300.MARK; sleep 300.MARK"},
	{"stopped", "bash -c 'kill -STOP $$; : 300.MARK' & sleep 0.1"},
	{"stops itself", "kill -STOP $$; : 300.MARK"},
	{"fork chain", "f() { sleep 0.01; (f & ) ; }; bash -c \"$(declare -f f); f; : 300.MARK\" &"},
	{"process substitution", "echo x > >(sleep 300.MARK)"},
	{"coproc", "coproc sleep 300.MARK"},
	{"own group", "set -m; sleep 300.MARK & sleep 300.MARK &"},
	{"pipeline", "sleep 300.MARK | cat | cat"},
}

func TestHostileCommands(t *testing.T) {
	for i, tc := range hostile {
		for _, stop := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stop=%v", tc.name, stop), func(t *testing.T) {
				mark := fmt.Sprintf("%d%d%d", os.Getpid(), i, map[bool]int{false: 0, true: 1}[stop])
				s := sh(strings.ReplaceAll(tc.script, "MARK", mark))
				s.Timeout = 400 * time.Millisecond
				ctx := context.Background()
				if stop {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
					defer cancel()
				}
				begin := time.Now()
				got, err := Run(ctx, s)
				if err != nil {
					t.Fatal(err)
				}
				if got.Warning != "" {
					t.Errorf("warning %q", got.Warning)
				}
				if d := time.Since(begin); d > 5*time.Second {
					t.Errorf("took %v", d)
				}
				if len(got.Stdout) > 65536 || len(got.Stderr) > 16384 {
					t.Error("output out of bounds")
				}
				if left := running("300." + mark); len(left) > 0 {
					t.Errorf("still running: %q", left)
				}
			})
		}
	}
}

// running lists the command lines that hold mark. On an overloaded machine a
// process that SIGKILL has ended may still wait for the processor to disappear;
// it gets three seconds for that.
func running(mark string) []string {
	for end := time.Now().Add(3 * time.Second); ; {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		var out []string
		for _, f := range files {
			b, _ := os.ReadFile(f)
			if strings.Contains(string(b), mark) {
				out = append(out, string(b))
			}
		}
		if len(out) == 0 || time.Now().After(end) {
			return out
		}
	}
}

// TestZombiesAreReaped: an adopted process that ended by itself leaves nothing.
func TestZombiesAreReaped(t *testing.T) {
	for range 5 {
		if _, err := Run(context.Background(), sh("(setsid true &); (true &); sleep 0.02")); err != nil {
			t.Fatal(err)
		}
	}
	procs, _ := readTable()
	for _, s := range procs {
		if s.ppid == os.Getpid() && s.state == 'Z' {
			t.Errorf("zombie %d", s.pid)
		}
	}
}

func TestParseStat(t *testing.T) {
	line := "42 (a) b) c) S 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 999 1"
	s, ok := parseStat(42, line)
	if !ok || s.ppid != 7 || s.pgrp != 8 || s.state != 'S' || s.start != 12345 {
		t.Fatalf("%+v %v", s, ok)
	}
	for _, bad := range []string{"", "42 (a", "42 (a) S 1", "1 (a) S x 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345"} {
		if _, ok := parseStat(1, bad); ok {
			t.Errorf("accepted %q", bad)
		}
	}
}
