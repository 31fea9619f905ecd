package protect

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call judges one simple command, in every form its variables may give it.
func (w *walker) call(c *syntax.CallExpr, in *source) {
	for _, a := range c.Assigns {
		w.assign(a)
	}
	if len(c.Args) == 0 {
		return
	}
	lists := w.argLists(c.Args)
	dirs := w.dirs
	after := dirs
	for _, args := range lists {
		w.dirs = dirs
		for len(args) > 0 && args[0] == "" {
			args = args[1:] // an empty variable in front leaves the next word
		}
		if len(args) > 0 {
			w.run(args, in)
		}
		after = union(after, w.dirs)
	}
	if len(lists) == 1 {
		after = w.dirs
	}
	w.dirs = after
}

// run judges a program with its arguments. args is not empty.
func (w *walker) run(args []string, in *source) {
	if w.depth > 0 {
		if w.steps++; w.steps > maxInnerSteps {
			w.opaque()
			return
		}
	}
	word, name := args[0], base(args[0])
	switch {
	case unseen(name), strings.Contains(word, hidden), strings.ContainsAny(word, "*?[") && name != "[" && name != "[[":
		w.opaque() // the command itself is only known when it runs
		w.hides(args, in)
		return
	case w.aliases[word] != "" && w.depth < maxDepth:
		line := w.aliases[word] + " " + strings.Join(args[1:], " ")
		w.deeper(func() { w.script(line) })
	case w.funcs[word] && !listed(name):
		return // judged where it is defined
	}
	if strings.Contains(word, "/") {
		w.byPath(word, args)
	} else if w.newPath {
		w.shadowed(name)
	}
	w.deeper(func() { w.dispatch(name, args[1:], in) })
}

// hides judges the arguments of a command word that nobody can tell: they say
// what it would do if it were the worst that fits them.
func (w *walker) hides(args []string, in *source) {
	for _, a := range args[1:] {
		if z := w.zoneOf(a); len(a) > 1 && (z == zoneDevice || a[0] == '/' && z == zoneOutside) {
			w.raise(destruction, 1)
		}
	}
}

// byPath: a program that is named by its path is the system's own only in the
// system's folders. Elsewhere it is a file that runs, whatever it is called.
func (w *walker) byPath(word string, args []string) {
	if slices.Contains(systemDirs, path.Dir(path.Clean(word))) {
		return
	}
	w.runsFile(word)
}

var systemDirs = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin", "/usr/libexec", "/usr/local/go/bin"}

// shadowed: with a changed PATH, a file that this text wrote may stand in for
// any program.
func (w *walker) shadowed(name string) {
	for file := range w.files {
		if base(file) == name {
			w.runsFile(file)
			return
		}
	}
}

// listed reports whether a name stands for a program in any table.
func listed(name string) bool {
	_, wrap := wrappers[name]
	_, hard := severe[name]
	return wrap || hard || shells[name] || interpreters[name] != nil || handlerOf(name) != nil || readers[name] || builders[name] || changers[name]
}

func (w *walker) dispatch(name string, args []string, in *source) {
	if name != "." && name != "[" {
		name = strings.TrimSuffix(name, ".exe")
	}
	w.reads(name, args)
	w.shows(name, args)
	if evaluates[name] {
		for _, a := range args {
			if strings.Contains(a, "[$(") || strings.Contains(a, "[`") {
				w.opaque()
			}
		}
	}
	if assigns[name] {
		w.taint(name, args)
	}
	switch {
	case flag(args, "--version") && len(args) == 1, flag(args, "--help") && len(args) == 1:
		w.raise(overall, 0.1)
	case isWrapper(name):
		w.wrapped(name, args, in)
	case shells[name]:
		w.shell(args, in)
	case interpreters[name] != nil:
		w.interpreter(name, args, in)
	default:
		w.program(name, args, in)
	}
}

// evaluates are builtins that evaluate array subscripts in their arguments.
var evaluates = set("test [ printf read unset let declare export local typeset readonly wait")

// program judges a program by name and arguments. What is in no table may
// change something.
func (w *walker) program(name string, args []string, in *source) {
	first, _, _ := strings.Cut(name, ".")
	if s, ok := severe[first]; ok {
		w.raise(s.kind, s.score)
		return
	}
	if h := handlerOf(name); h != nil {
		h(w, args, in)
		return
	}
	switch {
	case readers[name]:
		w.raise(overall, 0.1)
	case changers[name]:
		w.raise(overall, 1)
		for _, o := range operands(args) {
			w.writes(o)
		}
	case builders[name]:
		w.raise(overall, 0.6)
	default:
		w.raise(overall, 1)
		w.unknown = true
		w.carries(args, in)
	}
	for _, d := range w.dirs {
		if builders[name] && w.isFetched(d) {
			w.raise(untrusted, 1.6)
		}
	}
}

// carries looks for a command behind a program that nobody knows: it may be a
// wrapper.
func (w *walker) carries(args []string, in *source) {
	for i, a := range args {
		name := base(a)
		_, hard := severe[name]
		if hard || shells[name] && i+1 < len(args) || escalates[name] || name == "rm" || name == "dd" || name == "eval" {
			w.run(args[i:], in)
			return
		}
	}
}

// base is the program's name without its folder.
func base(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[i+1:]
	}
	return name
}
