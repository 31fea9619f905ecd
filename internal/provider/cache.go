package provider

import "sync/atomic"

// Cache keeps the serialized form of an item, or of a list of tools, between
// requests: a conversation is sent whole with every request. Whoever makes an
// item that will be sent more than once gives it a new Cache; copies of the
// item share it, and the item is not changed afterwards. One wire's form is
// kept at a time. A nil Cache keeps nothing. It is safe for concurrent use.
type Cache struct {
	form atomic.Pointer[form]
}

type form struct {
	wire  string
	value any
}

// Load returns what Store has kept for this wire.
func (c *Cache) Load(wire string) (value any, ok bool) {
	if c == nil {
		return nil, false
	}
	f := c.form.Load()
	if f == nil || f.wire != wire {
		return nil, false
	}
	return f.value, true
}

// Store keeps the form of one wire; value must not be changed afterwards.
func (c *Cache) Store(wire string, value any) {
	if c != nil {
		c.form.Store(&form{wire: wire, value: value})
	}
}
