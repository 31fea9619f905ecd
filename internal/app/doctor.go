package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"magicode/internal/agent"
	"magicode/internal/config"
	"magicode/internal/profile"
	"magicode/internal/session/inventory"
	"magicode/internal/vfs"
)

// doctorCmd checks what a child would start with. It changes nothing.
type doctorCmd struct {
	Hosts bool `help:"Also show how a host starts a child, from Node too."`
}

// verdict of one check.
type verdict uint8

const (
	good verdict = iota
	noted
	bad
)

// doctor collects findings.
type doctor struct {
	out    io.Writer
	fs     vfs.FS
	lookup func(string) (string, bool)
	worst  verdict
	hosts  bool
}

func (d *doctor) say(v verdict, what, format string, args ...any) {
	d.worst = max(d.worst, v)
	mark := [...]string{"ok  ", "note", "BAD "}[v]
	fmt.Fprintf(d.out, "%s  %-12s %s\n", mark, what, fmt.Sprintf(format, args...))
}

// more prints lines that belong to the last finding.
func (d *doctor) more(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(d.out, "%19s%s\n", "", strings.TrimRight(line, "\n"))
	}
}

// runDoctor returns 1 when a child would not start.
func runDoctor(c doctorCmd, stdout *os.File) int {
	d := &doctor{hosts: c.Hosts, out: stdout, fs: vfs.OS(), lookup: agent.LookupIn(os.Environ())}
	d.check()
	if d.worst == bad {
		return exitError
	}
	return exitOK
}

func (d *doctor) check() {
	dir, err := agent.WorkingDir(d.fs)
	if err != nil {
		d.say(bad, "folder", "the working directory cannot be resolved: %v", err)
		return
	}
	paths, _, err := config.ResolveRoot(config.Env{FS: d.fs, Lookup: d.lookup, CWD: dir, PID: os.Getpid(), UID: os.Geteuid(), PasswordHome: agent.PasswordHome})
	if err != nil {
		d.say(bad, "home", "%v", err)
		return
	}
	d.home(paths)
	d.lastStartup(paths)
	d.telemetry(paths)
	settings, ok := d.settings(dir, paths)
	if !ok {
		return
	}
	d.files(paths, settings)
	d.provider(paths, settings)
	d.locks(paths)
	if d.hosts {
		d.say(good, "hosts", "start 'magi-code serve --stdio' over two pipes; from Node, whose spawn makes sockets: bash -c '%s' /path/to/magi-code", NodeLaunch)
	}
}

// NodeLaunch is the shell script that becomes serve with two pipes where a host
// can only give sockets. $0 is this program. The README shows the same.
const NodeLaunch = `exec 3<&0 4>&1; exec "$0" serve --stdio < <(exec cat <&3 3<&- 4>&-) > >(exec cat >&4 3<&- 4>&-) 3<&- 4>&-`

func (d *doctor) home(p config.Paths) {
	info, err := d.fs.Stat(p.Root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if trouble := homeTrouble(d.fs, p); trouble != "" {
			d.say(bad, "home", "%s", trouble)
			return
		}
		d.say(noted, "home", "%s does not exist yet; the first start makes it", p.Root)
		return
	case err != nil || !info.Mode.IsDir():
		d.say(bad, "home", "%s is no usable folder", p.Root)
		return
	}
	if trouble := homeTrouble(d.fs, p); trouble != "" {
		d.say(bad, "home", "%s", trouble)
	} else {
		d.say(good, "home", "%s", p.Root)
	}
	if _, err := d.fs.Lstat(p.Sessions()); err == nil {
		if err := config.CheckSessions(d.fs, p.Sessions(), os.Geteuid()); err != nil {
			d.say(bad, "sessions", "%v; it must be your own folder with mode 0700: 'magi-code sessions repair-permissions' sets it right", err)
		} else {
			d.say(good, "sessions", "%s is private", p.Sessions())
			d.modes(p)
		}
	}
}

