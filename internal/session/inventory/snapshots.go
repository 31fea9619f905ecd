package inventory

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"magicode/internal/lease"
	"magicode/internal/vfs"
)

// maxLedger is the most that is read of a ledger, which has a few hundred bytes
// for every edit. With a larger one no snapshot is dropped.
const maxLedger = 64 << 20

// shaHex is the length of a snapshot's name, a SHA-256 in hex (storage.md 5.9).
const shaHex = 64

// dropSnapshots removes the ledgers of sessions that are gone, and then the file
// snapshots that no ledger names. It holds the lock under which snapshots and
// ledger records are published together.
func (h Home) dropSnapshots(ctx context.Context, gone []string) (blobs int, err error) {
	if _, err := h.FS.Lstat(h.ledgers()); err != nil || len(gone) == 0 {
		return 0, nil // there are none
	}
	if _, err := h.entries(h.ledgers()); err != nil {
		return 0, err
	}
	// storage.md 5.9 says "in the root"; whether that is the home or the folder
	// of the snapshots is settled by taking both.
	for _, dir := range []string{h.Root, filepath.Dir(h.ledgers())} {
		l, err := h.Leases.Acquire(ctx, filepath.Join(dir, "checkpoint-store"), lease.MaxWait)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, l.Release()) }()
	}
	for _, id := range gone {
		if h.exists(h.log(id)) || h.exists(h.tasks().log(id)) {
			continue
		}
		if err := h.remove(filepath.Join(h.ledgers(), id+logSuffix)); err != nil {
			return 0, err
		}
	}
	return h.dropBlobs()
}

func (h Home) exists(path string) bool {
	_, err := h.FS.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func (h Home) dropBlobs() (dropped int, err error) {
	list, err := h.entries(h.blobs())
	if err != nil || len(list) == 0 {
		return 0, err
	}
	named, err := h.named()
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		name := e.Name()
		if len(name) != shaHex || hexRun(name) != shaHex || named[name] || !e.Type().IsRegular() {
			continue
		}
		if err := h.remove(filepath.Join(h.blobs(), name)); err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}

// named collects everything in the ledgers that may be a snapshot's name,
// whatever the record around it says: a record that this version cannot read
// must not cost a snapshot.
func (h Home) named() (map[string]bool, error) {
	ledgers, err := h.FS.ReadDir(h.ledgers()) // not entries: a folder that went names nothing, and is no reason to drop all
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, e := range ledgers {
		if e.IsDir() || e.Name()[0] == '.' {
			continue // a lock
		}
		data, err := vfs.ReadFile(h.FS, filepath.Join(h.ledgers(), e.Name()), maxLedger)
		if err != nil {
			return nil, err
		}
		for rest := string(data); rest != ""; {
			n := hexRun(rest)
			if n == shaHex {
				named[rest[:n]] = true
			}
			rest = rest[max(n, 1):]
		}
	}
	return named, nil
}

// hexRun is how many lower-case hex digits s begins with.
func hexRun(s string) int {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return i
		}
	}
	return len(s)
}
