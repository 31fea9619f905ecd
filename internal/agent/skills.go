package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"magicode/internal/profile"
	"magicode/internal/vfs"
)

// skillReader reads the skills of the snapshot for the read tool.
type skillReader struct {
	fs     vfs.FS
	skills []profile.Skill
}

var errSkill = errors.New("no such skill file")

// ReadSkill returns a skill's own text, or one of its reference files: below
// the skill's folder, regular, and not reached through a link (tools.md 1.7).
func (r *skillReader) ReadSkill(_ context.Context, name, reference string, limit int64) ([]byte, error) {
	for _, s := range r.skills {
		if s.Name != name {
			continue
		}
		path := s.Path
		if reference != "" {
			var err error
			if path, err = r.reference(filepath.Dir(s.Path), reference); err != nil {
				return nil, err
			}
		}
		return vfs.ReadFile(r.fs, path, limit)
	}
	return nil, fmt.Errorf("%w: there is no skill %q", errSkill, name)
}

func (r *skillReader) reference(dir, reference string) (string, error) {
	if !filepath.IsLocal(reference) {
		return "", fmt.Errorf("%w: a reference stays inside its skill", errSkill)
	}
	path := filepath.Join(dir, reference)
	for at := path; at != dir; at = filepath.Dir(at) {
		info, err := r.fs.Lstat(at)
		if err != nil {
			return "", fmt.Errorf("%w: %s", errSkill, reference)
		}
		if info.Mode&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%w: %s is reached through a link", errSkill, reference)
		}
	}
	return path, nil
}
