package protect

import "strings"

// packages judges package managers: what they install runs.
func (w *walker) packages(name string, args []string) {
	ops := operands(valued(args, "-p", "--package", "--prefix", "-C", "--dir", "--directory", "--cwd", "--config", "--manifest-path", "--python", "-w", "--workspace", "--filter"))
	verb := ""
	if len(ops) > 0 {
		verb = ops[0]
	}
	line := strings.Join(args, " ")
	w.sourcesOf(args, line)
	switch {
	case name == "go" || name == "cargo":
		w.toolchain(name, verb, args)
	case name == "npx" || name == "pnpx" || name == "bunx" || name == "uvx" || name == "pipx" || verb == "dlx" || verb == "exec" || verb == "x" || verb == "create" || verb == "init":
		w.raise(overall, 1.2)
		if strings.Contains(line, "://") || strings.Contains(line, "github:") || strings.Contains(line, "gist:") {
			w.raise(untrusted, 1.9)
		}
		for _, cmd := range values(args, "-c", "--call") {
			w.inline(cmd)
		}
		w.carries(skipExec(name, args), nil)
	case name == "uv" && verb == "run":
		w.raise(overall, 0.6)
		if rest := behindVerb(args, "run"); len(rest) > 0 {
			w.run(rest, nil)
		}
	default:
		w.installs(name, verb, args, line)
	}
}

func skipExec(name string, args []string) []string {
	if strings.HasSuffix(name, "x") {
		return args
	}
	if len(args) > 0 {
		return args[1:]
	}
	return nil
}

// behindVerb is what stands behind a verb and its options.
func behindVerb(args []string, verb string) []string {
	rest, ok := behind(wrapper{verb: verb, takes: "--with --python -p --project --directory --extra --group"}, args)
	if !ok {
		return nil
	}
	return rest
}

// sourcesOf: another registry, or code from an address.
func (w *walker) sourcesOf(args []string, line string) {
	for _, v := range values(args, "--index-url", "-i", "--extra-index-url", "--registry", "--source", "--default-index", "--find-links", "-f") {
		if strings.Contains(v, "://") {
			w.raise(untrusted, 1.8)
		}
	}
	if flag(args, "--script-shell", "--trusted-host", "--unsafe-perm") || strings.Contains(line, "script-shell") {
		w.raise(untrusted, 1.8)
	}
}

func (w *walker) installs(name, verb string, args []string, line string) {
	global := flag(args, "-g", "--global", "--location=global", "--system", "--break-system-packages") || name == "brew" || name == "gem" && !flag(args, "-i", "--install-dir") || name == "cpan" || name == "cpanm" || name == "easy_install" || verb == "global"
	switch verb {
	case "install", "i", "add", "update", "upgrade", "uninstall", "remove", "rm", "un", "ci", "sync", "link", "global", "reinstall", "tap", "pip", "up":
		w.raise(overall, 1)
		if global {
			w.raise(privilege, 1.8)
		}
		if strings.Contains(line, "://") {
			w.raise(untrusted, 1.5)
		}
	case "publish", "unpublish", "login", "logout", "token", "adduser", "owner", "access", "deprecate", "push", "yank", "set-script":
		w.raise(credentials, 1.8)
	case "config", "set", "services":
		w.raise(overall, 1)
		if global || verb == "services" {
			w.raise(privilege, 1.8)
		}
	case "list", "ls", "outdated", "view", "info", "show", "search", "why", "freeze", "audit", "explain", "doctor", "check":
		w.raise(overall, 0.3)
	default:
		w.raise(overall, 0.6)
		if name == "cpan" || name == "cpanm" || name == "easy_install" {
			w.raise(privilege, 1.8)
		}
	}
	for _, c := range values(args, "--prefix", "--target", "-t", "--root", "-C", "--dir") {
		if z := w.zoneOf(c); c != "" && z > zoneUnknown {
			w.raise(privilege, 1.8)
		}
	}
	for _, d := range w.dirs {
		if w.isFetched(d) {
			w.raise(untrusted, 1.6)
		}
	}
}

