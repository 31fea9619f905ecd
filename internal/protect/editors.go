package protect

import "strings"

// escapes of editors and pagers into programs.
var editorEscapes = strings.Fields("! system shell :te term python py3 perl ruby lua luafile call exe job_start delete( writefile shell-command call-process start-process delete-file delete-directory eval load server-start")

func (w *walker) editor(args []string, in *source) {
	w.raise(overall, 1)
	for i, a := range args {
		code := ""
		switch {
		case strings.HasPrefix(a, "+"):
			code = a[1:]
		case a == "-S" || a == "-s" || a == "-u" || a == "-l" || a == "--load" || a == "--script":
			if i+1 < len(args) && a != "-s" && args[i+1] != "NONE" {
				w.runsFile(args[i+1])
			}
		case strings.HasPrefix(a, "-"):
			if i+1 < len(args) && (strings.HasSuffix(a, "c") || strings.HasPrefix(a, "--eval") || a == "--cmd" || strings.HasPrefix(a, "-f") || a == "--execute") {
				code = args[i+1]
			}
			code += " " + a[min(2, len(a)):]
		default:
			w.writes(a)
		}
		w.editorText(code)
	}
	if in != nil {
		if !in.literal {
			w.opaque()
		}
		w.editorText(in.text)
	}
}

func (w *walker) editorText(code string) {
	if unseen(code) {
		w.opaque()
	}
	for _, e := range editorEscapes {
		if e == "!" && strings.Contains(strings.NewReplacer("q!", "", "w!", "", "x!", "", "wq!", "", "e!", "", "a!", "").Replace(code), e) || e != "!" && hasWord(code, e) {
			w.opaque()
		}
	}
	for _, verb := range []string{"w ", "w! ", "write ", "saveas ", "r "} {
		if at := strings.Index(code, verb); at >= 0 {
			if p := firstWord(code[at+len(verb):]); strings.ContainsAny(p, "/~") {
				w.writes(strings.Replace(p, "~", w.place.Home, 1))
			}
		}
	}
}

// pager judges programs that show text, and can start others.
func (w *walker) pager(name string, args []string) {
	w.raise(overall, 0.1)
	for _, a := range args {
		if strings.HasPrefix(a, "+") && strings.Contains(a, "!") {
			w.opaque()
		}
	}
	switch name {
	case "man":
		for _, cmd := range values(args, "-P", "--pager", "-H", "--html", "--preprocessor") {
			w.inline(cmd)
		}
	case "less":
		for _, f := range values(args, "-o", "-O", "--log-file", "--LOG-FILE") {
			w.writes(f)
		}
		for _, f := range values(args, "-k", "--lesskey-file", "--lesskey-src") {
			w.runsFile(f)
		}
	case "journalctl":
		if strings.Contains(strings.Join(args, " "), "--vacuum") || flag(args, "--rotate", "--flush") {
			w.raise(destruction, 1.8)
		}
	}
}

func (w *walker) debugger(args []string, _ *source) {
	w.raise(overall, 1)
	for _, cmd := range values(args, "-ex", "-iex", "--eval-command", "-o", "--one-line", "-x", "--command", "--batch-command") {
		for _, e := range []string{"shell", "!", "python", "script", "call", "pipe", "make", "source", "platform"} {
			if hasWord(cmd, e) {
				w.opaque()
			}
		}
	}
	if flag(args, "-p", "--pid") {
		w.raise(privilege, 1.8)
	}
	if _, rest, ok := strings.Cut(strings.Join(args, "\n"), "--args\n"); ok {
		w.run(strings.Split(rest, "\n"), nil)
	}
}

// database judges statements by the words that lose data or leave the server.
func (w *walker) database(name string, args []string, in *source) {
	w.raise(overall, 1)
	text := strings.Join(args, " ")
	if in != nil {
		text += " " + in.text
		if in.download || !in.literal && in.file == "" {
			w.raise(destruction, 1.5)
		}
	}
	lower := strings.ToLower(text)
	if hasWord(lower, "drop") || hasWord(lower, "truncate") || strings.Contains(lower, "delete from") && !strings.Contains(lower, "where") || strings.Contains(lower, "flushall") || strings.Contains(lower, "flushdb") || strings.Contains(lower, "dropdatabase") || strings.Contains(lower, "deletemany({})") {
		w.raise(destruction, 1.8)
	}
	for _, e := range []string{".shell", ".system", `\!`, "system ", "sys_exec", "from program", "to program", "into outfile", "into dumpfile", "load_extension", ".load", ".open /", "run(", "config set dir", "module load", "| "} {
		if strings.Contains(lower, e) && !(e == "system " && name != "mysql" && name != "mariadb") {
			w.opaque()
		}
	}
	for _, f := range values(args, "-f", "--file", "--init-command", "--init", "-init") {
		if strings.Contains(f, hidden) {
			w.opaque()
		}
		w.readsFile(f)
	}
}

// windows judges shells whose language is not read here: only plain looking
// passes.
func (w *walker) windows(args []string, _ *source) {
	text := strings.ToLower(strings.Join(args, " "))
	looks := false
	for _, verb := range []string{"get-", "write-output", "write-host", "$psversiontable", "test-path", "/c dir", "/c ver", "/c echo", "/c type", "--list", "-l -v", "measure-"} {
		looks = looks || strings.Contains(text, verb)
	}
	w.raise(overall, 1)
	if !looks || strings.ContainsAny(text, ";&|({") || strings.Contains(text, "-e") && !strings.Contains(text, "get-e") || strings.Contains(text, "iex") {
		w.opaque()
	}
	if strings.Contains(text, "remove-item") || strings.Contains(text, "format-volume") || strings.Contains(text, "rd /s") || strings.Contains(text, "del /") {
		w.raise(destruction, 1.9)
	}
}
