package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"magicode/internal/config"
	"magicode/internal/proc"
	"magicode/telemetry"
)

const (
	// stderrTail is what is kept of a server's stderr: tools.md 6.3.
	stderrTail = 8 << 10
	// stopGrace is how long a server has after its input was closed.
	stopGrace = 500 * time.Millisecond
	// maxNoise is how many lines in a row may be something else than messages,
	// such as what a launcher prints, before the server counts as broken.
	maxNoise = 256
	// exitWait is how long the reader waits for the status of a server whose
	// output has ended, to name it.
	exitWait = 200 * time.Millisecond
)

var errFraming = errors.New("the server broke the framing")

// stdio is a server that is a child process. One line is one message.
type stdio struct {
	child *proc.Process
	peer  *peer
	turn  chan struct{} // one place: who holds it writes
	read  chan struct{} // closed when the reader has ended
}

// spawn starts a server. Its environment is PATH and what is configured.
func spawn(s config.StdioServer, lookup config.Lookup, dir string, p *peer) (*stdio, error) {
	env := make([]string, 0, len(s.Env)+1)
	path, own := s.Env["PATH"]
	if !own {
		path, _ = lookup("PATH")
		env = append(env, "PATH="+path)
	}
	for k, v := range s.Env {
		env = append(env, k+"="+v)
	}
	child, err := proc.Start(proc.Spec{
		Path: proc.Program(s.Command, path, dir), Args: s.Args, Env: env, StdinPipe: true, Grace: stopGrace,
		Stdout: proc.Capture{Keep: proc.KeepNone}, Stderr: proc.Capture{Limit: stderrTail, Keep: proc.KeepTail},
	})
	if err != nil {
		return nil, err
	}
	t := &stdio{child: child, peer: p, turn: make(chan struct{}, 1), read: make(chan struct{})}
	go t.reader()
	return t, nil
}

// send writes a line. A write that ctx stops before its first byte harms
// nobody; one that is stopped in the middle ends the connection.
func (t *stdio) send(ctx context.Context, _ int64, msg []byte) error {
	line := append(oneLine(msg), '\n')
	if len(line) > maxMessage {
		return fmt.Errorf("the request is larger than %d bytes", maxMessage)
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.peer.life.Done():
		return context.Cause(t.peer.life)
	}
	n, err := t.write(ctx, line)
	switch {
	case err == nil:
		return nil
	case n == 0 && errors.Is(err, os.ErrDeadlineExceeded):
		return context.Cause(ctx)
	case n > 0 && n < len(line):
		err = errors.New("a request was not written whole")
	default:
		t.lastWords()
		err = errors.New("the server does not read its input")
	}
	t.broke(err)
	return err
}

// write writes until ctx ends.
func (t *stdio) write(ctx context.Context, line []byte) (int, error) {
	in := t.child.Stdin()
	if err := in.SetWriteDeadline(time.Time{}); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = in.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := in.Write(line)
	if !stop() {
		<-ended // or its deadline would meet the next writer
	}
	return n, err
}

// lastWords lets the reader say first how a server ended that closed its pipes.
func (t *stdio) lastWords() {
	timer := time.NewTimer(2 * exitWait)
	defer timer.Stop()
	select {
	case <-t.peer.life.Done():
	case <-timer.C:
	}
}

// broke ends the connection and the server. The reader waits for its end.
func (t *stdio) broke(err error) {
	t.peer.fail(err)
	t.tell()
}

func (t *stdio) tell() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = t.child.Stop(ctx) // only asks: the context has ended
}

func (t *stdio) wait(ctx context.Context, step stepped) error {
	step("terminate", telemetry.EventMCPTerminate)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-t.child.Exited():
			step("stderr_join", telemetry.EventMCPStderrJoin)
		case <-t.child.Done():
		case <-ctx.Done():
		}
	})
	err := t.child.Stop(ctx)
	watch.Wait()
	if err != nil {
		return err
	}
	step("stdout_join", telemetry.EventMCPStdoutJoin)
	select {
	case <-t.read:
	case <-ctx.Done():
	}
	return err
}

// reader takes lines off the server's output until it ends, then sees to it
// that the server does.
func (t *stdio) reader() {
	defer close(t.read)
	out := t.child.Stdout()
	defer out.Close()
	err := t.lines(bufio.NewReaderSize(out, 16<<10))
	if err == nil {
		err = t.ended()
	}
	t.broke(err)
}

// lines reads until the end of the stream (nil) or until it is no stream of
// messages any more.
func (t *stdio) lines(r *bufio.Reader) error {
	var long []byte // the start of a line that is longer than the reader's buffer
	for noise := 0; ; {
		part, err := r.ReadSlice('\n')
		if len(long)+len(part) > maxMessage {
			return fmt.Errorf("%w: a line has more than %d bytes", errFraming, maxMessage)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		line := part
		if len(long) > 0 {
			line = append(long, part...)
		}
		if !t.line(line) {
			noise++
		} else {
			noise = 0
		}
		if noise > maxNoise {
			return fmt.Errorf("%w: its output is no JSON-RPC", errFraming)
		}
		if err != nil {
			return nil // io.EOF, or the deadline after the child's end
		}
		long = nil
	}
}

// line reports whether the line was a message, or blank.
func (t *stdio) line(b []byte) bool {
	if blank(b) {
		return true
	}
	return t.peer.receive(b) == nil
}

func blank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// ended says how the server ended.
func (t *stdio) ended() error {
	timer := time.NewTimer(exitWait)
	defer timer.Stop()
	select {
	case <-t.child.Done():
	case <-timer.C:
		return errors.New("the server closed its output")
	}
	switch r := t.child.Result(); {
	case r.Reason == proc.Stopped:
		return errClosed
	case r.Signal != 0:
		return fmt.Errorf("the server was ended by signal %d", int(r.Signal))
	default:
		return fmt.Errorf("the server exited with status %d", r.ExitCode)
	}
}
