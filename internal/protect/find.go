package protect

import "strings"

// starts are the folders where find begins.
func starts(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-D" || a == "-O":
			i++
		case len(out) == 0 && (a == "-L" || a == "-H" || a == "-P" || a == "-E" || a == "-X" || strings.HasPrefix(a, "-O") || len(a) > 1 && a[0] == '-' && strings.Trim(a[1:], "LHPEXdsx") == ""):
		case strings.HasPrefix(a, "-") || a == "(" || a == "!":
			return orHere(out)
		default:
			out = append(out, a)
		}
	}
	return orHere(out)
}

func orHere(list []string) []string {
	if len(list) == 0 {
		return []string{"."}
	}
	return list
}

// finds is a path that stands for what find gives: the first folder outside
// the workspace, if any, and the name that is looked for.
func (w *walker) finds(args []string) string {
	folder, name := ".", "found"
	if !filtered(args) {
		name = "*"
	}
	for _, s := range starts(args) {
		if !w.allInside([]string{s}) {
			folder = strings.TrimSuffix(s, "/")
			break
		}
	}
	for _, n := range values(args, "-name", "-iname") {
		if !everything(n) {
			name = n
		}
	}
	return folder + "/" + name
}

// find walks files and may remove or run.
func (w *walker) find(args []string, _ *source) {
	w.raise(overall, 0.1)
	from := starts(args)
	for i, a := range args {
		switch a {
		case "-delete":
			w.findDestroys(from, args)
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch":
			w.findRuns(from, args, args[i+1:])
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(args) {
				w.writes(args[i+1])
			}
		}
	}
}

// findDestroys: a filter keeps it from being all of the workspace.
func (w *walker) findDestroys(from, args []string) {
	few := filtered(args)
	for _, s := range from {
		if w.zoneOf(s) == zoneWorkspace && few {
			w.raise(destruction, 1)
			continue
		}
		w.destroys(s)
	}
}

// filtered reports whether every alternative of the expression names what it
// is about.
func filtered(args []string) bool {
	named := false
	for i, a := range args {
		switch a {
		case "-o", "-or", ",":
			if !named {
				return false
			}
			named = false
		case "!", "-not", "-prune":
			return false
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex":
			named = named || i+1 < len(args) && !everything(base(args[i+1]))
		case "-empty":
			named = true
		case "-delete", "-exec", "-execdir":
			return named
		}
	}
	return named
}

func (w *walker) findRuns(from, all, args []string) {
	var cmd []string
	for _, a := range args {
		if a == ";" || a == "+" {
			break
		}
		cmd = append(cmd, a)
	}
	if len(cmd) == 0 {
		return
	}
	if name := base(cmd[0]); name == "rm" || name == "unlink" || name == "shred" || name == "rmdir" {
		w.findDestroys(from, all)
		return
	}
	found := w.finds(all)
	for i, a := range cmd {
		cmd[i] = strings.ReplaceAll(a, "{}", found)
	}
	if !w.allInside(from) && base(cmd[0]) != "grep" {
		for _, s := range from { // whatever it changes lies where find looks
			if readers[base(cmd[0])] {
				break
			}
			w.writes(s)
		}
	}
	w.run(cmd, nil)
}
