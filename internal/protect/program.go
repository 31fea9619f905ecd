package protect

import (
	"strings"
)

// readers look and compute; they change nothing.
var readers = set("ls ll dir cat bat head tail less more wc sort uniq cut tr grep egrep fgrep rg ag ack find fd tree file stat du df pwd echo printf true false test [ [[ date cal whoami id groups hostname uname " +
	"which type whereis basename dirname realpath readlink env printenv seq yes sleep diff cmp comm md5sum sha1sum sha256sum sha512sum cksum b2sum xxd od hexdump strings nl fold fmt column paste join expand rev tac " +
	"jq yq xmllint ps top uptime free lsof pgrep man help history jobs wait cd pushd popd dirs set shopt ulimit umask export unset local declare readonly return exit break continue shift getopts read let : expr bc dc " +
	"nproc lscpu lsblk locale tty base64 base32 iconv gofmt goimports ctags cloc tokei scc sw_vers arch getconf")

// builders build, test, format and run the project's own code.
var builders = set("go cargo rustc rustfmt make cmake ninja meson bazel gradle gradlew mvn ant sbt javac java kotlinc scala dotnet msbuild swift xcodebuild gcc g++ cc c++ clang clang++ ld ar ranlib strip tsc eslint prettier " +
	"vite webpack rollup jest vitest mocha pytest tox nox ruff black mypy flake8 isort pylint rubocop rspec bundle rake mix elixir erl rebar3 stack cabal ghc zig dart flutter nim crystal composer phpunit just task tup " +
	"golangci-lint staticcheck protoc buf terraform-fmt shellcheck shfmt hadolint pre-commit")

// changers write where their operands say: the last one, or all of them.
var changers = set("cp mv ln install rsync touch mkdir mkfifo tee split csplit patch unzip zip tar gzip gunzip bzip2 bunzip2 xz unxz zstd 7z sed dos2unix unix2dos ed ex truncate")

var downloaders = set("curl wget fetch aria2c http https xh lwp-request GET ftp tftp")

func set(names string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(names) {
		m[n] = true
	}
	return m
}

// severe programs are dangerous whatever they are told.
var severe = map[string]struct {
	kind  int
	score float64
}{
	"mkfs": {destruction, 2}, "wipefs": {destruction, 2}, "fdisk": {destruction, 2}, "sfdisk": {destruction, 2}, "parted": {destruction, 2}, "diskutil": {destruction, 1.9}, "blkdiscard": {destruction, 2}, "badblocks": {destruction, 1.8},
	"shutdown": {destruction, 2}, "reboot": {destruction, 2}, "halt": {destruction, 2}, "poweroff": {destruction, 2}, "init": {destruction, 1.9}, "telinit": {destruction, 2},
	"useradd": {privilege, 2}, "userdel": {privilege, 2}, "usermod": {privilege, 2}, "groupadd": {privilege, 2}, "passwd": {privilege, 2}, "chpasswd": {privilege, 2}, "visudo": {privilege, 2}, "adduser": {privilege, 2}, "deluser": {privilege, 2}, "dscl": {privilege, 2},
	"insmod": {privilege, 2}, "modprobe": {privilege, 2}, "rmmod": {privilege, 2}, "sysctl": {privilege, 1.9}, "setenforce": {privilege, 2}, "iptables": {privilege, 2}, "nft": {privilege, 2}, "ufw": {privilege, 2}, "csrutil": {privilege, 2}, "spctl": {privilege, 2},
	"mount": {privilege, 1.8}, "umount": {privilege, 1.8}, "setcap": {privilege, 2}, "nsenter": {privilege, 2}, "at": {privilege, 1.9}, "batch": {privilege, 1.9}, "launchctl": {privilege, 1.9}, "update-rc.d": {privilege, 2}, "chkconfig": {privilege, 2}, "defaults": {privilege, 1.8},
	"apt": {privilege, 1.8}, "apt-get": {privilege, 1.8}, "yum": {privilege, 1.8}, "dnf": {privilege, 1.8}, "pacman": {privilege, 1.8}, "apk": {privilege, 1.8}, "zypper": {privilege, 1.8}, "dpkg": {privilege, 1.8}, "rpm": {privilege, 1.8}, "snap": {privilege, 1.8},
	"nc": {untrusted, 1.8}, "ncat": {untrusted, 1.8}, "netcat": {untrusted, 1.8}, "socat": {untrusted, 1.9}, "telnet": {untrusted, 1.8}, "ssh": {untrusted, 1.8}, "scp": {credentials, 1.8}, "sftp": {credentials, 1.8},
	"gdb": {untrusted, 1.5}, "security": {credentials, 1.9}, "pass": {credentials, 1.9}, "secret-tool": {credentials, 1.9}, "ssh-add": {credentials, 1.8}, "keyctl": {credentials, 1.9},
}

