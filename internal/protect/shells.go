package protect

import "strings"

var shells = set("sh bash zsh dash ksh ash fish mksh rbash csh tcsh yash posh oksh bash5 zsh5")

// shell judges a shell that is started inside: its -c text, its script file, or
// what comes in on its input.
func (w *walker) shell(args []string, in *source) {
	for _, f := range values(args, "--rcfile", "--init-file") {
		w.runsFile(f)
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--rcfile" || a == "--init-file" || a == "-o" || a == "+o" || a == "-O" || a == "+O":
			i++
		case a == "--command", len(a) > 1 && (a[0] == '-' || a[0] == '+') && a[1] != '-' && strings.Contains(a, "c"):
			if text := firstOperand(args[i+1:]); text != "" {
				w.inline(text)
			}
			return
		case a == "-s" || a == "-" || a == "--":
		case a == "-n":
			return // it only checks the syntax
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+"):
		default:
			w.runsFileWith(a, in)
			return
		}
	}
	w.input(in)
}

func firstOperand(args []string) string {
	if ops := operands(args); len(ops) > 0 {
		return ops[0]
	}
	return ""
}

// inline judges script text that is an argument. Its cd ends with it.
func (w *walker) inline(text string) {
	w.deeper(func() { w.apart(func() { w.script(text) }) })
}

// evaluate: eval joins its arguments and runs them in the same shell.
func (w *walker) evaluate(args []string, _ *source) {
	w.deeper(func() { w.script(strings.Join(args, " ")) })
}

// input judges a script that comes in on the standard input.
func (w *walker) input(in *source) {
	switch {
	case in == nil:
		w.raise(overall, 0.2) // no input: the shell ends at once
	case in.download:
		w.raise(untrusted, 2)
	case in.literal:
		w.inline(in.text)
	case in.file != "":
		w.runsFile(in.file)
	default:
		w.opaque()
	}
}

// runsFileWith judges a script file that may be the standard input.
func (w *walker) runsFileWith(p string, in *source) {
	if p == "/dev/stdin" || p == "/dev/fd/0" || p == "/proc/self/fd/0" {
		if in == nil {
			in = &source{}
		}
		w.input(in)
		return
	}
	w.runsFile(p)
}

// runsFile judges a file that is run: what the text wrote into it is judged, in
// the workspace it is the project's own, from elsewhere it is not, and what was
// just fetched is nobody's.
func (w *walker) runsFile(p string) {
	for _, d := range w.absolute(p) {
		if f, ok := w.files[d]; ok {
			w.runsWritten(f)
			return
		}
		if w.isFetched(d) {
			w.raise(untrusted, 2)
			return
		}
	}
	if strings.HasPrefix(p, "/dev/") || strings.HasPrefix(p, "/proc/") || strings.Contains(p, hidden) {
		w.opaque()
		return
	}
	w.raise(overall, 1)
	w.unknown = true
	switch w.zoneOf(p) {
	case zoneInside, zoneWorkspace:
	case zoneScratch:
		w.raise(untrusted, 1.5)
	default:
		w.raise(untrusted, 1.3)
	}
}

// runsWritten judges a file that this text wrote before it runs it.
func (w *walker) runsWritten(f source) {
	switch {
	case f.download:
		w.raise(untrusted, 2)
	case f.literal && strings.HasPrefix(f.text, "#!") && !strings.Contains(firstLine(f.text), "sh"):
		for name, d := range interpreters {
			if strings.Contains(firstLine(f.text), name) {
				w.programText(d, f.text)
				return
			}
		}
		w.opaque()
	case f.literal:
		w.inline(f.text)
	case f.file != "":
		w.runsFile(f.file)
	default:
		w.opaque()
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// sourced judges source and its short form.
func (w *walker) sourced(args []string, in *source) {
	if len(args) > 0 {
		w.runsFileWith(args[0], in)
	}
}

// alias values run when their name is used; they are judged where they are made.
func (w *walker) alias(args []string, _ *source) {
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			continue
		}
		w.inline(value)
		if w.aliases == nil {
			w.aliases = map[string]string{}
		}
		w.aliases[name] = value
	}
}

func (w *walker) trap(args []string, _ *source) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) > 1 && args[0] != "-" && args[0] != "" {
		w.inline(args[0])
	}
}

// builtins that keep or load commands.
func (w *walker) hash(args []string, _ *source) {
	if flag(args, "-p") {
		w.raise(untrusted, 1.9)
	}
}

func (w *walker) enable(args []string, _ *source) {
	if flag(args, "-f") {
		w.raise(untrusted, 1.9)
	}
}

func (w *walker) mapfile(args []string, _ *source) {
	for _, text := range values(args, "-C") {
		w.inline(text)
	}
}

func (w *walker) binds(args []string, _ *source) {
	w.raise(overall, 0.5)
	for _, text := range values(args, "-x", "-C") {
		w.inline(text)
	}
}

func (w *walker) history(args []string, _ *source) {
	w.raise(overall, 0.1)
	if flag(args, "-c", "-d", "-w") {
		w.raise(privilege, 1.8)
	}
}

// lists: set, export and declare without arguments write out every variable.
func (w *walker) lists(args []string, _ *source) {
	if len(operands(args)) == 0 && !flag(args, "-e", "-u", "-x", "-o", "-f") {
		w.dumps = true
	}
	w.raise(overall, 0.1)
}

func (w *walker) changeDir(args []string, _ *source) {
	w.raise(overall, 0.1)
	ops := operands(args)
	switch {
	case len(ops) == 0 && !contains(args, "-"):
		w.dirs = []string{w.place.Home}
	case len(ops) == 0 || ops[0] == "-" || len(w.vars["CDPATH"]) > 0:
		w.dirs = []string{""}
	default:
		w.moves(ops[0])
	}
}

// moves changes the folder in which commands run.
func (w *walker) moves(to string) {
	if unseen(to) || strings.ContainsAny(to, "*?[") {
		w.dirs = []string{""}
		return
	}
	w.dirs = w.absolute(to)
}

// popDir goes back to a folder of a list that is not kept.
func (w *walker) popDir([]string, *source) { w.dirs = []string{"", w.place.Dir} }
