package protect

import (
	"strings"
)

// change judges programs that write where their operands say.
func (w *walker) change(name string, args []string) {
	ops := operands(args)
	switch name {
	case "sed", "dos2unix", "unix2dos":
		w.sed(name, args, ops)
		return
	case "tar":
		w.tar(args)
		return
	case "unzip", "7z", "zip", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd":
		w.raise(overall, 1)
		for i, a := range args {
			if (a == "-d" || a == "-o") && i+1 < len(args) && name == "unzip" {
				w.writes(args[i+1])
			}
		}
		return
	case "rsync":
		w.rsync(args, ops)
		return
	case "patch":
		w.raise(overall, 1)
		return
	}
	w.raise(overall, 1)
	for i, a := range args {
		if (a == "-t" || a == "--target-directory") && i+1 < len(args) {
			w.writes(args[i+1])
		}
		if to, ok := strings.CutPrefix(a, "--target-directory="); ok {
			w.writes(to)
		}
	}
	switch name {
	case "cp", "ln", "install":
		if len(ops) > 1 {
			w.writes(ops[len(ops)-1])
		}
	case "mv":
		for i, o := range ops {
			if i == len(ops)-1 && len(ops) > 1 {
				w.writes(o)
			} else if z := w.zoneOf(o); z != zoneInside && z != zoneScratch {
				w.destroys(o)
			}
		}
	default: // touch, mkdir, mkfifo, tee, truncate, split
		for _, o := range ops {
			w.writes(o)
		}
	}
}

// sed edits in place with -i, and its e command and flag run programs.
func (w *walker) sed(name string, args, ops []string) {
	if name != "sed" {
		for _, o := range ops {
			w.writes(o)
		}
		return
	}
	w.raise(overall, 0.1)
	if len(ops) > 0 && (strings.HasSuffix(ops[0], "/e") || strings.HasSuffix(ops[0], "/ge") || strings.HasPrefix(ops[0], "1e ") || strings.Contains(ops[0], ";e ") || ops[0] == "e") {
		w.blind = true
	}
	inPlace := false
	for _, a := range args {
		inPlace = inPlace || strings.HasPrefix(a, "-i") || strings.HasPrefix(a, "--in-place") || len(a) > 2 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "i")
	}
	if inPlace && len(ops) > 1 {
		for _, o := range ops[1:] {
			w.writes(o)
		}
	}
}

func (w *walker) tar(args []string) {
	w.raise(overall, 1)
	for i, a := range args {
		if strings.HasPrefix(a, "--to-command") || strings.HasPrefix(a, "--checkpoint-action") || strings.HasPrefix(a, "--use-compress-program") || strings.HasPrefix(a, "-I") {
			w.raise(untrusted, 1.9)
		}
		if (a == "-C" || a == "--directory") && i+1 < len(args) {
			w.writes(args[i+1])
		}
		if to, ok := strings.CutPrefix(a, "--directory="); ok {
			w.writes(to)
		}
		if a == "-P" || a == "--absolute-names" {
			w.raise(destruction, 1.8)
		}
	}
}

func (w *walker) rsync(args, ops []string) {
	w.raise(overall, 1)
	if flag(args, "-e", "--rsh") {
		w.raise(untrusted, 1.8)
	}
	for i, o := range ops {
		if strings.Contains(o, ":") && !strings.HasPrefix(o, "/") && !strings.HasPrefix(o, ".") {
			w.raise(credentials, 1.8)
		} else if i == len(ops)-1 && len(ops) > 1 {
			w.writes(o)
			if flag(args, "--delete", "--delete-after", "--delete-before") && w.zoneOf(o) == zoneWorkspace {
				w.raise(destruction, 1.9)
			}
		}
	}
}

