//go:build unix

package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"magicode/telemetry/otlpjson"
	"magicode/telemetry/rawfile"
)

const stem = "mc-20261130T234007Z-4242-6f1c5f0e"

func options(dir string) Options {
	return Options{Dir: dir, Stem: stem, MaxBytes: 4 << 20, Keep: 10, TotalBytes: 64 << 20}
}

func private(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestStem(t *testing.T) {
	at := time.Date(2026, 11, 30, 23, 40, 7, 0, time.UTC)
	if got := Stem(at, 4242, "6f1c5f0e00"); got != stem || !validStem(got) {
		t.Errorf("stem %q", got)
	}
	if got := Stem(at, 1, "XY"); !validStem(got) {
		t.Errorf("stem %q", got)
	}
}

func TestUmaskDoesNotMatter(t *testing.T) {
	for _, mask := range []int{0, 0o077, 0o777} {
		dir := filepath.Join(private(t), "telemetry")
		old := syscall.Umask(mask & 0o077)
		o := options(dir)
		o.Make = true
		c, err := Open(o)
		syscall.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		for _, name := range []string{"traces", "logs", "metrics"} {
			info, err := os.Stat(filepath.Join(dir, stem+"."+name+".jsonl"))
			if err != nil || info.Mode() != 0o600 {
				t.Errorf("umask %o: %v %v", mask, info, err)
			}
		}
	}
}

func TestRefusedFolders(t *testing.T) {
	base := private(t)
	at := func(name string) string { return filepath.Join(base, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(at("ok"), 0o700))
	must(os.Symlink(at("ok"), at("link")))
	must(os.WriteFile(at("file"), nil, 0o600))
	must(syscall.Mkfifo(at("fifo"), 0o600))
	for name, mode := range map[string]os.FileMode{"group": 0o770, "others": 0o707} {
		must(os.Mkdir(at(name), 0o700))
		must(os.Chmod(at(name), mode))
	}
	for path, want := range map[string]error{at("none"): rawfile.DirMissing, at("link"): rawfile.DirUnsafe, at("file"): rawfile.DirUnsafe,
		at("fifo"): rawfile.DirUnsafe, "/dev/null": rawfile.DirUnsafe, at("group"): rawfile.DirUnsafe, at("others"): rawfile.DirUnsafe} {
		if c, err := Open(options(path)); err != want {
			t.Errorf("%s: %v, want %v", path, err, want)
			if err == nil {
				c.Close()
			}
		}
	}
	foreign := "/"
	if os.Geteuid() == 0 {
		foreign = at("foreign")
		must(os.Mkdir(foreign, 0o700))
		must(os.Chown(foreign, 4242, -1))
	}
	if _, err := Open(options(foreign)); err != rawfile.DirOwner {
		t.Errorf("foreign owner: %v", err)
	}
	if _, err := open(options(at("ok")), elsewhere{}); err != rawfile.DirNetwork {
		t.Errorf("a network's file system: %v", err)
	}
}

// elsewhere is a system whose folders are on a network; rawfile's own test holds
// which file systems these are.
type elsewhere struct{ realSystem }

func (elsewhere) openDir(string, bool) (int, error) { return 0, rawfile.DirNetwork }

// TestRemovedFolder: a capture whose folder was taken away goes on in the files that
// are open, and ends with the next segment.
func TestRemovedFolder(t *testing.T) {
	dir := private(t)
	c, err := Open(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	line, n := []byte(strings.Repeat("x", 9_999)+"\n"), 0
	for err == nil {
		err = c.Write(Logs, line, 1, time.Now())
		n++
	}
	if most := int(c.segmentBytes(Logs)) / len(line); err != rawfile.FileOpen || n != most+1 {
		t.Errorf("%v after %d writes of %d", err, n, most)
	}
}

// TestOccupiedNames: nothing that stands in the place of a file is opened.
func TestOccupiedNames(t *testing.T) {
	for kind, occupy := range map[string]func(path string) error{
		"file":   func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) },
		"link":   func(p string) error { return os.Symlink("/dev/full", p) },
		"fifo":   func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"folder": func(p string) error { return os.Mkdir(p, 0o700) },
		"device": func(p string) error {
			if os.Geteuid() != 0 {
				return os.Symlink("/dev/null", p) // only the superuser may make one
			}
			return unix.Mknod(p, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 7))) // that of /dev/full
		},
		"hard link": func(p string) error {
			if err := os.WriteFile(p+"x", nil, 0o600); err != nil {
				return err
			}
			return os.Link(p+"x", p)
		},
	} {
		dir := private(t)
		if err := occupy(filepath.Join(dir, stem+".logs.jsonl")); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(options(dir)); err != rawfile.FileOpen {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// faulty is a real system whose disk can fill up.
type faulty struct {
	realSystem
	room     int // bytes until the disk is full; below 0: no limit
	freed    int64
	noCutOff bool
	err      error
}

func (f *faulty) append(fd int, p []byte) error {
	if f.err != nil {
		return f.err
	}
	if f.room < 0 || len(p) <= f.room {
		if f.room >= 0 {
			f.room -= len(p)
		}
		return f.realSystem.append(fd, p)
	}
	_ = f.realSystem.append(fd, p[:f.room]) // a short write, then the error
	f.room = 0
	return rawfile.DiskFull
}

func (f *faulty) truncate(fd int, size int64) error {
	if f.noCutOff {
		return rawfile.FileIO
	}
	return f.realSystem.truncate(fd, size)
}

func (f *faulty) free(int) int64 { return f.freed }

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, stem+"."+name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFullDisk(t *testing.T) {
	dir, now := private(t), time.Now()
	sys := &faulty{room: 25}
	c, err := open(options(dir), sys)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	line := []byte("0123456789\n")
	for i, want := range []error{nil, nil, rawfile.DiskFull, rawfile.DiskFull} {
		if err := c.Write(Traces, line, 1, now); err != want {
			t.Errorf("write %d: %v", i, err)
		}
	}
	if !c.Suspended() || read(t, dir, "traces") != strings.Repeat(string(line), 2) {
		t.Errorf("suspended %v, %q", c.Suspended(), read(t, dir, "traces"))
	}
	sys.room, sys.freed = -1, rawfile.FreeBytes
	if err := c.Write(Traces, line, 1, now.Add(retryFull-1)); err != rawfile.DiskFull {
		t.Errorf("too early: %v", err)
	}
	if err := c.Write(Traces, line, 1, now.Add(retryFull)); err != nil || c.Suspended() {
		t.Errorf("after the wait: %v", err)
	}
	if got := read(t, dir, "traces"); got != strings.Repeat(string(line), 3) || c.Size() != int64(len(got)) {
		t.Errorf("%q, size %d", got, c.Size())
	}
}

func TestBrokenDisk(t *testing.T) {
	for name, sys := range map[string]*faulty{"io error": {room: -1, err: rawfile.FileIO}, "a torn line that stays": {room: 3, noCutOff: true}} {
		c, err := open(options(private(t)), sys)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Write(Logs, []byte("line\n"), 1, time.Now()); err != rawfile.FileIO {
			t.Errorf("%s: %v", name, err)
		}
		c.Close()
	}
}

// TestSegments: the head and the newest tail stay, and the bound holds.
func TestSegments(t *testing.T) {
	dir := private(t)
	o := options(dir)
	var lost [signals]uint64
	o.Lost = func(s Signal, items uint64) { lost[s] += items }
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const count = 20000
	for i := range count {
		line := fmt.Appendf(nil, "%06d %s\n", i, strings.Repeat("x", 992))
		for _, s := range []Signal{Traces, Logs, Metrics} {
			if err := c.Write(s, line, 1, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	total, text := int64(0), ""
	var names []string
	for _, e := range entries {
		info, _ := e.Info()
		total += info.Size()
		names = append(names, e.Name())
		if strings.Contains(e.Name(), ".traces") {
			b, _ := os.ReadFile(filepath.Join(dir, e.Name()))
			text += string(b)
		}
	}
	if len(names) != 12 || total > o.MaxBytes {
		t.Errorf("%d files, %d bytes: %v", len(names), total, names)
	}
	if !strings.Contains(text, "000000 ") || !strings.Contains(text, fmt.Sprintf("%06d ", count-1)) {
		t.Error("the head or the tail is missing")
	}
	if there := strings.Count(text, "\n"); lost[Traces] != uint64(count-there) || lost[Logs] == 0 || lost[Metrics] == 0 {
		t.Errorf("%d are there of %d, and %v told to be lost", there, count, lost)
	}
	if strings.Count(text, "\n")*1000 != len(text) {
		t.Error("a line is torn")
	}
	for _, n := range names {
		if s, ok := stemOf(n); !ok || s != stem {
			t.Errorf("%s would never be swept", n)
		}
	}
}

// TestEndIsKept: with the smallest bound, and with much more than it, the head of
// every signal is there, and so is the end of the story: the dump of all
// goroutines, which is longer than a segment, and what came behind it. All
// files together never exceed the bound (T-35).
func TestEndIsKept(t *testing.T) {
	dir := private(t)
	o := options(dir)
	o.Trace = true
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	put := func(s Signal, text string, length int) {
		t.Helper()
		line := fmt.Sprintf("%-*s\n", length-1, text)
		if err := c.Write(s, []byte(line), 1, time.Now()); err != nil {
			t.Fatal(err)
		}
		if total := size(t, dir); total > o.MaxBytes {
			t.Fatalf("%d bytes of %d behind %s", total, o.MaxBytes, text)
		}
	}
	for i := range 1500 {
		for s := range signals {
			put(s, fmt.Sprintf("%d-%d.", s, i), 3000)
		}
	}
	if err := c.RuntimeTrace(make([]byte, traceBytes)); err != nil {
		t.Fatal(err)
	}
	for i := range 40 { // of a metrics file that is already full
		put(Metrics, fmt.Sprintf("long-%d.", i), otlpjson.MaxLine)
	}
	if err := c.Write(Logs, make([]byte, o.MaxBytes/4), 1, time.Now()); err != ErrNoRoom {
		t.Errorf("more than a share: %v", err)
	}
	put(Logs, "dump.", otlpjson.MaxDump)
	for i := range 12 {
		put(Logs, fmt.Sprintf("end-%d.", i), 500)
		put(Traces, fmt.Sprintf("span-%d.", i), 3000)
	}
	all := ""
	for _, body := range kept(t, dir) {
		all += body
	}
	for _, want := range []string{"0-0.", "1-0.", "2-0.", "long-39.", "dump.", "end-0.", "end-11.", "span-0.", "span-11.", "0-1499."} {
		if strings.Count(all, want) != 1 {
			t.Errorf("%s is there %d times", want, strings.Count(all, want))
		}
	}
}

// size is what the files of a capture have together.
func size(t *testing.T, dir string) (total int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	return total
}

// kept are the files of a capture.
func kept(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

// TestRuntimeTrace: it is a file of its own, whole or not there, opened like all
// others, within the bound of the capture, and swept with it.
func TestRuntimeTrace(t *testing.T) {
	dir := private(t)
	name := filepath.Join(dir, stem+".runtime.trace")
	o := options(dir)
	o.Trace = true
	sys := &faulty{room: -1}
	c, err := open(o, sys)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.RuntimeTrace(make([]byte, traceBytes+1)); err != ErrTraceTooLarge {
		t.Errorf("too large: %v", err)
	}
	sys.room = 100
	if err := c.RuntimeTrace(make([]byte, 1000)); err != rawfile.DiskFull {
		t.Errorf("full disk: %v", err)
	}
	if _, err := os.Lstat(name); err == nil {
		t.Error("a part of it is left")
	}
	sys.room = -1
	if err := os.Symlink("/dev/full", name); err != nil {
		t.Fatal(err)
	}
	if err := c.RuntimeTrace([]byte("x")); err != rawfile.FileOpen {
		t.Errorf("a link: %v", err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := c.RuntimeTrace(make([]byte, traceBytes)); err != nil || c.Size() != traceBytes {
		t.Errorf("%v, size %d", err, c.Size())
	}
	if info, err := os.Stat(name); err != nil || info.Mode() != 0o600 || info.Size() != traceBytes {
		t.Errorf("%v, %v", info, err)
	}
	line := []byte(strings.Repeat("x", 999) + "\n")
	for range 4000 {
		for _, s := range []Signal{Traces, Logs, Metrics} {
			if err := c.Write(s, line, 1, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if total := size(t, dir); total > o.MaxBytes || total < o.MaxBytes*3/4 {
		t.Errorf("%d bytes of %d", total, o.MaxBytes)
	}
	if s, ok := stemOf(filepath.Base(name)); !ok || s != stem {
		t.Error("it would never be swept")
	}
}

func TestSweep(t *testing.T) {
	dir := private(t)
	old := func(day int) string { return fmt.Sprintf("mc-202601%02dT000000Z-1-00000000", day) }
	touch := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for day := 1; day <= 6; day++ {
		touch(old(day) + ".logs.jsonl")
		touch(old(day) + ".traces.3.jsonl")
		touch(old(day) + ".runtime.trace")
	}
	foreign := []string{"notes.txt", "mc-x.logs.jsonl", old(1) + ".traces.jsonl.bak", old(1) + ".other.jsonl", old(1) + ".logs.12345.jsonl"}
	for _, name := range foreign {
		touch(name)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, old(1)+".metrics.jsonl")); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // nobody else can make a file of another's
		foreign = append(foreign, old(3)+".logs.jsonl")
		if err := os.Chown(filepath.Join(dir, old(3)+".logs.jsonl"), 4242, -1); err != nil {
			t.Fatal(err)
		}
	}
	live := old(2)
	fd, err := syscall.Open(filepath.Join(dir, live+".logs.jsonl"), syscall.O_RDONLY, 0)
	if err != nil || syscall.Flock(fd, syscall.LOCK_SH) != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	o := options(dir)
	o.Keep = 3
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := append([]string{old(1) + ".metrics.jsonl", live + ".logs.jsonl", live + ".runtime.trace", live + ".traces.3.jsonl",
		old(6) + ".logs.jsonl", old(6) + ".runtime.trace", old(6) + ".traces.3.jsonl",
		stem + ".traces.jsonl", stem + ".logs.jsonl", stem + ".metrics.jsonl"}, foreign...)
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left:\n%s\nwant:\n%s", strings.Join(left, "\n"), strings.Join(want, "\n"))
	}
}

// late is a system in which something happens between the making of the files
// and the lock that says that they are in use.
type late struct {
	realSystem
	before func()
}

func (l late) share(fd int) {
	l.before()
	l.realSystem.share(fd)
}

// TestSweepSparesTheNewest: a child that starts while another one makes its
// files does not take them for those of a dead one.
func TestSweepSparesTheNewest(t *testing.T) {
	o := options(private(t))
	o.Keep = 1
	other := o
	other.Stem = "mc-20990101T000000Z-1-00000000"
	c, err := open(o, late{before: func() {
		c, err := Open(other)
		if err != nil {
			t.Error(err)
			return
		}
		c.Close()
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for s := range signals {
		if _, err := os.Lstat(filepath.Join(o.Dir, c.name(s, 0))); err != nil {
			t.Error(err)
		}
	}
}
