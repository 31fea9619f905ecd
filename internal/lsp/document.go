package lsp

import (
	"context"
	"time"

	"magicode/internal/jsonscan"
	"magicode/internal/vfs"
)

const (
	// maxText is the longest file that is shown to a server; tools edit none longer.
	maxText = 1 << 20
	// maxOpen bounds the files that a server has open.
	maxOpen = 64
	// settle is how long more of the same file is waited for: servers publish
	// what the parser finds first, and what the compiler finds after it.
	settle = 150 * time.Millisecond
)

// document is a file that a server has open.
type document struct {
	version int
	size    int64
	mtime   time.Time
	used    int

	published bool // something came for this version
	found     []diagnostic
}

// diagnose shows files to the server and waits for what it says of them. It
// returns what has come when ctx ends.
func (s *server) diagnose(ctx context.Context, paths []string) []report {
	select {
	case <-s.ready:
	case <-s.dead:
		return nil
	case <-ctx.Done():
		return nil
	}
	s.rest(s.m.opt.Idle)
	open := s.show(ctx, paths)
	s.await(ctx, open)
	var out []report
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range open {
		if d := s.docs[p]; d != nil && d.published {
			out = append(out, report{server: s.name, path: p, found: d.found})
		}
	}
	return out
}

// seen is a file as it is now.
type seen struct {
	path    string
	text    []byte
	info    vfs.Info
	gone    bool
	changed bool // by the edit: its diagnostics are wanted
}

// show brings the server's view up to date: the files that were changed, and
// those it has open that somebody else changed. It returns the former, but for
// those that are gone. One goroutine at a time shows: an older text must not
// come behind a newer one.
func (s *server) show(ctx context.Context, paths []string) (open []string) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil
	}
	files := s.look(paths)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	for _, f := range files {
		if s.applyLocked(f) && f.changed {
			open = append(open, f.path)
		}
	}
	for len(s.docs) > maxOpen {
		s.closeLocked(s.oldestLocked())
	}
	return open
}

// look reads what is to be shown, without a lock.
func (s *server) look(paths []string) (files []seen) {
	named := make(map[string]bool, len(paths))
	for _, p := range paths {
		if !named[p] && len(named) < maxOpen {
			named[p] = true
			files = append(files, s.read(p, true))
		}
	}
	for p, d := range s.opened() {
		info, err := s.m.opt.FS.Stat(p)
		if !named[p] && (err != nil || info.Size != d.size || !info.Mtime.Equal(d.mtime)) {
			files = append(files, s.read(p, false))
		}
	}
	return files
}

func (s *server) read(path string, changed bool) seen {
	text, info, err := vfs.ReadFileInfo(s.m.opt.FS, path, maxText)
	return seen{path, text, info, err != nil, changed}
}

// opened is a copy of what is open.
func (s *server) opened() map[string]document {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]document, len(s.docs))
	for p, d := range s.docs {
		out[p] = *d
	}
	return out
}

// applyLocked sends a file, and reports whether there is one.
func (s *server) applyLocked(f seen) bool {
	if f.gone {
		s.closeLocked(f.path)
		return false
	}
	d := s.docs[f.path]
	first := d == nil
	if first {
		d = &document{}
		s.docs[f.path] = d
	}
	s.versions++ // of all files together: one that is opened again never repeats one
	d.version, d.size, d.mtime, d.published, d.found = s.versions, f.info.Size, f.info.Mtime, false, nil
	if f.changed {
		d.used = s.clock
	}
	uri := uriOf(f.path)
	if first {
		s.send(notification("textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": languageID(extensionOf(f.path)), "version": d.version, "text": string(f.text)}}))
	} else {
		s.send(notification("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": d.version}, "contentChanges": []any{object{"text": string(f.text)}}}))
	}
	if s.saves {
		s.send(notification("textDocument/didSave", object{"textDocument": object{"uri": uri}}))
	}
	return true
}

func (s *server) closeLocked(path string) {
	if s.docs[path] == nil {
		return
	}
	delete(s.docs, path)
	s.send(notification("textDocument/didClose", object{"textDocument": object{"uri": uriOf(path)}}))
}

// oldestLocked is the document that was changed least recently.
func (s *server) oldestLocked() (path string) {
	for p, d := range s.docs {
		if path == "" || d.used < s.docs[path].used || d.used == s.docs[path].used && p < path {
			path = p
		}
	}
	return path
}

// publish takes what a server found in a file that we have shown. What it says
// of an older text is left out.
func (s *server) publish(params jsonscan.Value) {
	path := pathOf(params.Get("uri").LenientText())
	version, known := params.Get("version").Int64()
	found := diagnosticsOf(params.Get("diagnostics"))
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[path]
	if d == nil || known && version < int64(d.version) {
		return
	}
	d.published, d.found = true, found
	close(s.fresh)
	s.fresh = make(chan struct{})
}

// await waits until something is published for each file and nothing more comes
// for a moment, for the server's end, or for ctx.
func (s *server) await(ctx context.Context, paths []string) {
	timer := time.NewTimer(settle)
	defer timer.Stop()
	for {
		complete, fresh := s.complete(paths)
		var quiet <-chan time.Time
		if complete {
			timer.Reset(settle)
			quiet = timer.C
		}
		select {
		case <-fresh:
		case <-quiet:
			return
		case <-s.dead:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (s *server) complete(paths []string) (bool, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range paths {
		if d := s.docs[p]; d != nil && !d.published {
			return false, s.fresh
		}
	}
	return true, s.fresh
}
