package protect

import (
	"path"
	"strings"
)

// startupNames run by themselves, later and elsewhere, or say what will run.
var startupNames = strings.Fields(".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zprofile .zshenv .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .config/fish .oh-my-zsh " +
	".gitconfig .config/git .git-templates .npmrc .yarnrc .yarnrc.yml .pypirc .config/pip .pip .condarc .cargo/config .cargo/config.toml .cargo/env .m2/settings.xml .gradle/init.gradle .gradle/init.d .bundle/config .gemrc .curlrc .wgetrc .netrc " +
	".vimrc .vim .gvimrc .config/nvim .emacs .emacs.d .config/emacs .nanorc .tmux.conf .screenrc .gdbinit .lldbinit .sqliterc .psqlrc .pythonrc .irbrc .pryrc .Rprofile .lesskey .mailcap .forward .procmailrc .rhosts .hgrc .subversion " +
	".ssh .gnupg .config/autostart .config/systemd .config/environment.d .config/plasma-workspace .local/share/applications .local/share/systemd .local/bin bin .pam_environment .xprofile .xinitrc .xsession .xsessionrc .Xresources " +
	".vscode/extensions .config/Code .config/direnv .docker/config.json .kube/config .aws/config .terraformrc .ansible.cfg .claude .codex Library/LaunchAgents Library/LaunchDaemons Library/Preferences Library/Services")

// startupDirs are the system's.
var startupDirs = strings.Fields("/etc /private/etc /Library/LaunchDaemons /Library/LaunchAgents /Library/StartupItems /System /usr/lib/systemd /lib/systemd /run/systemd /var/spool/cron /var/spool/at /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /bin /sbin /usr/lib /lib /lib64 /boot /sys /opt/homebrew/bin /usr/lib/python3")

func (w *walker) isStartup(p string) bool {
	if w.place.StateRoot != "" && within(w.place.StateRoot, p) {
		return true
	}
	if h := w.place.Home; h != "" && within(h, p) && len(p) > len(h) {
		below := p[len(h)+1:]
		for _, n := range startupNames {
			if within(n, below) {
				return true
			}
		}
	}
	for _, dir := range startupDirs {
		if within(dir, p) || p == "/proc/sysrq-trigger" || strings.HasPrefix(p, "/proc/sys/") {
			return true
		}
	}
	return strings.Contains(p, "/.git/hooks") || strings.HasSuffix(p, "/.git/config") || strings.Contains(p, "/.git/info/attributes") || strings.Contains(p, "/.git/modules/")
}

// secretPatterns are files below the home whose content is a credential. Parts
// are shell patterns; a folder stands for all that is in it.
var secretPatterns = strings.Fields(".ssh/* .aws .netrc .git-credentials .docker/config.json .kube .gnupg .npmrc .pypirc .config/gcloud .config/gh .azure .password-store .config/op .pgpass .my.cnf .vault-token .config/hub " +
	"Library/Keychains Library/Cookies .mozilla .config/google-chrome .config/chromium .bash_history .zsh_history .python_history .psql_history .mysql_history .node_repl_history .local/share/keyrings .terraform.d .cargo/credentials* .gem/credentials .s3cfg .boto .config/rclone " +
	".electrum .bitcoin .ethereum .config/solana .claude.json .config/github-copilot Library/Application_Support/Google .thunderbird .fly .config/doctl .heroku .config/heroku")

// stateSecrets are this program's own.
var stateSecrets = strings.Fields("auth.json mcp-tokens auth credentials")

// secret reports whether a path is a place of credentials. Its parts may hold
// patterns.
func (w *walker) secret(p string) bool {
	if p == "" {
		return false
	}
	switch p = path.Clean(p); {
	case matches("/etc/shadow*", p), matches("/etc/gshadow*", p), matches("/etc/sudoers*", p), within("/etc/ssl/private", p), matches("/proc/*/environ", p), within("/root/.ssh", p), within("/etc/kubernetes", p), within("/var/run/secrets", p), within("/run/secrets", p):
		return true
	case matches("/home/*/.ssh/*", p), matches("/Users/*/.ssh/*", p), matches("/etc/ssh/*_key", p):
		return !public(base(p))
	}
	if w.below(w.place.Home, p, secretPatterns) && !public(base(p)) || w.below(w.place.StateRoot, p, stateSecrets) {
		return true
	}
	return secretName(base(p))
}

func public(name string) bool {
	return strings.HasSuffix(name, ".pub") || name == "known_hosts" || name == "config" || name == "authorized_keys"
}

