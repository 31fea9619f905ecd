package web

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
)

// Bounds of what is remembered: tools.md 1.16.
const (
	maxPages     = 64
	maxPageBytes = 40_000
)

// page is what is known of one address.
type page struct {
	url, title string
	text       string // at most maxPageBytes
	scope      string
	cut        bool // text is not all
}

// scopes of a page's text.
const (
	scopeMain    = "main"    // the readable part of a page
	scopePage    = "page"    // all of it
	scopeExcerpt = "excerpt" // what a search has shown of it
)

// cache keeps the pages that were used last. It is safe for concurrent use.
type cache struct {
	mu    sync.Mutex
	pages map[string]page
	order []string // least recently used first
}

// referenceOf names a page in results.
func referenceOf(url string) string {
	sum := sha256.Sum256([]byte(url))
	return "web:" + hex.EncodeToString(sum[:])
}

func (c *cache) get(reference string) (page, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.pages[reference]
	if ok {
		c.touchLocked(reference)
	}
	return p, ok
}

// put remembers a page; an excerpt does not replace a whole one.
func (c *cache) put(p page) (reference string) {
	reference = referenceOf(p.url)
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.pages[reference]; ok && p.scope == scopeExcerpt && old.scope != scopeExcerpt {
		return reference
	}
	if c.pages == nil {
		c.pages = make(map[string]page)
	}
	c.pages[reference] = p
	c.touchLocked(reference)
	if len(c.order) > maxPages {
		delete(c.pages, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
	return reference
}

func (c *cache) touchLocked(reference string) {
	if i := slices.Index(c.order, reference); i >= 0 {
		c.order = slices.Delete(c.order, i, i+1)
	}
	c.order = append(c.order, reference)
}
