package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"magicode/internal/tool"
)

// line is one line of a ledger, in the key order of storage.md 5.9.
type line struct {
	SchemaVersion int    `json:"schema_version"`
	Event         record `json:"event"`
}

type record struct {
	SessionID    string `json:"session_id"`
	UserTurn     int    `json:"user_turn"`
	Tool         string `json:"tool"`
	Cwd          string `json:"cwd"`
	RelativePath string `json:"relative_path"`
	Pre          *blob  `json:"pre"`
	Post         *blob  `json:"post"`
	Status       any    `json:"status"`
}

// blob names a content; nil stands for an absent file.
type blob struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`

	data []byte
}

const captured = "captured"

// Reasons why a file is left out on purpose. Of the contract's others,
// path_escape and not_file cannot come up: paths are canonical and the tools
// refuse what is no regular file.
const (
	secretPath        = "secret_path"
	checkpointStorage = "checkpoint_storage"
	sessionStorage    = "session_storage"
	gitStorage        = "git_storage"
)

func excluded(reason string) any {
	return map[string]any{"excluded": map[string]any{"reason": reason}}
}

func oversized(bytes int64) any {
	return map[string]any{"oversized": map[string]any{"bytes": bytes, "max_bytes": tool.MaxCheckpoint}}
}

func unavailable(reason string) any {
	return map[string]any{"unavailable": map[string]any{"reason": reason}}
}

// judge fills in what becomes of an edit's contents.
func (r *record) judge(e tool.Edit, exclusion string) {
	switch {
	case exclusion != "":
		r.Status = excluded(exclusion)
	case max(e.Before.Size, e.After.Size) > tool.MaxCheckpoint:
		r.Status = oversized(max(e.Before.Size, e.After.Size))
	case !e.Before.Kept() || !e.After.Kept():
		r.Status = unavailable(e.Before.Unread + e.After.Unread)
	default:
		r.Pre, r.Post, r.Status = blobOf(e.Before), blobOf(e.After), captured
	}
}

func blobOf(v tool.Version) *blob {
	if !v.Exists {
		return nil
	}
	sum := sha256.Sum256(v.Data)
	return &blob{SHA256: hex.EncodeToString(sum[:]), Bytes: v.Size, data: v.Data}
}

// fail takes the contents back out of a record: its blobs are not there.
func (r *record) fail(reason string) {
	r.Pre, r.Post, r.Status = nil, nil, unavailable(reason)
}

func (r *record) encode() ([]byte, error) {
	b, err := jsonv2.Marshal(line{SchemaVersion: 1, Event: *r}, jsonv2.Deterministic(true))
	return append(b, '\n'), err
}

// exclusion says why a file's content must not be kept, "" when it may be. path
// is canonical, relative is below the working directory, root is the home.
// Letter case does not count: on some systems it does not for files either.
func exclusion(root, path, relative string) string {
	for _, own := range [...]struct{ dir, reason string }{{"checkpoints", checkpointStorage}, {"sessions", sessionStorage}, {"mcp-tokens", secretPath}} {
		if tool.Inside(filepath.Join(root, own.dir), path) {
			return own.reason
		}
	}
	parts := strings.Split(strings.ToLower(filepath.ToSlash(relative)), "/")
	for _, p := range parts {
		if p == ".git" {
			return gitStorage
		}
	}
	// The whole path: the working directory itself may be a folder of settings.
	if Secret(path) || strings.EqualFold(path, filepath.Join(root, "settings.json")) {
		return secretPath
	}
	return ""
}

// Secret reports paths whose names stand for credentials, and a project's
// settings: what such a file holds must not be kept anywhere else.
func Secret(path string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(path)), "/")
	name := parts[len(parts)-1]
	switch name {
	case "auth.json", "id_rsa", "id_ed25519":
		return true
	case "settings.json":
		return len(parts) > 1 && parts[len(parts)-2] == ".magi-code"
	}
	return strings.HasPrefix(name, ".env") || strings.HasSuffix(name, ".pem") || strings.HasSuffix(name, ".key")
}
