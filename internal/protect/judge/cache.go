package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"magicode/internal/vfs"
)

// Cache is a folder with one file per answered request. Its name is the hash of
// the exact request, its content {"model","answers"} (tools.md 7.1). A nil
// Cache holds nothing.
type Cache struct {
	FS  vfs.FS
	Dir string // <home>/cache/jev
}

func (c *Cache) name(request []byte) string {
	sum := sha256.Sum256(request)
	return filepath.Join(c.Dir, hex.EncodeToString(sum[:])+".json")
}

// load returns a kept answer. One that does not fit the questions is none.
func (c *Cache) load(request []byte, questions map[string]Question) (Answers, bool) {
	if c == nil {
		return Answers{}, false
	}
	raw, err := vfs.ReadFile(c.FS, c.name(request), maxAnswerBytes, vfs.Owned)
	if err != nil {
		return Answers{}, false
	}
	a, err := decode(raw, questions)
	a.Cached = true
	return a, err == nil
}

// store keeps an answer as it came. What fails costs the next one a request.
func (c *Cache) store(request, answer []byte) {
	if c != nil {
		_ = c.FS.MkdirAll(c.Dir, 0o700)
		_ = vfs.ReplaceCache(c.FS, c.name(request), answer, 0o600)
	}
}
