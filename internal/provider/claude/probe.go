package claude

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"magicode/internal/auth"
	"magicode/internal/jsonscan"
	"magicode/internal/proc"
	"magicode/internal/vfs"
)

// Bounds of the probe: providers.md 4.2.
const (
	probeTimeout   = 10 * time.Second
	maxProbeOutput = 8192
	maxProbeErrors = 16 << 10
)

// Command finds the claude command and asks it for its login. It is safe for
// concurrent use.
type Command struct {
	FS      vfs.FS
	Lookup  auth.Lookup
	Environ []string // of the command
	Home    string   // the user's home directory; "" for none
}

// Path is where the command is: the first one in PATH, else the one that its
// own installer makes in the home directory. Relative entries of PATH are
// passed over: what they mean depends on the workspace.
func (c *Command) Path() (path string, ok bool) {
	list, _ := c.Lookup("PATH")
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, "claude")
		if info, err := c.FS.Stat(path); err == nil && info.Mode.IsRegular() && info.Mode&0o111 != 0 {
			return path, true
		}
	}
	if c.Home == "" {
		return "", false
	}
	path = filepath.Join(c.Home, ".local", "bin", "claude")
	info, err := c.FS.Stat(path)
	return path, err == nil && info.Mode.IsRegular()
}

// Ready reports whether the command is logged in to a subscription, and no
// variable would make it use another credential. It starts the command and
// takes at most 10 s.
func (c *Command) Ready(ctx context.Context) bool {
	path, ok := c.Path()
	if !ok || auth.ClaudeConflict(c.Lookup) != "" {
		return false
	}
	res, err := proc.Run(ctx, proc.Spec{Path: path, Args: []string{"auth", "status", "--json"}, Env: c.Environ, Timeout: probeTimeout,
		Stdout: proc.Capture{Limit: maxProbeOutput}, Stderr: proc.Capture{Limit: maxProbeErrors}})
	if err != nil || res.Reason != proc.Exited || res.ExitCode != 0 {
		return false
	}
	v, err := jsonscan.Parse([]byte(strings.TrimSpace(res.Stdout)), jsonscan.Options{AnyNumber: true})
	if err != nil {
		return false
	}
	in, _ := v.Get("loggedIn").Bool()
	return in && v.Get("authMethod").Is("claude.ai")
}
