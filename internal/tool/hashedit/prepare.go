package hashedit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"magicode/internal/tool"
)

// job is one section on its way.
type job struct {
	section *section
	source  tool.Target
	dest    *tool.Target // of MV

	data   []byte // as it was
	mode   fs.FileMode
	out    []byte // as it shall be
	text   string // the same, normalised
	tag    string
	first  int // first changed line; 0: none
	verb   string
	stale  bool
	status string
	err    error

	added, removed        int
	warnings, resolutions []string
}

// path is where the file is after the job.
func (j *job) path() string {
	if j.dest != nil {
		return j.dest.Path()
	}
	return j.source.Path()
}

// targets resolves all paths and refuses one that is used twice.
func (t *Tool) targets(env tool.Env, sections []*section) ([]*job, error) {
	used := map[string]bool{}
	var jobs []*job
	for _, s := range sections {
		j := &job{section: s}
		var err error
		if j.source, err = t.source(env, s); err != nil {
			return nil, err
		}
		paths := []string{j.source.Path()}
		if o := s.final(); o != nil && o.kind == opMove {
			dest, err := t.policy.New(t.files.FS, env, o.dest)
			if err != nil {
				return nil, err
			}
			if err := t.checkDest(dest, o.dest); err != nil {
				return nil, err
			}
			j.dest = &dest
			paths = append(paths, dest.Path())
		}
		for _, p := range paths {
			if used[p] {
				return nil, fmt.Errorf("%s is used twice in one patch", p)
			}
			used[p] = true
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// source finds a section's file. One that is not there may have been meant by
// the tag: if exactly one read file of that name has it, it is taken.
func (t *Tool) source(env tool.Env, s *section) (tool.Target, error) {
	target, err := t.policy.New(t.files.FS, env, s.path)
	if err != nil {
		return target, err
	}
	if _, err := t.files.FS.Lstat(target.Path()); !errors.Is(err, fs.ErrNotExist) {
		return target, nil
	}
	var found []string
	for _, p := range t.snapshots.PathsWith(s.tag) {
		if filepath.Base(p) == filepath.Base(s.path) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return target, fmt.Errorf("%w: %s", tool.ErrNotFound, s.path)
	case 1:
		// The policy applies to it as if it had been named.
		arg := found[0]
		if tool.Inside(env.CanonicalCwd, arg) {
			arg = tool.Display(env, arg)
		}
		if target, err = t.policy.New(t.files.FS, env, arg); err == nil {
			s.warnings = append(s.warnings, fmt.Sprintf("%s does not exist; %s was read under #%s and was taken", s.path, arg, s.tag))
		}
		return target, err
	}
	return target, fmt.Errorf("%s does not exist, and several files were read under #%s: %s", s.path, s.tag, strings.Join(found, ", "))
}

// checkDest: a destination must not exist, its directory must.
func (t *Tool) checkDest(dest tool.Target, arg string) error {
	if _, err := t.files.FS.Lstat(dest.Path()); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the destination exists: %s", arg)
	}
	if filepath.Dir(dest.Path()) != dest.Dir {
		return fmt.Errorf("the directory of the destination does not exist: %s", arg)
	}
	return nil
}

func lockPaths(jobs []*job) []string {
	var out []string
	for _, j := range jobs {
		out = append(out, j.source.Path())
		if j.dest != nil {
			out = append(out, j.dest.Path())
		}
	}
	return out
}

// prepare reads a source under its lock and makes the new text in memory.
func (t *Tool) prepare(ctx context.Context, j *job) error {
	path := j.source.Path()
	data, info, err := t.files.Read(path, maxFile)
	if err != nil {
		return err
	}
	j.data, j.mode = data, info.Mode.Perm()
	text := tool.Normalize(data)
	src := source{path: path, doc: newDocument(text), tag: tool.Tag(text)}
	p, err := t.resolve(ctx, src, j.section)
	if err != nil {
		return err
	}
	j.warnings = append(j.section.warnings, p.plan.warnings...)
	j.resolutions, j.stale = p.plan.resolutions, p.stale
	if o := j.section.final(); o != nil && o.kind == opRemove {
		j.verb, j.removed, j.tag = "delete", src.doc.shown(), src.tag
		return nil
	}
	j.text = p.after.text()
	j.tag = tool.Tag(j.text)
	j.first = firstChanged(src.doc, p.after)
	j.added, j.removed = p.plan.counts(p.base)
	j.out = restore(j.text, data)
	if len(j.out) > maxFile {
		return fmt.Errorf("%s would be too large: %d bytes, limit %d bytes", j.section.path, len(j.out), maxFile)
	}
	j.verb = "update"
	switch {
	case j.dest != nil:
		j.verb = "move"
	case j.first == 0:
		j.verb = "noop"
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// restore gives a text the byte order mark and line ends of the original.
func restore(text string, original []byte) []byte {
	out := []byte(text)
	if bytes.Contains(original, []byte("\r\n")) {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
	}
	if bytes.HasPrefix(original, byteOrderMark) {
		out = append(bytes.Clone(byteOrderMark), out...)
	}
	return out
}