// modes names the files of sessions that no child would open.
func (d *doctor) modes(p config.Paths) {
	home := inventory.Home{FS: d.fs, Root: p.Root, UID: os.Geteuid()}
	open, err := home.RepairPermissions(true)
	var layout *inventory.LayoutError
	switch {
	case errors.As(err, &layout):
		d.say(noted, "sessions", "what is in the folder is not all known, so 'magi-code sessions repair-permissions' would change nothing: %s", strings.Join(layout.Found, "; "))
	case err != nil:
		d.say(noted, "sessions", "the folder cannot be looked through: %v", err)
	case len(open) > 0:
		d.say(noted, "sessions", "files are open to others, so that their sessions do not open (%d): 'magi-code sessions repair-permissions' closes them", len(open))
	}
}

// settings reads them as a child would, but changes nothing: a missing file is fine.
func (d *doctor) settings(dir string, p config.Paths) (s *config.Settings, ok bool) {
	loaded, err := config.Look(config.Env{FS: d.fs, Lookup: d.lookup, CWD: dir, PID: os.Getpid(), UID: os.Geteuid(), PasswordHome: agent.PasswordHome})
	if err != nil {
		d.say(bad, "settings", "%v", err)
		return nil, false
	}
	if _, err := d.fs.Lstat(p.Settings()); errors.Is(err, fs.ErrNotExist) {
		d.say(noted, "settings", "there is no settings file: the defaults are used")
	} else {
		d.say(good, "settings", "%s is valid; approvals ask at level %s", p.Settings(), loaded.Settings.Capabilities.Approvals.Level)
	}
	if loaded.Project {
		d.say(good, "settings", "%s counts too; it cannot loosen approvals", p.ProjectSettings())
	}
	d.unknown(loaded)
	d.telemetrySettings(p, loaded)
	d.judgement(loaded.Settings)
	d.languageServers(loaded.Settings)
	for _, ignored := range loaded.Ignored {
		d.say(noted, "settings", "safe mode ignores the project's %s", ignored)
	}
	d.servers(loaded.MCP)
	return loaded.Settings, true
}

func (d *doctor) servers(m config.MCP) {
	var names []string
	for _, server := range m.Servers {
		names = append(names, server.Name)
		if !server.Bound {
			d.say(noted, "MCP", "server %s is approved by its file and name: it keeps the approval when %s is edited", server.Name, server.Source)
		}
	}
	if len(names) > 0 {
		d.say(good, "MCP", "every start runs %s, and fails while one does not come up: 'magi-code mcp test' tries them", strings.Join(names, ", "))
	}
	for _, held := range m.Held {
		d.say(noted, "MCP", "server %s is not started: %s", held.Name, held.Why)
	}
}

func (d *doctor) files(p config.Paths, s *config.Settings) {
	if _, err := profile.ReadInstructions(d.fs, p.Root, p.CWD, s.Knowledge.MarkdownPaths); err != nil {
		d.say(bad, "instructions", "%v", err)
	}
	if _, err := profile.ReadFragments(d.fs, p.Root); err != nil {
		d.say(bad, "prompts", "%v", err)
	}
	if _, err := profile.ReadSubagents(d.fs, p.Root, s.Agent.Subagents.Disabled); err != nil {
		d.say(bad, "profiles", "%v", err)
	}
	if _, err := profile.ReadAgent(d.fs, p.Root, s.Agent.PrimaryAgent); err != nil {
		d.say(bad, "profiles", "%v", err)
	}
}

// locks names lock files of sessions that are in use, or were left behind.
func (d *doctor) locks(p config.Paths) {
	entries, err := d.fs.ReadDir(p.Sessions())
	if err != nil {
		return
	}
	var held []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".writer.lock"); ok && strings.HasPrefix(id, ".") {
			held = append(held, strings.TrimPrefix(id, "."))
		}
	}
	if len(held) > 0 {
		d.say(noted, "locks", "%d sessions are in use or were left by a killed program (a start takes those over): %s", len(held), strings.Join(held, ", "))
	}
	if entries, err := d.fs.ReadDir(filepath.Join(p.State(), "recovered")); err == nil && len(entries) > 0 {
		d.say(noted, "recovered", "%d torn pieces of sessions were set aside in %s", len(entries), filepath.Join(p.State(), "recovered"))
	}
}

// unlocked: the doctor reads one file once and must not leave a lock behind.
func unlocked(context.Context, string, time.Duration) (func() error, error) {
	return func() error { return nil }, nil
}
