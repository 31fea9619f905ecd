package replay

import (
	"sync"

	"magicode/internal/provider"
	"magicode/internal/session"
)

// Follower feeds the one Fold that a handle's conversation has now. A rotation
// replaces the fold; the handle goes on feeding the follower. Records may come
// from other goroutines than the one that reads the conversation.
type Follower struct {
	mu  sync.Mutex
	now *Fold
}

// NewFollower follows with f.
func NewFollower(f *Fold) *Follower { return &Follower{now: f} }

// Apply takes one record.
func (f *Follower) Apply(rec session.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.Apply(rec)
}

// Swap goes on with another fold.
func (f *Follower) Swap(n *Fold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = n
}

// Compacted is Fold.Compacted.
func (f *Follower) Compacted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.Compacted()
}

// Items is Fold.Items.
func (f *Follower) Items() []provider.Item {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.Items()
}

// Earlier is Fold.Earlier.
func (f *Follower) Earlier() []provider.Item {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.Earlier()
}

// HasCallID is Fold.HasCallID.
func (f *Follower) HasCallID(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.HasCallID(id)
}
