package inventory

import (
	"path/filepath"
	"strings"

	"magicode/internal/lease"
	"magicode/internal/session"
	"magicode/internal/vfs"
)

// Home is the place whose sessions are looked after.
type Home struct {
	FS     vfs.FS
	Leases *lease.Manager
	Root   string // the home, absolute
	UID    int    // the effective user
	Child  bool   // the logs of delegated tasks instead of the sessions
}

// Suffixes of what belongs to a session (storage.md 5.1, extensions.md 18.3).
const (
	logSuffix     = ".jsonl"
	sidecarSuffix = ".metadata.json"
	psmLog        = ".psm.ndjson"
	psmStatus     = ".psm.status.json"
)

// dir is the folder of the logs.
func (h Home) dir() string {
	if h.Child {
		return filepath.Join(h.sessions(), "subagents")
	}
	return h.sessions()
}

func (h Home) sessions() string { return filepath.Join(h.Root, "sessions") }
func (h Home) tasks() Home      { h.Child = true; return h }

// log is the log of a session; history the folder of its archived ones.
func (h Home) log(id string) string     { return filepath.Join(h.dir(), id+logSuffix) }
func (h Home) history(id string) string { return filepath.Join(h.dir(), ".history", id) }
func (h Home) ledgers() string          { return filepath.Join(h.Root, "checkpoints", "ledgers") }
func (h Home) blobs() string            { return filepath.Join(h.Root, "checkpoints", "blobs") }
func (h Home) recovered() string        { return filepath.Join(h.Root, "state", "recovered") }

// locks are the targets of a session's three lock files, in lock order.
func (h Home) locks(id string) []string {
	at := filepath.Join(h.dir(), id)
	return []string{at + ".writer", at + ".active", at + logSuffix}
}

// idOf takes the session's id out of a name with the suffix.
func idOf(name, suffix string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, suffix)
	return id, ok && session.ValidID(id)
}