// git judges by subcommand; options before it can run programs.
func (w *walker) git(args []string, depth int) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch a := args[0]; {
		case a == "-c" && len(args) > 1:
			w.gitConfig(args[1], depth)
			args = args[1:]
		case strings.HasPrefix(a, "--exec-path="), strings.HasPrefix(a, "--config-env"):
			w.raise(untrusted, 1.9)
		case (a == "-C" || a == "--git-dir" || a == "--work-tree" || a == "--namespace") && len(args) > 1:
			if a == "-C" {
				saved := w.dir
				defer func() { w.dir = saved }()
				w.dir = clean(w.absolute(args[1]))
			}
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		w.raise(overall, 0.1)
		return
	}
	w.gitCommand(args[0], args[1:], depth)
}

// runsPrograms are configuration keys whose value is started.
var runsPrograms = []string{"alias.", "core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.hookspath", "core.askpass", "credential.helper", "diff.external", "gpg.program", "gpg.",
	"sequence.editor", "uploadpack.", "protocol.ext", "pager.", "interactive.difffilter", "filter.", "merge.", "difftool.", "mergetool.", "http.proxy", "url.", "include"}

func (w *walker) gitConfig(setting string, depth int) {
	key, value, _ := strings.Cut(setting, "=")
	for _, k := range runsPrograms {
		if strings.HasPrefix(strings.ToLower(key), k) && value != "" && value != "cat" && value != "less" && value != "false" {
			w.raise(untrusted, 1.9)
		}
	}
}

var gitReads = set("status log diff show branch tag remote ls-files ls-tree ls-remote rev-parse rev-list describe blame grep shortlog cat-file config reflog stash worktree bisect help version var check-ignore check-attr " +
	"name-rev merge-base show-ref for-each-ref count-objects fsck whatchanged archive symbolic-ref submodule notes diff-tree diff-index diff-files cherry range-diff")

func (w *walker) gitCommand(verb string, args []string, depth int) {
	ops := operands(args)
	switch verb {
	case "push":
		w.gitPush(args, ops)
	case "config":
		w.gitConfigure(args, ops, depth)
	case "clean":
		w.raise(overall, 1)
		if flag(args, "-f", "--force") && flag(args, "-x", "-X") {
			w.raise(destruction, 1.5)
		}
	case "reset":
		w.raise(overall, 1)
		if flag(args, "--hard") {
			w.raise(destruction, 1.3)
		}
	case "filter-branch", "filter-repo", "update-ref", "replace", "prune":
		w.raise(destruction, 1.6)
	case "gc", "reflog":
		w.raise(overall, 0.6)
		if verb == "reflog" && len(ops) > 0 && (ops[0] == "expire" || ops[0] == "delete") || flag(args, "--prune") {
			w.raise(destruction, 1.6)
		}
	case "clone", "fetch", "pull":
		w.raise(overall, 1)
		if flag(args, "-u", "--upload-pack") && verb != "pull" || strings.Contains(strings.Join(args, " "), "ext::") {
			w.raise(untrusted, 1.9)
		}
	case "branch", "tag", "stash", "worktree", "remote", "submodule":
		if len(args) == 0 || gitReads[verb] && (len(ops) == 0 || ops[0] == "list" || ops[0] == "show") && !flag(args, "-D", "-d", "--delete") {
			w.raise(overall, 0.1)
		} else {
			w.raise(overall, 1)
		}
	case "bisect", "rebase":
		w.raise(overall, 1)
		for i, a := range args {
			if (a == "run" || a == "--exec" || a == "-x") && i+1 < len(args) {
				w.script(strings.Join(args[i+1:], " "), depth+1)
				return
			}
		}
	case "credential", "credential-store", "credential-cache":
		w.raise(credentials, 1.9)
	default:
		if gitReads[verb] {
			w.raise(overall, 0.1)
			return
		}
		w.raise(overall, 1)
	}
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
		if strings.HasPrefix(a, "--receive-pack") || strings.HasPrefix(a, "--exec") {
			w.raise(untrusted, 1.9)
		}
	}
	for i, o := range ops {
		if i > 0 && (strings.HasPrefix(o, "+") || strings.HasPrefix(o, ":")) {
			w.raise(destruction, 1.9)
		}
	}
}

