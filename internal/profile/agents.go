package profile

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"magicode/internal/vfs"
)

// Agent is a primary agent profile.
type Agent struct {
	ID          string // the file's stem
	Name        string
	Description string
	Text        string // the body
}

// maxProfile is the most that a profile file may have: 64 KiB, tools.md 5.5.
const maxProfile = 64 << 10

// ReadAgent reads the selected primary agent, <root>/agents/<id>.md; nil for a
// nil id. Other files of the folder are not looked at. The error is of kind
// ErrInvalid.
func ReadAgent(fsys vfs.FS, root string, id *string) (*Agent, error) {
	if id == nil {
		return nil, nil
	}
	const key = "agent.primary_agent"
	if !validID(*id) {
		return nil, &Error{Kind: ErrInvalid, Key: key, Reason: "names no profile"}
	}
	path := filepath.Join(root, "agents", *id+".md")
	data, err := vfs.ReadFile(fsys, path, maxProfile)
	if err != nil {
		return nil, &Error{Kind: ErrInvalid, File: path, Key: key, Reason: readReason(err)}
	}
	m, f := parseMatter(data)
	if f == nil {
		f = m.required()
	}
	if f != nil {
		return nil, &Error{Kind: ErrInvalid, File: path, Key: f.key, Line: f.line, Reason: f.reason}
	}
	return &Agent{ID: *id, Name: m.fields["name"].value, Description: m.fields["description"].value, Text: m.body}, nil
}

func (m matter) required() *fault {
	for _, key := range []string{"name", "description"} {
		if f := m.fields[key]; f.value == "" {
			return &fault{key: key, line: f.line, reason: "is missing or empty"}
		}
	}
	return nil
}

// validID is a file stem of ASCII letters, digits, underscore and hyphen.
func validID(s string) bool {
	for i := 0; i < len(s); i++ {
		if !wordByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

type profileFile struct {
	id, path string
}

// profileFiles lists the entries that end in .md, sorted, whatever they are. A
// folder that is not there has none.
func profileFiles(fsys vfs.FS, dir string) ([]profileFile, error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []profileFile
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".md"); ok {
			out = append(out, profileFile{id: id, path: filepath.Join(dir, e.Name())})
		}
	}
	return out, nil
}

// linked reports a symbolic link; what is not there is none.
func linked(fsys vfs.FS, dir string) (bool, error) {
	info, err := fsys.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Mode&fs.ModeSymlink != 0, err
}
