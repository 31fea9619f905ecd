package app

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"magicode/internal/agenttest"
	"magicode/internal/racetest"
)

// TestStubbornServersAndAStalledReader: five MCP servers that ignore everything
// and have children that do, and a host that has stopped reading: the child
// ends within its drain and its cleanup, two seconds each, and nothing is left.
func TestStubbornServersAndAStalledReader(t *testing.T) {
	for name, end := range map[string]func(*stalled){
		"shutdown":     func(s *stalled) { s.send("bye", "shutdown") },
		"end of input": func(s *stalled) { s.in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			home := writeHome(t, nil)
			pids := stubbornServers(t, home, 5)
			s := startStalled(t, home)
			s.send("r1", "initialize")
			ready := s.line()
			if !strings.Contains(ready, `"type":"response"`) {
				t.Fatal(ready)
			}
			s.fill()
			began := time.Now()
			end(s)
			done := make(chan error, 1)
			go func() { done <- s.cmd.Wait() }()
			select {
			case <-done:
			case <-time.After(agenttest.Patience):
				_ = s.cmd.Process.Kill()
				<-done
			}
			took := time.Since(began)
			t.Logf("ended after %v", took)
			if took > 4*time.Second+racetest.Slowdown*300*time.Millisecond || s.cmd.ProcessState.ExitCode() != exitError || s.stderr.Len() > 0 {
				t.Errorf("after %v: %v, stderr %q", took, s.cmd.ProcessState, &s.stderr)
			}
			if all, alive := survivors(t, pids); all != 10 || len(alive) > 0 {
				t.Errorf("%d processes were started; alive: %v", all, alive)
			}
		})
	}
}

// stalled is a child whose output fits one page and is read by hand.
type stalled struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     *os.File
	out    *bufio.Reader
	stderr bytes.Buffer
}

func startStalled(t *testing.T, home string) *stalled {
	t.Helper()
	stdin, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(stdout.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	s := &stalled{t: t, in: in, out: bufio.NewReaderSize(out, 4096)}
	s.cmd = exec.Command(os.Args[0], "serve", "--stdio")
	s.cmd.Dir, s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = t.TempDir(), stdin, stdout, &s.stderr
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MC_HOME=" + home, "HOME=" + home, asProgram + "=1", "GORACE=atexit_sleep_ms=0"}
	err = s.cmd.Start()
	stdin.Close()
	stdout.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); out.Close() })
	return s
}

func (s *stalled) send(id, method string) {
	params := "{}"
	if method == "initialize" {
		params = `{"required_capabilities":[]}`
	}
	if _, err := fmt.Fprintf(s.in, `{"protocol":"magi-code.local-agent","version":1,"id":%q,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stalled) line() string {
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatal(err, &s.stderr)
	}
	return line
}

// fill asks until the pipe is full and a few frames wait behind it, not as many
// as end the connection at once.
func (s *stalled) fill() {
	s.send("first", "status")
	size := len(s.line())
	for i := range 4096/size + 5 {
		s.send(fmt.Sprint("s", i), "status")
	}
}
