package app

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"time"

	"magicode/internal/agent"
	"magicode/internal/config"
	"magicode/internal/redact"
	"magicode/internal/startup"
	"magicode/internal/vfs"
)

// readNote reads what the last start that failed has left (decision 35).
func readNote(fsys vfs.FS, p config.Paths) (n startup.Note, ok bool) {
	data, err := vfs.ReadFile(fsys, startup.NotePath(p), 64<<10)
	if err != nil || json.Unmarshal(data, &n) != nil {
		return startup.Note{}, false
	}
	return n, true
}

// placeOf words a note as FILE:LINE: KEY: REASON, as far as it knows them. The
// file may be another program's, so its texts are made fit to be shown.
func placeOf(n startup.Note) string {
	var parts []string
	file := n.File
	if file != "" && n.Line > 0 {
		file += ":" + strconv.Itoa(n.Line)
	}
	for _, s := range []string{file, n.Key, n.Reason} {
		if s != "" {
			parts = append(parts, redact.Display(s))
		}
	}
	return strings.Join(parts, ": ")
}

// whyNotStarted is what a start that failed with this code, not before began,
// has left about itself; "" when nothing is found.
func whyNotStarted(code string, began time.Time) string {
	fsys := vfs.OS()
	dir, err := agent.WorkingDir(fsys)
	if err != nil {
		return ""
	}
	paths, _, err := config.ResolveRoot(config.Env{FS: fsys, Lookup: os.LookupEnv, CWD: dir, PID: os.Getpid(), UID: os.Geteuid(), PasswordHome: agent.PasswordHome})
	if err != nil {
		return err.Error()
	}
	n, ok := readNote(fsys, paths)
	at, err := time.Parse(time.RFC3339, n.Time)
	if !ok || err != nil || n.Code != code || at.Before(began.Truncate(time.Second)) {
		// A home that cannot be written to has no note of it either.
		return homeTrouble(fsys, paths)
	}
	return placeOf(n)
}
