package protect

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// list judges statements in a row. A cd that fails leaves the shell where it
// was, so what follows may run in either folder, unless set -e or `|| exit`
// ends the script first. top is true for the statements of a whole script.
func (w *walker) list(list []*syntax.Stmt, in *source, top bool) {
	for _, s := range list {
		before := w.dirs
		w.stmt(s, in)
		if !w.errexit && !endsOnFailure(s) {
			w.dirs = union(before, w.dirs)
		}
		if top {
			w.topLevel(s)
		}
	}
}

// topLevel notes what surely happens: only there a function is defined, or
// set -e given, on every path.
func (w *walker) topLevel(s *syntax.Stmt) {
	if s.Background {
		return
	}
	switch c := s.Cmd.(type) {
	case *syntax.FuncDecl:
		if c.Name != nil {
			if w.funcs == nil {
				w.funcs = map[string]bool{}
			}
			w.funcs[c.Name.Value] = true
		}
	case *syntax.CallExpr:
		if len(c.Args) > 1 && c.Args[0].Lit() == "set" {
			args := literals(c.Args[1:])
			w.errexit = flag(args, "-e") || args[0] == "-o" && len(args) > 1 && args[1] == "errexit" || w.errexit && args[0][:min(1, len(args[0]))] != "+"
		}
	}
}

// maxDirs bounds the folders that a command may run in.
const maxDirs = 4

func union(a, b []string) []string {
	if len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) {
		return a
	}
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > maxDirs {
		return []string{""}
	}
	return out
}

// endsOnFailure: `… || exit` leaves the script.
func endsOnFailure(s *syntax.Stmt) bool {
	b, ok := s.Cmd.(*syntax.BinaryCmd)
	if !ok || b.Op != syntax.OrStmt || s.Background {
		return false
	}
	return exits(b.Y)
}

func exits(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) > 0 && (c.Args[0].Lit() == "exit" || c.Args[0].Lit() == "return")
	case *syntax.Block:
		return len(c.Stmts) > 0 && exits(c.Stmts[len(c.Stmts)-1])
	}
	return false
}

// apart runs f as the shell runs a part of its own: its cd ends with it.
func (w *walker) apart(f func()) {
	dirs, errexit := w.dirs, w.errexit
	f()
	w.dirs, w.errexit = dirs, errexit
}

func (w *walker) stmt(s *syntax.Stmt, in *source) {
	for _, r := range s.Redirs {
		if src := w.redirect(r, s); src != nil {
			in = src
		}
	}
	if s.Background || s.Coprocess {
		w.apart(func() { w.command(s.Cmd, in) })
		return
	}
	w.command(s.Cmd, in)
}

func (w *walker) command(c syntax.Command, in *source) {
	switch c := c.(type) {
	case nil:
	case *syntax.CallExpr:
		w.inner(c)
		w.call(c, in)
	case *syntax.BinaryCmd:
		w.binary(c, in)
	case *syntax.FuncDecl:
		w.function(c)
	case *syntax.Block:
		w.list(c.Stmts, in, false)
	case *syntax.Subshell:
		w.apart(func() { w.list(c.Stmts, in, false) })
	case *syntax.DeclClause:
		w.inner(c)
		w.declare(c)
	default:
		w.compound(c, in)
	}
}

// binary follows a pipe: what the left side gives is what the right side reads.
func (w *walker) binary(c *syntax.BinaryCmd, in *source) {
	switch c.Op {
	case syntax.AndStmt:
		w.stmt(c.X, in)
		w.stmt(c.Y, in)
	case syntax.OrStmt:
		before := w.dirs
		w.stmt(c.X, in)
		after := w.dirs
		w.dirs = union(before, after)
		w.stmt(c.Y, in)
		if exits(c.Y) {
			w.dirs = after
		} else {
			w.dirs = union(after, w.dirs)
		}
	default:
		w.apart(func() { w.stmt(c.X, in) })
		w.apart(func() { w.stmt(c.Y, w.output(c.X, in)) })
	}
}

// function judges a body where it is defined: whether and how it is called
// does not make it safer.
func (w *walker) function(f *syntax.FuncDecl) {
	if f.Name != nil && callsItself(f) {
		w.raise(destruction, 2)
	}
	before := w.dirs
	w.stmt(f.Body, nil)
	w.dirs = union(before, w.dirs)
}

// compound judges the statements inside loops, conditions, tests and the like.
func (w *walker) compound(c syntax.Command, in *source) {
	before := w.dirs
	if f, ok := c.(*syntax.WhileClause); ok && w.multiplies(f) {
		w.raise(destruction, 1.8)
	}
	syntax.Walk(c, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			w.list([]*syntax.Stmt{s}, in, false)
			return false
		}
		if word, ok := n.(*syntax.Word); ok {
			w.subscripts(word)
		}
		return true
	})
	w.dirs = union(before, w.dirs)
}

// inner judges commands inside words: they run first.
func (w *walker) inner(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.apart(func() { w.list(n.Stmts, nil, false) })
			return false
		case *syntax.ProcSubst:
			w.apart(func() { w.list(n.Stmts, nil, false) })
			return false
		}
		return true
	})
}

// callsItself: a function that starts itself again in a pipe or in the
// background multiplies without end.
func callsItself(f *syntax.FuncDecl) bool {
	bomb := false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			bomb = bomb || n.Op == syntax.Pipe && (mentions(n.X, f.Name.Value) || mentions(n.Y, f.Name.Value))
		case *syntax.Stmt:
			bomb = bomb || n.Background && mentions(n, f.Name.Value)
		}
		return !bomb
	})
	return bomb
}

// multiplies: an endless loop that leaves its work in the background and never
// waits.
func (w *walker) multiplies(loop *syntax.WhileClause) bool {
	if len(loop.Cond) != 1 || loop.Until || !mentions(loop.Cond[0], "true") && !mentions(loop.Cond[0], ":") {
		return false
	}
	background, waits := false, false
	for _, s := range loop.Do {
		background = background || s.Background
		for _, name := range []string{"sleep", "wait", "break", "read"} {
			waits = waits || mentions(s, name)
		}
	}
	return background && !waits
}

// mentions looks at one level of commands: deeper ones are looked at where
// they stand.
func mentions(n syntax.Node, name string) bool {
	found, budget := false, 200
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == name {
			found = true
		}
		budget--
		return !found && budget > 0
	})
	return found
}
