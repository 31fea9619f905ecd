package attach

import "slices"

// Builtins lists the tools that a ceiling may enable, sorted.
func Builtins() []string { return slices.Sorted(slices.Values(builtins)) }

// Narrow returns what both ceilings allow. The folder is c's: whoever narrows
// compares the two. Client tools stay where both name the same descriptor.
func (c Ceiling) Narrow(o Ceiling) Ceiling {
	c.Inspection = c.Inspection || o.Inspection
	c.EnabledBuiltins = slices.DeleteFunc(slices.Clone(c.EnabledBuiltins), func(n string) bool { return !slices.Contains(o.EnabledBuiltins, n) })
	c.DisabledTools = union(c.DisabledTools, o.DisabledTools)
	c.CodeModeDisabledTools = union(c.CodeModeDisabledTools, o.CodeModeDisabledTools)
	flags, others := c.flags(), o.flags()
	for i, f := range flags {
		*f = *f && *others[i]
	}
	c.RemainingDepth = min(c.RemainingDepth, o.RemainingDepth)
	shared := map[string]string{}
	for name, digest := range c.ClientTools {
		if o.ClientTools[name] == digest {
			shared[name] = digest
		}
	}
	c.ClientTools = shared
	return c
}

// flags are the switches of a ceiling, always in the same order.
func (c *Ceiling) flags() []*bool {
	return []*bool{&c.ReadAbsolutePaths, &c.ViewImageAbsolutePaths, &c.HashlineAbsolutePaths, &c.WriteAbsolutePaths, &c.GrepAbsolutePaths,
		&c.FindAbsolutePaths, &c.ListFilesAbsolutePaths, &c.AstGrepAbsolutePaths, &c.BashAbsolutePaths, &c.BashShellExpansion, &c.SubagentsAbsolutePaths}
}

// union is sorted, without repetitions, and never nil.
func union(a, b []string) []string {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return append([]string{}, slices.Compact(all)...)
}

// Disable takes tools away, whatever kind they are.
func (c Ceiling) Disable(names ...string) Ceiling {
	c.DisabledTools = union(c.DisabledTools, names)
	c.EnabledBuiltins = slices.DeleteFunc(slices.Clone(c.EnabledBuiltins), func(n string) bool { return slices.Contains(names, n) })
	return c
}

// Keep takes every built-in away that keep refuses.
func (c Ceiling) Keep(keep func(name string) bool) Ceiling {
	var out []string
	for _, n := range builtins {
		if !keep(n) {
			out = append(out, n)
		}
	}
	return c.Disable(out...)
}

// Enables reports whether a tool is no built-in, or one that is enabled.
func (c Ceiling) Enables(tool string) bool {
	return !slices.Contains(builtins, tool) || slices.Contains(c.EnabledBuiltins, tool)
}

// SamePaths reports whether both ceilings have the same switches.
func (c Ceiling) SamePaths(o Ceiling) bool {
	return slices.EqualFunc(c.flags(), o.flags(), func(a, b *bool) bool { return *a == *b })
}

// Clarified returns the scope with one more prompt of the caller. The error
// wraps ErrInvalid: a record of it would be one that no reader accepts.
func (s *Scope) Clarified(text string) (*Scope, error) { return s.clarified(text) }
