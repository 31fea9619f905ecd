//go:build unix

package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// child is this test binary, serving real pipes.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     *os.File // the host's ends
	out    *os.File
	lines  *bufio.Reader
	stderr bytes.Buffer
	// The child's ends, kept open where a test looks at them afterwards.
	childIn, childOut *os.File
}

func binary(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// startChild starts a child with this backend. The deadline of a test that
// hangs kills it.
func startChild(t *testing.T, mode string, argv ...string) *child {
	t.Helper()
	c := &child{t: t}
	var err error
	if c.childIn, c.in, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	if c.out, c.childOut, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	argv = append(argv, binary(t), "serve", "--stdio")
	c.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	// The race detector would make each exit wait for a second.
	c.cmd.Env = append(os.Environ(), childMode+"="+mode, "GORACE=atexit_sleep_ms=0")
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = c.childIn, c.childOut, &c.stderr
	// A handled signal begins as the default in a child; one that whoever started
	// the tests ignores, as nohup does, would stay ignored.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	err = c.cmd.Start()
	signal.Stop(handled)
	if err != nil {
		t.Fatal(err)
	}
	c.childOut.Close() // so that the end of the child is the end of its output
	c.lines = bufio.NewReader(c.out)
	t.Cleanup(func() {
		for _, f := range []*os.File{c.in, c.out, c.childIn} {
			f.Close()
		}
		cancel()
		_ = c.cmd.Wait() // it has been waited for, or is killed
	})
	return c
}

func (c *child) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *child) next() string {
	c.t.Helper()
	line, err := c.lines.ReadString('\n')
	if err != nil {
		_ = c.cmd.Wait() // then all of stderr is here
		c.t.Fatalf("output: %v, stderr %q", err, c.stderr.String())
	}
	return abridge(c.t, line)
}

func (c *child) want(frames ...string) {
	c.t.Helper()
	for _, want := range frames {
		if got := c.next(); got != want {
			c.t.Errorf("got %s, want %s", got, want)
		}
	}
}

// wait waits for the end: an exit code, or the negative number of a signal.
func (c *child) wait() int {
	c.t.Helper()
	_ = c.cmd.Wait() // what it tells is in the state
	if s := c.stderr.String(); s != "" {
		c.t.Errorf("stderr: %q", s)
	}
	status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return -int(status.Signal())
	}
	return c.cmd.ProcessState.ExitCode()
}

func (c *child) wantExit(want int) {
	c.t.Helper()
	if got := c.wait(); got != want {
		c.t.Errorf("exit %d, want %d", got, want)
	}
}

func (c *child) attached() {
	c.t.Helper()
	c.send(req("init", "initialize", `{"required_capabilities":[]}`))
	c.next()
	c.send(req("create", "session.create", `{}`))
	c.next()
}

func TestProcessServes(t *testing.T) {
	c := startChild(t, "")
	c.attached()
	c.send(req("t", "turn.start", `{"session_id":"s1","prompt":"p"}`))
	if got := c.next(); !strings.HasPrefix(got, `t {"accepted":true`) {
		t.Error(got)
	}
	if got := c.next(); !strings.HasPrefix(got, "run.finished ") {
		t.Error(got)
	}
	c.send(req("end", "shutdown", `{}`))
	c.want(`end {"state":"stopping"}`)
	c.wantExit(0)
}

func TestProcessExitCodes(t *testing.T) {
	tests := []struct {
		name   string
		do     func(c *child)
		frames []string
		exit   int
	}{
		{"end of input", func(c *child) { c.in.Close() }, nil, 0},
		{"incomplete frame", func(c *child) { io.WriteString(c.in, "{"); c.in.Close() }, []string{"null !incomplete_frame"}, 0},
		{"oversize", func(c *child) { io.WriteString(c.in, strings.Repeat("x", 65537)) }, []string{"null !frame_too_large"}, 0},
		{"mismatch", func(c *child) { c.send(strings.Replace(req("m", "status", `{}`), "local-agent", "other", 1)) }, []string{"m !protocol_mismatch"}, 0},
		{"reader gone while idle", func(c *child) { c.out.Close() }, nil, 1},
		{"reader gone before an answer", func(c *child) { c.out.Close(); io.WriteString(c.in, req("s", "status", `{}`)+"\n") }, nil, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := startChild(t, "")
			test.do(c)
			c.want(test.frames...)
			c.wantExit(test.exit)
		})
	}
}

