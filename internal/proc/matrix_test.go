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

// inner are scripts that leave something running; MARK stands in its arguments.
var inner = []string{
	"sleep 300.MARK",
	"sleep 300.MARK & sleep 300.MARK & wait",
	"setsid sleep 300.MARK",
	"setsid -f sleep 300.MARK; sleep 0.05",
	"( ( sleep 300.MARK & ) & )",
	"trap '' TERM HUP INT; while :; do sleep 300.MARK; done",
	"trap 'setsid -f sleep 300.MARK' TERM; sleep 300.MARK & wait",
	"env -i setsid -f /bin/sleep 300.MARK",
	"yes 300.MARK",
	"yes 300.MARK >&2",
	"yes 300.MARK > /dev/null",
	"cat; cat <(sleep 300.MARK)",
	"read x; exec sleep 300.MARK",
	"exec 1>&- 2>&- 0<&-; sleep 300.MARK",
	"set -m; sleep 300.MARK & (sleep 300.MARK)& disown -a",
	"kill -STOP $$; : 300.MARK",
	"for i in $(seq 20); do sleep 300.MARK & done",
	"coproc sleep 300.MARK; setsid sleep 300.MARK & sleep 0.02",
	"sleep 300.MARK | sleep 300.MARK | cat",
	"python3 -c 'import os,time\nfor _ in range(3):\n  if os.fork()==0: os.setsid()\ntime.sleep(300)' 300.MARK",
}

// outer run a script, FILE, in their own way.
var outer = []string{
	"bash FILE",
	"exec bash FILE",
	"(bash FILE &)",
	"bash FILE & sleep 0.05",
	"setsid bash FILE",
	"setsid -f bash FILE",
	"nohup bash FILE > /dev/null 2>&1 &",
	"trap '' TERM HUP; bash FILE",
	"env -i PATH=$PATH bash FILE",
	"bash FILE | cat",
}

// TestHostileMatrix runs every script in every way: 200 commands. Whatever they
// do, the call ends within its bound and nothing of theirs is left.
func TestHostileMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("200 commands")
	}
	dir := t.TempDir()
	for i, script := range inner {
		for k, how := range outer {
			mark := fmt.Sprintf("%d%02d%02d", os.Getpid(), i, k) // digits: sleep reads it
			file := filepath.Join(dir, "script")
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(script, "MARK", mark)), 0o600); err != nil {
				t.Fatal(err)
			}
			s := sh(strings.ReplaceAll(how, "FILE", file))
			s.Timeout = 120 * time.Millisecond
			begin := time.Now()
			got, err := Run(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			if d := time.Since(begin); got.Warning != "" || d > 5*time.Second || len(got.Stdout) > 65536 || len(got.Stderr) > 16384 {
				t.Errorf("%q by %q: %v, %d and %d bytes, warning %q", script, how, d, len(got.Stdout), len(got.Stderr), got.Warning)
			}
			if left := running("300." + mark); len(left) > 0 {
				t.Errorf("%q by %q left %q", script, how, left)
			}
		}
	}
}
