//go:build linux || darwin

package proc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
)

// live mirrors what the kernel keeps once per process: the children that this
// package started, and whether the process was prepared for them. It is the
// one package variable, because two tables would take each other's children
// for leftovers.
var live = &table{byPid: map[int]*Process{}}

type table struct {
	prepared sync.Once

	mu    sync.Mutex // also held while a sweep looks, and while a child is forked
	byPid map[int]*Process
}

// start forks the child and enters it.
func (t *table) start(p *Process) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.pid = p.cmd.Process.Pid
	t.byPid[p.pid] = p
	return nil
}

func (t *table) removeLocked(p *Process) {
	if t.byPid[p.pid] == p {
		delete(t.byPid, p.pid)
	}
}

// ownedByOther reports whether one of the markers names a running child other
// than p.
func (t *table) ownedByOtherLocked(tokens []string, p *Process) bool {
	for _, q := range t.byPid {
		if q == p {
			continue
		}
		for _, tok := range tokens {
			if tok == q.token {
				return true
			}
		}
	}
	return false
}

func (t *table) all() []*Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	ps := make([]*Process, 0, len(t.byPid))
	for _, p := range t.byPid {
		ps = append(ps, p)
	}
	return ps
}

// Shutdown stops every child that is still running, all at once, and then ends
// what earlier children left behind. It is the program's last step before it
// exits; children started meanwhile are not covered.
func Shutdown(ctx context.Context) error {
	ps := live.all()
	errs := make([]error, len(ps))
	var wg sync.WaitGroup
	for i, p := range ps {
		wg.Go(func() { errs[i] = p.Stop(ctx) })
	}
	wg.Wait()
	sweepOrphans(ctx)
	return errors.Join(errs...)
}

// markerName is the environment variable by which a process is recognised
// after it left its group. Its value is the path of the children of this
// program that it descends from, so that a nested run keeps the outer mark.
const markerName = "MAGI_CODE_PROC"

// maxMarker bounds the path; a longer one starts anew.
const maxMarker = 512

func newToken() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// withMarker returns env with the marker extended by token.
func withMarker(env []string, token string) []string {
	out := make([]string, 0, len(env)+1)
	outer := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, markerName+"="); ok {
			outer = v
			continue
		}
		out = append(out, kv)
	}
	if outer != "" && len(outer) <= maxMarker {
		token = outer + ":" + token
	}
	return append(out, markerName+"="+token)
}

// markerTokens finds the marker in an environment block (NUL-separated).
func markerTokens(environ string) []string {
	for kv := range strings.SplitSeq(environ, "\x00") {
		if v, ok := strings.CutPrefix(kv, markerName+"="); ok {
			return strings.Split(v, ":")
		}
	}
	return nil
}