func (w *walker) gitConfigure(args, ops []string, depth int) {
	if len(ops) < 2 {
		w.raise(overall, 0.1)
		return
	}
	w.raise(overall, 1)
	w.gitConfig(ops[0]+"="+ops[1], depth)
	if flag(args, "--global", "--system") {
		w.raise(privilege, 1.8)
	}
}

// download judges fetching and sending.
func (w *walker) download(name string, args []string) {
	w.raise(overall, 1)
	var saved string
	for i, a := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch {
		case a == "-o" || a == "--output" || a == "-O" && name == "wget" || a == "--output-document":
			saved = next
		case a == "-O" || a == "--remote-name":
			saved = base(args[len(args)-1])
		case a == "-T" || a == "--upload-file" || a == "-F" || a == "--form" || a == "-d" || strings.HasPrefix(a, "--data") || strings.HasPrefix(a, "--post"):
			w.raise(overall, 1.2)
			if strings.Contains(next, "@") || a == "-T" || strings.Contains(a, "@") {
				w.raise(credentials, 1.4)
			}
			if strings.Contains(next, "$") {
				w.raise(credentials, 1.4)
			}
		case a == "-K" || a == "--config" || strings.HasPrefix(a, "--use-askpass"):
			w.raise(untrusted, 1.5)
		}
	}
	if name == "wget" && saved == "" && len(operands(args)) > 0 {
		saved = base(operands(args)[0])
	}
	if saved != "" && saved != "-" {
		w.writes(saved)
		if w.loads == nil {
			w.loads = map[string]bool{}
		}
		w.loads[w.absolute(saved)] = true
		w.loads[w.absolute("./"+saved)] = true
	}
}

// packages judges package managers: what they install runs.
func (w *walker) packages(name string, args []string) {
	ops := operands(args)
	verb := ""
	if len(ops) > 0 {
		verb = ops[0]
	}
	if name == "npx" || name == "uvx" || name == "pipx" || verb == "dlx" || verb == "exec" || verb == "x" && name == "npm" {
		w.raise(overall, 1.2)
		return
	}
	if name == "go" || name == "cargo" {
		w.raise(overall, 0.6)
		if verb == "install" || verb == "get" || verb == "add" || verb == "publish" {
			w.raise(overall, 1.2)
		}
		if verb == "publish" {
			w.raise(overall, 1.8)
		}
		if flag(args, "-exec", "-toolexec") {
			w.raise(untrusted, 1.8)
		}
		return
	}
	switch verb {
	case "install", "i", "add", "update", "upgrade", "uninstall", "remove", "ci", "sync", "link":
		w.raise(overall, 1)
		if flag(args, "-g", "--global", "--system", "--break-system-packages") || name == "brew" || name == "gem" {
			w.raise(overall, 1.5)
		}
		if strings.Contains(strings.Join(args, " "), "://") {
			w.raise(untrusted, 1.5)
		}
	case "publish", "unpublish", "login", "token", "adduser", "owner":
		w.raise(credentials, 1.8)
	case "config":
		w.raise(overall, 1)
	default:
		w.raise(overall, 0.6)
	}
}

// cloud judges command lines of services by the words that show or change secrets.
func (w *walker) cloud(name string, args []string) {
	line := " " + strings.Join(args, " ") + " "
	w.raise(overall, 1.2)
	for _, s := range []string{" token ", " print-access-token ", " print-identity-token ", " secret ", " secrets ", " get-session-token ", " login ", " configure ", " --export-secret-keys ", " --export-secret-key ", " read ", " get-secret-value ", " show-token ", " -d ", " --decrypt "} {
		if strings.Contains(line, s) && (name != "op" || s == " read ") {
			w.raise(credentials, 1.9)
		}
	}
	for _, s := range []string{" delete ", " destroy ", " rm ", " rb ", " terminate-instances ", " drop "} {
		if strings.Contains(line, s) {
			w.raise(destruction, 1.8)
		}
	}
}
