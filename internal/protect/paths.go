package protect

import (
	"path/filepath"
	"slices"
	"strings"
)

// zone says where a path lies.
type zone uint8

const (
	zoneInside    zone = iota // below the workspace
	zoneWorkspace             // the workspace itself, or all that is in it
	zoneScratch               // temporary folders
	zoneNull                  // /dev/null and the like
	zoneDevice
	zoneStartup // files that run by themselves later, and this program's own state
	zoneOutside
	zoneUnknown
)

// zoneOf places a path that a command names.
func (w *walker) zoneOf(p string) zone {
	if strings.HasPrefix(p, "$") || p == "" {
		return zoneUnknown
	}
	if !filepath.IsAbs(p) {
		if w.dir == "" {
			return zoneUnknown
		}
		p = w.dir + "/" + p
	}
	p = filepath.Clean(p)
	switch {
	case slices.Contains([]string{"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/stdin"}, p), strings.HasPrefix(p, "/dev/fd/"):
		return zoneNull
	case strings.HasPrefix(p, "/dev/"):
		return zoneDevice
	case w.isStartup(p):
		return zoneStartup
	case strings.Contains(p, "/$") || strings.Contains(p, "$"):
		return w.partlyKnown(p)
	case p == w.place.Workspace, p == filepath.Join(w.place.Workspace, "*"):
		return zoneWorkspace
	case within(w.place.Workspace, p):
		return zoneInside
	case w.place.Home != "" && (within(w.place.Home, p) || within(p, w.place.Home)), within(p, w.place.Workspace):
		return zoneOutside // also where a home lies below a temporary folder
	case within("/tmp", p) && p != "/tmp", within("/var/tmp", p) && p != "/var/tmp":
		return zoneScratch
	}
	return zoneOutside
}

// partlyKnown: only its beginning is known; below the workspace a part without
// parent components stays there.
func (w *walker) partlyKnown(p string) zone {
	head, _, _ := strings.Cut(p, "$")
	if strings.HasSuffix(head, "/") && within(w.place.Workspace, head) && strings.TrimSuffix(head, "/") != w.place.Workspace {
		return zoneInside
	}
	return zoneUnknown
}

// within reports whether p is dir or below it.
func within(dir, p string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return p == dir || strings.HasPrefix(p, dir+"/")
}

// startupNames run by themselves, later and elsewhere.
var startupNames = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zprofile", ".zshenv", ".zlogin", ".kshrc", ".inputrc",
	".gitconfig", ".npmrc", ".pypirc", ".vimrc", ".ssh/authorized_keys", ".ssh/config", ".config/autostart", ".config/systemd", ".config/fish",
	"Library/LaunchAgents", ".local/share/applications", ".pam_environment", ".xprofile", ".xinitrc",
}

func (w *walker) isStartup(p string) bool {
	if w.place.StateRoot != "" && within(w.place.StateRoot, p) {
		return true
	}
	for _, n := range startupNames {
		if w.place.Home != "" && within(filepath.Join(w.place.Home, n), p) {
			return true
		}
	}
	for _, dir := range []string{"/etc", "/Library/LaunchDaemons", "/Library/LaunchAgents", "/usr/lib/systemd", "/lib/systemd", "/var/spool/cron"} {
		if within(dir, p) {
			return true
		}
	}
	return strings.Contains(p, "/.git/hooks/") || strings.HasSuffix(p, "/.git/config") || strings.Contains(p, "/.git/info/attributes")
}

// allInside reports whether every path lies in the workspace; none at all is
// the working directory.
func (w *walker) allInside(paths []string) bool {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, p := range paths {
		if z := w.zoneOf(p); z != zoneInside && z != zoneWorkspace && z != zoneScratch {
			return false
		}
	}
	return true
}

// secretNames are files whose content is a credential.
var secretNames = []string{
	".ssh/id_", ".ssh/identity", ".aws/credentials", ".netrc", ".git-credentials", ".docker/config.json", ".kube/config", ".gnupg/", ".npmrc", ".pypirc",
	".config/gcloud", ".config/gh/hosts", ".azure/", ".password-store", ".config/op/", "auth.json", "mcp-tokens/", ".pgpass", ".my.cnf", ".boto", ".vault-token",
	"Library/Keychains", ".mozilla/", ".config/google-chrome", ".bash_history", ".zsh_history",
}

// secret reports whether a path is a place of credentials.
func (w *walker) secret(p string) bool {
	if slices.Contains([]string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers"}, p) || strings.HasPrefix(p, "/proc/") && strings.HasSuffix(p, "/environ") {
		return true
	}
	for _, n := range secretNames {
		if w.place.Home != "" && strings.HasPrefix(p, w.place.Home+"/"+n) || w.place.StateRoot != "" && strings.HasPrefix(p, w.place.StateRoot+"/"+n) {
			return true
		}
	}
	name := filepath.Base(p)
	return strings.HasPrefix(name, "id_rsa") || strings.HasPrefix(name, "id_ed25519") || strings.HasPrefix(name, "id_ecdsa") ||
		strings.HasSuffix(name, ".pem") && strings.Contains(name, "key") || name == ".git-credentials" || name == ".netrc"
}
