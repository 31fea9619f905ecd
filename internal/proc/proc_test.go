//go:build linux || darwin

package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sh(script string) Spec {
	return Spec{
		Path: "/bin/bash", Args: []string{"-c", script},
		Stdout: Capture{Limit: 65536}, Stderr: Capture{Limit: 16384},
	}
}

func TestRunResults(t *testing.T) {
	for _, tc := range []struct {
		name string
		spec Spec
		want Result
	}{
		{"output and status", sh("echo out; echo err >&2; exit 3"), Result{ExitCode: 3, Stdout: "out\n", Stderr: "err\n"}},
		{"no stdin", sh("cat; echo done"), Result{Stdout: "done\n"}},
		{"given stdin", Spec{Path: "cat", Stdin: []byte("hello"), Stdout: Capture{Limit: 10}}, Result{Stdout: "hello"}},
		{"empty given stdin", Spec{Path: "cat", Stdin: []byte{}, Stdout: Capture{Limit: 10}}, Result{}},
		{"unread stdin is no error", Spec{Path: "true", Stdin: bytes.Repeat([]byte("x"), 1<<20)}, Result{}},
		{"own signal", sh("kill -9 $$"), Result{ExitCode: -1, Signal: syscall.SIGKILL}},
		{"environment", Spec{Path: "/bin/bash", Args: []string{"-c", "echo $A"}, Env: []string{"A=b"}, Stdout: Capture{Limit: 9}}, Result{Stdout: "b\n"}},
		{"directory", Spec{Path: "pwd", Dir: "/", Stdout: Capture{Limit: 9}}, Result{Stdout: "/\n"}},
		{"tail", Spec{Path: "/bin/bash", Args: []string{"-c", "for i in $(seq 1 5000); do echo line $i; done"}, Stdout: Capture{Limit: 10, Keep: KeepTail}}, Result{Stdout: "line 5000\n", StdoutTruncated: true}},
		{"invalid bytes", sh(`printf 'a\377b'`), Result{Stdout: "a\uFFFDb"}},
		{"replacements stay in bounds", Spec{Path: "printf", Args: []string{`\377a\377a`}, Stdout: Capture{Limit: 4}}, Result{Stdout: "\uFFFDa", StdoutTruncated: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Run(context.Background(), tc.spec)
			if err != nil || got != tc.want {
				t.Fatalf("got %+v, %v\nwant %+v", got, err, tc.want)
			}
		})
	}
}

func TestLimitEndsTheCommand(t *testing.T) {
	for _, tc := range []struct{ name, script string }{
		{"stdout", "yes é"}, {"stderr", "yes é >&2"}, {"both", "yes é & yes é >&2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			begin := time.Now()
			got, err := Run(context.Background(), sh(tc.script))
			if err != nil || got.Reason != OverLimit || !(got.StdoutTruncated || got.StderrTruncated) || got.Warning != "" {
				t.Fatalf("%v %v %v %q", got.Reason, got.StdoutTruncated, err, got.Warning)
			}
			if len(got.Stdout) > 65536 || len(got.Stderr) > 16384 || strings.Contains(got.Stdout+got.Stderr, "\uFFFD") {
				t.Fatalf("kept %d and %d bytes", len(got.Stdout), len(got.Stderr))
			}
			if d := time.Since(begin); d > 2*time.Second {
				t.Fatalf("took %v", d)
			}
		})
	}
}

// TestExactLimit: as many bytes as the limit are no overflow, one more is.
func TestExactLimit(t *testing.T) {
	for n, over := range map[int]bool{99: false, 100: false, 101: true} {
		s := Spec{Path: "head", Args: []string{"-c", strconv.Itoa(n), "/dev/zero"}, Stdout: Capture{Limit: 100}}
		got, err := Run(context.Background(), s)
		if err != nil || got.StdoutTruncated != over || len(got.Stdout) != min(n, 100) {
			t.Fatalf("%d bytes: %d kept, truncated %v, %v", n, len(got.Stdout), got.StdoutTruncated, err)
		}
	}
}

