package protect

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// libraries name code that every later program loads.
var libraries = set("LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_FRAMEWORK_PATH BASH_ENV ENV ZDOTDIR PERL5DB PYTHONSTARTUP PYTHONHOME GCONV_PATH GIT_EXEC_PATH GIT_TEMPLATE_DIR npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL")

// commands hold a command line that some program runs.
var commands = set("PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER BAT_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_PROXY_COMMAND " +
	"LESSOPEN LESSCLOSE BROWSER PROMPT_COMMAND RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RSYNC_RSH CVS_RSH TAR_OPTIONS FCEDIT HGEDITOR SVN_SSH SVN_EDITOR KUBE_EDITOR MAKEFLAGS")

// optionLists hold options of an interpreter; some of them load code.
var optionLists = set("NODE_OPTIONS PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS GOFLAGS PYTHONPATH PERL5LIB RUBYLIB NODE_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH GIT_CONFIG_PARAMETERS GIT_CONFIG_VALUE_0")

// prompts are expanded, substitutions included, before a line is shown.
var prompts = set("PS0 PS1 PS2 PS4 PROMPT")

// declare judges export, declare and the like.
func (w *walker) declare(c *syntax.DeclClause) {
	for _, a := range c.Args {
		w.assign(a)
		if a.Naked && a.Name == nil && a.Value != nil {
			w.subscripts(a.Value)
			for _, v := range w.word(a.Value) { // declare "$x": the assignment itself is computed
				if name, value, ok := strings.Cut(v, "="); ok {
					w.value(name, value)
					w.setsVariable(name, value)
				}
			}
		}
	}
	if len(c.Args) == 0 || len(c.Args) == 1 && c.Args[0].Naked && c.Args[0].Name == nil && strings.HasPrefix(c.Args[0].Value.Lit(), "-") {
		w.dumps = true
		w.raise(credentials, 1.2)
	}
}

// assign judges an assignment and remembers the value, if it can be told.
func (w *walker) assign(a *syntax.Assign) {
	if a.Name == nil || a.Naked {
		return
	}
	w.learn(a)
	if a.Value == nil {
		return
	}
	for _, v := range w.word(a.Value) {
		w.setsVariable(a.Name.Value, v)
	}
}

// setsVariable judges what a variable makes other programs do.
func (w *walker) setsVariable(name, value string) {
	switch {
	case strings.Contains(value, "[$(") || strings.Contains(value, "[`"):
		w.opaque() // arithmetic on the variable runs it
	case libraries[name] && value != "":
		w.raise(untrusted, 1.9)
	case name == "PATH":
		w.setsPath(value)
	case name == "HISTFILE" || name == "HISTSIZE" || name == "HISTCONTROL":
		w.raise(privilege, 1.5)
	case prompts[name] && strings.ContainsAny(value, "`$"):
		w.opaque()
	case commands[name] && value != "":
		w.commandValue(strings.TrimPrefix(value, "|"))
	case optionLists[name]:
		w.optionValue(value)
	}
}

// setsPath: a folder that others fill puts its programs before the system's.
func (w *walker) setsPath(value string) {
	for dir := range strings.SplitSeq(value, ":") {
		z := w.zoneOf(dir)
		if dir == "" || z == zoneScratch || z == zoneInside || z == zoneWorkspace || strings.Contains(dir, hidden) {
			w.newPath = true
			w.raise(untrusted, 1.2)
		}
	}
}

// commandValue judges a command line that some program will run later.
func (w *walker) commandValue(line string) {
	if f := strings.Fields(line); len(f) > 0 && base(f[0]) == "ssh" && len(operands(valued(f[1:], "-i", "-o", "-F", "-p", "-l", "-J"))) == 0 && !strings.Contains(line, "Command") {
		w.raise(overall, 1)
		return
	}
	w.inline(line)
}

// valued drops options that take a value, and their values.
func valued(args []string, takes ...string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		skip := false
		for _, t := range takes {
			skip = skip || args[i] == t
		}
		if skip {
			i++
			continue
		}
		out = append(out, args[i])
	}
	return out
}

// optionValue: options that load code from outside the workspace.
func (w *walker) optionValue(value string) {
	w.raise(overall, 0.5)
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == '=' || r == ':' }) {
		switch {
		case strings.Contains(word, "toolexec"), strings.HasPrefix(word, "-M"), strings.HasPrefix(word, "-e"), strings.HasPrefix(word, "data"), strings.HasPrefix(word, "http"), strings.HasPrefix(word, "-javaagent"), strings.HasPrefix(word, "-agent"):
			w.raise(untrusted, 1.8)
		case strings.Contains(word, "/") && !w.allInside([]string{word}):
			w.raise(untrusted, 1.5)
		case strings.HasPrefix(word, "/tmp/"), strings.HasPrefix(word, "-r/"):
			w.raise(untrusted, 1.8)
		}
	}
}

// subscripts: an array index inside a test or an arithmetic word is evaluated,
// substitutions included, even where it is quoted.
func (w *walker) subscripts(word *syntax.Word) {
	for _, v := range w.word(word) {
		if strings.Contains(v, "[$(") || strings.Contains(v, "[`") {
			w.opaque()
		}
	}
}
