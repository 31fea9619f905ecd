package session

import (
	"bytes"
	"errors"
	"io"

	"magicode/internal/vfs"
)

// Bounds of what LastRecords reads: storage.md 6.6, "child log snapshot".
const (
	maxLastLines = 200
	maxLastBytes = 131_072
)

// LastRecords returns the records at the end of a session's file: those of its
// last 200 lines that lie whole in its last 131,072 bytes. It takes no lock and
// writes nothing. Lines that are no record of this session are left out; a bad
// id, and a file that is missing, unsafe or cannot be read, have no records.
// Index counts from the first record returned.
func (s *Store) LastRecords(id string) []Record {
	if !ValidID(id) || s.checkRoot() != nil {
		return nil
	}
	f, info, err := openSafe(s.o.FS, s.file(id), vfs.Read)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := lastBytes(f, info.Size)
	if err != nil {
		return nil
	}
	return recordsOf(lastLines(data), id)
}

// lastBytes reads the whole lines at the end of a file of this size.
func lastBytes(f vfs.File, size int64) ([]byte, error) {
	// The byte before tells whether the first line is whole.
	from := max(size-maxLastBytes-1, 0)
	data := make([]byte, size-from)
	n, err := f.ReadAt(data, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if data = data[:n]; from > 0 {
		_, data, _ = bytes.Cut(data, []byte{'\n'})
	}
	return data, nil
}

func lastLines(data []byte) [][]byte {
	lines := bytes.Split(bytes.TrimSuffix(data, []byte{'\n'}), []byte{'\n'})
	return lines[max(len(lines)-maxLastLines, 0):]
}

func recordsOf(lines [][]byte, id string) []Record {
	var l liner
	var out []Record
	for _, line := range lines {
		if rec, err := l.parse(bytes.TrimSuffix(line, []byte{'\r'})); err == nil && rec.SessionID == id {
			rec.Index = len(out)
			out = append(out, rec)
		}
	}
	return out
}
