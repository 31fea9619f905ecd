package app

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"magicode/internal/tool"
	"magicode/internal/vfs"
)

// maxStored bounds how much of the stored sessions is looked through, the newest
// first: some seconds.
const maxStored = 512 << 20

// maxTools bounds the names: a session holds what web pages and tools say, and that
// may be made of names. Nobody has a tenth as many tools.
const maxTools = 10_000

// storedTools are the names of MCP servers' tools that stored sessions mention, sorted:
// only their servers have a list of them, and where one was called it stands in the
// session. What cannot be read has none.
func storedTools(fsys vfs.FS, dirs ...string) []string {
	type stored struct {
		path string
		size int64
		at   time.Time
	}
	var files []stored
	for _, dir := range dirs {
		for _, id := range stems(fsys, dir, ".jsonl") {
			path := filepath.Join(dir, id+".jsonl")
			if info, err := fsys.Lstat(path); err == nil && info.Mode.IsRegular() {
				files = append(files, stored{path, info.Size, info.Mtime})
			}
		}
	}
	slices.SortFunc(files, func(x, y stored) int { return cmp.Or(y.at.Compare(x.at), strings.Compare(x.path, y.path)) })
	found := map[string]bool{}
	room := int64(maxStored)
	for _, f := range files {
		if f.size > room {
			continue // smaller ones may still do
		}
		room -= f.size
		r, err := fsys.Open(f.path, vfs.Read|vfs.NoFollow|vfs.NonBlock, 0)
		if err != nil {
			continue
		}
		_ = mentioned(io.LimitReader(r, f.size), found)
		_ = r.Close()
	}
	return slices.Sorted(maps.Keys(found))
}

// toolPrefix is what an MCP tool's name begins with where a model is told of it; the
// server and its own name follow, with the same two underscores between them.
const toolPrefix = "mcp__"

// most is how many bytes of a name are looked at, twice what one can have: a text may
// be nothing but beginnings of names, each of which would be as long as what is left.
const most = 128

// mentioned adds the own names of the MCP tools that a text mentions, until there are
// maxTools.
func mentioned(r io.Reader, found map[string]bool) error {
	const piece = 64 << 10
	buf := make([]byte, 0, piece+most)
	for len(found) < maxTools {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		end := len(buf)
		if err == nil {
			end = max(len(buf)-most, 0) // what begins behind it is looked at with what follows
		}
		for at := 0; len(found) < maxTools; {
			i := bytes.Index(buf[at:], []byte(toolPrefix))
			if i < 0 || at+i >= end && err == nil {
				break
			}
			at += i
			name := nameAt(buf[at:])
			if _, own, ok := strings.Cut(strings.TrimPrefix(name, toolPrefix), "__"); ok && tool.IsMCPName(name) {
				found[own] = true
			}
			at += len(toolPrefix)
		}
		buf = buf[:copy(buf, buf[end:])]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nameAt is the name that a text begins with, or the first bytes of one that is none.
func nameAt(text []byte) string {
	text = text[:min(len(text), most)]
	i := bytes.IndexFunc(text, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if i < 0 {
		i = len(text)
	}
	return string(text[:i])
}
