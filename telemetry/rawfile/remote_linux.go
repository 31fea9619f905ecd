package rawfile

import "golang.org/x/sys/unix"

// remote reports file systems whose writes can hang on a network or on a user's
// program: a thread that hangs in one cannot be reaped, not even by exit.
func remote(fs *unix.Statfs_t) bool {
	switch uint32(fs.Type) {
	case 0x6969, // NFS
		0x517b, 0xff534d42, 0xfe534d42, // SMB, CIFS, SMB2
		0x65735546,             // FUSE
		0x73757245,             // Coda
		0x5346414f, 0x6b414653, // AFS
		0x01021997, // 9P
		0x00c36400, // Ceph
		0x0bd00bd0, // Lustre
		0x7461636f, // OCFS2
		0x47504653: // GPFS
		return true
	}
	return false
}