// toolchain judges go and cargo.
func (w *walker) toolchain(name, verb string, args []string) {
	w.raise(overall, 0.6)
	switch verb {
	case "version", "env", "list", "doc", "vet", "metadata", "tree", "search":
		w.raise(overall, 0.3)
		if verb == "env" && flag(args, "-w") {
			w.raise(privilege, 1.8)
		}
	case "install", "get", "add":
		w.raise(overall, 1.2)
	case "publish", "login", "yank", "owner":
		w.raise(credentials, 1.8)
	case "run":
		w.raise(overall, 1)
		if ops := operands(args); name == "go" && len(ops) > 1 && (strings.Contains(ops[1], "@") || strings.HasPrefix(ops[1], "/")) {
			w.raise(untrusted, 1.5)
			w.runsGo(ops[1])
		}
	}
	for i, a := range args {
		flagName, value, ok := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !ok && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case !strings.HasPrefix(a, "-"):
		case name == "go" && (flagName == "exec" || flagName == "toolexec" || flagName == "vettool" || flagName == "overlay"):
			w.raise(untrusted, 1.8)
			w.inline(value)
		case name == "go" && flagName == "o", name == "cargo" && (flagName == "target-dir" || flagName == "root"):
			w.writes(value)
		case name == "cargo" && flagName == "config" && strings.ContainsAny(value, "=/"):
			w.raise(untrusted, 1.8)
		}
	}
}

// java runs archives and classes; an agent is code too.
func (w *walker) java(args []string, _ *source) {
	w.raise(overall, 0.6)
	for _, o := range []string{"-jar", "-cp", "-classpath", "--class-path"} {
		for i, a := range args {
			if a == o && i+1 < len(args) {
				w.runsFile(args[i+1])
			}
		}
	}
	for _, a := range args {
		if strings.HasPrefix(a, "-javaagent") || strings.HasPrefix(a, "-agentpath") {
			w.raise(untrusted, 1.8)
		}
	}
}

func (w *walker) runsGo(p string) {
	if strings.HasSuffix(p, ".go") {
		for _, d := range w.absolute(p) {
			if _, ok := w.files[d]; ok || w.isFetched(d) {
				w.opaque()
			}
		}
	}
}

// make runs the project's own rules, unless the line brings rules of its own.
func (w *walker) make(args []string, in *source) {
	saved := w.dirs
	defer func() { w.dirs = saved }()
	w.raise(overall, 0.6)
	for _, d := range values(args, "-C", "--directory") {
		w.moves(d)
		if z := w.zoneOf(d); z > zoneWorkspace || z == zoneScratch {
			w.raise(untrusted, 1.5)
		}
	}
	for _, d := range w.dirs {
		if w.isFetched(d) {
			w.raise(untrusted, 1.6)
		}
	}
	for _, f := range values(args, "-f", "--file", "--makefile", "-I", "--justfile") {
		if f == "-" || f == "/dev/stdin" {
			w.rules(in)
			continue
		}
		for _, d := range w.absolute(f) {
			if src, ok := w.files[d]; ok {
				w.rules(&src)
			}
		}
		w.runsFile2(f)
	}
	if len(values(args, "-E", "--eval")) > 0 {
		w.opaque()
	}
	for _, f := range []string{"Makefile", "makefile", "GNUmakefile", "justfile"} {
		for _, d := range w.absolute(f) {
			if src, ok := w.files[d]; ok && !src.inside {
				w.rules(&src)
			}
		}
	}
	w.makeVariables(args)
}

func (w *walker) makeVariables(args []string) {
	for _, a := range args {
		key, value, ok := strings.Cut(a, "=")
		if !ok || strings.HasPrefix(a, "-") {
			continue
		}
		key = strings.Trim(key, ":?+!")
		if strings.Contains(value, "$(") || strings.Contains(a, "!=") || strings.Contains(value, "${") || strings.Contains(value, "`") {
			w.opaque()
		}
		if key == "SHELL" || key == "MAKEFLAGS" || strings.ContainsAny(value, " ;|&") {
			w.inline(value)
		}
	}
}

// runsFile2 judges a Makefile of a given name, whose own text was judged before.
func (w *walker) runsFile2(f string) {
	if z := w.zoneOf(f); z > zoneWorkspace || z == zoneScratch || unseen(f) {
		w.raise(untrusted, 1.5)
	}
	for _, d := range w.absolute(f) {
		if w.isFetched(d) {
			w.raise(untrusted, 2)
		}
	}
}

// rules judges the text of a Makefile: recipes are lines of a script; what make
// itself evaluates is not seen through.
func (w *walker) rules(src *source) {
	switch {
	case src == nil:
		return
	case src.download:
		w.raise(untrusted, 2)
		return
	case !src.literal || strings.Contains(src.text, "$(shell") || strings.Contains(src.text, "!="):
		w.opaque()
		return
	}
	for line := range strings.SplitSeq(src.text, "\n") {
		recipe, ok := strings.CutPrefix(line, "\t")
		if _, behind, found := strings.Cut(line, ";"); !ok && found {
			recipe, ok = behind, true
		}
		if ok {
			w.inline(strings.TrimLeft(recipe, "@-+ "))
		}
	}
}
