package tool

import (
	"context"
	"errors"
	"io/fs"

	"magicode/internal/vfs"
)

// MaxCheckpoint bounds a file whose content is kept for a rewind, in bytes:
// storage.md 5.9.
const MaxCheckpoint = 1 << 20

// Edits keeps what an edit replaced, so that a rewind can bring it back.
type Edits interface {
	// Record is called once an edit is in place, under the lock of its file. It
	// returns soon, also after ctx ends. An edit that cannot be recorded stands
	// all the same: whoever records tells the user, the tool has nothing to do.
	Record(ctx context.Context, e Edit)
}

// Edit is one file that was changed, made or removed.
type Edit struct {
	Tool          string // as ledgers spell it: write_file or edit
	Path          string // canonical
	Before, After Version
}

// Version is a file's content at one moment. The zero value is an absent file.
type Version struct {
	Exists bool
	Data   []byte // all of it, at most MaxCheckpoint bytes; else see Size and Unread
	Size   int64  // bytes, also where Data is left out for its size
	Unread string // why the content is not known; "" when it is
}

// Present is the version of a file that holds data.
func Present(data []byte) Version {
	if len(data) > MaxCheckpoint {
		return Version{Exists: true, Size: int64(len(data))}
	}
	return Version{Exists: true, Data: data, Size: int64(len(data))}
}

// Kept reports whether the content is known and small enough to be kept.
func (v Version) Kept() bool { return v.Unread == "" && v.Size <= MaxCheckpoint }

// version reads what is at name, which starts at an anchor. It never fails: what
// it cannot read is a version as well.
func version(fsys vfs.FS, name string) Version {
	data, info, err := vfs.ReadFileInfo(fsys, name, MaxCheckpoint)
	switch {
	case err == nil:
		return Present(data)
	case errors.Is(err, fs.ErrNotExist):
		return Version{}
	case errors.Is(err, vfs.ErrTooLarge):
		return Version{Exists: true, Size: max(info.Size, MaxCheckpoint+1)}
	}
	return Version{Exists: true, Unread: "the content before the edit could not be read"}
}
