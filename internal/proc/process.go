//go:build linux || darwin

package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Process is a running child. Its methods are safe for concurrent use.
type Process struct {
	spec  Spec
	cmd   *exec.Cmd
	pid   int // also the group
	token string

	stdin     *os.File // our end; nil without a pipe
	stdout    *os.File // our end
	out, errs *capture // out is nil for KeepNone
	stdinDone chan struct{}
	stdinErr  error // settled when stdinDone is closed
	exited    chan struct{}
	stop      chan struct{} // closed by the first end request
	done      chan struct{} // closed when all is over; result is final
	result    Result

	mu      sync.Mutex
	reason  Reason
	stopped bool
	until   time.Time // of Stop; zero: none
}

// Start starts a child. The caller must call Stop, or wait for Done; until
// then the child is supervised by goroutines of this package.
func Start(spec Spec) (*Process, error) {
	if err := prepare(); err != nil {
		return nil, err
	}
	p := &Process{
		spec: spec, exited: make(chan struct{}), stop: make(chan struct{}),
		done: make(chan struct{}), stdinDone: make(chan struct{}),
	}
	pipes, err := p.command()
	if err != nil {
		return nil, err
	}
	// The table is held while the child is forked: a sweep in between would
	// take the unregistered child for somebody's leftover.
	err = live.start(p)
	pipes.closeChild()
	if err != nil {
		pipes.closeOurs()
		return nil, startError(err)
	}
	p.supervise()
	return p, nil
}

func startError(err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %v", ErrNotFound, err)
	}
	return fmt.Errorf("start child: %v", err)
}

// command builds the exec.Cmd and its pipes.
func (p *Process) command() (*pipeSet, error) {
	cmd := exec.Command(p.spec.Path, p.spec.Args...)
	cmd.Dir = p.spec.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	env := p.spec.Env
	if env == nil {
		env = os.Environ()
	}
	p.token = newToken()
	cmd.Env = withMarker(env, p.token)
	if p.spec.Dir != "" {
		cmd.Env = append(cmd.Env, "PWD="+p.spec.Dir) // the last one counts
	}
	ps := &pipeSet{}
	var err error
	if p.spec.StdinPipe || p.spec.Stdin != nil {
		var child *os.File
		if child, p.stdin, err = ps.pair(); err == nil {
			cmd.Stdin = child
		}
	}
	var childOut, childErr *os.File
	if err == nil {
		p.stdout, childOut, err = ps.pairOut()
		cmd.Stdout = childOut
	}
	var ourErr *os.File
	if err == nil {
		ourErr, childErr, err = ps.pairOut()
		cmd.Stderr = childErr
	}
	if err != nil {
		ps.closeChild()
		ps.closeOurs()
		return nil, fmt.Errorf("make pipes: %v", err)
	}
	if p.spec.Stdout.Keep != KeepNone {
		p.out = newCapture(p.spec.Stdout, p.stdout, func() { p.request(OverLimit, time.Time{}) })
	}
	p.errs = newCapture(p.spec.Stderr, ourErr, func() { p.request(OverLimit, time.Time{}) })
	p.cmd = cmd
	return ps, nil
}

// pipeSet remembers the ends, so that a failed start leaves none open.
type pipeSet struct{ child, ours []*os.File }

func (ps *pipeSet) pair() (child, ours *os.File, err error) {
	r, w, err := os.Pipe()
	if err == nil {
		ps.child, ps.ours = append(ps.child, r), append(ps.ours, w)
	}
	return r, w, err
}

func (ps *pipeSet) pairOut() (ours, child *os.File, err error) {
	r, w, err := os.Pipe()
	if err == nil {
		ps.child, ps.ours = append(ps.child, w), append(ps.ours, r)
	}
	return r, w, err
}

func (ps *pipeSet) closeChild() { closeAll(ps.child) }
func (ps *pipeSet) closeOurs()  { closeAll(ps.ours) }

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// Pid is the process id of the child, which is also its group.
func (p *Process) Pid() int { return p.pid }

// Stdin is the writing end with Spec.StdinPipe. Closing it is the caller's
// right; Stop closes it too. Write deadlines work.
func (p *Process) Stdin() *os.File { return p.stdin }

// Stdout is the reading end with KeepNone, which the caller reads to an error
// and closes. Once the child is gone a read ends within 500 ms. Read deadlines
// work.
func (p *Process) Stdout() *os.File { return p.stdout }

// Done is closed when the child and what it left are ended and its pipes are
// closed (but for a KeepNone stdout).
func (p *Process) Done() <-chan struct{} { return p.done }

// Exited is closed when the child itself has ended; what it left, and its pipes,
// may still be there.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Result is final once Done is closed.
func (p *Process) Result() Result {
	<-p.done
	return p.result
}

// StderrText is what is kept of stderr so far.
func (p *Process) StderrText() string {
	s, _ := p.errs.text()
	return s
}

// Stop ends the child and waits for Done or for ctx, whose deadline also
// shortens the steps: close stdin, Spec.Grace, SIGTERM, 50 ms, SIGKILL, 1 s,
// pipes 500 ms. It may be called any number of times, also after the end.
func (p *Process) Stop(ctx context.Context) error {
	until, _ := ctx.Deadline()
	p.request(Stopped, until)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		select {
		case <-p.done:
			return nil
		default:
			return fmt.Errorf("stop child: %w", context.Cause(ctx))
		}
	}
}

// request asks the supervisor to end the child; the first reason stays.
func (p *Process) request(r Reason, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !until.IsZero() && (p.until.IsZero() || until.Before(p.until)) {
		p.until = until
	}
	if p.stopped {
		return
	}
	p.stopped, p.reason = true, r
	close(p.stop)
}

// Run starts a child and waits for its end. When ctx ends, the child is ended
// (Result.Reason is Stopped); Run still returns only when that is done, within
// about two seconds. The error is that of the start.
func Run(ctx context.Context, spec Spec) (Result, error) {
	p, err := Start(spec)
	if err != nil {
		return Result{}, err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.request(Stopped, time.Time{})
		<-p.done
	}
	return p.result, nil
}
