// Package rawfile is how telemetry touches the file system: folders judged
// after they are open, new files that no link, FIFO or device can stand in for,
// replacement by rename, and locks that die with the process (telemetry.md 8.3).
// Descriptors are raw, so that nothing is registered with the runtime's poller.
package rawfile

// Trouble is why something cannot be used: a problem code of telemetry.md 2.4.
type Trouble string

func (t Trouble) Error() string { return string(t) }

// Troubles.
const (
	DirMissing Trouble = "dir_missing"
	DirUnsafe  Trouble = "dir_unsafe"
	DirOwner   Trouble = "dir_owner"
	DirNetwork Trouble = "dir_network"
	FileOpen   Trouble = "file_open"
	FileIO     Trouble = "file_io"
	DiskFull   Trouble = "disk_full"
	Locked     Trouble = "prom_locked"
)

// FreeBytes must be free where something is to be written.
const FreeBytes = 64 << 20

// Access says who else may write to a folder.
type Access uint8

// Accesses.
const (
	OwnerOnly Access = iota
	GroupToo
	// Anyone is for a file of a few hundred bytes in which nothing is secret: its
	// folder may be on a full disk, too.
	Anyone
)
