package protect

import "strings"

// git judges by subcommand; options before it can run programs.
func (w *walker) git(args []string, _ *source) {
	saved := w.dirs
	defer func() { w.dirs = saved }()
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		next := ""
		if len(args) > 1 {
			next = args[1]
		}
		name, value, glued := strings.Cut(args[0], "=")
		switch name {
		case "-c":
			w.gitConfig(next)
		case "--exec-path", "--config-env":
			if glued || name == "--config-env" {
				w.raise(untrusted, 1.9)
			}
		case "-C":
			w.moves(next)
		case "--git-dir", "--work-tree":
			if !glued {
				value = next
			}
			if name == "--work-tree" {
				w.moves(value)
			} else if z := w.zoneOf(value); z > zoneWorkspace || z == zoneScratch {
				w.raise(untrusted, 1.5)
			}
		}
		if !glued && (name == "-c" || name == "-C" || name == "--git-dir" || name == "--work-tree" || name == "--namespace" || name == "--config-env") {
			args = args[1:]
		}
		args = args[min(1, len(args)):]
	}
	if len(args) == 0 {
		w.raise(overall, 0.1)
		return
	}
	w.gitCommand(args[0], args[1:])
}

// runsPrograms are configuration keys whose value is started, or that say
// where programs are looked for.
var runsPrograms = strings.Fields("core.hookspath core.fsmonitor core.gitproxy core.askpass credential. diff. gpg. uploadpack. protocol.ext pager. interactive.difffilter filter. merge. difftool. mergetool. http.proxy url. include init.templatedir " +
	"core.attributesfile sendemail. browser. man. web. trailer. receive. ssh. core.alternaterefscommand tar. instaweb. guitool. hook")

// gitConfig judges one setting.
func (w *walker) gitConfig(setting string) {
	key, value, _ := strings.Cut(setting, "=")
	key = strings.ToLower(key)
	switch {
	case value == "" || unseen(key):
		if unseen(key) {
			w.opaque()
		}
	case strings.HasPrefix(key, "alias."):
		if cmd, ok := strings.CutPrefix(value, "!"); ok {
			w.inline(cmd)
		} else {
			w.deeper(func() { w.git(strings.Fields(value), nil) })
		}
	case key == "core.pager" || key == "core.editor" || key == "sequence.editor" || key == "core.sshcommand" || strings.HasPrefix(key, "pager."):
		if value != "true" && value != "false" {
			w.commandValue(value)
		}
	case key == "diff.external" || strings.HasSuffix(key, ".textconv") || strings.HasSuffix(key, ".command") || strings.HasSuffix(key, ".driver") || strings.HasSuffix(key, ".program"):
		w.raise(untrusted, 1.9)
		w.inline(value)
	case key == "diff.tool" || key == "merge.tool" || strings.HasPrefix(key, "merge.") && !strings.Contains(value, " ") || strings.HasPrefix(key, "diff.") && !strings.ContainsAny(value, " /"):
	default:
		for _, k := range runsPrograms {
			if strings.HasPrefix(key, k) && value != "true" && value != "false" && value != "never" {
				w.raise(untrusted, 1.9)
			}
		}
	}
}

var gitReads = set("status log diff show ls-files ls-tree ls-remote rev-parse rev-list describe blame annotate grep shortlog cat-file help version var check-ignore check-attr check-mailmap " +
	"name-rev merge-base show-ref for-each-ref count-objects fsck whatchanged symbolic-ref diff-tree diff-index diff-files cherry range-diff verify-commit show-branch merge-tree get-tar-commit-id")

// gitLists are verbs that only list without operands.
var gitLists = set("branch tag stash worktree remote submodule notes bundle bisect reflog")

func (w *walker) gitCommand(verb string, args []string) {
	ops := operands(args)
	w.gitRuns(verb, args, ops)
	switch {
	case unseen(verb):
		w.opaque()
	case verb == "push":
		w.gitPush(args, ops)
	case verb == "config":
		w.gitConfigure(args, ops)
	case strings.HasPrefix(verb, "credential"):
		w.raise(credentials, 1.9)
	case verb == "maintenance" || verb == "daemon" || verb == "instaweb" || verb == "send-email" || verb == "shell":
		w.raise(privilege, 1.8)
	case gitReads[verb]:
		w.raise(overall, 0.1)
		for _, o := range values(args, "--output") {
			w.writes(o)
		}
	case gitLists[verb]:
		lists := len(ops) == 0 && verb != "stash" || len(ops) > 0 && (ops[0] == "list" || ops[0] == "show" || ops[0] == "status" || ops[0] == "get-url")
		if lists && !flag(args, "-D", "-d", "-m", "-M", "-f", "--delete") {
			w.raise(overall, 0.1)
			return
		}
		w.raise(overall, 1)
		w.gitLoses(verb, args, ops)
	default:
		w.raise(overall, 1)
		if verb != "clone" && verb != "init" {
			w.writes(".")
		}
		w.gitLoses(verb, args, ops)
	}
}

