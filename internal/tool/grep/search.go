package grep

import (
	"context"
	"path/filepath"
	"runtime"
	"sync"

	"magicode/internal/ignore"
	"magicode/internal/vfs"
)

// Bounds of a scan: tools.md 1.11.
const (
	maxFileBytes = 4 << 20
	maxScanBytes = 128 << 20
	maxFiles     = 10_000
	maxPerFile   = 5 // hits of a file in ranked mode

	maxWorkers = 8
)

// search is one scan.
type search struct {
	fs      vfs.FS
	sources ignore.Sources
	root    string // canonical directory
	file    string // a single file below it, or ""
	matcher *matcher
	rule    fileRule
	stopAt  int // raw: hits after which the scan ends
}

// outcome is what a scan found, joined in the order of the walk.
type outcome struct {
	hits                       []hit
	seen, files, filesWithHits int
	bytes                      int
	unreadable, binary         int
	badFiles, badLines         int
	prefix                     bool // a file was longer than its bound
	perFile                    bool // hits were left out by the bound per file
	byteLimit, fileLimit       bool
	enough                     bool // raw: one hit beyond what is shown was found
	deadline                   bool
	walk                       ignore.Stats
}

// chunk is a group of files that one worker scans.
type chunk struct {
	files   []string
	results []fileResult
	done    chan struct{}
}

// run scans until ctx ends. It returns when all its goroutines have.
func (s *search) run(ctx context.Context) (*outcome, error) {
	t, err := openTree(s.root)
	if err != nil {
		return nil, err
	}
	defer t.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := min(maxWorkers, runtime.GOMAXPROCS(0))
	// Both queues hold the same chunks. When they are full the walk waits for
	// the scan, or for the end of ctx.
	todo, inOrder := make(chan *chunk, 4*workers), make(chan *chunk, 8*workers)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() { s.work(ctx, t, todo) })
	}
	out := &outcome{}
	var stats ignore.Stats
	var fileLimit bool
	wg.Go(func() {
		defer close(inOrder)
		defer close(todo)
		stats, fileLimit = s.feed(ctx, todo, inOrder)
	})
	for c := range inOrder {
		select {
		case <-c.done:
		case <-ctx.Done():
			<-c.done // workers pass over the rest quickly
		}
		if !out.ended() && ctx.Err() == nil {
			s.join(out, c)
			if out.ended() {
				stop()
			}
		}
	}
	wg.Wait()
	out.walk = stats
	out.fileLimit = fileLimit && !out.ended()
	return out, nil
}

func (o *outcome) ended() bool { return o.enough || o.byteLimit }

// feed walks and hands out files, in groups that grow: small trees are shared
// by all workers, large ones cost few hand-overs.
func (s *search) feed(ctx context.Context, todo, inOrder chan<- *chunk) (ignore.Stats, bool) {
	size, files, limited := 4, 0, false
	c := &chunk{done: make(chan struct{})}
	send := func() bool {
		full := c
		c = &chunk{done: make(chan struct{}), files: make([]string, 0, size)}
		select {
		case todo <- full:
		case <-ctx.Done():
			return false
		}
		inOrder <- full // the reader takes all until it is closed
		return true
	}
	if s.file != "" {
		c.files = []string{s.file}
		send()
		return ignore.Stats{}, false
	}
	stats := ignore.Walk(ctx, s.fs, s.root, ignore.Options{Sorted: true, Sources: s.sources}, func(e ignore.Entry) bool {
		if e.Dir {
			return true
		}
		if files == maxFiles {
			limited = true
			return false
		}
		files++
		c.files = append(c.files, e.Path)
		if len(c.files) < size {
			return true
		}
		size = min(size*2, 32)
		return send()
	})
	if len(c.files) > 0 {
		send()
	}
	return stats, limited
}

// work scans chunks until the queue is closed. After the end of ctx it only
// marks them done.
func (s *search) work(ctx context.Context, t tree, todo <-chan *chunk) {
	m := s.matcher.clone()
	var buf []byte
	for c := range todo {
		c.results = make([]fileResult, 0, len(c.files))
		for _, name := range c.files {
			if ctx.Err() != nil {
				break
			}
			data, more, err := t.read(filepath.FromSlash(name), buf, maxFileBytes)
			if cap(data) > cap(buf) {
				buf = data[:0]
			}
			if err != nil {
				c.results = append(c.results, fileResult{unreadable: true})
				continue
			}
			r := m.scanFile(name, data, s.rule)
			r.prefix = more
			c.results = append(c.results, r)
		}
		close(c.done)
	}
}

// join adds a chunk's results.
func (s *search) join(out *outcome, c *chunk) {
	for i := range c.results {
		r := &c.results[i]
		if out.bytes+r.bytes > maxScanBytes {
			out.byteLimit = true
			return
		}
		out.bytes += r.bytes
		out.count(r)
		for _, h := range r.hits {
			if !s.rule.ranked && len(out.hits) == s.stopAt {
				out.enough = true
				return
			}
			out.hits = append(out.hits, h)
		}
		if r.stopped {
			out.enough = true
			return
		}
	}
}

func (o *outcome) count(r *fileResult) {
	switch {
	case r.unreadable:
		o.unreadable++
		return
	case r.binary:
		o.binary++
	}
	o.files++
	o.seen += r.seen
	if r.seen > 0 {
		o.filesWithHits++
	}
	o.prefix = o.prefix || r.prefix
	o.perFile = o.perFile || r.capped && !r.stopped
	if r.badText {
		o.badFiles++
	}
	o.badLines += r.badLines
}
