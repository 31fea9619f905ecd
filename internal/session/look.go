package session

import (
	"context"
	"fmt"
	"time"

	"magicode/internal/vfs"
)

// Look hands every accepted record of a session to the folds without owning it:
// it takes no lock and writes nothing, so another program may be appending. The
// info is what the file was when it was opened. Errors are those of Open,
// ErrBusy and ErrStale excepted.
func (s *Store) Look(ctx context.Context, id string, folds ...Fold) (ReadInfo, vfs.Info, error) {
	if !ValidID(id) {
		return ReadInfo{}, vfs.Info{}, fmt.Errorf("look at session: bad id: %w", ErrInvalid)
	}
	if err := s.checkRoot(); err != nil {
		return ReadInfo{}, vfs.Info{}, fmt.Errorf("look at session: %w", err)
	}
	info, err := s.o.FS.Lstat(s.file(id))
	if err == nil {
		err = safe(info)
	} else {
		err = absent(err)
	}
	if err != nil {
		return ReadInfo{}, info, fmt.Errorf("look at session: %w", err)
	}
	h := s.handle(id)
	p, err := h.passOver(ctx, folds)
	if err != nil {
		return p.info, info, fmt.Errorf("look at session: %w", err)
	}
	return p.info, p.print.stat, nil
}

// CheckFile holds what a stat says of a log or sidecar against storage.md 5.2: a
// regular file of the user's own, with one name, closed to others. Else ErrInvalid.
func CheckFile(info vfs.Info) error { return safe(info) }

// Latest is the instant of LatestActivity; ok is false when there is none.
func (m *Meta) Latest() (at time.Time, ok bool) {
	i, ok := parseTimestamp([]byte(m.LatestActivity))
	return time.Unix(i.sec, int64(i.nano)).UTC(), ok
}

// SaveMeta writes a session's sidecar, without any sync, for others to find:
// it says of the log that it was log when m was folded from all of it. A log
// that changed since makes the sidecar one that every reader ignores.
func SaveMeta(fsys vfs.FS, dir, id string, m Meta, log vfs.Info) error {
	_, err := writeMeta(fsys, dir, id, &m, log.Size, log.Mtime.UnixNano())
	return err
}
