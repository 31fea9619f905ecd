package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeChild names the variable that makes the test binary a child.
const fakeChild = "MAGI_CODE_TEST_FAKE_CHILD"

// playChild is what a child of each mode does. It does not return.
func playChild(mode string) {
	in := bufio.NewReader(os.Stdin)
	drain := func() { _, _ = io.Copy(io.Discard, in) }
	switch mode {
	case "orderly":
		drain()
	case "failing":
		fmt.Fprintln(os.Stderr, "launch refused: "+strings.Repeat("x", stderrBytes))
		os.Exit(2)
	case "answering":
		for n := 1; ; n++ {
			if _, err := in.ReadString('\n'); err != nil {
				os.Exit(0)
			}
			fmt.Printf(frameHead+`"seq":%d,%s}`+"\n", n, response("c"+strconv.Itoa(n), idle))
		}
	case "deaf": // ends at SIGTERM only
		time.Sleep(time.Hour)
	case "stuck": // ends at SIGKILL only
		signal.Ignore(syscall.SIGTERM)
		fmt.Println(frameHead + `"seq":1,"type":"response","id":null,"error":{"code":"invalid_request"}}`)
		time.Sleep(time.Hour)
	case "flooding": // does not end before its output is taken
		for n := 1; n < 3000; n++ {
			fmt.Printf(frameHead+`"seq":%d,"type":"response","id":"c%d","error":{"code":"busy"}}`+"\n", n, n)
		}
	case "leaving": // leaves a process behind that holds its pipes
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fakeChild+"=left")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			os.Exit(9)
		}
		drain()
	case "left":
		time.Sleep(3 * time.Second)
	}
	os.Exit(0)
}

// descriptors counts the open ones, where the system tells.
func descriptors(t *testing.T) int {
	if runtime.GOOS != "linux" {
		return 0
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func start(t *testing.T, mode string) *Child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Start(Options{Path: exe, Dir: t.TempDir(), Env: append(os.Environ(), fakeChild+"="+mode)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestClose: whatever the child does, Close returns within its bounds, the
// process is reaped, and no descriptor is left.
func TestClose(t *testing.T) {
	short := waits{orderly: 200 * time.Millisecond, killed: 200 * time.Millisecond, pipes: 200 * time.Millisecond}
	long := waits{orderly: time.Minute, killed: time.Minute, pipes: 200 * time.Millisecond}
	for _, test := range []struct {
		mode   string
		waits  waits
		exit   int // -1: by signal
		signal syscall.Signal
	}{
		{"orderly", long, 0, 0},
		{"answering", long, 0, 0},
		{"failing", long, 2, 0},
		{"flooding", long, 0, 0},
		{"leaving", long, 0, 0},
		{"deaf", short, -1, syscall.SIGTERM},
		{"stuck", short, -1, syscall.SIGKILL},
	} {
		t.Run(test.mode, func(t *testing.T) {
			before := descriptors(t)
			c := start(t, test.mode)
			if test.mode == "stuck" {
				<-c.Events() // it has said something: the signal is ignored by now
			}
			c.waits = test.waits
			began := time.Now()
			err := c.Close()
			if again := c.Close(); again != err {
				t.Errorf("%v, then %v", err, again)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			checkExit(t, err, test.exit, test.signal)
			if p, err := os.FindProcess(c.Pid()); err == nil && p.Signal(syscall.Signal(0)) == nil {
				t.Error("the process is still there")
			}
			if after := descriptors(t); after != before {
				t.Errorf("%d descriptors before, %d after", before, after)
			}
			select {
			case <-c.Done():
			default:
				t.Error("the reader is still there")
			}
		})
	}
}

func checkExit(t *testing.T, err error, code int, sig syscall.Signal) {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case code == 0:
		if err != nil {
			t.Errorf("exit %v", err)
		}
	case !errors.As(err, &exit) || exit.ExitCode() != code:
		t.Errorf("exit %v, want %d", err, code)
	case sig != 0:
		if ws, ok := exit.Sys().(syscall.WaitStatus); !ok || ws.Signal() != sig {
			t.Errorf("exit %v, want signal %v", err, sig)
		}
	}
}

func TestChildAnswers(t *testing.T) {
	c := start(t, "answering")
	for range 3 {
		if _, err := c.Status(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Status(t.Context()); !errors.Is(err, ErrClosed) || !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestChildThatEnds(t *testing.T) {
	c := start(t, "failing")
	if _, err := c.Status(t.Context()); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	_ = c.Close()
	if got := c.Stderr(); len(got) != stderrBytes || !strings.HasSuffix(got, "x\n") {
		t.Errorf("%d bytes of stderr", len(got))
	}
}

func TestStartFails(t *testing.T) {
	before := descriptors(t)
	if c, err := Start(Options{Path: t.TempDir() + "/missing", Dir: t.TempDir()}); err == nil {
		t.Error(c.Close())
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
