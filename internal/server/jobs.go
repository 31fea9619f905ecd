package server

import (
	"context"

	"magicode/internal/worker"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// take hands the call's span to the job that will answer.
func (q *call) take() telemetry.Span {
	span := q.span
	q.span = telemetry.Span{}
	return span
}

// end closes a request that was pending.
func (p *pending) end(code localagent.Code) {
	if code != "" {
		p.span.Fail(telemetry.CodeOf(string(code)))
	}
	p.span.Event(telemetry.EventResponseQueued)
	p.span.End()
	*p = pending{}
}

// outcome is what a job of a request gave.
type outcome[T any] struct {
	value T
	err   error
}

// started is the result of the startup job.
type started struct {
	runtime Runtime
	info    Info
}

func (c *conn) initialize(ctx context.Context, q *call) localagent.Code {
	err := worker.Run(ctx, &c.slot, worker.Job[outcome[started]]{
		Work: c.startupWorker,
		Crashed: func(p worker.Panic) outcome[started] {
			return outcome[started]{err: c.panicked(WorkerStartup, p)}
		},
		Done: c.startupDone,
	})
	if err != nil {
		return localagent.CodeStartupFailed
	}
	c.startup = startupPending
	c.child.Event(telemetry.EventInitializeAdmitted)
	c.init = pending{pending: true, id: q.id, span: q.take()}
	return ""
}

func (c *conn) startupWorker(ctx context.Context) (o outcome[started]) {
	o.value.runtime, o.value.info, o.err = c.cfg.Startup.Start(ctx)
	return o
}

// startupDone takes in the result. The runtime is kept for the cleanup even if
// nobody waits for it any more.
func (c *conn) startupDone(o outcome[started]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := o.value.runtime; r != nil {
		c.slot.Hold(r.Close)
	}
	if !c.reads() {
		return
	}
	info := o.value.info
	c.runtime, c.context = o.value.runtime, info.ContextID
	c.choose(info.Provider, info.Model)
	id, code := c.init.id, startupErrors().code(o.err)
	if code == "" && c.runtime == nil {
		code = localagent.CodeStartupFailed
	}
	if code != "" {
		c.startup, c.failure = startupFailed, code
		c.fail(id, code)
	} else {
		c.startup = startupReady
		c.child.Event(telemetry.EventReady)
		c.succeedInitialize(id)
	}
	c.init.end(code)
	c.settle()
}

func (c *conn) sessionCreate(ctx context.Context, q *call) localagent.Code {
	return c.attach(ctx, q, "create", c.runtime.Create)
}

func (c *conn) sessionOpen(ctx context.Context, q *call) localagent.Code {
	runtime, id := c.runtime, q.open.SessionID
	return c.attach(ctx, q, "open", func(ctx context.Context) (Attached, error) {
		return runtime.Open(ctx, id)
	})
}

func (c *conn) attach(ctx context.Context, q *call, action string, work func(context.Context) (Attached, error)) localagent.Code {
	return startSessionWork(ctx, c, q, action, work, func(id string, a Attached) {
		c.session = a.SessionID
		c.choose(a.Provider, a.Model)
		c.succeedAttached(id, a)
	})
}

func (c *conn) historyPage(ctx context.Context, q *call) localagent.Code {
	p := PageRequest{SessionID: q.page.SessionID, Revision: q.page.Revision, Cursor: q.page.Cursor}
	runtime, refused := c.runtime, c.checkSession(p.SessionID)
	return startSessionWork(ctx, c, q, "page", func(ctx context.Context) ([]byte, error) {
		if refused != "" {
			return nil, codeError(refused)
		}
		return runtime.Page(ctx, p)
	}, c.succeedRaw)
}

// startSessionWork starts the job of a session or history operation, whose
// success answers with its value.
func startSessionWork[T any](ctx context.Context, c *conn, q *call, action string,
	work func(context.Context) (T, error), succeed func(id string, value T),
) localagent.Code {
	err := worker.Run(ctx, &c.slot, worker.Job[outcome[T]]{
		Work: func(ctx context.Context) outcome[T] { return sessionWorker(ctx, action, work) },
		Crashed: func(p worker.Panic) outcome[T] {
			return outcome[T]{err: c.panicked(WorkerSession, p)}
		},
		Done: func(o outcome[T]) { sessionDone(c, o, succeed) },
	})
	if err != nil {
		return localagent.CodeSessionInvalid
	}
	c.work = pending{pending: true, id: q.id, span: q.take()}
	return ""
}

func sessionWorker[T any](ctx context.Context, action string, work func(context.Context) (T, error)) (o outcome[T]) {
	span := sessionSpan(telemetry.Current(ctx), action)
	defer span.End()
	o.value, o.err = work(span.Into(ctx))
	if o.err != nil {
		span.Fail(telemetry.CodeOf(string(sessionErrors().code(o.err))))
	}
	return o
}

// sessionDone answers, unless closing has done so or has made it void.
func sessionDone[T any](c *conn, o outcome[T], succeed func(id string, value T)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reads() {
		return
	}
	id, code := c.work.id, sessionErrors().code(o.err)
	if code == "" {
		succeed(id, o.value)
	} else {
		c.fail(id, code)
	}
	c.work.end(code)
	c.settle()
}

// panicked reports where a worker panicked and returns the error that its
// domain knows.
func (c *conn) panicked(w Worker, p worker.Panic) error {
	if c.cfg.Panicked != nil {
		c.cfg.Panicked(w, p)
	}
	return errPanic
}
