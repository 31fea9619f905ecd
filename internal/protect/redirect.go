package protect

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect judges where a statement's output goes. It returns what feeds its
// input, if the redirection says so.
func (w *walker) redirect(r *syntax.Redirect) *source {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc == nil {
			return nil
		}
		text, seen := w.word(r.Hdoc)
		return &source{text: text, literal: seen}
	case syntax.WordHdoc:
		text, seen := w.word(r.Word)
		return &source{text: text, literal: seen}
	case syntax.RdrIn:
		if text, _ := w.word(r.Word); w.secret(w.absolute(text)) {
			w.raise(credentials, 1.9)
		}
		return &source{}
	case syntax.DplIn, syntax.DplOut:
		return nil
	}
	text, seen := w.word(r.Word)
	if !seen && !strings.Contains(text, "/") {
		text = "$"
	}
	w.writes(text)
	return nil
}

// absolute joins a relative path to the directory of the command.
func (w *walker) absolute(p string) string {
	if p == "" || p[0] == '/' {
		return p
	}
	return w.dir + "/" + p
}

// writes judges a file that is written: a bounded change in the workspace, more
// elsewhere.
func (w *walker) writes(p string) {
	if strings.HasPrefix(p, "/dev/tcp/") || strings.HasPrefix(p, "/dev/udp/") {
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
		w.raise(overall, 1)
		w.raise(destruction, 1)
	case zoneDevice:
		w.raise(destruction, 2)
	case zoneStartup:
		w.raise(destruction, 2)
		w.raise(privilege, 1.8)
	default:
		w.raise(destruction, 2)
	}
}
