package protect

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call judges one simple command.
func (w *walker) call(c *syntax.CallExpr, in *source, depth int) {
	for _, a := range c.Assigns {
		w.assign(a)
	}
	if len(c.Args) == 0 {
		return
	}
	args, _ := w.words(c.Args)
	if name, seen := w.word(c.Args[0]); !seen || name == "" {
		w.blind = true // the command itself is only known when it runs
		w.raise(overall, 1)
		return
	}
	w.run(args, in, depth)
}

// loaders change what later programs load or start.
var loaders = map[string]bool{"LD_PRELOAD": true, "LD_LIBRARY_PATH": true, "DYLD_INSERT_LIBRARIES": true, "BASH_ENV": true, "ENV": true, "PROMPT_COMMAND": true,
	"PATH": true, "GIT_SSH_COMMAND": true, "GIT_EXTERNAL_DIFF": true, "GIT_PAGER": true, "PAGER": true, "EDITOR": true, "PYTHONSTARTUP": true, "NODE_OPTIONS": true, "PERL5OPT": true}

// assign remembers a variable whose value the text tells.
func (w *walker) assign(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	if a.Value == nil || a.Append || a.Array != nil {
		delete(w.known, name)
		return
	}
	text, seen := w.word(a.Value)
	if loaders[name] && (name != "PATH" || !seen) {
		w.raise(untrusted, 1.2)
	}
	if seen {
		w.known[name] = text
	} else {
		delete(w.known, name)
	}
}

// run judges a program with its arguments. args is not empty.
func (w *walker) run(args []string, in *source, depth int) {
	if depth > maxDepth {
		w.blind = true
		return
	}
	name := base(args[0])
	rest := args[1:]
	if w.funcs[args[0]] {
		return // judged where it is defined
	}
	if w.loads[w.absolute(args[0])] {
		w.raise(untrusted, 2)
		return
	}
	w.reads(name, rest)
	switch {
	case wrappers[name] != nil:
		w.wrapped(name, rest, in, depth)
	case shells[name]:
		w.shell(rest, in, depth)
	case interpreters[name] != nil:
		w.interpreter(name, rest, in)
	default:
		w.program(name, rest, in, depth)
	}
}

// reads notices credentials among the operands of any program that could show
// or send them.
func (w *walker) reads(name string, args []string) {
	if quiet[name] {
		return
	}
	for _, a := range args {
		a = strings.TrimPrefix(a, "@")
		if _, value, ok := strings.Cut(a, "=@"); ok {
			a = value
		}
		if w.secret(w.absolute(a)) {
			w.raise(credentials, 1.9)
		}
	}
}

// quiet programs take names without reading what is in the files.
var quiet = map[string]bool{"ls": true, "echo": true, "printf": true, "test": true, "[": true, "stat": true, "mkdir": true, "cd": true, "touch": true}

// wrappers run the command that follows their own options. The value lists the
// options that take a value.
var wrappers = map[string][]string{
	"sudo": {"-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "--user", "--group", "--host", "--prompt"}, "doas": {"-u", "-C"}, "su": {}, "pkexec": {"--user"}, "run0": {},
	"env": {"-u", "--unset", "-C", "--chdir", "-S", "--split-string"}, "nohup": {}, "nice": {"-n", "--adjustment"}, "ionice": {"-c", "-n", "-p"}, "time": {"-f", "-o"}, "timeout": {"-s", "-k", "--signal", "--kill-after"},
	"stdbuf": {"-i", "-o", "-e"}, "setsid": {}, "command": {}, "builtin": {}, "exec": {"-a"}, "xargs": {"-I", "-n", "-L", "-P", "-d", "-E", "-s", "-a", "--max-args", "--max-procs", "--replace", "--delimiter", "--arg-file"},
	"parallel": {"-j", "-a"}, "watch": {"-n"}, "busybox": {}, "chroot": {}, "unshare": {}, "flock": {}, "script": {}, "strace": {"-o", "-e", "-p"}, "ltrace": {}, "chrt": {}, "taskset": {}, "caffeinate": {}, "arch": {},
}

// escalates are the wrappers that change who runs the command.
var escalates = map[string]bool{"sudo": true, "doas": true, "su": true, "pkexec": true, "run0": true, "chroot": true}

func (w *walker) wrapped(name string, args []string, in *source, depth int) {
	if escalates[name] {
		w.raise(privilege, 2)
	}
	takes := wrappers[name]
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case name == "env" && (a == "-S" || a == "--split-string") && i+1 < len(args):
			w.script(strings.Join(args[i+1:], " "), depth+1)
			return
		case name == "env" && strings.HasPrefix(a, "-S"):
			w.script(strings.Join(append([]string{a[2:]}, args[i+1:]...), " "), depth+1)
			return
		case name == "env" && strings.HasPrefix(a, "--split-string="):
			w.script(strings.TrimPrefix(a, "--split-string=")+" "+strings.Join(args[i+1:], " "), depth+1)
			return
		case name == "command" && (a == "-v" || a == "-V"), name == "sudo" && (a == "-l" || a == "-v" || a == "-k"):
			return
		case name == "su" && a == "-c", name == "script" && a == "-c", name == "flock" && a == "-c":
			if i+1 < len(args) {
				w.script(args[i+1], depth+1)
			}
			return
		case strings.HasPrefix(a, "-"):
			for _, t := range takes {
				if a == t {
					i++
				}
			}
		case name == "env" && strings.Contains(a, "="):
			key, value, _ := strings.Cut(a, "=")
			if loaders[key] {
				w.raise(untrusted, 1.2)
			}
			w.known[key] = value
		case (name == "timeout" || name == "flock" || name == "chroot" || name == "taskset" || name == "chrt") && i+1 < len(args):
			w.after(name, args[i+1:], in, depth)
			return
		default:
			w.after(name, args[i:], in, depth)
			return
		}
	}
	if name == "env" && len(args) == 0 {
		w.raise(credentials, 1.2)
	}
}

