package protect

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect judges a redirection: its words run substitutions, its file is read
// or written. It returns what feeds the input, if the redirection says so.
func (w *walker) redirect(r *syntax.Redirect, s *syntax.Stmt) *source {
	w.inner(r)
	src := w.feed(r)
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		if r.Op == syntax.WordHdoc && strings.Contains(src.text, secret) {
			w.raise(credentials, 1.8)
		}
		return src
	case syntax.RdrIn:
		for _, p := range w.word(r.Word) {
			w.readsFile(p)
			if strings.HasPrefix(p, "/dev/tcp/") || strings.HasPrefix(p, "/dev/udp/") {
				w.raise(untrusted, 1.8)
			}
		}
		return src
	case syntax.DplIn, syntax.DplOut:
		if text := r.Word.Lit(); r.Op == syntax.DplIn || text == "-" || strings.Trim(text, "0123456789") == "" && text != "" {
			return src
		}
	}
	for _, p := range w.word(r.Word) {
		w.writes(p)
		if s != nil && s.Cmd != nil {
			w.keeps(p, w.written(s, r))
		}
	}
	return nil
}

// written is what the statement of a redirection writes there.
func (w *walker) written(s *syntax.Stmt, to *syntax.Redirect) *source {
	bare := *s
	bare.Redirs = nil
	for _, r := range s.Redirs {
		if r != to {
			bare.Redirs = append(bare.Redirs, r)
		}
	}
	out := w.output(&bare, nil)
	if to.Op == syntax.AppOut || to.Op == syntax.AppAll { // what was there before nobody knows
		return &source{text: out.text, literal: out.literal, download: out.download, inside: true}
	}
	return out
}

// feed is what a redirection gives to read.
func (w *walker) feed(r *syntax.Redirect) *source {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc == nil {
			return &source{literal: true}
		}
		return &source{text: w.document(r), literal: true}
	case syntax.WordHdoc:
		return &source{text: w.one(r.Word, true), literal: true}
	case syntax.RdrIn:
		p := w.one(r.Word, true)
		if strings.HasPrefix(p, "/dev/tcp/") {
			return &source{download: true}
		}
		if isProcess(r.Word) {
			ps := r.Word.Parts[0].(*syntax.ProcSubst)
			return w.together(ps.Stmts, nil)
		}
		return w.content(p)
	case syntax.DplIn, syntax.RdrInOut:
		return &source{}
	}
	return nil
}

// document is the text of a here-document: with a quoted end word it is taken
// as it stands.
func (w *walker) document(r *syntax.Redirect) string {
	if end := r.Word.Lit(); end == "" || strings.Contains(end, `\`) {
		return r.Hdoc.Lit()
	}
	if alts := w.parts(r.Hdoc.Parts, true); len(alts) == 1 {
		return alts[0]
	}
	return hidden
}

func isProcess(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	_, ok := word.Parts[0].(*syntax.ProcSubst)
	return ok
}

// one is the text of a word, a mark where it may be several.
func (w *walker) one(word *syntax.Word, quoted bool) string {
	alts := w.word(word)
	if len(alts) != 1 {
		return hidden
	}
	return strings.ReplaceAll(alts[0], split, " ")
}

// keeps remembers what a file of this text holds.
func (w *walker) keeps(p string, src *source) {
	if src == nil || unseen(p) {
		return
	}
	if w.files == nil {
		w.files = map[string]source{}
	}
	for _, d := range w.absolute(p) {
		if old, ok := w.files[d]; ok { // any of the two may be there
			src = &source{text: old.text + "\n" + src.text, literal: old.literal && src.literal, download: old.download || src.download}
		}
		if !src.literal || len(src.text) > maxKept {
			src = &source{download: src.download, inside: src.inside, file: src.file}
		}
		w.files[d] = *src
	}
}

// content is what is known of a file: what the text wrote, else its name.
func (w *walker) content(p string) *source {
	for _, d := range w.absolute(p) {
		if f, ok := w.files[d]; ok {
			return &f
		}
		if w.isFetched(d) {
			return &source{download: true}
		}
	}
	return &source{file: p}
}
