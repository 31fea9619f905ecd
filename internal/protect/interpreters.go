package protect

import (
	"strings"
)

// danger lists, per interpreter, words of its language that reach beyond the
// text. Words of letters only count as whole identifiers.
type danger struct {
	code     string   // one-letter options that take program text
	long     []string // long options and verbs that do
	takes    []string // other options that take a value
	destroys []string // removal
	escapes  []string // other programs, evaluation, reflection
}

var interpreters = map[string]*danger{
	"python": python, "python3": python, "python2": python, "pypy": python, "pypy3": python, "ipython": python, "jython": python, "uv-python": python,
	"perl": perl, "ruby": ruby, "jruby": ruby, "node": javascript, "nodejs": javascript, "deno": javascript, "bun": javascript, "tsx": javascript, "ts-node": javascript, "qjs": javascript,
	"php":       {"rRBE", []string{"--run"}, []string{"-d", "-c", "-S", "-t"}, []string{"unlink", "rmdir"}, []string{"system", "exec", "`", "passthru", "eval", "popen", "proc_open", "shell_exec", "pcntl_exec", "fsockopen", "assert", "include", "require", "call_user_func", "create_function"}},
	"lua":       {"e", nil, []string{"-l"}, []string{"os.remove"}, []string{"execute", "popen", "load", "loadstring", "dofile", "loadlib", "debug"}},
	"luajit":    {"e", nil, []string{"-l"}, []string{"os.remove"}, []string{"execute", "popen", "load", "loadstring", "dofile", "loadlib", "ffi"}},
	"osascript": {"e", nil, []string{"-l"}, []string{"delete", "empty trash"}, []string{"do shell script", "administrator", "keystroke", "doShellScript", "ObjC", "run script", "System Events"}},
	"Rscript":   {"e", nil, nil, []string{"unlink", "file.remove"}, []string{"system", "system2", "eval", "source", "shell", "pipe"}},
	"tclsh":     {"", nil, nil, []string{"file delete"}, []string{"exec", "eval", "open", "socket", "source"}},
	"expect":    {"c", nil, nil, []string{"file delete"}, []string{"exec", "eval", "open", "socket", "spawn", "system"}},
	"guile":     {"c", nil, nil, []string{"delete-file"}, []string{"system", "eval", "system*", "open-pipe"}},
	"julia":     {"eE", []string{"--eval", "--print"}, nil, []string{"rm"}, []string{"run", "`", "eval", "ccall", "pipeline"}},
	"elixir":    {"e", []string{"--eval"}, nil, []string{"rm_rf", "File.rm"}, []string{"System", "eval", ":os", "Port", "Code"}},
	"groovy":    {"e", nil, nil, []string{"delete", "deleteDir"}, []string{"execute", "Eval", "evaluate", "ProcessBuilder", "Runtime"}},
	"jshell":    {"", nil, nil, []string{"delete"}, []string{"exec", "ProcessBuilder", "Runtime"}},
	"erl":       {"", []string{"-eval"}, nil, []string{"del_dir", "file:delete"}, []string{"os:cmd", "open_port", "eval"}},
}

var python = &danger{"c", nil, []string{"-W", "-X"}, []string{"rmtree", "unlink", "os.remove", "rmdir", "removedirs", "truncate", "shutil.move"},
	[]string{"os.system", "system", "subprocess", "popen", "Popen", "exec", "eval", "__import__", "__builtins__", "__subclasses__", "__getattribute__", "__dict__", "importlib", "socket", "ctypes", "pty", "getattr", "globals", "builtins", "marshal", "pickle",
		"runpy", "code.interact", "symlink", "posix", "execv", "execvp", "execl", "spawnl", "spawnv", "spawnlp", "fork", "multiprocessing", "asyncio.create_subprocess_shell", "create_subprocess_exec", "cffi", "commands", "webbrowser", "attrgetter", "methodcaller", "codecs.decode"}}

var javascript = &danger{"ep", []string{"--eval", "--print", "eval"}, []string{"-r", "--require", "--import", "--loader", "-C"}, []string{"rmSync", "fs.rm", "unlink", "unlinkSync", "rmdir", "rmdirSync", "truncate", "truncateSync", "rimraf", "Deno.remove", "removeSync"},
	[]string{"child_process", "child_", "exec", "execSync", "spawn", "spawnSync", "eval", "Function", "constructor", "process.binding", "Deno.run", "Deno.Command", "Bun.spawn", "Bun.$", "import", "vm", "worker_threads", "symlinkSync", "dlopen", "mainModule", "createRequire", "net", "fork"}}