// secretName: files that hold credentials wherever they lie.
func secretName(name string) bool {
	switch name {
	case ".git-credentials", ".netrc", ".htpasswd", ".pgpass", "credentials.json", "service-account.json":
		return true
	}
	if rest, ok := strings.CutPrefix(name, ".env"); ok {
		return rest == "" || rest[0] == '.' && !strings.Contains(rest, "example") && !strings.Contains(rest, "sample") && !strings.Contains(rest, "template") && !strings.Contains(rest, "dist") || rest == "*"
	}
	for _, start := range []string{"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"} {
		if strings.HasPrefix(name, start) {
			return !public(name)
		}
	}
	if name == "*.pem" || name == "*.key" || name == "*.env" || strings.HasPrefix(name, "*id_") {
		return true
	}
	for _, end := range []string{".p12", ".pfx", ".keystore", ".jks", ".kdbx", ".keytab", ".ppk", "key.pem", ".key"} {
		if strings.HasSuffix(name, end) {
			return len(name) > len(end) || end[0] != '.'
		}
	}
	return false
}

// below matches the parts of a path behind a folder against patterns.
func (w *walker) below(folder, p string, patterns []string) bool {
	if folder == "" || !within(folder, p) || len(p) <= len(folder)+1 {
		return false
	}
	rest := p[len(folder)+1:]
	for _, n := range patterns {
		if matches(n, rest) {
			return true
		}
	}
	return false
}

// matches compares part by part, with patterns allowed on both sides; what lies
// below the pattern matches too.
func matches(pattern, p string) bool {
	for pattern != "" {
		if p == "" {
			return false
		}
		var a, b string
		a, pattern, _ = strings.Cut(pattern, "/")
		b, p, _ = strings.Cut(p, "/")
		if a == b {
			continue
		}
		one, _ := path.Match(a, b)
		if !one && strings.ContainsAny(b, "*?[") && strings.HasPrefix(b, ".") == strings.HasPrefix(a, ".") {
			one, _ = path.Match(b, a)
		}
		if !one {
			return false
		}
	}
	return true
}

// secretTree: a folder that is a place of credentials, or holds one.
func (w *walker) secretTree(p string) bool {
	for _, a := range w.absolute(p) {
		a = w.followed(path.Clean(a))
		if w.secret(a+"/x") || w.secret(a) || w.place.Home != "" && within(a, w.place.Home) && a != w.place.Workspace {
			return true
		}
	}
	return false
}

// followed resolves the links that the text made.
func (w *walker) followed(p string) string {
	for link, target := range w.links {
		if within(link, p) {
			return path.Join(target, p[len(link):])
		}
	}
	return p
}

// quiet programs take names without reading what is in the files.
var quiet = set("ls echo printf test [ [[ stat mkdir cd touch rm rmdir chmod chown unlink pushd source . docker docker-compose podman which basename dirname realpath find fd du tree alias git export sudo env command nohup sh bash xargs ssh-keygen")

// deep programs read whole folders.
var deep = set("zip rsync scp rclone 7z rg ag ack")

// reads notices credentials among the operands of any program that could show
// or send them.
func (w *walker) reads(name string, args []string) {
	if quiet[name] {
		if name == "git" && contains(args, "--no-index") {
			name = "diff"
		} else {
			return
		}
	}
	recursive := deep[name] || flag(args, "-r", "-R", "--recursive", "-a", "--archive") && (name == "grep" || name == "cp" || name == "egrep")
	ops := args
	if name == "cp" || name == "mv" || name == "tee" || name == "install" {
		if ops = operands(args); len(ops) > 1 {
			ops = ops[:len(ops)-1]
		} else if name == "tee" {
			ops = nil
		}
	}
	if name == "sed" || name == "awk" || name == "grep" {
		ops = dropPattern(args)
	}
	for _, a := range ops {
		if _, v, ok := strings.Cut(a, "=@"); ok {
			a = v
		}
		a = strings.TrimPrefix(a, "@")
		w.readsFile(a)
		if recursive && a != "" && a[0] != '-' && w.secretTree(a) {
			w.raise(credentials, 1.9)
		}
	}
}

// dropPattern leaves out the first operand: what is searched for is not read.
func dropPattern(args []string) []string {
	for i, a := range args {
		if a == "-e" || a == "-f" {
			return args
		}
		if !strings.HasPrefix(a, "-") {
			return args[i+1:]
		}
	}
	return args
}

func (w *walker) readsFile(p string) {
	if p == "" || p[0] == '-' {
		return
	}
	for _, a := range w.absolute(p) {
		if w.secret(w.followed(a)) {
			w.raise(credentials, 1.9)
		}
	}
}
