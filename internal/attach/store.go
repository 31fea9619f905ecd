package attach

import (
	"context"

	"magicode/internal/session"
)

// handle is what is needed of a *session.Handle.
type handle interface {
	ID() string
	Durable() bool
	Follow(session.Fold)
	Reload(ctx context.Context, folds ...session.Fold) (session.ReadInfo, error)
	Unchanged(ctx context.Context) error
	Close() error
}

// store makes handles: sessions, but for tests.
type store interface {
	create(ctx context.Context) (handle, error)
	open(ctx context.Context, id string, fold session.Fold) (handle, session.ReadInfo, error)
}

// sessions is the store that counts.
type sessions struct{ *session.Store }

func (s sessions) create(ctx context.Context) (handle, error) {
	h, err := s.Create(ctx)
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (s sessions) open(ctx context.Context, id string, fold session.Fold) (handle, session.ReadInfo, error) {
	h, info, err := s.Open(ctx, id, fold)
	if err != nil {
		return nil, info, err
	}
	return h, info, nil
}
