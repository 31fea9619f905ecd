package rawfile

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRemote: what hangs with a network or with a user's program is told from a
// disk, also where the kernel's number has its highest bit set.
func TestRemote(t *testing.T) {
	for name, c := range map[string]struct {
		magic  uint32
		remote bool
	}{
		"ext4": {unix.EXT4_SUPER_MAGIC, false}, "xfs": {unix.XFS_SUPER_MAGIC, false}, "btrfs": {unix.BTRFS_SUPER_MAGIC, false},
		"tmpfs": {unix.TMPFS_MAGIC, false}, "overlay": {unix.OVERLAYFS_SUPER_MAGIC, false},
		"NFS": {unix.NFS_SUPER_MAGIC, true}, "SMB": {unix.SMB_SUPER_MAGIC, true}, "CIFS": {unix.CIFS_SUPER_MAGIC, true}, "SMB2": {unix.SMB2_SUPER_MAGIC, true},
		"FUSE": {unix.FUSE_SUPER_MAGIC, true}, "9P": {unix.V9FS_MAGIC, true}, "AFS": {unix.AFS_FS_MAGIC, true}, "Ceph": {unix.CEPH_SUPER_MAGIC, true}, "Coda": {unix.CODA_SUPER_MAGIC, true},
	} {
		var fs unix.Statfs_t
		fs.Type = signed(fs.Type, c.magic)
		fs.Bsize, fs.Bavail = 4096, 2*FreeBytes/4096
		for _, access := range []Access{OwnerOnly, GroupToo, Anyone} {
			if err := safeDisk(&fs, access); (err == DirNetwork) != c.remote || err != nil && err != DirNetwork {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestNoRoom: a folder where nothing is free is for nothing but a status.
func TestNoRoom(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("that folder is the superuser's")
	}
	for access, want := range map[Access]error{OwnerOnly: DiskFull, GroupToo: DiskFull, Anyone: nil} {
		fd, err := OpenDir("/proc", false, access)
		if err != want {
			t.Errorf("%d: %v", access, err)
		}
		if err == nil {
			Close(fd)
		}
	}
}

// signed is a number in the width that the kernel's has here.
func signed[T ~int32 | ~int64 | ~uint32](_ T, magic uint32) T { return T(int32(magic)) }
