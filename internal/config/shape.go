package config

import (
	"slices"
	"strings"
)

// rule is one key of an object that is decoded into a T: the single source of
// its type, default, check and schema.
type rule[T any] struct {
	path     string // dotted; no key of ours holds a dot
	required bool   // must be present
	global   bool   // a project may not say it
	fallback any    // what an absent key counts as, in the types of toTree
	// take checks a value and stores it.
	take func(*T, any) *problem
	// schema makes the JSON Schema of a value.
	schema func() object
}

// only marks a key that counts in the global file alone.
func (r rule[T]) only() rule[T] {
	r.global = true
	return r
}

// must marks a key that has to be there.
func (r rule[T]) must() rule[T] {
	r.required = true
	return r
}

// shape is a set of rules as a tree of objects. It is immutable.
type shape[T any] struct {
	root  *node[T]
	rules []rule[T]
}

// node is an object that holds keys, or one key.
type node[T any] struct {
	name     string
	rule     *rule[T] // nil for an object
	children []*node[T]
	closed   bool // unknown keys are errors
	nullable bool // null counts as an empty object
}

// newShape builds the tree. closed and nullable name objects by their dotted path.
func newShape[T any](rules []rule[T], closed, nullable []string) *shape[T] {
	s := &shape[T]{root: &node[T]{}, rules: rules}
	for i := range rules {
		n := s.root
		for part := range strings.SplitSeq(rules[i].path, ".") {
			n = n.child(part)
		}
		n.rule = &rules[i]
	}
	for _, path := range closed {
		s.at(path).closed = true
	}
	for _, path := range nullable {
		s.at(path).nullable = true
	}
	return s
}

func (n *node[T]) child(name string) *node[T] {
	if c := n.find(name); c != nil {
		return c
	}
	c := &node[T]{name: name}
	n.children = append(n.children, c)
	return c
}

func (n *node[T]) find(name string) *node[T] {
	i := slices.IndexFunc(n.children, func(c *node[T]) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return n.children[i]
}

// at gives the node of a dotted path that the rules made.
func (s *shape[T]) at(path string) *node[T] {
	n := s.root
	for part := range strings.SplitSeq(path, ".") {
		n = n.child(part)
	}
	return n
}

// decode checks a whole value against the shape and stores it in t.
func (s *shape[T]) decode(t *T, v any) *problem { return s.root.decode(t, v, true) }

func (n *node[T]) decode(t *T, v any, present bool) *problem {
	if n.rule != nil {
		return n.rule.decode(t, v, present)
	}
	var m map[string]any
	if present && !(v == nil && n.nullable) {
		var ok bool
		if m, ok = v.(map[string]any); !ok {
			return wrong("must be an object")
		}
	}
	if n.closed {
		if p := n.unknown(m); p != nil {
			return p
		}
	}
	for _, c := range n.children {
		member, ok := m[c.name]
		if p := c.decode(t, member, ok); p != nil {
			return p.under(c.name)
		}
	}
	return nil
}

func (r *rule[T]) decode(t *T, v any, present bool) *problem {
	if !present {
		if r.required {
			return wrong("is missing")
		}
		v = r.fallback
	}
	return r.take(t, v)
}

// unknown complains about the first key, in byte order, that the rules do not name.
func (n *node[T]) unknown(m map[string]any) *problem {
	first, found := "", false
	for k := range m {
		if n.find(k) == nil && (!found || k < first) {
			first, found = k, true
		}
	}
	if !found {
		return nil
	}
	return wrong("is unknown", first)
}

// globalPaths lists the keys that a project may not say.
func (s *shape[T]) globalPaths() [][]string {
	var out [][]string
	for _, r := range s.rules {
		if r.global {
			out = append(out, strings.Split(r.path, "."))
		}
	}
	return out
}
