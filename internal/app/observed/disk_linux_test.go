package observed

import (
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk mounts a file system that is soon full; "" where that is not allowed.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	// A capture is not begun where less than 64 MiB are free.
	if err := unix.Mount("magi-code-test", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=72m,mode=0700"); err != nil {
		t.Logf("no full disk: to mount one is refused: %v", err)
		return ""
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}
