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
	// Apart puts the child into a process group of its own: an interrupt typed at
	// the host's terminal reaches the host alone, which can cancel the turn and
	// wait for its end. Without effect on Windows.
	Apart bool
}

// waits are the steps of Close.
type waits struct {
	orderly time.Duration // for the child's own end
	killed  time.Duration // for its end after SIGTERM
	pipes   time.Duration // for the end of its output after its exit: a process that it left behind may hold the pipes
}

// defaultWaits: a child's output drain and its cleanup are bounded by 2 s each
// (protocol), and a second of grace.
var defaultWaits = waits{orderly: 5 * time.Second, killed: time.Second, pipes: time.Second}

// stderrBytes bounds what is kept of the child's error output. After launch it is empty.
const stderrBytes = 16 << 10

// Child is a running agent. Close must be called.
type Child struct {
	*Client
	cmd    *exec.Cmd
	out    *os.File // the reading end of the child's output
	stderr tail
	waits  waits

	once sync.Once
	err  error
}

// Start starts one child over two anonymous pipes and drains its stderr.
func Start(o Options) (*Child, error) {
	c := &Child{cmd: exec.Command(o.Path, "serve", "--stdio"), waits: defaultWaits}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr, c.cmd.WaitDelay = o.Dir, o.Env, &c.stderr, c.waits.pipes
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
	if o.Apart {
		apart(c.cmd)
	}
	err = c.cmd.Start()
	childIn.Close()
	childOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("start the agent: %v", err)
	}
	c.out = out
	c.Client = New(out, in, o.Trace)
	return c, nil
}

// Pid is the child's process id.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Stderr is the last part of what the child wrote to its error output: launch
// errors only.
func (c *Child) Stderr() string { return c.stderr.String() }

// Close closes the child's input, drains its output, waits for its end within
// bounds, and ends a child that is stuck. Nothing of it is left: no process, no
// goroutine, no descriptor. The error is the child's exit: nil for status 0, an
// *exec.ExitError otherwise. It is safe to call twice, and from several goroutines.
func (c *Child) Close() error {
	c.once.Do(func() { c.err = c.close() })
	return c.err
}

func (c *Child) close() error {
	_ = c.CloseInput()
	var drained sync.WaitGroup
	drained.Go(func() {
		for range c.Events() { // what nobody reads any more must not stall the child
		}
	})
	err := c.reap()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the child ended well; something that it started holds its stderr
	}
	pipes := time.NewTimer(c.waits.pipes)
	defer pipes.Stop()
	select {
	case <-c.Done():
	case <-pipes.C:
	}
	_ = c.out.Close() // ends a reader that still waits
	<-c.Done()
	drained.Wait()
	return err
}

// reap waits for the child's exit, asks for it, and forces it.
func (c *Child) reap() error {
	exited := make(chan error, 1)
	go func() { exited <- c.cmd.Wait() }()
	for _, step := range []struct {
		wait time.Duration
		then func() error
	}{{c.waits.orderly, c.terminate}, {c.waits.killed, c.cmd.Process.Kill}} {
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
