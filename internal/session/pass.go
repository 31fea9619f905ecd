package session

import (
	"bytes"
	"errors"
	"hash/maphash"
)

// pass is one streaming read in three stages, each a goroutine and a buffer
// or two behind the one before: read, scan and deliver. Two processors are
// busy with them until the end, however the work is spread over the stages.
type pass struct {
	id    string
	seed  maphash.Seed
	folds []Fold
	stop  int   // folds get the records before this index; the cutoff is where it begins
	size  int64 // what the file should have

	// Of scan, until it has ended; info.Bytes is of read.
	liner   liner
	info    ReadInfo
	cutoff  int64 // bytes before record stop
	base    int64 // bytes of the lines before the buffer
	lastCwd string
	bad     int // number of the first malformed line, 0 for none
	found   []found

	// Of deliver.
	print   fingerprint
	meta    Meta
	foldErr error // of the first fold that refused; none is called after it
}

// found is an accepted record and its timestamp, read.
type found struct {
	rec Record
	at  instant
}

// deliver takes the next batch.
func (p *pass) deliver(b *batch) {
	if b.last != nil {
		p.sign(b)
	}
	for i := range b.records {
		r := &b.records[i]
		p.meta.add(&r.rec, r.at)
		for _, f := range p.folds {
			if p.foldErr != nil || r.rec.Index >= p.stop {
				break
			}
			p.foldErr = f.Apply(r.rec)
		}
	}
}

// sign makes the fingerprint, with the last batch.
func (p *pass) sign(b *batch) {
	p.print = fingerprint{exists: true, whole: *b.last, end: b.last.size, size: b.last.size, open: b.open}
	p.print.extend(b.data[bytes.LastIndexByte(b.data, '\n')+1 : b.whole])
	if b.torn > b.whole {
		p.print.tear(b.data[b.whole:b.torn])
	}
}

// lines takes the complete lines of data; before fresh there is no line end.
func (p *pass) lines(data []byte, fresh int) (used int) {
	for {
		i := bytes.IndexByte(data[fresh:], '\n')
		if i < 0 {
			break
		}
		end := fresh + i
		p.info.Lines++
		if p.bad == 0 && p.info.Lines <= MaxLines {
			if p.line(data[used:end], p.base+int64(used)) != nil {
				p.bad = p.info.Lines
			}
		}
		used, fresh = end+1, end+1
	}
	p.base += int64(used)
	return used
}

// line takes the line that begins at byte at.
func (p *pass) line(line []byte, at int64) error {
	size := len(line) + 1
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	rec, err := p.liner.parse(line)
	if err != nil {
		return err
	}
	if rec.SessionID != p.id {
		p.info.ForeignID = true
		return nil
	}
	if rec.Cwd != "" && rec.Cwd != p.lastCwd {
		p.place(rec.Cwd)
	}
	rec.Index = p.info.Records
	p.info.Records++
	if rec.Index < p.stop {
		p.cutoff = at + int64(size)
	}
	p.found = append(p.found, found{rec, p.liner.at})
	return nil
}

func (p *pass) place(cwd string) {
	p.lastCwd = cwd
	for _, c := range p.info.Cwds {
		if c == cwd {
			return
		}
	}
	p.info.Cwds = append(p.info.Cwds, cwd)
}

// end takes what stands behind the last line end, b.data[b.whole:]: nothing, a
// record that lacks only its line end, or the torn rest of one.
func (p *pass) end(b *batch) {
	have := len(b.data)
	tail := b.data[b.whole:]
	if len(tail) == 0 {
		return
	}
	p.info.Lines++
	if p.bad > 0 || p.info.Lines > MaxLines {
		return
	}
	whole := unpadded(tail)
	switch err := p.line(whole, p.base); {
	case err == nil:
		b.open = true
		b.whole += len(whole)
		p.base += int64(len(whole))
		p.cutoff = min(p.cutoff, p.base)
	case !errors.Is(err, errCut):
		p.bad = p.info.Lines
		return
	}
	if b.whole < have {
		p.info.Torn = true
		b.torn = have
	}
}
