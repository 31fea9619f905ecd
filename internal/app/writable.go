package app

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"magicode/internal/config"
	"magicode/internal/vfs"
)

// homeTrouble says why a start could not write to a home: its folders, or where
// the home itself would have to be made. "" means that nothing was found.
// Nothing is changed.
func homeTrouble(fsys vfs.FS, p config.Paths) string {
	if _, err := fsys.Stat(p.Root); errors.Is(err, fs.ErrNotExist) {
		above := filepath.Dir(p.Root)
		for above != filepath.Dir(above) {
			if _, err := fsys.Stat(above); !errors.Is(err, fs.ErrNotExist) {
				break
			}
			above = filepath.Dir(above)
		}
		if err := mayWrite(above); err != nil {
			return fmt.Sprintf("%s cannot be made: %s cannot be written to: %v; MC_HOME names another home", p.Root, above, err)
		}
		return ""
	}
	for _, dir := range []string{p.Root, p.State(), p.Sessions()} {
		if err := mayWrite(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("%s cannot be written to: %v; make it yours, or name another home in MC_HOME", dir, err)
		}
	}
	return ""
}
