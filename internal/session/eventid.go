package session

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"magicode/internal/lease"
	"magicode/internal/vfs"
)

// idBlock is how many record ids are reserved at once (extensions.md 18.3).
const idBlock = 1024

// sequence gives out the record ids that newer releases keep. They are optional
// for every reader: trouble with the file means records without an id, never a
// failed append.
type sequence struct {
	fs     vfs.FS
	leases *lease.Manager
	path   string

	mu        sync.Mutex
	next, end uint64 // reserved and unused: next <= id < end
}

// reserve returns the first of n consecutive ids; ok is false in a home that
// has no sequence file.
func (s *sequence) reserve(n int) (first uint64, ok bool) {
	if info, err := s.fs.Lstat(s.path); err != nil || !info.Mode.IsRegular() {
		return 0, false
	}
	if first, ok = s.take(n); ok {
		return first, true
	}
	from, to, err := s.block(n)
	if err != nil {
		return 0, false
	}
	s.mu.Lock()
	s.next, s.end = from, to
	s.mu.Unlock()
	return s.take(n)
}

func (s *sequence) take(n int) (first uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end-s.next < uint64(n) {
		return 0, false
	}
	first = s.next
	s.next += uint64(n)
	return first, true
}

// block reserves whole blocks that hold n ids, under the file's own lock.
func (s *sequence) block(n int) (from, to uint64, err error) {
	lock, err := s.leases.Acquire(context.Background(), s.path, lease.MaxWait)
	if err != nil {
		return 0, 0, err
	}
	defer lock.Release()
	text, err := vfs.ReadFile(s.fs, s.path, 64)
	if err != nil {
		return 0, 0, err
	}
	last, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, 0, err
	}
	size := uint64(n+idBlock-1) / idBlock * idBlock
	if last+size < last {
		return 0, 0, strconv.ErrRange
	}
	if err := vfs.Replace(s.fs, s.path, strconv.AppendUint(nil, last+size, 10), 0o600); err != nil {
		return 0, 0, err
	}
	return last + 1, last + size + 1, nil
}
