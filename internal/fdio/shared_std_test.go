//go:build unix && (!linux || race)

package fdio

// shares are the ways to ask: here there is one.
var shares = map[string]func() *Shared{"the flag": func() *Shared { return new(Shared) }}