func TestTimeout(t *testing.T) {
	s := sh("echo before; sleep 60")
	s.Timeout = 50 * time.Millisecond
	got, err := Run(context.Background(), s)
	if err != nil || got.Reason != TimedOut || got.ExitCode != -1 || got.Stdout != "before\n" {
		t.Fatalf("%+v %v", got, err)
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"/no/such/program", "no-such-program-in-path", dir} {
		if _, err := Run(context.Background(), Spec{Path: path}); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestContextEndsTheCommand(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p, err := Start(sh("echo ready; sleep 60"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := p.Stop(ctx); err == nil {
		<-p.Done() // ended before the context was looked at
	}
	if r := p.Result(); r.Reason != Stopped || r.Signal == 0 {
		t.Fatalf("%+v", r)
	}
	if err := p.Stop(context.Background()); err != nil {
		t.Fatalf("second stop: %v", err)
	}
}

func TestPipesBothWays(t *testing.T) {
	p, err := Start(Spec{Path: "cat", StdinPipe: true, Grace: 5 * time.Second, Stdout: Capture{Keep: KeepNone}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stdout().Close()
	for i := range 3 {
		want := fmt.Sprintf("line %d\n", i)
		buf := make([]byte, len(want))
		if _, err := p.Stdin().WriteString(want); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(p.Stdout(), buf); err != nil || string(buf) != want {
			t.Fatalf("%q %v", buf, err)
		}
	}
	begin := time.Now()
	if err := p.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if r := p.Result(); r.ExitCode != 0 || r.Signal != 0 || time.Since(begin) > 2*time.Second {
		t.Fatalf("the end of input must be enough for cat: %+v", r)
	}
	if _, err := p.Stdout().Read(make([]byte, 1)); err != io.EOF {
		t.Fatalf("read after the end: %v", err)
	}
}

func TestStopObeysItsDeadline(t *testing.T) {
	s := sh("trap '' TERM; echo ready; while :; do sleep 60; done")
	s.StdinPipe, s.Grace = true, time.Minute
	p, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_ = p.Stop(ctx)
	if d := time.Since(begin); d > time.Second {
		t.Fatalf("took %v", d)
	}
	<-p.Done()
	if r := p.Result(); r.Signal != syscall.SIGKILL {
		t.Fatalf("%+v", r)
	}
}

// TestStrangersLive: a child of a library and a child of this package survive
// the end of a command beside them.
func TestStrangersLive(t *testing.T) {
	foreign := exec.Command("sleep", "60")
	if err := foreign.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { foreign.Process.Kill(); foreign.Wait() }()
	// The other child of ours has given away a process of its own.
	other, err := Start(sh("(setsid sleep 60 & echo $!) ; sleep 60"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), sh("setsid sleep 61 & sleep 62 & sleep 0.05")); err != nil {
		t.Fatal(err)
	}
	if err := foreign.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatalf("the library's child: %v", err)
	}
	select {
	case <-other.Done():
		t.Fatal("the other child ended")
	default:
	}
	if err := Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-other.Done():
	default:
		t.Fatal("Shutdown left a child")
	}
	if s, _ := other.out.text(); alive(strings.TrimSpace(s)) {
		t.Fatal("Shutdown left a child's child")
	}
}

func alive(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && syscall.Kill(n, 0) == nil
}

// TestNoDescriptorsLeak: a descriptor that this process holds without
// close-on-exec does not reach the child, nor does anything stay open here.
func TestNoDescriptorsLeak(t *testing.T) {
	count := func() int {
		e, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skip("no /dev/fd")
		}
		return len(e)
	}
	Run(context.Background(), sh("true"))
	before := count()
	for range 20 {
		got, err := Run(context.Background(), sh("ls /dev/fd"))
		if err != nil {
			t.Fatal(err)
		}
		// 0, 1, 2 and the one that ls itself opens.
		if n := len(strings.Fields(got.Stdout)); n != 4 {
			t.Fatalf("the child sees %q", got.Stdout)
		}
	}
	if after := count(); after > before {
		t.Fatalf("%d descriptors before, %d after", before, after)
	}
}

func TestMarkerPath(t *testing.T) {
	env := withMarker([]string{"A=1", markerName + "=outer", "B=2"}, "inner")
	if got := strings.Join(env, " "); got != "A=1 B=2 "+markerName+"=outer:inner" {
		t.Fatal(got)
	}
	got := markerTokens("A=1\x00" + markerName + "=outer:inner\x00")
	if len(got) != 2 || got[1] != "inner" {
		t.Fatal(got)
	}
	long := withMarker([]string{markerName + "=" + strings.Repeat("x", maxMarker+1)}, "t")
	if long[0] != markerName+"=t" {
		t.Fatal(long)
	}
}

func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Run(context.Background(), Spec{Path: "/bin/true"}); err != nil {
			b.Fatal(err)
		}
	}
}
