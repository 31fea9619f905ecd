package provider

// Effective is the input that was billed as such: the OpenAI counters hold the
// cached part already (providers.md 17).
func (u Usage) Effective() int64 {
	if u.Input == nil {
		return 0
	}
	n := *u.Input
	if u.CacheSeparate {
		for _, p := range []*int64{u.CacheRead, u.CacheWrite} {
			if p != nil {
				n += *p
			}
		}
	}
	return n
}

// CacheKnown reports whether the cached part of the input is known.
func (u Usage) CacheKnown() bool {
	return u.Input != nil && u.CacheRead != nil && (!u.CacheSeparate || u.CacheWrite != nil)
}