// program judges a program by name and arguments. What is in no table may
// change something.
func (w *walker) program(name string, args []string, in *source, depth int) {
	if s, ok := severe[strings.SplitN(name, ".", 2)[0]]; ok && !flag(args, "--version", "--help") {
		w.raise(s.kind, s.score)
		return
	}
	switch name {
	case "eval":
		w.evaluate(args, depth)
	case "source", ".":
		if len(args) > 0 {
			w.scriptFile(args[0])
		}
	case "alias":
		w.aliases(args, depth)
	case "trap":
		if len(args) > 0 && args[0] != "-" && args[0] != "" {
			w.inline(args[0], depth)
		}
	case "cd", "pushd":
		w.changeDir(operands(args))
	case "rm", "rmdir", "unlink", "shred", "srm", "trash":
		w.remove(args)
	case "dd":
		w.dd(args)
	case "chmod", "chown", "chgrp", "chattr", "setfacl":
		w.permissions(name, args)
	case "find", "fd":
		w.find(args, in, depth)
	case "git":
		w.git(args, depth)
	case "curl", "wget", "aria2c", "http", "https", "xh":
		w.download(name, args)
	case "kill", "pkill", "killall":
		w.kill(name, args)
	case "crontab", "systemctl", "service":
		w.services(name, args)
	case "docker", "podman", "nerdctl":
		w.container(args)
	case "make", "gmake", "just":
		w.make(args, depth)
	case "npm", "npx", "pnpm", "yarn", "pip", "pip3", "pipx", "uv", "uvx", "gem", "brew", "cargo", "go":
		w.packages(name, args)
	case "gh", "aws", "gcloud", "kubectl", "op", "vault", "az", "heroku", "gpg":
		w.cloud(name, args)
	case "vi", "vim", "nvim", "emacs", "ed", "ex":
		w.editor(args)
	case "printenv":
		w.raise(credentials, 1.2)
	default:
		w.ordinary(name, args)
	}
}

// ordinary: readers, builders, programs that write, and everything else.
func (w *walker) ordinary(name string, args []string) {
	switch {
	case readers[name]:
		w.raise(overall, 0.1)
		if name == "sort" && flag(args, "-o", "--output") || name == "yq" && flag(args, "-i") {
			w.raise(overall, 1)
		}
	case changers[name]:
		w.change(name, args)
	case builders[name]:
		w.raise(overall, 0.6)
	case strings.ContainsRune(name, '$'):
		w.blind = true
	default:
		w.raise(overall, 1)
		w.unknown = true
	}
}

// evaluate: eval joins its arguments and runs them.
func (w *walker) evaluate(args []string, depth int) {
	text := strings.Join(args, " ")
	if strings.Contains(text, "$") {
		w.blind = true
		w.raise(untrusted, 1)
		return
	}
	w.script(text, depth+1)
}

// aliases run when their name is used; they are judged where they are made.
func (w *walker) aliases(args []string, depth int) {
	for _, a := range args {
		if _, value, ok := strings.Cut(a, "="); ok {
			w.inline(value, depth)
		}
	}
}

func (w *walker) changeDir(to []string) {
	switch {
	case len(to) == 0:
		w.dir = w.place.Home
	case to[0] == "-" || strings.HasPrefix(to[0], "$"):
		w.dir = ""
	default:
		w.dir = clean(w.absolute(to[0]))
	}
	w.known["PWD"] = w.dir
}

func clean(p string) string {
	if p == "" || strings.Contains(p, "$") {
		return ""
	}
	return strings.TrimSuffix(p, "/.")
}

func (w *walker) remove(args []string) {
	targets := operands(args)
	if flag(args, "--no-preserve-root") {
		w.raise(destruction, 2)
	}
	for _, t := range targets {
		w.destroys(t)
	}
	if len(targets) == 0 && !flag(args, "--help", "--version") {
		w.raise(overall, 1)
	}
}

func (w *walker) dd(args []string) {
	w.raise(overall, 1)
	for _, a := range args {
		if to, ok := strings.CutPrefix(a, "of="); ok {
			w.destroys(to)
		}
		if from, ok := strings.CutPrefix(a, "if="); ok && w.zoneOf(from) == zoneDevice {
			w.raise(credentials, 1.8)
		}
	}
}

func (w *walker) permissions(name string, args []string) {
	targets := operands(args)
	if len(targets) > 0 && !flag(args, "--reference") {
		mode := targets[0]
		targets = targets[1:]
		if name == "chmod" && (strings.Contains(mode, "s") || len(mode) == 4 && mode[0] >= '2' && mode[0] <= '7') {
			w.raise(privilege, 2)
		}
	}
	w.raise(overall, 1)
	for _, t := range targets {
		switch w.zoneOf(t) {
		case zoneInside, zoneScratch, zoneNull:
		case zoneWorkspace:
			if flag(args, "-R", "--recursive") {
				w.raise(overall, 1.5)
			}
		default:
			w.raise(destruction, 1.8)
			w.raise(privilege, 1.8)
		}
	}
}

