package hook

import (
	"errors"
	"path/filepath"

	"magicode/internal/vfs"
)

// payloadFolder lies in the sessions folder; the released program knows it.
const payloadFolder = "hook-payloads"

// leave puts a body into a file of its own for the time of the hook, in the
// sessions folder or, failing that, in the folder for temporary files.
func (j *job) leave(raw []byte) (path string, remove func(), err error) {
	o := &j.set.opt
	id := o.NewID()
	if o.Payloads != "" && o.Context.SessionID != "" {
		dirs := []string{filepath.Join(o.Payloads, payloadFolder)}
		dirs = append(dirs, filepath.Join(dirs[0], o.Context.SessionID))
		dirs = append(dirs, filepath.Join(dirs[1], id))
		if path, remove, err = j.leaveIn(dirs, raw); err == nil {
			return path, remove, nil
		}
	}
	return j.leaveIn([]string{filepath.Join(o.Temp, "magi-code-hook-"+id)}, raw)
}

// leaveIn makes the folders, outermost first, and writes the file into the last.
func (j *job) leaveIn(dirs []string, raw []byte) (string, func(), error) {
	fs := j.set.opt.FS
	path := filepath.Join(dirs[len(dirs)-1], "payload.json")
	remove := func() {
		_ = fs.Remove(path)
		for i := len(dirs) - 1; i >= 0; i-- {
			_ = fs.Remove(dirs[i]) // stays while another payload is in it
		}
	}
	for _, d := range dirs {
		if err := ownDir(fs, d); err != nil {
			remove()
			return "", nil, err
		}
	}
	f, err := fs.Open(path, vfs.Write|vfs.Create|vfs.Exclusive|vfs.NoFollow, 0o600)
	if err == nil {
		_, err = f.Write(raw)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

var errNotDir = errors.New("not a folder")

// ownDir makes a folder that only its owner can enter. One that is there and is
// no folder, or a link to one, is refused.
func ownDir(fs vfs.FS, dir string) error {
	err := fs.Mkdir(dir, 0o700)
	if err == nil {
		return nil
	}
	info, statErr := fs.Lstat(dir)
	if statErr != nil {
		return err
	}
	if !info.Mode.IsDir() {
		return errNotDir
	}
	return nil
}
