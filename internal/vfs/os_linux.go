package vfs

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// syncData waits for the data and the size. Times are not waited for: nothing
// here depends on them after a crash.
func syncData(f *os.File) error {
	defer runtime.KeepAlive(f)
	return retry(func() error { return syscall.Fdatasync(int(f.Fd())) })
}

func statTimes(st *syscall.Stat_t) (mtime, ctime time.Time) {
	return time.Unix(int64(st.Mtim.Sec), int64(st.Mtim.Nsec)), time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec))
}