// find walks files and may remove or run.
func (w *walker) find(args []string, in *source, depth int) {
	w.raise(overall, 0.1)
	var starts []string
	for _, a := range args {
		if strings.HasPrefix(a, "-") || a == "(" || a == "!" {
			break
		}
		starts = append(starts, a)
	}
	if len(starts) == 0 {
		starts = []string{"."}
	}
	for i, a := range args {
		switch a {
		case "-delete":
			w.findDestroys(starts, args)
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X":
			w.findRuns(starts, args, args[i+1:], depth)
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(args) {
				w.writes(args[i+1])
			}
		}
	}
}

// findDestroys: a filter keeps it from being all of the workspace.
func (w *walker) findDestroys(starts, args []string) {
	filtered := flag(args, "-name", "-iname", "-path", "-regex", "-newer", "-mtime", "-size", "-empty", "-user")
	for _, s := range starts {
		if z := w.zoneOf(s); z == zoneWorkspace && filtered {
			w.raise(destruction, 1)
			continue
		}
		w.destroys(s)
	}
}

func (w *walker) findRuns(starts, all, args []string, depth int) {
	var cmd []string
	for _, a := range args {
		if a == ";" || a == `\;` || a == "+" {
			break
		}
		cmd = append(cmd, a)
	}
	if len(cmd) == 0 {
		return
	}
	found := "./found"
	if !w.allInside(starts) {
		found = starts[0]
	}
	for i, a := range cmd {
		cmd[i] = strings.ReplaceAll(a, "{}", found)
	}
	if base(cmd[0]) == "rm" {
		w.findDestroys(starts, all)
		return
	}
	w.run(cmd, nil, depth+1)
}

func (w *walker) kill(name string, args []string) {
	w.raise(overall, 1)
	for _, t := range operands(args) {
		if name == "kill" && (t == "1" || t == "-1") {
			w.raise(destruction, 2)
		}
	}
	for _, a := range args {
		if a == "-1" && name == "kill" && len(args) > 1 && args[len(args)-1] == "-1" {
			w.raise(destruction, 2)
		}
	}
	if name != "kill" && (flag(args, "-u", "--user") || len(operands(args)) == 0) {
		w.raise(destruction, 1.8)
	}
}

func (w *walker) services(name string, args []string) {
	verb := ""
	if ops := operands(args); len(ops) > 0 {
		verb = ops[0]
	}
	switch {
	case name == "crontab" && (flag(args, "-l") || len(args) == 0):
		w.raise(overall, 0.5)
	case name == "systemctl" && (verb == "status" || verb == "show" || strings.HasPrefix(verb, "list-") || strings.HasPrefix(verb, "is-") || verb == "cat"):
		w.raise(overall, 0.1)
	default:
		w.raise(privilege, 2)
	}
}

func (w *walker) container(args []string) {
	w.raise(overall, 1)
	for i, a := range args {
		value := ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		if _, v, ok := strings.Cut(a, "="); ok {
			value = v
		}
		switch {
		case strings.HasPrefix(a, "--privileged"), strings.HasPrefix(a, "--pid") && value == "host", strings.HasPrefix(a, "--cap-add"):
			w.raise(privilege, 2)
		case a == "-v" || strings.HasPrefix(a, "--volume") || strings.HasPrefix(a, "--mount"):
			host, _, _ := strings.Cut(strings.TrimPrefix(value, "type=bind,source="), ":")
			if z := w.zoneOf(host); strings.HasPrefix(host, "/") && z != zoneInside && z != zoneWorkspace && z != zoneScratch {
				w.raise(privilege, 2)
			}
		case a == "prune", a == "rm" && flag(args, "-f"):
			w.raise(destruction, 1.5)
		}
	}
}

// make runs the project's own rules, unless the line brings rules of its own.
func (w *walker) make(args []string, depth int) {
	w.raise(overall, 0.6)
	for i, a := range args {
		key, value, ok := strings.Cut(a, "=")
		switch {
		case ok && !strings.HasPrefix(a, "-") && (key == "SHELL" || strings.ContainsAny(value, " ;|&`$(")):
			w.inline(value, depth)
		case a == "-f" && i+1 < len(args):
			w.scriptFile(args[i+1])
		case strings.HasPrefix(a, "--eval"):
			w.blind = true
		}
	}
}

func (w *walker) editor(args []string) {
	w.raise(overall, 1)
	for _, a := range args {
		if strings.HasPrefix(a, "+!") || strings.HasPrefix(a, "-c") || strings.Contains(a, ":!") || strings.Contains(a, "system(") || strings.HasPrefix(a, "--eval") || strings.HasPrefix(a, "-es") {
			w.blind = true
		}
	}
}
