package subagent

import (
	"context"
	"errors"
	"sync"

	"magicode/internal/runner"
	"magicode/internal/tool"
)

// batch is one call of the tool.
type batch struct {
	opt     Options
	nest    *runner.Nest
	workers int
	tasks   []*task
}

// errBatchOver cancels the other tasks of a batch that ends the run.
var errBatchOver = errors.New("another task has ended the run")

// run announces all tasks, works them off in their order and sums up.
func (b *batch) run(ctx context.Context) tool.Result {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var fatal error
	for _, t := range b.tasks {
		if fatal = t.announce(ctx); fatal != nil {
			break
		}
	}
	if fatal == nil {
		fatal = b.work(ctx, cancel)
	}
	res := b.result()
	res.Fatal = fatal
	return res
}

// work runs the tasks and returns what ends the run, if one of them does.
func (b *batch) work(ctx context.Context, cancel context.CancelCauseFunc) error {
	next := make(chan *task, len(b.tasks)) // holds all: nobody waits to send
	for _, t := range b.tasks {
		next <- t
	}
	close(next)
	var once sync.Once
	var fatal error
	var workers sync.WaitGroup
	for range b.workers {
		workers.Go(func() {
			for t := range next {
				t.do(ctx)
				if t.fatal != nil {
					once.Do(func() { fatal = t.fatal })
					cancel(errBatchOver)
				}
			}
		})
	}
	workers.Wait()
	return fatal
}
