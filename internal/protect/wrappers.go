package protect

import "strings"

// wrapper describes a program that runs the command behind its own arguments.
type wrapper struct {
	takes string // options that take a value
	skip  int    // operands before the command
	verb  string // words, one of which must stand before the command; "" for none
	text  string // options whose value is a script
}

var wrappers = map[string]wrapper{
	"sudo": {takes: "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot"}, "doas": {takes: "-u -C"}, "pkexec": {takes: "--user"}, "run0": {takes: "-u --user"},
	"su": {skip: 99, text: "-c --command"}, "runuser": {takes: "-u", text: "-c --command"}, "sg": {skip: 1, text: "-c"}, "chroot": {skip: 1}, "gosu": {skip: 1}, "su-exec": {skip: 1}, "setpriv": {}, "systemd-run": {takes: "-p -u --unit --slice"},
	"env": {takes: "-u --unset -C --chdir"}, "nohup": {}, "nice": {takes: "-n --adjustment"}, "ionice": {takes: "-c -n -p"}, "time": {takes: "-f -o"}, "gtime": {takes: "-f -o"}, "timeout": {takes: "-s -k --signal --kill-after", skip: 1}, "gtimeout": {takes: "-s -k", skip: 1},
	"stdbuf": {takes: "-i -o -e"}, "setsid": {}, "command": {}, "builtin": {}, "exec": {takes: "-a"}, "busybox": {}, "toybox": {}, "unshare": {}, "unbuffer": {}, "chronic": {}, "catchsegv": {}, "rlwrap": {}, "fakeroot": {}, "firejail": {}, "proot": {takes: "-r -b -w"},
	"flock": {takes: "-w -E", skip: 1, text: "-c --command"}, "script": {skip: 99, text: "-c --command"}, "strace": {takes: "-o -e -p -s"}, "ltrace": {takes: "-o -e -p"}, "chrt": {skip: 1}, "taskset": {skip: 1}, "caffeinate": {takes: "-t -w"}, "arch": {}, "xcrun": {takes: "--sdk"},
	"numactl": {}, "valgrind": {}, "prlimit": {}, "cpulimit": {takes: "-l"}, "faketime": {skip: 1}, "eatmydata": {}, "xvfb-run": {takes: "-n -s"}, "dbus-run-session": {}, "dbus-launch": {}, "ssh-agent": {}, "torsocks": {}, "proxychains": {}, "proxychains4": {}, "tsocks": {},
	"start-stop-daemon": {takes: "-p -x --exec"}, "daemonize": {}, "lockrun": {}, "setarch": {skip: 1}, "linux64": {}, "linux32": {}, "coproc": {}, "then": {}, "systemd-inhibit": {}, "pty": {}, "winpty": {}, "wine": {}, "time-limit": {},
	"direnv": {verb: "exec", skip: 1}, "poetry": {verb: "run"}, "pipenv": {verb: "run"}, "hatch": {verb: "run"}, "pdm": {verb: "run"}, "rye": {verb: "run"}, "conda": {verb: "run", takes: "-n -p"}, "mamba": {verb: "run", takes: "-n -p"}, "bundle": {verb: "exec"}, "rbenv": {verb: "exec"}, "pyenv": {verb: "exec"},
	"asdf": {verb: "exec"}, "mise": {verb: "exec x"}, "opam": {verb: "exec"}, "doppler": {verb: "run"}, "dotenv": {verb: "run"}, "perf": {verb: "stat record trace", takes: "-e -o"}, "cmake": {verb: "-E"}, "op": {verb: "run"}, "rustup": {verb: "run", skip: 1}, "stack": {verb: "exec"},
	"tmux": {verb: "new new-session neww new-window splitw split-window respawn-pane run run-shell send send-keys", takes: "-s -n -c -t -L -S -e"}, "screen": {takes: "-S -L -c"}, "at-once": {}, "nix-shell": {skip: 99, text: "--run --command"}, "nix": {verb: "develop shell", skip: 99, text: "-c --command"},
	"ld-linux-x86-64.so.2": {takes: "--library-path --preload"}, "ld-linux.so.2": {}, "ld-linux-aarch64.so.1": {}, "ld-musl-x86_64.so.1": {},
}

// joins are wrappers that hand their arguments to a shell as one text.
var joins = set("watch hyperfine entr watchexec nodemon tmux screen")

// escalates are the wrappers that change who runs the command.
var escalates = set("sudo doas su pkexec run0 chroot runuser gosu su-exec systemd-run sg")

func isWrapper(name string) bool {
	_, ok := wrappers[name]
	return ok || joins[name] || name == "xargs" || name == "parallel"
}

