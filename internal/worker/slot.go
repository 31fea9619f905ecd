package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Errors of Run.
var (
	// ErrBusy: a job is running.
	ErrBusy = errors.New("a job is running")
	// ErrClosed: the cleanup has begun.
	ErrClosed = errors.New("no more jobs are taken")
)

// Slot runs one job at a time. The zero value is ready. It is safe for
// concurrent use.
type Slot struct {
	mu      sync.Mutex
	cancel  context.CancelCauseFunc // of the running job
	closed  bool
	release []func(context.Context) error
	wg      sync.WaitGroup
}

// Job is one piece of work and what becomes of its result.
type Job[T any] struct {
	// Work runs in the job's goroutine. Its ctx ends with the parent's, and with
	// Cancel, whose cause it carries.
	Work func(ctx context.Context) T
	// Crashed makes a result for Work if that panicked.
	Crashed func(Panic) T
	// Done gets the result, once, in the job's goroutine. The slot is free by
	// then, so that Done may lead to the next job.
	Done func(T)
}

// Run starts a job. It returns ErrBusy or ErrClosed, and then Done is never called.
func Run[T any](ctx context.Context, s *Slot, job Job[T]) error {
	ctx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	go func() {
		defer s.wg.Done()
		var result T
		defer func() { job.Done(result) }()
		attempt(ctx, s, job, &result)
	}()
	return nil
}

// attempt stores the result of the work, and frees the slot, come what may.
func attempt[T any](ctx context.Context, s *Slot, job Job[T], result *T) {
	returned := false
	defer func() {
		if !returned {
			_ = recover() // nil where the work ended its goroutine with Goexit
			*result = job.Crashed(Here())
		}
		s.end()
	}()
	*result = job.Work(ctx)
	returned = true
}

func (s *Slot) begin(parent context.Context) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.cancel != nil {
		return nil, ErrBusy
	}
	ctx, cancel := context.WithCancelCause(parent)
	s.cancel = cancel
	s.wg.Add(1)
	return ctx, nil
}

func (s *Slot) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel(nil)
	s.cancel = nil
}

// Cancel cancels the running job, if any, with a cause. The first cause stays.
func (s *Slot) Cancel(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel(cause)
	}
}

// Hold keeps what a job has opened until the cleanup, which calls release. What
// is held last is released first.
func (s *Slot) Hold(release func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release = append(s.release, release)
}

// Cleanup refuses further jobs, waits for the running one, and then releases
// what is held. It is for one call. The wait has no bound of its own: a job
// that ignores its cancellation keeps what it uses.
func (s *Slot) Cleanup(ctx context.Context) error {
	s.Join()
	var errs []error
	for _, release := range slices.Backward(s.held()) {
		errs = append(errs, release(ctx))
	}
	return errors.Join(errs...)
}

// Join refuses further jobs and waits for the running one.
func (s *Slot) Join() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *Slot) held() []func(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.release
	s.release = nil
	return held
}
