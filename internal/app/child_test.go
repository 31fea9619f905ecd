package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"magicode/internal/agenttest"
)

// child is a real serve child on two pipes.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr bytes.Buffer
	read   chan struct{}

	mu     sync.Mutex
	fresh  chan struct{} // closed and replaced with each frame
	frames []agenttest.Frame
	taken  int // frames that a test has looked at
}

// startChild starts the test binary as the program.
func startChild(dir string, env []string) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(exe, "serve", "--stdio"), read: make(chan struct{}), fresh: make(chan struct{})}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = dir, append(env, asProgram+"=1", "GORACE=atexit_sleep_ms=0"), &c.stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.cmd.Stdout = w
	err = c.cmd.Start()
	w.Close()
	if err != nil {
		out.Close()
		return nil, err
	}
	go c.reader(out)
	return c, nil
}

func (c *child) reader(out *os.File) {
	defer close(c.read)
	defer out.Close()
	sc := bufio.NewScanner(out)
	sc.Buffer(nil, 1<<17)
	for sc.Scan() {
		f := agenttest.Frame{Raw: sc.Text()}
		if err := json.Unmarshal(sc.Bytes(), &f); err != nil {
			f.Type = "no JSON: " + f.Raw
		}
		c.mu.Lock()
		c.frames = append(c.frames, f)
		close(c.fresh)
		c.fresh = make(chan struct{})
		c.mu.Unlock()
	}
}

func (c *child) send(id, method, params string) error {
	_, err := fmt.Fprintf(c.in, `{"protocol":"magi-code.local-agent","version":1,"id":%q,"method":%q,"params":%s}`+"\n", id, method, params)
	return err
}

var errSilent = errors.New("the child said nothing more")

// next returns the next frame that nobody has looked at.
func (c *child) next() (agenttest.Frame, error) {
	late := time.NewTimer(agenttest.Patience)
	defer late.Stop()
	for {
		c.mu.Lock()
		fresh := c.fresh
		if c.taken < len(c.frames) {
			c.taken++
			f := c.frames[c.taken-1]
			c.mu.Unlock()
			return f, nil
		}
		c.mu.Unlock()
		select {
		case <-fresh:
		case <-c.read:
			c.mu.Lock()
			done := c.taken == len(c.frames)
			c.mu.Unlock()
			if done {
				return agenttest.Frame{}, io.EOF
			}
		case <-late.C:
			return agenttest.Frame{}, errSilent
		}
	}
}

func (c *child) all() []agenttest.Frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]agenttest.Frame(nil), c.frames...)
}

// wait returns how the child ended: its status, or -1 for a signal.
func (c *child) wait() (int, error) {
	<-c.read
	done := make(chan error, 1)
	go func() { done <- c.cmd.Wait() }()
	late := time.NewTimer(agenttest.Patience)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		_ = c.cmd.Process.Kill()
		<-done
		return -2, errors.New("the child did not end")
	}
	if s := c.stderr.String(); s != "" {
		return c.cmd.ProcessState.ExitCode(), fmt.Errorf("stderr: %s", s)
	}
	return c.cmd.ProcessState.ExitCode(), nil
}

// kill ends a child that a failed test has left.
func (c *child) kill() {
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Kill()
		_ = c.in.Close()
		<-c.read
		_ = c.cmd.Wait()
	}
}