// wrapped finds the command behind a wrapper's own arguments and judges it.
func (w *walker) wrapped(name string, args []string, in *source) {
	switch name {
	case "xargs", "parallel":
		w.gathers(name, args, in)
		return
	case "env":
		w.environment(args, in)
		return
	case "sudo":
		if len(args) == 1 && (args[0] == "-l" || args[0] == "-k" || args[0] == "-V") {
			return
		}
	case "command":
		if len(args) > 0 && (args[0] == "-v" || args[0] == "-V") {
			return
		}
	}
	if escalates[name] {
		w.raise(privilege, 2)
	}
	t := wrappers[name]
	if t.text != "" {
		for _, text := range values(args, strings.Fields(t.text)...) {
			w.inline(text)
		}
	}
	rest, ok := behind(t, args)
	switch {
	case !ok:
		w.raise(overall, 0.6)
	case joins[name]:
		if len(rest) > 0 {
			w.inline(strings.Join(rest, " "))
		}
	case len(rest) > 0:
		w.run(rest, in)
	}
}

// behind skips a wrapper's own arguments. ok is false where its verb is not there.
func behind(t wrapper, args []string) (rest []string, ok bool) {
	takes := strings.Fields(t.takes)
	verbs := strings.Fields(t.verb)
	skip := t.skip
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case len(verbs) > 0 && contains(verbs, a):
			verbs = nil
		case strings.HasPrefix(a, "-") && len(a) > 1:
			if contains(takes, a) {
				i++
			}
		case len(verbs) > 0:
			return nil, false
		case skip > 0:
			skip--
		default:
			return args[i:], true
		}
	}
	return nil, len(verbs) == 0
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// environment judges env: assignments, a folder, a text to split, a command.
func (w *walker) environment(args []string, in *source) {
	saved := w.dirs
	defer func() { w.dirs = saved }()
	if len(operands(args)) == 0 && !flag(args, "-S", "--split-string") {
		w.dumps = true
		w.raise(credentials, 1.2)
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		if v, ok := optionValue(a, "-S", next); ok && a[:2] != "--" {
			w.inline(v + " " + strings.Join(args[min(i+2, len(args)):], " "))
			return
		}
		if v, ok := optionValue(a, "--split-string", next); ok {
			w.inline(v + " " + strings.Join(args[i+1:], " "))
			return
		}
		if v, ok := optionValue(a, "--chdir", next); ok || a == "-C" {
			if a == "-C" {
				v = next
			}
			w.moves(v)
			i += btoi(!strings.Contains(a, "="))
			continue
		}
		switch key, value, ok := strings.Cut(a, "="); {
		case a == "-u" || a == "--unset":
			i++
		case strings.HasPrefix(a, "-"):
		case ok:
			w.value(key, value)
			w.setsVariable(key, value)
		default:
			w.run(args[i:], in)
			return
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// gathers judges xargs and parallel: their input becomes arguments.
func (w *walker) gathers(name string, args []string, in *source) {
	cmd, _ := behind(wrapper{takes: "-I -n -L -P -d -E -s -a -j -S --max-args --max-procs --delimiter --arg-file --jobs"}, args)
	own := args[:len(args)-len(cmd)]
	if name == "parallel" {
		for i, a := range cmd {
			if strings.HasPrefix(a, ":::") {
				in = &source{text: strings.Join(cmd[i+1:], " "), literal: true}
				cmd = cmd[:i]
				break
			}
		}
		if len(cmd) == 0 {
			w.input(in)
			return
		}
	}
	if len(cmd) == 0 {
		return
	}
	given := []string{hidden}
	switch {
	case flag(own, "-a", "--arg-file"):
	case in != nil && in.found != "":
		given = []string{in.found}
	case in != nil && in.inside && !in.literal:
		given = []string{"./found"}
	case in != nil && in.literal:
		given = strings.Fields(in.text)
	}
	w.gathered(cmd, given, replaced(name, own))
}

// replaced is the text that an argument takes the place of.
func replaced(name string, own []string) string {
	if v := values(own, "-I"); len(v) > 0 && v[0] != "" {
		return v[0]
	}
	if flag(own, "-i", "--replace") || name == "parallel" {
		return "{}"
	}
	return ""
}

func (w *walker) gathered(cmd, given []string, place string) {
	line := strings.Join(cmd, " ")
	if place == "" || !strings.Contains(line, place) {
		w.run(append(append([]string{}, cmd...), given...), nil)
		return
	}
	if len(given) > maxAlternatives {
		given = []string{hidden}
	}
	for _, g := range given {
		one := make([]string, len(cmd))
		for i, a := range cmd {
			one[i] = strings.ReplaceAll(a, place, g)
		}
		w.run(one, nil)
	}
}
