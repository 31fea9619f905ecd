package astgrep

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"magicode/internal/ignore"
	"magicode/internal/syntax"
	"magicode/internal/tool"
)

// Bounds of a scan: tools.md 1.14.
const (
	maxFiles     = 10_000
	maxScanBytes = 128 << 20
	maxFileBytes = 256 << 10

	maxWorkers = 4
	batchFiles = 32 // that are read and parsed before any of them is shown
)

// job is what is done with each file. look and wants are called concurrently.
type job interface {
	// wants says whether a file is worth parsing.
	wants(ctx context.Context, l *syntax.Language, src []byte) bool
	// look makes the groups of rows that a parsed file gives, at most limit+1.
	look(ctx context.Context, t *syntax.Tree, path string, limit int) fileResult
	// verdict is asked at the end.
	verdict() error
}

// fileResult is what one file gave.
type fileResult struct {
	groups  []group
	bytes   int
	skipped bool // too large, not readable, not parsed
	partial bool // a bound was reached within
}

// group is what counts as one against the limit: a match, or a symbol.
type group []string

// scan is one walk over files.
type scan struct {
	files    tool.Files
	sources  ignore.Sources
	env      tool.Env
	root     string // canonical directory
	file     string // a single file below it, or ""
	language *syntax.Language
	limit    int
	out      outcome
}

// outcome is what a scan found.
type outcome struct {
	groups                    int
	rows                      []string
	size                      int // of the rows as text
	files, bytes              int
	skipped                   int
	partial                   bool // a file was searched in part
	more                      bool // the limit left groups out
	cut                       bool // the output bound did
	fileLimit, byteLimit      bool
	walkErrors, walkOmissions int
	timedOut                  bool
}

func (o *outcome) ended() bool { return o.more || o.cut || o.byteLimit }

// prepare resolves the path.
func (t *Tool) prepare(env tool.Env, q request) (*scan, tool.Path, error) {
	s := &scan{files: t.files, sources: t.sources, env: env, root: env.CanonicalCwd, language: q.language, limit: q.limit}
	if q.path == "" {
		return s, tool.Path{}, nil
	}
	at, err := t.policy.Existing(t.files.FS, env, q.path)
	if err != nil {
		return nil, at, err
	}
	info, err := t.files.FS.Stat(at.Canonical)
	switch {
	case err != nil:
		return nil, at, errors.New("no such file or directory: " + q.path)
	case info.Mode.IsDir():
		s.root = at.Canonical
	case !info.Mode.IsRegular():
		return nil, at, errors.New("neither a regular file nor a directory: " + q.path)
	default:
		s.root, s.file = filepath.Dir(at.Canonical), filepath.Base(at.Canonical)
		if s.languageOf(s.file) == nil {
			return nil, at, errors.New(`the language of the file is not known by its name; give "language": ` + q.path)
		}
	}
	return s, at, nil
}

// languageOf returns the language that a file is parsed as; nil leaves it out.
func (s *scan) languageOf(name string) *syntax.Language {
	l := syntax.ByPath(name)
	switch {
	case s.language == nil:
		return l
	case s.file != "":
		return s.language
	case l != nil && s.language.Related(l):
		return l
	}
	return nil
}

// run scans until ctx ends or enough was found. All its goroutines have ended
// when it returns.
func (s *scan) run(ctx context.Context, j job) {
	if s.file != "" {
		s.batch(ctx, j, []string{s.file})
		return
	}
	var names []string
	seen := 0
	stats := ignore.Walk(ctx, s.files.FS, s.root, ignore.Options{Sorted: true, Sources: s.sources}, func(e ignore.Entry) bool {
		if e.Dir || s.languageOf(e.Name) == nil {
			return true
		}
		if seen++; seen > maxFiles {
			s.out.fileLimit = true
			return false
		}
		if names = append(names, e.Path); len(names) == batchFiles {
			s.batch(ctx, j, names)
			names = names[:0]
		}
		return !s.out.ended()
	})
	if !s.out.ended() {
		s.batch(ctx, j, names)
	}
	s.out.walkErrors, s.out.walkOmissions = stats.Errors, stats.Omitted
}

// batch looks at files side by side and joins the results in their order.
func (s *scan) batch(ctx context.Context, j job, names []string) {
	results := make([]fileResult, len(names))
	var next atomic.Int32
	var wg sync.WaitGroup
	for range min(maxWorkers, runtime.GOMAXPROCS(0), len(names)) {
		wg.Go(func() {
			var p syntax.Parser
			for i := int(next.Add(1)) - 1; i < len(names) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				results[i] = s.one(ctx, &p, j, names[i])
			}
		})
	}
	wg.Wait()
	for i := range results {
		if ctx.Err() != nil || s.out.ended() {
			return
		}
		s.out.join(&results[i], s.limit)
	}
}

// one reads, parses and looks at a file.
func (s *scan) one(ctx context.Context, p *syntax.Parser, j job, name string) fileResult {
	path := filepath.Join(s.root, filepath.FromSlash(name))
	src, _, err := s.files.Read(path, maxFileBytes)
	if err != nil || bytes.IndexByte(src, 0) >= 0 {
		return fileResult{skipped: true}
	}
	l := s.languageOf(name)
	if !j.wants(ctx, l, src) {
		return fileResult{bytes: len(src)}
	}
	tree, err := p.Parse(ctx, l, src)
	if err != nil {
		return fileResult{bytes: len(src), skipped: true}
	}
	r := j.look(ctx, tree, tool.ShowName(tool.Display(s.env, path)), s.limit)
	r.bytes = len(src)
	return r
}

// maxOutput bounds the text in bytes: tools.md 1.14.
const maxOutput = 64 << 10

func (o *outcome) join(r *fileResult, limit int) {
	if o.bytes+r.bytes > maxScanBytes {
		o.byteLimit = true
		return
	}
	o.bytes += r.bytes
	o.files++
	if r.skipped {
		o.skipped++
	}
	o.partial = o.partial || r.partial
	for _, g := range r.groups {
		if o.groups == limit {
			o.more = true
			return
		}
		size := 0
		for _, row := range g {
			size += len(row) + 1
		}
		if o.size+size > maxOutput {
			o.cut = true
			return
		}
		o.size += size
		o.rows = append(o.rows, g...)
		o.groups++
	}
}