var perl = &danger{"eE", nil, []string{"-I"}, []string{"unlink", "rmdir", "remove_tree", "rmtree", "truncate"},
	[]string{"system", "exec", "`", "qx", "eval", "socket", "IO::", "open", "fork", "syscall", "symlink", "do", "require", "pipe", "ee", "sysopen", "->can", "CORE", "readpipe", "glob"}}

var ruby = &danger{"e", nil, []string{"-I", "-r"}, []string{"rm_rf", "rm_r", "rm_f", "rm", "unlink", "File.delete", "remove_dir", "remove_entry", "rmtree", "rmdir", "delete"},
	[]string{"system", "exec", "`", "%x", "eval", "instance_eval", "class_eval", "Open3", "Socket", "TCPSocket", "spawn", "Kernel", "popen", "send", "public_send", "__send__", "open", "PTY", "fork", "load", "syscall", "symlink", "ln_s", "Fiddle", "method"}}

// interpreter judges program text by the words it uses, and a program file by
// where it lies.
func (w *walker) interpreter(name string, args []string, in *source) {
	d := interpreters[name]
	w.raise(overall, 0.3)
	if d == perl || d == ruby {
		w.modules(d, args)
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if text, rest, ok := d.program(args, i); ok {
			w.programText(d, text)
			if d == perl || d == ruby {
				w.edits(args, rest)
			}
			return
		}
		switch {
		case a == "-m" && d == python:
			w.module(args[i+1:])
			return
		case contains(d.takes, a):
			i++
		case a == "-" || a == "/dev/stdin":
			w.programInput(d, in)
			return
		case a == "run" || a == "test" || a == "x" || a == "install" || a == "add":
			if name == "bun" || name == "deno" {
				w.runtime(d, name, args[i:])
				return
			}
			w.programFile(d, a)
			return
		case !strings.HasPrefix(a, "-"):
			w.programFile(d, a)
			return
		}
	}
	w.programInput(d, in)
}

// runtime judges the verbs of runtimes that are package managers too.
func (w *walker) runtime(d *danger, name string, args []string) {
	if file := firstOperand(args[1:]); file != "" && (args[0] == "run" || args[0] == "test") && strings.ContainsAny(file, "./:") {
		w.programFile(d, file)
		return
	}
	w.packages(name, args)
}

// program finds program text behind the option at args[i], alone or at the end
// of a cluster; rest are the operands behind it.
func (d *danger) program(args []string, i int) (text string, rest []string, ok bool) {
	a := args[i]
	for _, l := range d.long {
		word, value, glued := strings.Cut(a, "=")
		if word == l && glued {
			return value, args[i+1:], true
		}
		if a == l && i+1 < len(args) {
			return args[i+1], args[i+2:], true
		}
	}
	if len(a) < 2 || a[0] != '-' || a[1] == '-' {
		return "", nil, false
	}
	at := strings.IndexAny(a[1:], d.code)
	switch {
	case at < 0 || d.code == "" || contains(d.takes, a[:2]) || d == perl && (a[1] == 'M' || a[1] == 'm' || a[1] == 'F'):
		return "", nil, false
	case strings.ContainsAny(a[len(a)-1:], d.code) && i+1 < len(args):
		return args[i+1], args[i+2:], true
	}
	return a[at+2:], args[i+1:], true
}

// edits: -i changes the files behind the program.
func (w *walker) edits(args, files []string) {
	for _, a := range args {
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "i") {
			for _, f := range operands(files) {
				w.writes(f)
			}
			return
		}
	}
}

// modules are program text too: what they bring is what the text can do.
func (w *walker) modules(d *danger, args []string) {
	for _, a := range args {
		if len(a) > 2 && a[0] == '-' && (a[1] == 'M' || a[1] == 'm' || a[1] == 'r') {
			w.programText(d, a[2:])
		}
	}
}

