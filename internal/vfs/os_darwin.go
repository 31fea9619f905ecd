package vfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// syncData flushes the drive's cache too (os.File.Sync uses F_FULLFSYNC there).
func syncData(f *os.File) error {
	err := f.Sync()
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

func statTimes(st *syscall.Stat_t) (mtime, ctime time.Time) {
	return time.Unix(st.Mtimespec.Sec, st.Mtimespec.Nsec), time.Unix(st.Ctimespec.Sec, st.Ctimespec.Nsec)
}
