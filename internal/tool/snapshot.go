package tool

import (
	"slices"
	"sync"
)

// Bounds of the snapshot store: tools.md 1.9.4.
const (
	maxSnapshotPaths    = 30
	maxSnapshotVersions = 4
	maxSnapshotBytes    = 64 << 20
)

// Snapshots remember which text of a file was shown under which tag, and which
// of its lines. read fills the store, hash_edit asks it. One store serves the
// whole tool runtime, subagents included; it is safe for concurrent use.
type Snapshots struct {
	mu    sync.Mutex
	paths []*pathSnapshots // warmest first
	bytes int
}

type pathSnapshots struct {
	path     string
	versions []*snapshot // newest first
}

type snapshot struct {
	tag  string
	text string
	seen *lineSet
}

// Snapshot is one recorded text. Newest tells whether it is the last one of its
// path.
type Snapshot struct {
	Path, Tag, Text string
	Newest          bool
}

// Record stores a normalised text of a canonical path and adds lines first to
// last (1-based, both included) to those that were seen of it. last 0 adds none.
func (s *Snapshots) Record(path, tag, text string, first, last int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.warmLocked(path)
	i := slices.IndexFunc(p.versions, func(v *snapshot) bool { return v.tag == tag && v.text == text })
	if i < 0 {
		v := &snapshot{tag: tag, text: text, seen: &lineSet{}}
		p.versions = slices.Insert(p.versions, 0, v)
		s.bytes += len(text)
	} else {
		v := p.versions[i]
		copy(p.versions[1:i+1], p.versions[:i])
		p.versions[0] = v
	}
	if last > 0 {
		p.versions[0].seen.add(first, last)
	}
	s.trimLocked(p)
}

// warmLocked moves a path to the front, making it if it is new.
func (s *Snapshots) warmLocked(path string) *pathSnapshots {
	for i, p := range s.paths {
		if p.path == path {
			copy(s.paths[1:i+1], s.paths[:i])
			s.paths[0] = p
			return p
		}
	}
	p := &pathSnapshots{path: path}
	s.paths = slices.Insert(s.paths, 0, p)
	return p
}

func (s *Snapshots) trimLocked(p *pathSnapshots) {
	for len(p.versions) > maxSnapshotVersions {
		last := len(p.versions) - 1
		s.bytes -= len(p.versions[last].text)
		p.versions = p.versions[:last]
	}
	for len(s.paths) > maxSnapshotPaths || s.bytes > maxSnapshotBytes && len(s.paths) > 1 {
		last := len(s.paths) - 1
		for _, v := range s.paths[last].versions {
			s.bytes -= len(v.text)
		}
		s.paths = s.paths[:last]
	}
}

// Forget drops everything about a path.
func (s *Snapshots) Forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths = slices.DeleteFunc(s.paths, func(p *pathSnapshots) bool {
		if p.path != path {
			return false
		}
		for _, v := range p.versions {
			s.bytes -= len(v.text)
		}
		return true
	})
}

// Find returns the newest snapshot of a path under that tag.
func (s *Snapshots) Find(path, tag string) (Snapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, i := s.findLocked(path, tag)
	if v == nil {
		return Snapshot{}, false
	}
	return Snapshot{Path: path, Tag: tag, Text: v.text, Newest: i == 0}, true
}

func (s *Snapshots) findLocked(path, tag string) (*snapshot, int) {
	for _, p := range s.paths {
		if p.path != path {
			continue
		}
		for i, v := range p.versions {
			if v.tag == tag {
				return v, i
			}
		}
	}
	return nil, 0
}

// Unseen returns those of the lines that were not shown under that tag.
func (s *Snapshots) Unseen(path, tag string, lines []int) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, _ := s.findLocked(path, tag)
	var out []int
	for _, n := range lines {
		if v == nil || !v.seen.has(n) {
			out = append(out, n)
		}
	}
	return out
}

// Saw adds lines to those that were seen of a snapshot.
func (s *Snapshots) Saw(path, tag string, lines []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, _ := s.findLocked(path, tag); v != nil {
		for _, n := range lines {
			v.seen.add(n, n)
		}
	}
}

// PathsWith lists the paths that have a snapshot under that tag.
func (s *Snapshots) PathsWith(tag string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, p := range s.paths {
		if slices.ContainsFunc(p.versions, func(v *snapshot) bool { return v.tag == tag }) {
			out = append(out, p.path)
		}
	}
	return out
}

// lineSet is a set of line numbers as sorted, disjoint, not adjacent spans.
type lineSet struct{ spans [][2]int }

func (l *lineSet) add(first, last int) {
	i, _ := slices.BinarySearchFunc(l.spans, first, func(s [2]int, n int) int { return s[1] + 1 - n })
	j := i
	for j < len(l.spans) && l.spans[j][0] <= last+1 {
		first, last = min(first, l.spans[j][0]), max(last, l.spans[j][1])
		j++
	}
	l.spans = slices.Replace(l.spans, i, j, [2]int{first, last})
}

func (l *lineSet) has(n int) bool {
	_, ok := slices.BinarySearchFunc(l.spans, n, func(s [2]int, n int) int {
		switch {
		case s[1] < n:
			return -1
		case s[0] > n:
			return 1
		}
		return 0
	})
	return ok
}