func TestProcessFlags(t *testing.T) {
	for name, end := range map[string]func(c *child){
		"shutdown": func(c *child) { c.send(req("e", "shutdown", `{}`)); c.next() },
		"eof":      func(c *child) { c.in.Close() },
		"signal":   func(c *child) { _ = c.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			c := startChild(t, "")
			c.send(req("s", "status", `{}`))
			c.want("s !not_initialized") // it serves
			end(c)
			c.wait()
			// The input's description is shared with the child, as a parent may share it.
			flags, err := unix.FcntlInt(c.childIn.Fd(), unix.F_GETFL, 0)
			if err != nil || flags&unix.O_NONBLOCK != 0 {
				t.Errorf("O_NONBLOCK is left: %#x, %v", flags, err)
			}
		})
	}
}

func TestProcessSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			c := startChild(t, "lasting")
			c.attached()
			c.send(req("t", "turn.start", `{"session_id":"s1","prompt":"p"}`))
			c.next()
			if err := c.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if got := c.next(); !strings.Contains(got, `"outcome":"cancelled"`) {
				t.Error(got)
			}
			c.wantExit(-int(sig))
		})
	}
}

// TestProcessSecondSignal: a second signal does not wait for the cleanup.
func TestProcessSecondSignal(t *testing.T) {
	c := startChild(t, "stuck startup")
	c.send(req("init", "initialize", `{"required_capabilities":[]}`))
	c.send(req("s", "status", `{}`))
	c.next()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.want("init !startup_cancelled") // the first one is being worked on
	if err := c.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	c.wantExit(-int(syscall.SIGINT))
}

// TestProcessLivesOn: signals that do not end the child, and one that its
// parent has told it to ignore.
func TestProcessLivesOn(t *testing.T) {
	c := startChild(t, "", "/bin/sh", "-c", `trap "" HUP; exec "$0" "$@"`)
	c.send(req("1", "status", `{}`))
	c.next()
	for i, sig := range []syscall.Signal{syscall.SIGPIPE, syscall.SIGXFSZ, syscall.SIGHUP} {
		if err := c.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		c.send(req(fmt.Sprint("after", i), "status", `{}`))
		c.want(fmt.Sprintf("after%d !not_initialized", i))
	}
	c.in.Close()
	c.wantExit(0)
}

// TestProcessCrash: a crash that nobody can recover, and a dump that somebody
// asks for, show nothing.
func TestProcessCrash(t *testing.T) {
	c := startChild(t, "crash")
	c.send(req("init", "initialize", `{"required_capabilities":[]}`))
	c.wantExit(2)
	c = startChild(t, "")
	c.send(req("s", "status", `{}`))
	c.next()
	if err := c.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	c.wantExit(2)
}

// TestProcessEndpoints: anything but a pipe, on either side, ends with 1 and
// without a word.
func TestProcessEndpoints(t *testing.T) {
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	socket, peer := os.NewFile(uintptr(pair[0]), "socket"), os.NewFile(uintptr(pair[1]), "peer")
	defer socket.Close()
	defer peer.Close()
	kinds := map[string]*os.File{"file": file, "/dev/null": null, "socket": socket}
	if tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err == nil {
		kinds["terminal"] = tty
		defer tty.Close()
	}
	for name, bad := range kinds {
		for _, side := range []string{"stdin", "stdout"} {
			t.Run(name+" as "+side, func(t *testing.T) {
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				defer w.Close()
				var stderr bytes.Buffer
				cmd := exec.Command(binary(t), "serve", "--stdio")
				cmd.Stderr = &stderr
				cmd.Stdin, cmd.Stdout = r, w
				if side == "stdin" {
					cmd.Stdin = bad
				} else {
					cmd.Stdout = bad
				}
				_ = cmd.Run()
				if code := cmd.ProcessState.ExitCode(); code != 1 || stderr.Len() != 0 {
					t.Errorf("exit %d, stderr %q", code, stderr.String())
				}
			})
		}
	}
	if info, err := file.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("the file was written: %v", err)
	}
}
