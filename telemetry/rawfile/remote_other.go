//go:build unix && !linux

package rawfile

import (
	"strings"

	"golang.org/x/sys/unix"
)

// remote reports file systems whose writes can hang on a network or on a user's
// program, by the names that macOS has for them.
func remote(fs *unix.Statfs_t) bool {
	name := strings.ToLower(unix.ByteSliceToString(fs.Fstypename[:]))
	for _, bad := range []string{"nfs", "smbfs", "cifs", "afpfs", "webdav", "fuse", "ftp"} {
		if strings.Contains(name, bad) {
			return true
		}
	}
	return false
}
