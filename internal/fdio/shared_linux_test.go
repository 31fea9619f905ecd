//go:build !race

package fdio

// shares are the ways to ask.
var shares = map[string]func() *Shared{
	"each call": func() *Shared { return new(Shared) },
	"the flag": func() *Shared {
		s := new(Shared)
		s.refused.Store(true)
		return s
	},
}
