package client

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Options say which child to start. Its arguments are always serve --stdio.
type Options struct {
	Path  string   // absolute path of the magi-code executable
	Dir   string   // working directory of the child: an existing folder
	Env   []string // nil: this process's environment
	Trace func(sent bool, frame []byte)
}

// closeWait is how long Close waits for the child's own end: its output drain
// and its cleanup are bounded by 2 s each (protocol), and a second of grace.
const closeWait = 5 * time.Second

// killWait is how long a child has to end after SIGTERM.
const killWait = time.Second

// stderrBytes bounds what is kept of the child's error output. After launch it is empty.
const stderrBytes = 16 << 10

// Child is a running agent. Close must be called.
type Child struct {
	*Client
	cmd    *exec.Cmd
	stderr tail

	once sync.Once
	err  error
}

// Start starts one child over two anonymous pipes and drains its stderr.
func Start(o Options) (*Child, error) {
	c := &Child{cmd: exec.Command(o.Path, "serve", "--stdio")}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = o.Dir, o.Env, &c.stderr
	// Pipes of our own: os/exec would close its reading end in Wait, while the
	// last frames are still in it.
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %v", err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a pipe: %v", err), childIn.Close(), in.Close())
	}
	c.cmd.Stdin, c.cmd.Stdout = childIn, childOut
	err = c.cmd.Start()
	childIn.Close()
	childOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("start the agent: %v", err)
	}
	c.Client = New(out, in, o.Trace)
	return c, nil
}

// Pid is the child's process id.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Stderr is the last part of what the child wrote to its error output: launch
// errors only.
func (c *Child) Stderr() string { return c.stderr.String() }

// Close closes the child's input, drains its output, waits for its end within
// bounds, and ends a child that is stuck. The error is the child's exit: nil
// for status 0, an *exec.ExitError otherwise. It is safe to call twice.
func (c *Child) Close() error {
	c.once.Do(func() { c.err = c.close() })
	return c.err
}

func (c *Child) close() error {
	_ = c.CloseInput()
	go func() {
		for range c.Events() { // what nobody reads any more must not stall the child
		}
	}()
	exited := make(chan error, 1)
	go func() { exited <- c.cmd.Wait() }()
	for _, step := range []struct {
		wait time.Duration
		then func() error
	}{{closeWait, c.terminate}, {killWait, c.cmd.Process.Kill}} {
		timer := time.NewTimer(step.wait)
		select {
		case err := <-exited:
			timer.Stop()
			return err
		case <-timer.C:
			_ = step.then()
		}
	}
	return <-exited
}

// tail keeps the last bytes written to it.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p)
	if extra := t.buf.Len() - stderrBytes; extra > 0 {
		t.buf.Next(extra)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
