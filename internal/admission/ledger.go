package admission

import (
	"hash/maphash"

	"magicode/pkg/localagent"
)

// Ledger keeps the request ids of one child, at most 4,096, for ever. The zero
// value is empty and ready. It is for one goroutine.
//
// It is an open table of indexes into the list of ids: two bytes a place, and
// at most half of the places are taken.
type Ledger struct {
	seed  maphash.Seed
	ids   []string
	table []uint16 // 1 + index into ids, 0 is free; its length is a power of two
}

// Record keeps an id, by rows 6 to 8: duplicate_id if it was recorded before,
// else request_limit, which closes, if 4,096 others were. nil means recorded.
func (l *Ledger) Record(id string) *Rejection {
	if 2*len(l.ids) >= len(l.table) {
		l.grow()
	}
	at, found := l.find(id)
	if found {
		return &Rejection{Code: localagent.CodeDuplicateID, ID: id, HasID: true}
	}
	if len(l.ids) >= localagent.MaxRequests {
		return &Rejection{Code: localagent.CodeRequestLimit, ID: id, HasID: true, Closes: true}
	}
	l.ids = append(l.ids, id)
	l.table[at] = uint16(len(l.ids))
	return nil
}

// Len returns how many ids are recorded.
func (l *Ledger) Len() int { return len(l.ids) }

// find returns the place of an id, or the free place where it belongs.
func (l *Ledger) find(id string) (at int, found bool) {
	mask := len(l.table) - 1
	at = int(maphash.String(l.seed, id)) & mask
	for ; l.table[at] != 0; at = (at + 1) & mask {
		if l.ids[l.table[at]-1] == id {
			return at, true
		}
	}
	return at, false
}

// grow enlarges the table, up to two places for each of 4,096 ids. The steps
// are large: a step that moves many ids would be felt by one request.
func (l *Ledger) grow() {
	const first, factor, last = 64, 16, 2 * localagent.MaxRequests
	size := min(factor*len(l.table), last)
	switch {
	case len(l.table) == last:
		return
	case size == 0:
		size, l.seed = first, maphash.MakeSeed()
	}
	l.table = make([]uint16, size)
	for i, id := range l.ids {
		at, _ := l.find(id)
		l.table[at] = uint16(i + 1)
	}
}
