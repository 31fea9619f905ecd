package subagent

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"magicode/internal/runner"
	"magicode/internal/tool"
)

// watch notices a task that does nothing. What a nested task does, its parent
// does too. It is safe for concurrent use.
type watch struct {
	parent *watch
	last   atomic.Int64 // when something happened, since began
	began  time.Time
	waits  atomic.Int64 // questions that the user has not answered

	mu    sync.Mutex
	timer *time.Timer
}

func newWatch(parent *watch) *watch { return &watch{parent: parent, began: time.Now()} }

// touch says that something happened.
func (w *watch) touch() {
	for ; w != nil; w = w.parent {
		w.last.Store(int64(time.Since(w.began)))
	}
}

// wait says that the task waits for the user: that is no stall (decision 7).
func (w *watch) wait() (done func()) {
	for at := w; at != nil; at = at.parent {
		at.waits.Add(1)
	}
	return func() {
		w.touch()
		for at := w; at != nil; at = at.parent {
			at.waits.Add(-1)
		}
	}
}

// start calls stalled, once, when nothing has happened for limit. stop ends that.
func (w *watch) start(limit time.Duration, stalled func()) (stop func()) {
	w.touch()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, func() { w.look(limit, stalled) })
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.timer.Stop()
		w.timer = nil
	}
}

func (w *watch) look(limit time.Duration, stalled func()) {
	waiting := w.waits.Load() > 0 // read first: an answer touches before it stops the wait
	idle := time.Since(w.began) - time.Duration(w.last.Load())
	if waiting {
		idle = 0
	}
	if idle >= limit {
		stalled()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Reset(limit - idle)
	}
}

// pausing is a guard whose questions do not count as a stall.
type pausing struct {
	runner.Guard
	watch *watch
}

// Check implements runner.Guard.
func (p pausing) Check(ctx context.Context, env tool.Env, call tool.Call, warn func(string)) (runner.Verdict, error) {
	defer p.watch.wait()()
	return p.Guard.Check(ctx, env, call, warn)
}
