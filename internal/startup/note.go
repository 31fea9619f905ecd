package startup

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"magicode/internal/auth"
	"magicode/internal/config"
	"magicode/internal/profile"
	"magicode/internal/vfs"
)

// Note is the content of state/last-startup.json: why the last start that
// failed did. It names files, keys and fixed phrases, never a value.
type Note struct {
	Time   string `json:"time"` // RFC 3339, UTC
	Code   string `json:"code"`
	Stage  Stage  `json:"stage"`
	File   string `json:"file,omitempty"`
	Key    string `json:"key,omitempty"`
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// NotePath is where the note is.
func NotePath(p config.Paths) string { return filepath.Join(p.State(), "last-startup.json") }

// codeOf gives the word of the note for a sentinel; "" for a cancelled start.
func codeOf(err error) string {
	for _, c := range [...]struct {
		sentinel error
		code     string
	}{
		{ErrConfiguration, "configuration_invalid"}, {ErrProfile, "profile_invalid"},
		{ErrMCP, "mcp_unavailable"}, {ErrProvider, "provider_unavailable"},
	} {
		if errors.Is(err, c.sentinel) {
			return c.code
		}
	}
	return ""
}

// note writes the file as well as it can: there is nobody to tell if it fails,
// and without a state directory there is no place for it.
func note(env Env, p config.Paths, err error) {
	if p.Root == "" {
		return
	}
	if info, serr := env.FS.Stat(p.State()); serr != nil || !info.Mode.IsDir() {
		return
	}
	n := describe(err, p)
	n.Time = env.Now().UTC().Format(time.RFC3339)
	data, merr := json.MarshalIndent(n, "", "  ")
	if merr != nil {
		return
	}
	_ = vfs.Replace(env.FS, NotePath(p), append(data, '\n'), 0o600)
}

// placed is an MCP server's error, which knows what may be written down of it.
type placed interface {
	error
	Place() (key, reason string)
}

// describe takes what an error says about its place. Texts of causes stay out:
// only the phrases of our own packages are known to be free of values.
func describe(err error, paths config.Paths) Note {
	n := Note{Code: codeOf(err)}
	var f *failure
	if errors.As(err, &f) {
		n.Stage = f.stage
	}
	var c *config.Error
	var p *profile.Error
	var u *unready
	var m placed
	switch {
	case errors.As(err, &c):
		n.File, n.Key, n.Line, n.Reason = c.File, c.Key, c.Line, c.Reason
	case errors.As(err, &p):
		n.File, n.Key, n.Line, n.Reason = p.File, p.Key, p.Line, p.Reason
	case errors.As(err, &u):
		n.Key, n.Reason = u.key, u.reason
	case errors.As(err, &m):
		n.Key, n.Reason = m.Place()
	case n.Stage == StageAuth:
		n.File, n.Reason = paths.Auth(), authReason(err)
	}
	return n
}

func authReason(err error) string {
	switch {
	case errors.Is(err, vfs.ErrNotPrivate):
		return "is open to others"
	case errors.Is(err, vfs.ErrNotRegular):
		return "is not a regular file"
	case errors.Is(err, vfs.ErrTooLarge):
		return "is too large"
	case errors.Is(err, auth.ErrInvalid):
		return "is malformed"
	}
	return "cannot be read"
}
