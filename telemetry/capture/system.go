package capture

import "magicode/telemetry/rawfile"

// system is what a capture asks of the operating system. Tests put faults in
// its way. Descriptors are raw; errors are troubles.
type system interface {
	openDir(path string, create bool) (int, error)
	create(dir int, name string) (int, error)
	append(fd int, p []byte) error
	truncate(fd int, size int64) error
	free(dir int) int64
	hold(dir int) bool
	release(dir int)
	share(fd int)
	inUse(dir int, name string) bool
	list(dir int) []string
	own(dir int, name string) (int64, bool)
	remove(dir int, name string)
	close(fd int)
}

type realSystem struct{}

func (realSystem) openDir(path string, create bool) (int, error) {
	return rawfile.OpenDir(path, create, rawfile.OwnerOnly)
}
func (realSystem) create(dir int, name string) (int, error) { return rawfile.Create(dir, name, 0o600) }
func (realSystem) append(fd int, p []byte) error            { return rawfile.Append(fd, p) }
func (realSystem) truncate(fd int, size int64) error        { return rawfile.Truncate(fd, size) }
func (realSystem) free(dir int) int64                       { return rawfile.Free(dir) }
func (realSystem) hold(dir int) bool                        { return rawfile.Hold(dir) }
func (realSystem) release(dir int)                          { rawfile.Release(dir) }
func (realSystem) share(fd int)                             { rawfile.Share(fd) }
func (realSystem) inUse(dir int, name string) bool          { return rawfile.InUse(dir, name) }
func (realSystem) list(dir int) []string                    { return rawfile.List(dir) }
func (realSystem) own(dir int, name string) (int64, bool)   { return rawfile.Own(dir, name) }
func (realSystem) remove(dir int, name string)              { rawfile.Remove(dir, name) }
func (realSystem) close(fd int)                             { rawfile.Close(fd) }