// after judges what a wrapper runs. xargs adds arguments that only its input knows.
func (w *walker) after(name string, args []string, in *source, depth int) {
	if len(args) == 0 {
		return
	}
	if name != "xargs" && name != "parallel" {
		if strings.HasPrefix(args[0], "$") {
			w.blind = true
			return
		}
		w.run(args, in, depth+1)
		return
	}
	extra := "$"
	switch {
	case in != nil && in.inside:
		extra = "./found"
	case in != nil && in.literal:
		args = append(args, strings.Fields(in.text)...)
		extra = ""
	}
	if extra != "" {
		args = append(args, extra)
	}
	w.run(args, nil, depth+1)
}

var shells = map[string]bool{"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "ash": true, "fish": true, "mksh": true, "rbash": true, "csh": true, "tcsh": true}

// shell judges a shell that is started inside: its -c text, its script file, or
// what comes in on its input.
func (w *walker) shell(args []string, in *source, depth int) {
	for i, a := range args {
		switch {
		case a == "--version" || a == "--help" || a == "-n":
			return
		case strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c"):
			if i+1 >= len(args) {
				return
			}
			w.inline(args[i+1], depth)
			return
		case a == "-s" || a == "-":
			w.input(in, depth)
			return
		case a == "-o" || a == "--rcfile" || a == "--init-file":
			w.raise(overall, 1)
		case !strings.HasPrefix(a, "-"):
			w.scriptFile(a)
			return
		}
	}
	w.input(in, depth)
}

// inline judges script text that is an argument.
func (w *walker) inline(text string, depth int) {
	if strings.HasPrefix(text, "$") && !strings.ContainsAny(text, " \t\n;|&") {
		w.blind = true
		w.raise(overall, 1)
		return
	}
	saved := w.dir
	w.script(text, depth+1)
	w.dir = saved
}

// input judges a script that comes in on the standard input.
func (w *walker) input(in *source, depth int) {
	switch {
	case in == nil:
		w.raise(overall, 0.2) // no input: the shell ends at once
	case in.download:
		w.raise(untrusted, 2)
	case in.literal:
		w.script(in.text, depth+1)
	default:
		w.blind = true
		w.raise(untrusted, 1)
	}
}

// scriptFile judges a file that is run: in the workspace it is the project's
// own, from elsewhere it is not, and what was just fetched is nobody's.
func (w *walker) scriptFile(p string) {
	switch {
	case w.loads[w.absolute(p)]:
		w.raise(untrusted, 2)
		return
	case strings.HasPrefix(p, "/dev/") || strings.HasPrefix(p, "$"):
		w.blind = true
		w.raise(untrusted, 1)
		return
	}
	switch w.zoneOf(p) {
	case zoneInside, zoneWorkspace:
		w.raise(overall, 1)
		w.unknown = true
	case zoneScratch:
		w.raise(untrusted, 1.5)
	default:
		w.raise(untrusted, 1.3)
	}
}

// danger lists, per interpreter, words of its language that reach beyond the
// text: other programs, removal, the network, evaluation.
type danger struct {
	option   []string // options that take program text
	destroys []string
	escapes  []string
}

var interpreters = map[string]*danger{
	"python": python, "python3": python, "python2": python, "pypy": python, "pypy3": python,
	"perl": {[]string{"-e", "-E", "-ne", "-pe"}, []string{"unlink", "rmdir", "remove_tree", "rmtree", "truncate"}, []string{"system", "exec", "`", "qx", "eval", "socket", "IO::", "open"}},
	"ruby": {[]string{"-e"}, []string{"rm_rf", "rm_r", "unlink", "File.delete", "FileUtils", "rmtree"}, []string{"system", "exec", "`", "%x", "eval", "Open3", "Socket", "Net::", "spawn", "Kernel"}},
	"node": javascript, "nodejs": javascript, "deno": javascript, "bun": javascript,
	"php":       {[]string{"-r"}, []string{"unlink", "rmdir"}, []string{"system", "exec", "`", "passthru", "eval", "popen", "proc_open", "curl", "fsockopen"}},
	"lua":       {[]string{"-e"}, []string{"os.remove"}, []string{"os.execute", "io.popen", "load"}},
	"osascript": {[]string{"-e"}, []string{"delete"}, []string{"do shell script", "administrator", "keystroke"}},
	"awk":       {nil, nil, []string{"system", "getline", "|", "/inet/"}}, "gawk": {nil, nil, []string{"system", "getline", "|", "/inet/"}}, "mawk": {nil, nil, []string{"system", "getline", "|"}},
	"Rscript": {[]string{"-e"}, []string{"unlink", "file.remove"}, []string{"system", "eval"}},
}

var python = &danger{[]string{"-c"}, []string{"rmtree", "unlink", "os.remove", "rmdir", "removedirs", "truncate", "shutil.move"},
	[]string{"system", "subprocess", "popen", "Popen", "exec", "eval", "compile", "__import__", "importlib", "socket", "urllib", "requests", "http.client", "ctypes", "pty", "base64", "getattr"}}

var javascript = &danger{[]string{"-e", "--eval", "-p", "--print", "eval"}, []string{"rmSync", "rm(", "unlink", "rmdir", "truncate", "rimraf"},
	[]string{"child_process", "exec", "spawn", "eval", "Function", "http", "net", "fetch", "process.binding", "Deno.run", "Bun.spawn", "atob", "Buffer.from"}}

// interpreter judges program text by the words it uses, and a program file by
// where it lies.
func (w *walker) interpreter(name string, args []string, in *source) {
	d := interpreters[name]
	w.raise(overall, 0.3)
	for i, a := range args {
		for _, o := range d.option {
			if a == o && i+1 < len(args) {
				w.programText(d, args[i+1])
				return
			}
			if len(o) == 2 && strings.HasPrefix(a, o) && len(a) > 2 {
				w.programText(d, a[2:])
				return
			}
		}
		if d.option == nil && !strings.HasPrefix(a, "-") { // awk: the first operand is the program
			w.programText(d, a)
			return
		}
		switch {
		case a == "-m" && i+1 < len(args):
			w.raise(overall, 1)
			return
		case a == "-" || a == "/dev/stdin":
			w.programInput(d, in)
			return
		case !strings.HasPrefix(a, "-"):
			w.scriptFile(a)
			return
		}
	}
	if in != nil {
		w.programInput(d, in)
	}
}

func (w *walker) programInput(d *danger, in *source) {
	switch {
	case in == nil:
	case in.download:
		w.raise(untrusted, 2)
	case in.literal:
		w.programText(d, in.text)
	default:
		w.blind = true
	}
}

// programText looks through program text of another language. What it calls is
// not followed: a call that reaches outside makes the text opaque.
func (w *walker) programText(d *danger, text string) {
	w.raise(overall, 1)
	for _, word := range d.destroys {
		if strings.Contains(text, word) {
			w.raise(destruction, 1.8)
		}
	}
	for _, word := range d.escapes {
		if strings.Contains(text, word) {
			w.blind = true
		}
	}
	for _, n := range []string{"/etc/", "/.ssh", "shadow", ".aws", "environ"} {
		if strings.Contains(text, n) {
			w.raise(credentials, 1.8)
		}
	}
}
