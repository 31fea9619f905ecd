package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"magicode/internal/event"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// backend is a Startup, and its Runtime, whose operations tests replace.
type backend struct {
	start  func(ctx context.Context) error
	create func(ctx context.Context) (Attached, error)
	open   func(ctx context.Context, id string) (Attached, error)
	page   func(ctx context.Context, p PageRequest) ([]byte, error)
	newRun func(r RunRequest) (Run, error)
	close  func(ctx context.Context) error

	started, closed, runs atomic.Int32

	tel telemetry.Tel
}

var fixtureInfo = Info{ContextID: strings.Repeat("c", 64), Provider: "fixture", Model: "fixture-model"}

var errFixture = errors.New("fixture")

func (b *backend) Start(ctx context.Context) (Runtime, Info, error) {
	b.started.Add(1)
	if b.start != nil {
		if err := b.start(ctx); err != nil {
			return nil, fixtureInfo, err
		}
	}
	return b, fixtureInfo, nil
}

func (b *backend) Create(ctx context.Context) (Attached, error) {
	if b.create != nil {
		return b.create(ctx)
	}
	return Attached{SessionID: "s1", Revision: "rev-1", Provider: "fixture", Model: "fixture-model"}, nil
}

func (b *backend) Open(ctx context.Context, id string) (Attached, error) {
	if b.open != nil {
		return b.open(ctx, id)
	}
	return Attached{SessionID: id, Durable: true, Revision: "rev-2", Notices: []string{localagent.NoticeCwdUnverified}, Provider: "saved", Model: "saved-model"}, nil
}

func (b *backend) Page(ctx context.Context, p PageRequest) ([]byte, error) {
	if b.page != nil {
		return b.page(ctx, p)
	}
	return fmt.Appendf(nil, `{"complete":true,"entries":[],"next_cursor":null,"revision":%q,"session_id":%q}`, p.Revision, p.SessionID), nil
}

func (b *backend) NewRun(r RunRequest) (Run, error) {
	b.runs.Add(1)
	if b.newRun != nil {
		return b.newRun(r)
	}
	return &fakeRun{do: func(context.Context) event.Finished { return completed }}, nil
}

func (b *backend) Close(ctx context.Context) error {
	b.closed.Add(1)
	if b.close != nil {
		return b.close(ctx)
	}
	return nil
}

var completed = event.Finished{Outcome: localagent.OutcomeCompleted, Persistence: localagent.PersistenceDurable, Revision: "rev-3"}

type fakeRun struct {
	do     func(ctx context.Context) event.Finished
	answer func(id string, allow bool) bool
}

func (r *fakeRun) Do(ctx context.Context) event.Finished { return r.do(ctx) }

func (r *fakeRun) Answer(id string, allow bool) bool { return r.answer != nil && r.answer(id, allow) }

// untilCancelled waits for the cancellation and reports it as a turn does.
func untilCancelled(ctx context.Context) event.Finished {
	<-ctx.Done()
	return event.Finished{Outcome: localagent.OutcomeCancelled, Persistence: localagent.PersistenceDurable, Revision: "rev-3"}
}
