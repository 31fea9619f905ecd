package protect

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxDepth bounds how deep scripts inside scripts are followed.
const maxDepth = 8

// Assess judges a command before it runs. It is pure: it looks at no file and
// runs nothing, so what a script file or a variable holds it does not know.
func Assess(command string, place Place) Assessment {
	w := &walker{place: place, dir: place.Dir, known: map[string]string{"PWD": place.Dir}}
	if place.Home != "" {
		w.known["HOME"] = place.Home
	}
	w.script(command, 0)
	return w.result()
}

// walker goes over the syntax tree of a command and remembers the worst of
// each dimension.
type walker struct {
	place Place
	dir   string            // where commands run; "" when a cd made it unknown
	known map[string]string // variables whose value the text tells
	funcs map[string]bool   // functions that the text defines
	loads map[string]bool   // files that the text downloads

	scores  [5]float64 // by finding kind
	blind   bool       // part of it cannot be seen through
	unknown bool       // a command that is in no table
}

// kinds index walker.scores.
const (
	overall = iota
	destruction
	credentials
	privilege
	untrusted
)

// raise keeps the worst score of a dimension; a danger is overall risk too.
func (w *walker) raise(kind int, score float64) {
	w.scores[kind] = max(w.scores[kind], score)
	w.scores[overall] = max(w.scores[overall], score)
}

// result turns what was found into scores. What cannot be seen through has no
// confidence at all; a command that is in no table has some.
func (w *walker) result() Assessment {
	sure := 0.9
	if w.unknown {
		sure = 0.6
	}
	if w.blind {
		sure = 0
	}
	s := func(kind int) Score { return Score{Score: w.scores[kind], Confidence: sure} }
	return Assessment{Overall: s(overall), Destruction: s(destruction), Credentials: s(credentials), Privilege: s(privilege), Untrusted: s(untrusted)}
}

// script parses and judges the text of a script.
func (w *walker) script(text string, depth int) {
	if depth > maxDepth {
		w.blind = true
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		w.blind = true
		w.raise(overall, 1)
		return
	}
	w.declare(file)
	for _, s := range file.Stmts {
		w.stmt(s, nil, depth)
	}
}

// declare finds functions first: a command word that names one is not a program.
func (w *walker) declare(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			if w.funcs == nil {
				w.funcs = map[string]bool{}
			}
			w.funcs[f.Name.Value] = true
			if callsItself(f) {
				w.raise(destruction, 2)
			}
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

func mentions(n syntax.Node, name string) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == name {
			found = true
		}
		return !found
	})
	return found
}

// source is what feeds the standard input of a command.
type source struct {
	text     string // a here-document or a literal echo
	literal  bool
	download bool // something fetched
	inside   bool // names of files inside the workspace
}

func (w *walker) stmt(s *syntax.Stmt, in *source, depth int) {
	for _, r := range s.Redirs {
		if src := w.redirect(r); src != nil {
			in = src
		}
	}
	w.command(s.Cmd, in, depth)
}

func (w *walker) command(c syntax.Command, in *source, depth int) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		w.call(c, in, depth)
	case *syntax.BinaryCmd:
		w.binary(c, in, depth)
	case *syntax.FuncDecl:
		w.stmt(c.Body, nil, depth)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			w.assign(a)
		}
	case nil:
	default:
		w.compound(c, in, depth)
	}
	w.substitutions(c, depth)
}

// binary follows a pipe: what the left side gives is what the right side reads.
func (w *walker) binary(c *syntax.BinaryCmd, in *source, depth int) {
	w.stmt(c.X, in, depth)
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		w.stmt(c.Y, w.output(c.X), depth)
		return
	}
	w.stmt(c.Y, nil, depth)
}

// compound judges the statements inside loops, conditions, groups and subshells.
func (w *walker) compound(c syntax.Command, in *source, depth int) {
	dir := w.dir
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ForClause:
			if it, ok := n.Loop.(*syntax.WordIter); ok {
				delete(w.known, it.Name.Value) // it takes many values
			}
		case *syntax.Stmt:
			w.stmt(n, in, depth)
			return false
		}
		return true
	})
	if _, sub := c.(*syntax.Subshell); sub {
		w.dir = dir
	}
}

// substitutions judges commands inside words: they run first.
func (w *walker) substitutions(c syntax.Command, depth int) {
	call, ok := c.(*syntax.CallExpr)
	if !ok {
		if d, ok := c.(*syntax.DeclClause); ok {
			w.inner(d, depth)
		}
		return
	}
	w.inner(call, depth)
}

func (w *walker) inner(n syntax.Node, depth int) {
	syntax.Walk(n, func(n syntax.Node) bool {
		var stmts []*syntax.Stmt
		switch n := n.(type) {
		case *syntax.CmdSubst:
			stmts = n.Stmts
		case *syntax.ProcSubst:
			stmts = n.Stmts
		default:
			return true
		}
		for _, s := range stmts {
			w.stmt(s, nil, depth+1)
		}
		return false
	})
}

// output tells what a statement writes to its pipe, as far as the text tells.
func (w *walker) output(s *syntax.Stmt) *source {
	src := &source{}
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
		left := w.output(b.X)
		src.download, src.inside = left.download, left.inside
	}
	syntax.Walk(s, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			name, _ := w.word(c.Args[0])
			src.download = src.download || downloaders[base(name)]
		}
		return true
	})
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return src
	}
	args, seen := w.words(c.Args)
	switch base(args[0]) {
	case "echo", "printf":
		src.text, src.literal = strings.Join(args[1:], " "), seen
	case "find", "ls", "fd":
		src.inside = seen && w.allInside(operands(args[1:]))
	case "git":
		src.inside = len(args) > 1 && args[1] == "ls-files"
	}
	return src
}
