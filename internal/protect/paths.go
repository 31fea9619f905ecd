package protect

import (
	"path"
	"strings"
)

// zone says where a path lies, from harmless to dangerous.
type zone uint8

const (
	zoneNull      zone = iota // /dev/null and the like
	zoneScratch               // temporary folders
	zoneInside                // below the workspace
	zoneWorkspace             // the workspace itself, or all that is in it
	zoneUnknown
	zoneOutside
	zoneDevice
	zoneStartup // files that run by themselves later, and this program's own state
)

// absolute returns the places that a path may name, for every folder in which
// the command may run. An unknown folder leaves a path that is not absolute.
func (w *walker) absolute(p string) []string {
	if p == "" {
		return known(w.dirs)
	}
	if strings.HasPrefix(p, "/") || strings.HasPrefix(p, "\xee\x80") {
		return []string{path.Clean(p)}
	}
	out := make([]string, len(w.dirs))
	for i, d := range w.dirs {
		if d == "" {
			out[i] = hidden + "/" + p
		} else {
			out[i] = path.Join(d, p)
		}
	}
	return out
}

// zoneOf places a path that a command names: the worst place that it may be.
func (w *walker) zoneOf(p string) zone {
	if p == "" {
		return zoneUnknown
	}
	worst := zoneNull
	for _, a := range w.absolute(p) {
		worst = max(worst, w.place1(a, 0))
	}
	return worst
}

// place1 places one clean path. depth counts the links that were followed.
func (w *walker) place1(p string, depth int) zone {
	switch p {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/stdin", "/dev/random", "/dev/urandom", "/dev/full":
		return zoneNull
	}
	switch {
	case strings.HasPrefix(p, "\xee\x80"):
		return zoneUnknown
	case strings.HasPrefix(p, "/dev/fd/"):
		return zoneNull
	case strings.HasPrefix(p, "/dev/shm/"):
		return zoneScratch
	case strings.HasPrefix(p, "/dev/"):
		return zoneDevice
	}
	worst := zoneNull
	if depth < 4 {
		for link, target := range w.links {
			if within(link, p) {
				worst = max(worst, w.place1(path.Join(target, p[len(link):]), depth+1))
			}
		}
	}
	return max(worst, w.region(p))
}

// region places a path by its text alone.
func (w *walker) region(p string) zone {
	if w.isStartup(p) {
		return zoneStartup
	}
	folder, all := covers(p)
	switch {
	case unseen(p):
		return w.partlyKnown(p)
	case folder == w.place.Workspace, all && within(folder, w.place.Workspace):
		if folder != w.place.Workspace {
			return zoneOutside
		}
		return zoneWorkspace
	case climbs(p):
		return zoneOutside
	case within(w.place.Workspace, p):
		return zoneInside
	case w.place.Home != "" && (within(w.place.Home, p) || within(p, w.place.Home)), within(p, w.place.Workspace):
		return zoneOutside // also where a home lies below a temporary folder
	}
	for _, tmp := range []string{"/tmp", "/var/tmp", "/private/tmp"} {
		if within(tmp, p) && p != tmp && folder != tmp {
			return zoneScratch
		}
	}
	return zoneOutside
}

// covers strips trailing parts that match everything: dir/* is all of dir.
func covers(p string) (folder string, all bool) {
	for p != "/" && p != "." && everything(base(p)) {
		p, all = path.Dir(p), true
	}
	return p, all
}

// everything reports a pattern without any letter of its own: *, .*, ?*, [!x]*.
func everything(part string) bool {
	wild := false
	for i := 0; i < len(part); i++ {
		switch c := part[i]; c {
		case '*', '?':
			wild = true
		case '.', '^', '$', '+':
		case '[':
			end := strings.IndexByte(part[i:], ']')
			if end < 0 {
				return false
			}
			wild, i = true, i+end
		default:
			return false
		}
	}
	return wild || part == "."
}

// climbs: a pattern that matches .. leaves the folder in which it stands.
func climbs(p string) bool {
	for part := range strings.SplitSeq(path.Dir(p), "/") {
		if len(part) > 1 && part[0] == '.' && everything(part) {
			return true
		}
	}
	return false
}

// partlyKnown: only its beginning is known. A variable of the environment below
// a folder of the workspace stays there; what is computed may climb.
func (w *walker) partlyKnown(p string) zone {
	head, _, _ := strings.Cut(p, "\xee\x80")
	folder := path.Dir(head + "x")
	if strings.Contains(p, hidden) && !strings.HasSuffix(head, "/") && !strings.HasSuffix(p, "/") && strings.Count(p, hidden) == 1 && folder != w.place.Workspace && head != folder+"/" {
		return min(w.region(folder), zoneUnknown) // a name with a known beginning
	}
	if !strings.Contains(p, hidden) {
		if within(w.place.Workspace, folder) && (folder != w.place.Workspace || !strings.HasSuffix(head, "/")) {
			return zoneInside
		}
		if within("/tmp", folder) && head != "/tmp/" {
			return zoneScratch
		}
	}
	return zoneUnknown
}

// within reports whether p is dir or below it.
func within(dir, p string) bool {
	if dir == "" || dir == "/" {
		return dir == "/"
	}
	return strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}

// allInside reports whether every path lies in the workspace; none at all is
// the working directory.
func (w *walker) allInside(paths []string) bool {
	for _, p := range orHere(paths) {
		if z := w.zoneOf(p); z > zoneWorkspace {
			return false
		}
	}
	return true
}

// makesLink remembers a link: what is done behind its name is done at its
// target.
func (w *walker) makesLink(name, target string) {
	if w.links == nil {
		w.links = map[string]string{}
	}
	for _, at := range w.absolute(name) {
		to := target
		if !strings.HasPrefix(target, "/") && !unseen(target) {
			to = path.Join(path.Dir(at), target)
		}
		if !within(w.place.Workspace, to) || unseen(to) {
			w.links[at] = to
		}
	}
}

// writes judges a file that is written: a bounded change in the workspace, more
// elsewhere.
func (w *walker) writes(p string) {
	if strings.HasPrefix(p, "/dev/tcp/") || strings.HasPrefix(p, "/dev/udp/") {
		w.sends = true
		w.raise(credentials, 1.9)
		return
	}
	switch w.zoneOf(p) {
	case zoneNull:
	case zoneInside, zoneWorkspace, zoneScratch:
		w.raise(overall, 1)
	case zoneDevice:
		w.raise(destruction, 2)
	case zoneStartup:
		w.raise(privilege, 2)
	case zoneUnknown:
		w.raise(overall, 1.5)
	default:
		w.raise(destruction, 1.8)
	}
}

// destroys judges a file or folder that is removed or emptied.
func (w *walker) destroys(p string) {
	switch w.zoneOf(p) {
	case zoneNull:
	case zoneInside, zoneScratch:
		w.raise(destruction, 1)
		if w.repository(p) {
			w.raise(destruction, 2)
		}
	case zoneDevice:
		w.raise(destruction, 2)
	case zoneStartup:
		w.raise(destruction, 2)
		w.raise(privilege, 1.8)
	default:
		w.raise(destruction, 2)
	}
}

// repository: the history of the workspace is all of it. Lock files may go.
func (w *walker) repository(p string) bool {
	for _, a := range w.absolute(p) {
		if (strings.HasSuffix(a, "/.git") || strings.Contains(a, "/.git/") || strings.HasSuffix(a, "/.hg") || strings.HasSuffix(a, "/.jj")) && !strings.HasSuffix(a, ".lock") {
			return true
		}
	}
	return false
}
