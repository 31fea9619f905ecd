package history

import "bytes"

// page is entries joined by commas, and how many.
type page struct {
	raw     []byte
	entries int
}

// writer lays entries out on pages. Filled pages never change again, so
// snapshots share them; only the last, unfilled one is copied by fork.
type writer struct {
	whole   bool   // not bounded
	pages   []page // filled ones
	open    []byte // the page being filled
	used    int    // bytes that the open page counts (storage.md 7.3)
	entries int    // of the open page
	total   int    // serialized bytes of all entries, as the limit counts them
	parts   int

	scratch []byte
}

func newWriter() writer { return writer{used: pageOverhead, total: projectionOverhead} }

// message writes one message in as many parts as its text needs.
func (w *writer) message(k kind, id, text string, partial bool) error {
	e := entry{kind: k, id: id, partial: partial}
	for {
		n := cut(text)
		e.text, text = text[:n], text[n:]
		e.last = text == ""
		if err := w.add(&e); err != nil {
			return err
		}
		if e.last {
			return nil
		}
		e.part++
	}
}

func (w *writer) add(e *entry) error {
	w.scratch = e.append(w.scratch[:0])
	size := len(w.scratch) + 1
	switch {
	case size+pageOverhead > maxPageBytes:
		return ErrContent
	case !w.whole && (w.total+size > maxSnapshotBytes || w.parts == maxParts):
		return ErrLimit
	}
	if w.used+size > maxPageBytes || w.entries == maxPageEntries {
		w.turnPage()
	}
	if w.entries > 0 {
		w.open = append(w.open, ',')
	}
	w.open = append(w.open, w.scratch...)
	w.used += size
	w.total += size
	w.entries++
	w.parts++
	return nil
}

func (w *writer) turnPage() {
	w.pages = append(w.pages, page{bytes.Clone(w.open), w.entries})
	w.open, w.used, w.entries = w.open[:0], pageOverhead, 0
}

// fork returns a writer that goes on from here without w noticing: it shares
// the filled pages and owns everything else.
func (w *writer) fork() writer {
	f := *w
	f.pages = w.pages[:len(w.pages):len(w.pages)]
	f.open = bytes.Clone(w.open)
	f.scratch = nil
	return f
}

// finish returns all pages. There is always one, if an empty one.
func (w *writer) finish() []page { return append(w.pages, page{w.open, w.entries}) }
