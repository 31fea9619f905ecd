package capture

import (
	"errors"
	"strconv"
	"time"

	"magicode/telemetry/rawfile"
)

// Signal is which of the files.
type Signal uint8

// Signals.
const (
	Traces Signal = iota
	Logs
	Metrics
	signals
)

var signalNames = [signals]string{"traces", "logs", "metrics"}

// shares of the size bound, in percent (telemetry.md 8.5).
var shares = [signals]int64{60, 20, 20}

const (
	segmentsPerSignal = 4
	// retryFull is how long a full disk is left alone.
	retryFull = 30 * time.Second
	// traceBytes bounds a runtime trace. Of a recorder with 1 MiB 1.7 MB were
	// measured (telemetry.md A.5).
	traceBytes = 2 << 20
	traceEnd   = ".runtime.trace"
)

// Options says where a capture goes and how large it gets.
type Options struct {
	Dir string
	// Make creates Dir, whose parent must exist: the default folder. A folder of
	// the user's own choice must be there.
	Make       bool
	Stem       string
	MaxBytes   int64
	Keep       int
	TotalBytes int64
	Trace      bool // keep room for a runtime trace within MaxBytes
	// Lost is told how many items were in a segment that the bound has cost, before
	// anything else is written. nil: nobody asks.
	Lost func(s Signal, items uint64)
}

// ErrNoRoom: lines that do not fit into a signal's share beside its head. The
// capture goes on without them. A line and a head of usual sizes always fit.
var ErrNoRoom = errors.New("the signal's share is too small for it")

// ErrTraceTooLarge: the runtime trace is larger than the room that is kept for it.
var ErrTraceTooLarge = errors.New("the runtime trace is too large")

// Stem names a capture: mc-<UTC time>-<pid>-<8 hex of the instance>.
func Stem(start time.Time, pid int, instance string) string {
	tag := make([]byte, 0, 8)
	for i := 0; i < len(instance) && len(tag) < 8; i++ {
		if c := instance[i]; c >= '0' && c <= '9' || c >= 'a' && c <= 'f' {
			tag = append(tag, c)
		}
	}
	for len(tag) < 8 {
		tag = append(tag, '0')
	}
	return "mc-" + start.UTC().Format("20060102T150405Z") + "-" + strconv.Itoa(pid) + "-" + string(tag)
}

// Capture is an open capture.
type Capture struct {
	o     Options
	dir   int
	files [signals]segment
	sizes int64
	// full: the disk was full; nothing is written before retry.
	full  bool
	retry time.Time
	sys   system
}

// segment is the file that is written, and what is left of those before it.
type segment struct {
	fd     int
	number int
	size   int64
	items  uint64
	head   int64  // size of segment 0, once another is written
	tail   []part // those between the head and this one that are still there
}

// part is what is in a segment that is written.
type part struct {
	size  int64
	items uint64
}

// whole is how much there is of a signal.
func (f *segment) whole() int64 {
	n := f.head + f.size
	for _, p := range f.tail {
		n += p.size
	}
	return n
}

// Open makes the files. The error is a rawfile.Trouble.
func Open(o Options) (*Capture, error) { return open(o, realSystem{}) }

func open(o Options, sys system) (*Capture, error) {
	dir, err := sys.openDir(o.Dir, o.Make)
	if err != nil {
		return nil, err
	}
	c := &Capture{o: o, dir: dir, sys: sys}
	// A capture is in use from its lock on: whoever sweeps must not see it before.
	if sys.hold(dir) {
		defer sys.release(dir)
		sweep(sys, dir, o)
	}
	for s := range signals {
		c.files[s] = segment{fd: -1}
	}
	for s := range signals {
		fd, err := sys.create(dir, c.name(s, 0))
		if err != nil {
			c.Close()
			return nil, rawfile.FileOpen
		}
		c.files[s].fd = fd
	}
	sys.share(c.files[Logs].fd)
	return c, nil
}

// Look reports why a capture could not be opened in a folder, as Open judges it, and
// changes nothing. The error is a rawfile.Trouble.
func Look(dir string, make bool) error {
	fd, err := rawfile.OpenDir(dir, false, rawfile.OwnerOnly)
	if err == nil {
		rawfile.Close(fd)
	}
	if make && errors.Is(err, rawfile.DirMissing) {
		return nil // it will be made
	}
	return err
}

