package tracecmd

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"magicode/telemetry/reader"
)

var errForeign = errors.New("the capture holds something that this program does not write; it is not packed")

// Check is the privacy audit: every key and value of a capture against the
// lists that are asked before anything is written. The status is 1 when
// something is foreign.
func Check(capture, dir string, stdout, stderr io.Writer) int {
	c := newCommand(stdout, stderr)
	f, err := find(capture, dir)
	if err != nil {
		return c.fail(err)
	}
	c.missing(f)
	n, err := c.check(f)
	if err != nil {
		return c.fail(err)
	}
	if n > 0 {
		return exitError
	}
	fmt.Fprintf(stdout, "%s: %d files, nothing foreign\n", reader.Escape(f.stem), len(f.files))
	return exitOK
}

// check tells what is foreign, and returns how much.
func (c *command) check(f found) (n int, err error) {
	for _, path := range f.files {
		data, err := whole(path)
		if err != nil {
			return n, err
		}
		for _, x := range reader.Check(data) {
			n++
			fmt.Fprintf(c.stderr, "%s:%d: %s\n", reader.Escape(filepath.Base(path)), x.Line, x.What)
		}
	}
	return n, nil
}

// manifest says what an archive holds.
type manifest struct {
	Version int            `json:"version"`
	Capture string         `json:"capture"`
	Files   []manifestFile `json:"files"`
}

type manifestFile struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Pack checks a capture and puts its files, with a manifest, into a new archive.
// A runtime trace is binary and cannot be checked: it stays outside.
func Pack(capture, dir, out string, stdout, stderr io.Writer) int {
	c := newCommand(stdout, stderr)
	f, err := find(capture, dir)
	if err != nil {
		return c.fail(err)
	}
	c.missing(f)
	cut := 0
	err = c.create(out, func(w io.Writer) (err error) {
		cut, err = c.pack(f, w)
		return err
	})
	if err != nil {
		return c.fail(err)
	}
	fmt.Fprintf(stdout, "%s holds %d files of %s\n", reader.Escape(out), len(f.files), reader.Escape(f.stem))
	if cut > 0 {
		fmt.Fprintf(stdout, "%d last lines were cut off and cannot be checked: they are not in the archive\n", cut)
	}
	if f.trace != "" {
		fmt.Fprintf(stdout, "%s is binary and cannot be checked: it is not in the archive\n", reader.Escape(filepath.Base(f.trace)))
	}
	return exitOK
}

// pack reads each file once: what is checked is what is packed. A last line
// without an end is neither; cut is how many there were.
func (c *command) pack(f found, w io.Writer) (cut int, err error) {
	z := zip.NewWriter(w)
	m := manifest{Version: 1, Capture: f.stem}
	for _, path := range f.files {
		data, err := whole(path)
		if err != nil {
			return cut, err
		}
		if end := bytes.LastIndexByte(data, '\n') + 1; end < len(data) {
			data = data[:end]
			cut++
		}
		name := filepath.Base(path)
		if foreign := reader.Check(data); len(foreign) > 0 {
			for _, x := range foreign {
				fmt.Fprintf(c.stderr, "%s:%d: %s\n", reader.Escape(name), x.Line, x.What)
			}
			return cut, errForeign
		}
		sum := sha256.Sum256(data)
		m.Files = append(m.Files, manifestFile{name, len(data), hex.EncodeToString(sum[:])})
		if err := add(z, name, data); err != nil {
			return cut, err
		}
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return cut, err
	}
	return cut, errors.Join(add(z, "manifest.json", append(text, '\n')), z.Close())
}

func add(z *zip.Writer, name string, data []byte) error {
	f, err := z.Create(name)
	if err == nil {
		_, err = f.Write(data)
	}
	return err
}