// gitLoses judges what throws work or history away.
func (w *walker) gitLoses(verb string, args, ops []string) {
	first := ""
	if len(ops) > 0 {
		first = ops[0]
	}
	switch verb {
	case "clean":
		if flag(args, "-n", "--dry-run") {
			return
		}
		w.raise(destruction, 1.3)
		for _, o := range ops {
			if w.zoneOf(o) > zoneWorkspace {
				w.raise(destruction, 1.9)
			}
		}
		if flag(args, "-x", "-X") {
			w.raise(destruction, 1.5)
		}
		for _, d := range w.dirs {
			if z := w.zoneOf(d); z > zoneWorkspace {
				w.raise(destruction, 1.9)
			}
		}
	case "reset", "checkout", "restore", "switch":
		if flag(args, "--hard", "-f", "--force", "--discard-changes") || verb == "restore" || contains(ops, ".") {
			w.raise(destruction, 1.3)
		}
	case "filter-branch", "filter-repo", "update-ref", "replace", "prune":
		w.raise(destruction, 1.6)
	case "gc", "reflog":
		if first == "expire" || first == "delete" || flag(args, "--prune") {
			w.raise(destruction, 1.6)
		}
	case "stash":
		if first == "drop" || first == "clear" {
			w.raise(destruction, 1.3)
		}
	case "worktree":
		if len(ops) > 1 && first == "add" {
			w.writes(ops[1])
		}
	case "branch":
		if flag(args, "-D") {
			w.raise(destruction, 1.2)
		}
	case "rm", "mv":
		w.raise(destruction, 1)
	}
}

// gitRuns judges the verbs and options that start programs.
func (w *walker) gitRuns(verb string, args, ops []string) {
	switch verb {
	case "clone", "fetch", "pull", "ls-remote", "archive", "submodule", "remote", "push":
		for _, cmd := range values(args, "--upload-pack", "--receive-pack", "--exec") {
			w.raise(untrusted, 1.9)
			w.inline(cmd)
		}
		if (verb == "clone" && flag(args, "-u")) || strings.Contains(strings.Join(args, " "), "ext::") || flag(args, "--template") {
			w.raise(untrusted, 1.9)
		}
		if verb == "clone" {
			w.clones(args)
		}
	case "bisect", "rebase":
		if verb == "bisect" && len(args) > 1 && args[0] == "run" {
			w.run(args[1:], nil)
		}
		for _, cmd := range values(args, "--exec", "-x") {
			if verb == "rebase" {
				w.inline(cmd)
			}
		}
	case "filter-branch":
		for _, f := range values(args, "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter", "--parent-filter", "--tag-name-filter", "--setup") {
			w.inline(f)
		}
	case "difftool", "mergetool":
		for _, cmd := range values(args, "-x", "--extcmd") {
			w.inline(cmd)
		}
	case "grep":
		for _, cmd := range values(args, "-O", "--open-files-in-pager") {
			if cmd != "" && strings.Contains(strings.Join(args, " "), "="+cmd) || strings.Contains(strings.Join(args, " "), "-O"+cmd) && cmd != "" {
				w.inline(cmd)
			}
		}
	}
	if verb == "submodule" && len(ops) > 0 && ops[0] == "foreach" {
		w.inline(strings.Join(skipFirst(valued(ops, "--recursive")), " "))
	}
}

// clones remembers where foreign code was put, and its -c settings.
func (w *walker) clones(args []string) {
	for _, c := range values(args, "-c", "--config") {
		w.gitConfig(c)
	}
	ops := operands(valued(args, "-c", "--config", "-b", "--branch", "--depth", "-o", "-j", "--origin", "--reference", "--filter", "--jobs"))
	if len(ops) == 0 {
		return
	}
	to := strings.TrimSuffix(base(strings.TrimSuffix(ops[0], "/")), ".git")
	if len(ops) > 1 {
		to = ops[1]
		w.writes(to)
	}
	w.fetched = append(w.fetched, w.absolute(to)...)
}

func (w *walker) gitPush(args, ops []string) {
	w.raise(overall, 1.2)
	if flag(args, "--force", "--force-with-lease", "--mirror", "--delete", "--prune") {
		w.raise(destruction, 1.9)
	}
	for _, a := range args {
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.ContainsAny(a[1:], "fd") {
			w.raise(destruction, 1.9)
		}
	}
	for i, o := range ops {
		if strings.HasPrefix(o, "+") || i > 0 && strings.HasPrefix(o, ":") || strings.HasPrefix(o, hidden) && i > 0 {
			w.raise(destruction, 1.9)
		}
	}
}

func (w *walker) gitConfigure(args, ops []string) {
	ops = valued(ops, "--file", "-f")
	if len(ops) < 2 || flag(args, "--get", "--get-all", "--get-regexp", "--list", "-l") || ops[0] == "get" || ops[0] == "list" {
		w.raise(overall, 0.1)
		return
	}
	w.raise(overall, 1)
	if ops[0] == "set" || ops[0] == "unset" {
		ops = ops[1:]
	}
	if len(ops) > 1 {
		w.gitConfig(ops[0] + "=" + ops[1])
	}
	for _, f := range values(args, "-f", "--file") {
		w.writes(f)
	}
	if flag(args, "--global", "--system") {
		w.raise(privilege, 1.8)
	}
}
