package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"magicode/internal/lease"
	"magicode/internal/tool"
	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const home, work = "/h", "/w"

func newHome(t *testing.T) *memfs.FS {
	t.Helper()
	m := memfs.New()
	for _, dir := range []string{home, home + "/checkpoints", work} {
		if err := m.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.SyncAll()
	return m
}

// place is a store with one run.
type place struct {
	fs   vfs.FS
	rec  *Recorder
	lost []string
	turn int
}

func newPlace(t *testing.T, fsys vfs.FS, root, cwd string) *place {
	t.Helper()
	leases := lease.New(lease.Options{FS: fsys})
	t.Cleanup(func() { _ = leases.Close() })
	p := &place{fs: fsys, turn: 1}
	p.rec = New(Options{FS: fsys, Leases: leases, Root: root}).For(Run{
		Session: "s-1", Cwd: cwd,
		Turn: func(context.Context) (int, error) { return p.turn, nil },
		Lost: func(_ context.Context, reason string) { p.lost = append(p.lost, reason) },
	})
	return p
}

func file(text string) tool.Version { return tool.Present([]byte(text)) }

// entry is a record as a rewind reads it.
type entry struct {
	SessionID    string `json:"session_id"`
	UserTurn     int    `json:"user_turn"`
	Tool         string `json:"tool"`
	Cwd          string `json:"cwd"`
	RelativePath string `json:"relative_path"`
	Pre, Post    *struct {
		SHA256 string `json:"sha256"`
		Bytes  int64  `json:"bytes"`
	}
	Status any `json:"status"`
}

// read parses a ledger as a tolerant reader does: lines that are none are
// skipped and counted.
func read(t *testing.T, fsys vfs.FS, root string) (out []entry, bad int) {
	t.Helper()
	data, err := vfs.ReadFile(fsys, root+"/checkpoints/ledgers/s-1.jsonl", 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range bytes.Split(data, []byte("\n")) {
		var v struct {
			SchemaVersion int   `json:"schema_version"`
			Event         entry `json:"event"`
		}
		switch {
		case len(l) == 0:
		case json.Unmarshal(l, &v) != nil || v.SchemaVersion != 1:
			bad++
		default:
			out = append(out, v.Event)
		}
	}
	return out, bad
}

// content reads what a record names, verified; ok is false when it is not there.
func content(t *testing.T, fsys vfs.FS, root, hash string) (string, bool) {
	t.Helper()
	data, err := vfs.ReadFile(fsys, filepath.Join(root, "checkpoints/blobs", hash), 1<<20, vfs.Private)
	if err != nil {
		return "", false
	}
	sum := sha256.Sum256(data)
	return string(data), hex.EncodeToString(sum[:]) == hash
}