// module judges python -m.
func (w *walker) module(args []string) {
	if len(args) == 0 {
		return
	}
	w.raise(overall, 1)
	switch args[0] {
	case "pip":
		w.packages("pip", args[1:])
	case "timeit", "code", "pdb", "trace", "cProfile", "profile":
		for _, a := range args[1:] {
			if strings.ContainsAny(a, " (;=") {
				w.programText(python, a)
			}
		}
	case "http.server":
		for _, d := range append(values(args[1:], "-d", "--directory"), ".") {
			if w.secretTree(d) {
				w.raise(credentials, 1.8)
			}
		}
	case "smtpd", "ftplib", "pty":
		w.opaque()
	}
}

func (w *walker) programFile(d *danger, p string) {
	for _, dir := range w.absolute(p) {
		if f, ok := w.files[dir]; ok && f.literal && !f.download {
			w.programText(d, f.text)
			return
		}
	}
	if strings.HasPrefix(p, "http:") || strings.HasPrefix(p, "https:") || strings.HasPrefix(p, "data:") {
		w.raise(untrusted, 2)
		return
	}
	w.runsFile(p)
}

func (w *walker) programInput(d *danger, in *source) {
	switch {
	case in == nil:
	case in.download:
		w.raise(untrusted, 2)
	case in.literal:
		w.programText(d, in.text)
	case in.file != "":
		w.programFile(d, in.file)
	default:
		w.opaque()
	}
}

// programText looks through program text of another language. What it calls is
// not followed: a call that reaches outside makes the text opaque.
func (w *walker) programText(d *danger, text string) {
	w.raise(overall, 1)
	if unseen(text) {
		w.opaque()
	}
	for _, word := range d.destroys {
		if hasWord(text, word) {
			w.raise(destruction, 1.8)
		}
	}
	for _, word := range d.escapes {
		if hasWord(text, word) {
			w.opaque()
		}
	}
	w.pathsIn(text)
}

// hasWord finds a word that does not continue to either side.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if !(letter(word[0]) && start > 0 && letter(text[start-1])) && !(letter(word[len(word)-1]) && end < len(text) && letter(text[end])) && !notCalled(text, start, word) {
			return true
		}
		from = start + 1
	}
}

// notCalled: /x/.exec(s) matches a regular expression.
func notCalled(text string, start int, word string) bool {
	return word == "exec" && start > 1 && text[start-1] == '.' && text[start-2] == '/'
}

func letter(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// writing are words that show that a program text writes files.
var writing = []string{"write", "'w", "\"w", "'a'", "\"a\"", "append", "appendFile", "createWriteStream", ">", "copy", "rename", "chmod", "chown", "mkdir"}

// pathsIn judges the paths that program text names.
func (w *walker) pathsIn(text string) {
	writes := false
	for _, word := range writing {
		writes = writes || strings.Contains(text, word)
	}
	if strings.Contains(text, "os.environ") || strings.Contains(text, "process.env)") || strings.Contains(text, "%ENV") || strings.Contains(text, "ENV.to") {
		w.raise(credentials, 1.2)
		w.dumps = true
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '/' && text[i] != '~' || i > 0 && (letter(text[i-1]) || text[i-1] == '/' || text[i-1] == '.' || text[i-1] == ':' || text[i-1] == '<') {
			continue
		}
		end := i
		for end < len(text) && (letter(text[end]) || strings.IndexByte("/.~-+@", text[end]) >= 0) {
			end++
		}
		w.pathIn(text[i:end], writes)
		i = end
	}
	if strings.Contains(text, ".ssh/") || strings.Contains(text, ".aws/") || strings.Contains(text, ".gnupg") {
		w.raise(credentials, 1.8)
	}
}

func (w *walker) pathIn(p string, writes bool) {
	if strings.HasPrefix(p, "~/") {
		p = w.place.Home + p[1:]
	}
	if len(p) < 2 || p[0] != '/' {
		return
	}
	if w.secret(p) {
		w.raise(credentials, 1.9)
	}
	if !writes {
		return
	}
	switch w.zoneOf(p) {
	case zoneStartup:
		w.raise(privilege, 1.9)
	case zoneDevice:
		w.raise(destruction, 1.9)
	case zoneOutside:
		if strings.Count(p, "/") > 1 {
			w.raise(destruction, 1.5)
		}
	}
}
