package server

import (
	"context"
	"os"
	"sync"
	"time"

	"magicode/internal/frame"
	"magicode/internal/worker"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// Config is what a connection is made of.
type Config struct {
	// Transport carries the frames. Serve closes it.
	Transport frame.Transport
	Startup   Startup
	// NewID returns UUIDs, for runs.
	NewID func() string
	// InstanceID names the child in each frame; "" takes a new id.
	InstanceID string
	Tel        telemetry.Tel
	// Signals are the signals that end the child (see Notify); zero: none.
	Signals Signals
	// Panicked is told where a worker panicked, in the worker's goroutine; nil: nobody.
	Panicked func(Worker, worker.Panic)
}

// Signals are where the connection hears of signals.
type Signals struct {
	C <-chan os.Signal
	// Default is called after the first: the next one ends the process at once.
	Default func()
}

// Worker names who panicked.
type Worker string

// Workers.
const (
	WorkerStartup    Worker = "startup"
	WorkerSession    Worker = "session"
	WorkerTurn       Worker = "turn"
	WorkerCleanup    Worker = "cleanup"
	WorkerConnection Worker = "connection"
)

// Serve serves one connection until it ends, cleans up, and returns how the
// child ends. The end of ctx closes the connection as end of input does.
//
// When Serve returns, everything it has started is over, but for a teardown
// that took longer than 2,000 ms (Exit.Detached).
func Serve(ctx context.Context, cfg Config) Exit {
	ctx, span := cfg.Tel.Begin(ctx, telemetry.SpanChild)
	childBegins(span)
	c := newConn(cfg)
	c.child = span
	stop := context.AfterFunc(ctx, c.interrupted)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { c.read(context.WithoutCancel(ctx), frame.NewReader(cfg.Transport)) })
	wg.Go(c.listen)
	<-c.ended
	// An error would change nothing: the end is decided and nothing is read or
	// written any more.
	_ = cfg.Transport.Close()
	wg.Wait()
	c.out.Wait()
	exit := c.exit
	exit.Detached = c.cleanup(ctx)
	childEnds(cfg.Tel, span, exit)
	return exit
}

// listen waits for the first signal.
func (c *conn) listen() {
	select {
	case sig := <-c.cfg.Signals.C:
		if c.cfg.Signals.Default != nil {
			c.cfg.Signals.Default()
		}
		c.signalled(sig)
	case <-c.ended:
	}
}

// interrupted closes the connection from outside.
func (c *conn) interrupted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close(ReasonEOF)
	c.settle()
}

// cleanup joins the workers and releases the runtime. It is owed from the
// moment an initialize was admitted.
func (c *conn) cleanup(ctx context.Context) (detached bool) {
	if c.startup == startupNone {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), localagent.CleanupWait)
	defer cancel()
	defer c.ending.End()
	done := make(chan struct{})
	// detaches: a worker that ignores its cancellation, or a slow teardown, must
	// not keep the process; its leases and children end with it.
	go func() {
		defer close(done)
		c.cleanupWorker(c.ending.Into(ctx))
	}()
	if c.cfg.Tel.On() {
		until, _ := ctx.Deadline()
		c.cfg.Tel.CleanupUntil(until)
		defer time.AfterFunc(snapshotAfter, c.cfg.Tel.Snapshot).Stop()
	}
	select {
	case <-done:
		c.ending.Bool(telemetry.KeyDetached, false)
		return false
	case <-ctx.Done():
		c.ending.Bool(telemetry.KeyDetached, true)
		c.ending.Fail(telemetry.CodeOf("timeout"))
		return true
	}
}

// snapshotAfter is when telemetry writes down what the cleanup still waits for.
const snapshotAfter = localagent.CleanupWait - 250*time.Millisecond

func (c *conn) cleanupWorker(ctx context.Context) {
	defer func() {
		if recover() != nil {
			// There is nobody left to answer; where it was has been reported.
			_ = c.panicked(WorkerCleanup, worker.Here())
		}
	}()
	join := c.joinSpan()
	c.slot.Join()
	join.End()
	if err := c.slot.Cleanup(ctx); err != nil {
		c.ending.Fail(0)
	}
}
