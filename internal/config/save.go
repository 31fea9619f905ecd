package config

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"magicode/internal/vfs"
)

// Scope says which file a saved key goes to.
type Scope uint8

// Scopes.
const (
	ScopeGlobal Scope = iota
	ScopeProject
)

// Save sets one key in a settings file, or removes it when value is nil, under
// the settings locks: the global file's first, then the project's (storage.md
// 2.1). Nothing is written unless the result is valid. A project file loses its
// global-only keys on the way, and cannot be given any.
func Save(ctx context.Context, env Env, p Paths, scope Scope, path []string, value []byte) (err error) {
	unlock, err := lockFor(ctx, env, p, scope)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	global, err := readOr(env.FS, p.Settings(), emptySettings)
	if err != nil {
		return err
	}
	if scope == ScopeGlobal {
		return saveGlobal(env.FS, p.Settings(), global, path, value)
	}
	return saveProject(env.FS, p, global, path, value)
}

func lockFor(ctx context.Context, env Env, p Paths, scope Scope) (func() error, error) {
	first, err := env.Lock(ctx, p.Settings(), SettingsLockWait)
	if err != nil || scope == ScopeGlobal {
		return first, err
	}
	if err := makeDir(env.FS, filepath.Dir(p.ProjectSettings())); err != nil {
		return nil, errors.Join(err, first())
	}
	second, err := env.Lock(ctx, p.ProjectSettings(), SettingsLockWait)
	if err != nil {
		return nil, errors.Join(err, first())
	}
	return func() error { return errors.Join(second(), first()) }, nil
}

func readOr(fsys vfs.FS, file, fallback string) ([]byte, error) {
	data, err := vfs.ReadFile(fsys, file, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return []byte(fallback), nil
	}
	if err != nil {
		return nil, fileError(file, err)
	}
	return data, nil
}

func saveGlobal(fsys vfs.FS, file string, doc []byte, path []string, value []byte) error {
	data, err := Edit(doc, path, value)
	if err != nil {
		return inFile(file, err)
	}
	out, err := parseBounded(file, data)
	if err != nil {
		return err
	}
	if _, p := decodeSettings(out.tree); p != nil {
		return editError(p, doc, out)
	}
	return vfs.Replace(fsys, file, endAs(doc, out.data), 0)
}

func saveProject(fsys vfs.FS, p Paths, global []byte, path []string, value []byte) error {
	file := p.ProjectSettings()
	data, err := readProject(fsys, p)
	if err != nil {
		return err
	}
	if data == nil {
		data = []byte("{}")
	}
	old := data
	for _, key := range settingsShape().globalPaths() {
		if value != nil && below(path, key) {
			return &Error{File: file, Key: strings.Join(path, "."), Reason: "counts in the global file only"}
		}
	}
	if data, err = Edit(data, path, value); err != nil {
		return inFile(file, err)
	}
	for _, key := range settingsShape().globalPaths() {
		if data, err = Edit(data, key, nil); err != nil {
			return inFile(file, err)
		}
	}
	out, err := parseBounded(file, data)
	if err != nil {
		return err
	}
	base, err := parseDocument(p.Settings(), global)
	if err != nil {
		return err
	}
	tree, err := layered(base.tree, out.tree)
	if err != nil {
		return err
	}
	if problem := schemaVersion(out.tree); problem != nil {
		return editError(problem, old, out)
	}
	if _, problem := decodeSettings(tree); problem != nil {
		return editError(problem, old, out, base)
	}
	return vfs.Replace(fsys, file, endAs(old, out.data), 0)
}

// editError names the place of a problem in an edited document, which was not
// written: the line is that of the file as the user has it.
func editError(p *problem, old []byte, edited *document, others ...*document) *Error {
	e := errorIn(p, append([]*document{edited}, others...)...)
	if e.File != edited.file {
		return e
	}
	e.Line = 0
	if d, err := parseDocument(edited.file, old); err == nil {
		_, e.Line = d.find(p.path)
	}
	return e
}

// endAs gives the new text a final line feed where the old one had one.
func endAs(old, data []byte) []byte {
	if bytes.HasSuffix(old, []byte{'\n'}) {
		return append(data, '\n')
	}
	return data
}

// below reports whether path is key or lies below it.
func below(path, key []string) bool {
	return len(path) >= len(key) && slices.Equal(path[:len(key)], key)
}

func inFile(file string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.File = file
	}
	return err
}

func parseBounded(file string, data []byte) (*document, error) {
	if len(data) > maxFile {
		return nil, &Error{File: file, Reason: "is too large"}
	}
	return parseDocument(file, data)
}
