package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"magicode/internal/auth"
	"magicode/internal/config"
	"magicode/internal/lease"
	"magicode/internal/profile"
	"magicode/internal/provider/claude"
	"magicode/internal/startup"
	"magicode/internal/vfs"
)

// doctorCmd checks what a child would start with. It changes nothing.
type doctorCmd struct{}

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
}

func (d *doctor) say(v verdict, what, format string, args ...any) {
	d.worst = max(d.worst, v)
	mark := [...]string{"ok  ", "note", "BAD "}[v]
	fmt.Fprintf(d.out, "%s  %-12s %s\n", mark, what, fmt.Sprintf(format, args...))
}

// runDoctor returns 1 when a child would not start.
func runDoctor(stdout *os.File) int {
	d := &doctor{out: stdout, fs: vfs.OS(), lookup: lookupIn(os.Environ())}
	d.check()
	if d.worst == bad {
		return exitError
	}
	return exitOK
}

func (d *doctor) check() {
	dir, err := workingDir(d.fs)
	if err != nil {
		d.say(bad, "folder", "the working directory cannot be resolved: %v", err)
		return
	}
	paths, _, err := config.ResolveRoot(config.Env{FS: d.fs, Lookup: d.lookup, CWD: dir, PID: os.Getpid(), UID: os.Geteuid(), PasswordHome: passwordHome})
	if err != nil {
		d.say(bad, "home", "%v", err)
		return
	}
	d.home(paths)
	d.lastStartup(paths)
	settings, ok := d.settings(dir, paths)
	if !ok {
		return
	}
	d.files(paths, settings)
	d.provider(paths, settings)
	d.locks(paths)
	d.say(good, "hosts", "start 'magi-code serve --stdio' over two pipes; from Node, whose spawn makes sockets: bash -c '%s' /path/to/magi-code", NodeLaunch)
}

// NodeLaunch is the shell script that becomes serve with two pipes where a host
// can only give sockets. $0 is this program. The README shows the same.
const NodeLaunch = `exec 3<&0 4>&1; exec "$0" serve --stdio < <(exec cat <&3 3<&- 4>&-) > >(exec cat >&4 3<&- 4>&-) 3<&- 4>&-`

func (d *doctor) home(p config.Paths) {
	info, err := d.fs.Stat(p.Root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.say(noted, "home", "%s does not exist yet; the first start makes it", p.Root)
		return
	case err != nil || !info.Mode.IsDir():
		d.say(bad, "home", "%s is no usable folder", p.Root)
		return
	}
	d.say(good, "home", "%s", p.Root)
	if _, err := d.fs.Lstat(p.Sessions()); err == nil {
		if err := config.CheckSessions(d.fs, p.Sessions(), os.Geteuid()); err != nil {
			d.say(bad, "sessions", "%v; it must be your own folder with mode 0700: chmod 700 %s", err, p.Sessions())
		} else {
			d.say(good, "sessions", "%s is private", p.Sessions())
		}
	}
}

// lastStartup shows the note that a failed start has left (decision 35).
func (d *doctor) lastStartup(p config.Paths) {
	data, err := vfs.ReadFile(d.fs, startup.NotePath(p), 64<<10)
	if err != nil {
		return
	}
	var note map[string]any
	if json.Unmarshal(data, &note) != nil {
		return
	}
	var parts []string
	for _, key := range []string{"time", "code", "stage", "file", "key", "line"} {
		if v, ok := note[key]; ok && v != nil && v != "" {
			parts = append(parts, fmt.Sprintf("%s %v", key, v))
		}
	}
	d.say(noted, "last failure", "%s", strings.Join(parts, ", "))
}

// settings loads them as a child would, but reads only: a missing file is fine.
func (d *doctor) settings(dir string, p config.Paths) (s *config.Settings, ok bool) {
	if _, err := d.fs.Lstat(p.Settings()); errors.Is(err, fs.ErrNotExist) {
		d.say(noted, "settings", "there is no settings file: the defaults are used")
		return new(config.Settings), true
	}
	leases := lease.New(lease.Options{FS: d.fs})
	loaded, err := config.Load(context.Background(), config.Env{
		FS: d.fs, Lookup: d.lookup, CWD: dir, PID: os.Getpid(), UID: os.Geteuid(), PasswordHome: passwordHome,
		Lock: func(ctx context.Context, target string, wait time.Duration) (func() error, error) {
			l, err := leases.Acquire(ctx, target, min(wait, time.Second))
			if err != nil {
				return nil, err
			}
			return l.Release, nil
		},
	})
	if err != nil {
		d.say(bad, "settings", "%v", err)
		return nil, false
	}
	d.say(good, "settings", "%s is valid; approvals ask at level %s", p.Settings(), loaded.Settings.Capabilities.Approvals.Level)
	for _, ignored := range loaded.Ignored {
		d.say(noted, "settings", "safe mode ignores the project's %s", ignored)
	}
	for _, server := range loaded.MCP.Servers {
		if !server.Bound {
			d.say(noted, "MCP", "server %s is approved by its file and name: it keeps the approval when %s is edited", server.Name, server.Source)
		}
	}
	for _, held := range loaded.MCP.Held {
		d.say(noted, "MCP", "server %s is not started: %s", held.Name, held.Why)
	}
	return loaded.Settings, true
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

func (d *doctor) provider(p config.Paths, s *config.Settings) {
	id := "openai-codex"
	if s.Agent.Model.Provider != nil {
		id = *s.Agent.Model.Provider
	}
	if def, ok := s.Providers.Custom[id]; ok {
		if _, ready := auth.CustomKey(d.lookup, def.KeyVariable); !ready {
			d.say(bad, "provider", "%s needs the variable %s, which is not set", id, def.KeyVariable)
			return
		}
		d.say(good, "provider", "%s at %s", id, def.BaseURL)
		return
	}
	if id == claude.ID {
		d.claude(p)
		return
	}
	store := auth.NewStore(d.fs, p.Auth(), unlocked, time.Now)
	file, err := store.Read(context.Background())
	if err != nil {
		d.say(bad, "credentials", "%v", err)
		return
	}
	if file.Ready(id, d.lookup, time.Now()) == auth.Missing {
		d.say(bad, "provider", "%s has no usable credential; name another provider in agent.model.provider (see the README)", id)
		return
	}
	d.say(good, "provider", "%s has a credential", id)
}

// claude asks the claude command for its login, as a start does.
func (d *doctor) claude(p config.Paths) {
	c := &claude.Command{FS: d.fs, Lookup: d.lookup, Environ: os.Environ(), Home: p.Home}
	path, found := c.Path()
	switch {
	case auth.ClaudeConflict(d.lookup) != "":
		d.say(bad, "provider", "the variable %s would override the login of the claude command; unset it", auth.ClaudeConflict(d.lookup))
	case !found:
		d.say(bad, "provider", "claude-subscription needs the claude command, which is not installed")
	case !c.Ready(context.Background()):
		d.say(bad, "provider", "%s is not logged in to a subscription: run 'claude auth login'", path)
	default:
		d.say(good, "provider", "claude-subscription through %s", path)
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
