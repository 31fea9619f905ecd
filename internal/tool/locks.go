package tool

import (
	"context"

	"magicode/internal/lease"
)

// LeaseLocks are Locks by the program's one lease manager.
type LeaseLocks struct{ Manager *lease.Manager }

// Lock waits for at most 30 s, or until ctx ends.
func (l LeaseLocks) Lock(ctx context.Context, path string) (func(), error) {
	held, err := l.Manager.Acquire(ctx, path, lease.MaxWait)
	if err != nil {
		return nil, err
	}
	// A lock file that could not be removed names this process and a token
	// that is not ours any more: it hinders nobody here, and others only while
	// this process lives.
	return func() { _ = held.Release() }, nil
}
