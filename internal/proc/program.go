package proc

import (
	"os"
	"path/filepath"
	"strings"
)

// Program finds a command without a slash in the PATH that its child is given,
// which may be another than ours. Relative entries count from dir; an empty one
// does not count. What is not found is returned as it is, for Start to refuse.
func Program(command, path, dir string) string {
	if strings.ContainsRune(command, filepath.Separator) {
		return command
	}
	for _, d := range filepath.SplitList(path) {
		if d == "" {
			continue // the working directory is a project's: nothing is run from there by accident
		}
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		name := filepath.Join(d, command)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return name
		}
	}
	return command
}