func (c *Capture) name(s Signal, number int) string {
	name := c.o.Stem + "." + signalNames[s]
	if number > 0 {
		name += "." + strconv.Itoa(number)
	}
	return name + ".jsonl"
}

// Size is how many bytes were written.
func (c *Capture) Size() int64 { return c.sizes }

// Suspended reports a full disk.
func (c *Capture) Suspended() bool { return c.full }

// Write appends whole lines, which hold so many items, to a signal's file. A file
// never keeps part of a line. DiskFull suspends the capture and ErrNoRoom drops the
// lines; every other error ends it.
func (c *Capture) Write(s Signal, lines []byte, items uint64, now time.Time) error {
	if len(lines) == 0 {
		return nil
	}
	if c.full && !c.resume(now) {
		return rawfile.DiskFull
	}
	f := &c.files[s]
	if f.size > 0 && f.size+int64(len(lines)) > c.segmentBytes(s) {
		if err := c.next(s); err != nil {
			return err
		}
	}
	if !c.makeRoom(s, int64(len(lines))) {
		return ErrNoRoom
	}
	err := c.sys.append(f.fd, lines)
	if err == nil {
		f.size += int64(len(lines))
		f.items += items
		c.sizes += int64(len(lines))
		return nil
	}
	if c.sys.truncate(f.fd, f.size) != nil || !errors.Is(err, rawfile.DiskFull) {
		return rawfile.FileIO
	}
	c.full, c.retry = true, now.Add(retryFull)
	return rawfile.DiskFull
}

func (c *Capture) resume(now time.Time) bool {
	if now.Before(c.retry) {
		return false
	}
	if c.sys.free(c.dir) < rawfile.FreeBytes {
		c.retry = now.Add(retryFull)
		return false
	}
	c.full = false
	return true
}

// shareBytes is how much of the capture a signal may have.
func (c *Capture) shareBytes(s Signal) int64 {
	room := c.o.MaxBytes
	if c.o.Trace {
		room -= traceBytes
	}
	return room * shares[s] / 100
}

func (c *Capture) segmentBytes(s Signal) int64 { return c.shareBytes(s) / segmentsPerSignal }

// makeRoom removes the oldest segments behind the head until n more bytes fit
// into the signal's share: the newest is always written, so that nothing has to
// be reserved for the end. The head and the current segment stay.
func (c *Capture) makeRoom(s Signal, n int64) bool {
	f := &c.files[s]
	for f.whole()+n > c.shareBytes(s) {
		if len(f.tail) == 0 {
			return false
		}
		c.sys.remove(c.dir, c.name(s, f.number-len(f.tail)))
		if c.o.Lost != nil {
			c.o.Lost(s, f.tail[0].items)
		}
		f.tail = f.tail[1:]
	}
	return true
}

// RuntimeTrace writes the runtime trace, a file of its own that must not exist,
// whole or not at all. The error is ErrTraceTooLarge or a rawfile.Trouble.
func (c *Capture) RuntimeTrace(data []byte) error {
	if len(data) > traceBytes {
		return ErrTraceTooLarge
	}
	if c.full {
		return rawfile.DiskFull
	}
	name := c.o.Stem + traceEnd
	fd, err := c.sys.create(c.dir, name)
	if err != nil {
		return rawfile.FileOpen
	}
	defer c.sys.close(fd)
	if err := c.sys.append(fd, data); err != nil {
		c.sys.remove(c.dir, name)
		return err
	}
	c.sizes += int64(len(data))
	return nil
}

// next begins the next segment. The first one tells of the start and is kept;
// of the others the newest are.
func (c *Capture) next(s Signal) error {
	f := &c.files[s]
	fd, err := c.sys.create(c.dir, c.name(s, f.number+1))
	if err != nil {
		return rawfile.FileOpen
	}
	if s != Logs || f.number > 0 { // the lock is on the first file of the logs
		c.sys.close(f.fd)
	}
	if f.number == 0 {
		f.head = f.size
	} else {
		f.tail = append(f.tail, part{f.size, f.items})
	}
	f.fd, f.size, f.items = fd, 0, 0
	f.number++
	return nil
}

// Close closes the files.
func (c *Capture) Close() {
	for s := range signals {
		if c.files[s].fd >= 0 {
			c.sys.close(c.files[s].fd)
			c.files[s].fd = -1
		}
	}
	c.sys.close(c.dir)
}
