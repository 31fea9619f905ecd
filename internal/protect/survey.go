package protect

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// survey collects, before anything is judged, every value that the text may
// give a variable: which assignment comes last depends on branches, loops and
// subshells. It reports false when the tree is too deep to be walked.
func (w *walker) survey(root syntax.Node) bool {
	depth, ok := 0, true
	syntax.Walk(root, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return false
		}
		if depth >= maxTree {
			ok = false
			return false
		}
		depth++
		switch n := n.(type) {
		case *syntax.Assign:
			w.learn(n)
		case *syntax.ForClause:
			w.learnLoop(n)
		case *syntax.ParamExp:
			w.learnDefault(n)
		case *syntax.DeclClause:
			w.learnReferences(n)
		case *syntax.CallExpr:
			w.learnBuiltin(n)
		}
		return true
	})
	return ok
}

// Bounds of what is kept: values of one variable, bytes of a value or a file.
const (
	maxValues = 16
	maxKept   = 64 << 10
)

// value adds a value that a variable may have.
func (w *walker) value(name, value string) {
	if w.vars == nil {
		w.vars = map[string][]string{}
	}
	if len(value) > maxKept {
		value = hidden
	}
	list := w.vars[name]
	switch {
	case slices.Contains(list, value):
	case len(list) < maxValues:
		w.vars[name] = append(list, value)
	case list[maxValues-1] != hidden:
		list[maxValues-1] = hidden
	}
}

func (w *walker) learn(a *syntax.Assign) {
	if a.Name == nil || a.Naked {
		return
	}
	if a.Append || a.Array != nil || a.Index != nil {
		w.value(a.Name.Value, hidden)
		return
	}
	if a.Value == nil {
		w.value(a.Name.Value, "")
		return
	}
	for _, v := range w.word(a.Value) {
		w.value(a.Name.Value, strings.ReplaceAll(v, split, " "))
	}
}

func (w *walker) learnLoop(f *syntax.ForClause) {
	it, ok := f.Loop.(*syntax.WordIter)
	if !ok {
		return
	}
	if !it.InPos.IsValid() {
		w.value(it.Name.Value, hidden)
	}
	for _, args := range w.argLists(it.Items) {
		for _, v := range args {
			w.value(it.Name.Value, v)
		}
	}
}

// learnReferences: declare -n makes a name stand for another variable.
func (w *walker) learnReferences(d *syntax.DeclClause) {
	reference := d.Variant.Value == "nameref"
	for _, a := range d.Args {
		if a.Naked && a.Name == nil {
			option := a.Value.Lit()
			reference = reference || strings.HasPrefix(option, "-") && strings.Contains(option, "n")
		} else if reference && a.Name != nil {
			w.value(a.Name.Value, hidden)
		}
	}
}

// learnDefault: ${x:=word} assigns.
func (w *walker) learnDefault(p *syntax.ParamExp) {
	if p.Param == nil || p.Exp == nil || p.Exp.Op != syntax.AssignUnset && p.Exp.Op != syntax.AssignUnsetOrNull {
		return
	}
	if p.Exp.Word != nil {
		for _, v := range w.word(p.Exp.Word) {
			w.value(p.Param.Value, v)
		}
	}
}

// assigns are builtins that set the variables they are given.
var assigns = set("read mapfile readarray getopts unset printf")

func (w *walker) learnBuiltin(c *syntax.CallExpr) {
	for i, word := range c.Args {
		if name := word.Lit(); i < 3 && assigns[name] {
			w.taint(name, literals(c.Args[i+1:]))
			return
		}
	}
}

func literals(words []*syntax.Word) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = word.Lit()
	}
	return out
}

// taint notes that a builtin gives variables a value nobody can tell.
func (w *walker) taint(name string, args []string) {
	for i, a := range args {
		switch {
		case name == "printf":
			if a == "-v" && i+1 < len(args) {
				w.value(args[i+1], hidden)
			}
		case name == "unset":
			w.value(a, "")
		case a != "" && a[0] != '-':
			w.value(a, hidden)
		}
	}
}
