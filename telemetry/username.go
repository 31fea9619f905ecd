package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// UserName is a name that a user configured, or an id. It is the only way in
// for text that is not out of a table, and leaves hashed where telemetry.md 7.3
// says so.
type UserName struct {
	kind  nameKind
	value string
	plain bool // may leave as it is when the user asked for plain names
}

type nameKind uint8

const (
	nameWire nameKind = iota
	nameSession
	nameModel
	nameCustomModel
	nameServer
	nameAgent
	nameProvider
	nameTool
	namePlain
)

var nameKindTexts = [...]string{nameWire: "wire", nameSession: "session", nameModel: "model", nameCustomModel: "model",
	nameServer: "mcp", nameAgent: "subagent", nameProvider: "provider", nameTool: "tool", namePlain: ""}

// WireID is a protocol id. It is hashed with the child's instance id, so that a
// host can join its own log.
func WireID(id string) UserName { return UserName{kind: nameWire, value: id} }

// SessionID is a session's id. It is hashed with the home's salt.
func SessionID(id string) UserName { return UserName{kind: nameSession, value: id} }

// Model is the id of a model. safe: it passed the rule for names that may be
// shown. That of a built-in provider leaves as it is, that of a custom one is
// hashed unless the user asked for plain names.
func Model(id string, builtin, safe bool) UserName {
	switch {
	case !safe:
		return UserName{kind: nameModel, value: other}
	case builtin:
		return UserName{kind: nameModel, value: id}
	}
	return UserName{kind: nameCustomModel, value: id, plain: true}
}

// ServerName, AgentName and ProviderName are names of MCP servers, subagent
// profiles and custom providers. They leave hashed with the home's salt.
func ServerName(name string) UserName { return UserName{kind: nameServer, value: name} }

// AgentName is described at ServerName.
func AgentName(name string) UserName { return UserName{kind: nameAgent, value: name} }

// ProviderName is described at ServerName.
func ProviderName(name string) UserName { return UserName{kind: nameProvider, value: name} }

// ToolName is the name of an MCP server's tool. It leaves hashed, and as it is
// where the user asked for plain names and it passed the rule for names that may
// be shown.
func ToolName(name string, safe bool) UserName {
	return UserName{kind: nameTool, value: name, plain: safe}
}

// PlainName is a name that leaves as it is, and only where the user asked for
// plain names. The caller has held it against the rule for names that may be
// shown.
func PlainName(name string) UserName { return UserName{kind: namePlain, value: name, plain: true} }

const (
	hashPrefix    = "magi-telemetry-1"
	hashLength    = 12
	sessionPrefix = "s-" // of a session's hash
)

// hashName is the first 12 hex digits of a salted SHA-256.
func hashName(kind nameKind, salt []byte, value string) string {
	var room [256]byte // enough for all but a long name
	b := append(append(room[:0], hashPrefix+"\x00"...), nameKindTexts[kind]...)
	b = append(append(append(b, 0), salt...), 0)
	sum := sha256.Sum256(append(b, value...))
	return hex.EncodeToString(sum[:hashLength/2])
}

// nameText is what may be said; "" where there is no salt.
func (c *core) nameText(n UserName) string {
	d := c.decided.Load()
	if d == nil {
		return ""
	}
	switch n.kind {
	case nameWire:
		return hashName(n.kind, []byte(d.id.InstanceID), n.value)
	case nameModel:
		return limit(n.value)
	}
	if n.plain && d.config.Plain {
		return limit(n.value)
	}
	salt := d.salt.Load()
	if n.kind == namePlain || salt == nil {
		return ""
	}
	return d.hashes.of(n, *salt)
}

// hashes are those of the names that come again and again: models, servers, the
// session. The zero value is empty.
type hashes struct {
	mu    sync.Mutex
	known map[UserName]string
}

// maxHashes bounds what is kept; beyond, the names are forgotten.
const maxHashes = 64

func (h *hashes) of(n UserName, salt []byte) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if text, ok := h.known[n]; ok {
		return text
	}
	text := hashName(n.kind, salt, n.value)
	if n.kind == nameSession {
		text = sessionPrefix + text
	}
	if h.known == nil || len(h.known) >= maxHashes {
		h.known = map[UserName]string{}
	}
	h.known[n] = text
	return text
}

// maxText bounds a text on a span (telemetry.md 4.4).
const maxText = 256

func limit(s string) string {
	if len(s) > maxText {
		return other
	}
	return s
}
