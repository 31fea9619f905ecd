package config

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"magicode/internal/jsonscan"
	"magicode/internal/vfs"
)

// maxFile is the most a settings, MCP or credential file may have: 1,048,576
// bytes, storage.md 2.1.
const maxFile = 1 << 20

// document is one parsed JSON object and where it came from.
type document struct {
	file string
	data []byte
	root jsonscan.Value
	tree map[string]any // without keys that hold the delimiter
}

// parseDocument checks data as one JSON object.
func parseDocument(file string, data []byte) (*document, error) {
	root, err := jsonscan.Parse(data, jsonscan.Options{MaxDepth: maxContainers})
	if err != nil {
		return nil, &Error{File: file, Line: brokenLine(data), Reason: "is not valid JSON", Err: err}
	}
	if root.Kind() != jsonscan.Object {
		return nil, &Error{File: file, Line: 1, Reason: "must be an object"}
	}
	return &document{file: file, data: data, root: root, tree: toTree(root)}, nil
}

// fileError says that a file cannot be used at all.
func fileError(file string, err error) *Error {
	reason := "cannot be read"
	switch {
	case errors.Is(err, vfs.ErrNotRegular):
		reason = "is not a regular file"
	case errors.Is(err, vfs.ErrTooLarge):
		reason = "is too large"
	case errors.Is(err, vfs.ErrNotPrivate):
		reason = "is open to others"
	case errors.Is(err, fs.ErrPermission):
		reason = "is not readable"
	}
	return &Error{File: file, Reason: reason, Err: err}
}

// errorIn names the place of a problem: the file that said the key last.
func errorIn(p *problem, docs ...*document) *Error {
	e := &Error{Key: strings.Join(p.path, "."), Reason: p.reason}
	for _, d := range docs {
		if d == nil {
			continue
		}
		e.File = d.file
		if depth, line := d.find(p.path); depth == len(p.path) {
			e.Line = line
			return e
		}
	}
	for _, d := range docs { // a missing key: the object that lacks it
		if d == nil {
			continue
		}
		if depth, line := d.find(p.path); depth > 0 {
			e.File, e.Line = d.file, line
			return e
		}
	}
	return e
}

// find gives how many parts of a path are there, and the line of the last of them.
func (d *document) find(path []string) (depth, line int) {
	dec := jsontext.NewDecoder(bytes.NewReader(d.data), jsontext.AllowDuplicateNames(true))
	want := make([]jsontext.Pointer, len(path)+1)
	for i, part := range path {
		want[i+1] = want[i].AppendToken(part)
	}
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return depth, line
		}
		if token.Kind() == '}' || token.Kind() == ']' {
			continue // the end of a value has its pointer too
		}
		at := dec.StackPointer()
		for i := max(depth, 1); i < len(want); i++ {
			if at == want[i] && i >= depth {
				depth, line = i, lineAt(d.data, dec.InputOffset())
			}
		}
	}
}

func lineAt(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte{'\n'})
}

// brokenLine finds the line of the first fault, 0 when only our own scanner
// minds (depth, numbers).
func brokenLine(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return lineAt(data, int64(i))
		}
		i += size
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	for n := 0; ; n++ {
		_, err := dec.ReadToken()
		if errors.Is(err, io.EOF) || err == nil && n > 0 && dec.StackDepth() == 0 && dec.PeekKind() != 0 {
			return lineAt(data, dec.InputOffset())
		}
		if err != nil {
			var syntax *jsontext.SyntacticError
			if errors.As(err, &syntax) {
				return lineAt(data, syntax.ByteOffset)
			}
			return 0
		}
		if dec.StackDepth() == 0 && len(bytes.TrimSpace(data[dec.InputOffset():])) == 0 {
			return 0
		}
	}
}

// readGlobal reads the home's settings file and makes it when there is none.
// The settings lock is held meanwhile (storage.md 2.1).
func readGlobal(ctx context.Context, env Env, file string) (data []byte, err error) {
	release, err := env.Lock(ctx, file, SettingsLockWait)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		reason := "is locked"
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			reason = "cannot be locked, its folder cannot be written to"
		}
		return nil, &Error{File: file, Reason: reason, Err: err}
	}
	defer func() {
		if e := release(); e != nil && err == nil {
			err = &Error{File: file, Reason: "lock was lost", Err: e}
		}
	}()
	data, err = vfs.ReadFile(env.FS, file, maxFile)
	if err == nil {
		return data, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fileError(file, err)
	}
	data = []byte(emptySettings)
	if err := vfs.Replace(env.FS, file, data, 0); err != nil && !errors.Is(err, vfs.ErrUndurable) {
		return nil, &Error{File: file, Reason: "cannot be written", Err: err}
	}
	return data, nil
}

// emptySettings is the text of a new global file, byte for byte.
const emptySettings = "{\n  \"$schema\": \"./state/settings.schema.json\",\n  \"schema_version\": 2\n}"

// readProject reads the settings file of the working directory; nil when there
// is none. Nothing outside the directory is read through links.
func readProject(fsys vfs.FS, p Paths) ([]byte, error) {
	file := p.ProjectSettings()
	data, err := vfs.ReadFile(fsys, file, maxFile)
	if errors.Is(err, fs.ErrNotExist) || noDirectory(fsys, filepath.Dir(file)) {
		return nil, nil
	}
	if err != nil {
		return nil, fileError(file, err)
	}
	dir, err := fsys.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return nil, fileError(file, err)
	}
	if !inside(p.CWD, dir) {
		return nil, &Error{File: file, Reason: "lies outside of the project"}
	}
	return data, nil
}

// noDirectory: something else under the name .magi-code holds no settings.
func noDirectory(fsys vfs.FS, dir string) bool {
	info, err := fsys.Stat(dir)
	return err == nil && !info.Mode.IsDir()
}

func inside(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// makeSchema writes the schema file where there is none: two programs share it (decision 27).
func makeSchema(fsys vfs.FS, p Paths) error {
	file := filepath.Join(p.State(), "settings.schema.json")
	if exists(fsys, file) {
		return nil
	}
	if err := vfs.ReplaceCache(fsys, file, Schema(), 0); err != nil {
		return &Error{File: file, Reason: "cannot be written", Err: err}
	}
	return nil
}
