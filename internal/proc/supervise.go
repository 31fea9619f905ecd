//go:build linux || darwin

package proc

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// supervise starts the goroutines of a started child. All of them end before
// done is closed.
func (p *Process) supervise() {
	go p.waitLeader()
	if p.out != nil {
		go p.out.run()
	}
	go p.errs.run()
	if p.spec.Stdin != nil {
		go p.feed()
	} else {
		close(p.stdinDone)
	}
	go p.watch()
}

// waitLeader waits for the child without reaping it, so that its id stays
// valid for signals until reap.
func (p *Process) waitLeader() {
	waitExited(p.pid)
	close(p.exited)
}

func (p *Process) feed() {
	defer close(p.stdinDone)
	_, err := p.stdin.Write(p.spec.Stdin)
	if cerr := p.stdin.Close(); err == nil {
		err = cerr
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, os.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) {
		p.stdinErr = err
	}
}

// watch is the owner of the child's end.
func (p *Process) watch() {
	defer close(p.done)
	var limit <-chan time.Time
	if p.spec.Timeout > 0 {
		t := time.NewTimer(p.spec.Timeout)
		defer t.Stop()
		limit = t.C
	}
	select {
	case <-p.exited:
		p.request(Exited, time.Time{})
	case <-limit:
		p.request(TimedOut, time.Time{})
	case <-p.stop:
		p.grace()
	}
	term := p.clamp(termWait)
	kill := term.Add(killWait)
	outside := p.endLeader(term, kill)
	left := p.endRest(outside, term, kill)
	held := p.drain()
	p.settle(left, held)
}

// endLeader ends the child itself, unless it has ended already, and returns
// the descendants that were seen outside of its group.
func (p *Process) endLeader(term, kill time.Time) []int {
	if p.hasExited() {
		return nil
	}
	outside := p.snapshot()
	_ = syscall.Kill(-p.pid, syscall.SIGTERM)
	if p.waitUntil(term) {
		return outside
	}
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.waitUntil(kill)
	return outside
}

func (p *Process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// waitUntil waits for the child's exit and reports it.
func (p *Process) waitUntil(at time.Time) bool {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		return p.hasExited()
	}
}

// grace is the polite first step for a child that ends when its input does.
func (p *Process) grace() {
	if p.stdin == nil || !p.spec.StdinPipe {
		return
	}
	p.stdin.Close()
	if p.spec.Grace <= 0 {
		return
	}
	p.waitUntil(p.clamp(p.spec.Grace))
}

// clamp is now + d, or half of what is left until the deadline of Stop: the
// last step, SIGKILL, always has time of its own.
func (p *Process) clamp(d time.Duration) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.until.IsZero() {
		d = min(d, max(p.until.Sub(now)/2, 0))
	}
	return now.Add(d)
}

// reap takes the exit status. From here on the id may belong to another. It
// reports false for a child that even SIGKILL did not end in time.
func (p *Process) reap() bool {
	if !p.hasExited() {
		p.result.ExitCode = -1
		// detaches: the kernel holds the process (uninterruptible I/O); nobody
		// can end it earlier, and its status is taken when it comes.
		go func() {
			<-p.exited
			_ = p.cmd.Wait()
			live.mu.Lock()
			defer live.mu.Unlock()
			live.removeLocked(p)
		}()
		return false
	}
	_ = p.cmd.Wait() // the error repeats the status
	p.result.ExitCode = p.cmd.ProcessState.ExitCode()
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		p.result.Signal = ws.Signal()
	}
	return true
}

// drain gives the readers time to reach the end of the pipes, then stops them.
// It reports whether somebody still holds a pipe.
func (p *Process) drain() bool {
	deadline := time.Now().Add(drainWait)
	readers := []<-chan struct{}{p.errs.done, p.stdinDone}
	_ = p.errs.file.SetReadDeadline(deadline)
	_ = p.stdout.SetReadDeadline(deadline)
	if p.out != nil {
		readers = append(readers, p.out.done)
	}
	if p.stdin != nil {
		_ = p.stdin.SetWriteDeadline(time.Now())
	}
	force := time.NewTimer(time.Until(deadline) + drainForce)
	defer force.Stop()
	waitAll(readers, force.C)
	if p.stdin != nil {
		p.stdin.Close()
	}
	p.errs.file.Close()
	if p.out == nil { // the caller reads on, up to the deadline
		return !p.errs.ended()
	}
	p.stdout.Close()
	return !p.errs.ended() || !p.out.ended()
}

// waitAll waits for every reader, or for the time to be up: closing the files
// then stops whoever a deadline did not.
func waitAll(readers []<-chan struct{}, up <-chan time.Time) {
	for _, r := range readers {
		select {
		case <-r:
		case <-up:
			return
		}
	}
}

func (p *Process) settle(left, held bool) {
	r := &p.result
	p.mu.Lock()
	r.Reason = p.reason
	p.mu.Unlock()
	if p.out != nil {
		r.Stdout, r.StdoutTruncated = p.out.text()
	}
	r.Stderr, r.StderrTruncated = p.errs.text()
	select {
	case <-p.stdinDone:
		r.StdinErr = p.stdinErr
	default:
	}
	switch {
	case left:
		r.Warning = "a process that the command started could not be ended"
	case held:
		r.Warning = "an output pipe of the command is still held open by another process"
	}
}
