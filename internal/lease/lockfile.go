package lease

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"magicode/internal/vfs"
)

const (
	maxLockBytes = 4096            // storage.md 12.2
	ownerlessAge = 5 * time.Second // a lock without a readable pid is removable from this age on
)

// lockPath is the lock file of a target; guardPath is held while a stale lock
// file is removed.
func lockPath(target string) string {
	dir, name := filepath.Split(target)
	return dir + "." + name + ".lock"
}

func guardPath(lock string) string {
	dir, name := filepath.Split(lock)
	return dir + "." + name + ".recovery"
}

// image is a lock file as it was read or written: enough to know it again.
type image struct {
	dev, ino uint64
	content  string
	mtime    time.Time
}

// same ignores the time, which its owner changes every second.
func (i image) same(o image) bool { return i.dev == o.dev && i.ino == o.ino && i.content == o.content }

func readImage(fsys vfs.FS, path string) (image, error) {
	data, info, err := vfs.ReadFileInfo(fsys, path, maxLockBytes)
	if err != nil {
		return image{}, err
	}
	return image{dev: info.Dev, ino: info.Ino, content: string(data), mtime: info.Mtime}, nil
}

// createImage makes a lock file; fs.ErrExist means that there is one. What it
// could not finish it removes.
func createImage(fsys vfs.FS, path, content string) (image, error) {
	f, err := fsys.Open(path, vfs.Write|vfs.Create|vfs.Exclusive|vfs.NoFollow, 0o666)
	if err != nil {
		return image{}, err
	}
	err = vfs.WriteAll(f, []byte(content))
	info, serr := f.Stat()
	if err = errors.Join(err, serr, f.Close()); err != nil {
		return image{}, errors.Join(err, fsys.Remove(path))
	}
	return image{dev: info.Dev, ino: info.Ino, content: content}, nil
}

// errNotLinked: nothing was made, and a file of its own is to be tried.
var errNotLinked = errors.New("no second name")

// linkImage makes path a second name of the lock file at old, which img is an
// image of. fs.ErrExist means that path is taken. A file that says what ours says
// is ours whatever Link said: nobody else makes one, so it is one that could not
// be removed, or that was made although an error was reported. Numbers of files
// do not tell: some systems make one up for each name, and others give a removed
// file's number to the next.
func linkImage(fsys vfs.FS, old, path string, img image) (image, error) {
	err := fsys.Link(old, path)
	seen, rerr := readImage(fsys, path)
	switch {
	case rerr == nil && seen.content == img.content:
		return seen, nil
	case errors.Is(err, fs.ErrExist):
		return image{}, err
	case err != nil:
		return image{}, errNotLinked
	case rerr != nil:
		return image{}, errors.Join(rerr, fsys.Remove(path))
	}
	// Another owner's file is at old: it took ours for stale. The name that it got
	// goes; a lock that has come to path since then stays.
	if now, err := readImage(fsys, old); err == nil && now.content == seen.content {
		if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return image{}, err
		}
	}
	return image{}, errNotLinked
}

// removeImage unlinks the file if it is still the given one. A missing or
// foreign file is no error: somebody else has taken over.
func removeImage(fsys vfs.FS, path string, img image) error {
	now, err := readImage(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !now.same(img) {
		return nil
	}
	if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// owner is what a lock file says about its owner.
type owner struct {
	pid   int
	start string // "" in files of other programs
}

// parseOwner takes the first pid= line and the first start= line.
func parseOwner(content string) (owner, bool) {
	var o owner
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, "pid="); ok && o.pid == 0 {
			pid, err := strconv.ParseInt(v, 10, 32)
			if err != nil || pid <= 0 {
				return owner{}, false
			}
			o.pid = int(pid)
		}
		if v, ok := strings.CutPrefix(line, "start="); ok && o.start == "" {
			o.start = v
		}
	}
	return o, o.pid > 0
}

func formatOwner(pid int, now time.Time, start string) string {
	var b bytes.Buffer
	p := strconv.Itoa(pid)
	b.WriteString("pid=" + p + "\ntoken=" + p + "-" + strconv.FormatInt(now.UnixNano(), 10) + "\n")
	if start != "" {
		b.WriteString("start=" + start + "\n")
	}
	return b.String()
}

// stale reports whether the owner of a lock file is gone. A file without a pid
// is either just being written or left by a crash; its age decides. A clock
// that was set back leaves times in the future, which are old as well.
func stale(img image, procs Processes, now time.Time) bool {
	o, ok := parseOwner(img.content)
	if !ok {
		age := now.Sub(img.mtime)
		return age >= ownerlessAge || age <= -ownerlessAge
	}
	if !procs.Alive(o.pid) {
		return true
	}
	if o.start == "" {
		return false // another program's lock: a live pid is its owner, whatever the time
	}
	start, running := procs.Start(o.pid)
	return !running || start != "" && !sameStart(o.start, start)
}
