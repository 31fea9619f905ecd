package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
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
)

var nameKindTexts = [...]string{nameWire: "wire", nameSession: "session", nameModel: "model", nameCustomModel: "model"}

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

const hashPrefix = "magi-telemetry-1"

// hashName is the first 12 hex digits of a salted SHA-256.
func hashName(kind nameKind, salt []byte, value string) string {
	h := sha256.New()
	h.Write([]byte(hashPrefix + "\x00" + nameKindTexts[kind] + "\x00"))
	h.Write(salt)
	h.Write([]byte{0})
	h.Write([]byte(value))
	return hex.EncodeToString(h.Sum(nil))[:12]
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
	if salt == nil {
		return ""
	}
	if n.kind == nameSession {
		return "s-" + hashName(n.kind, *salt, n.value)
	}
	return hashName(n.kind, *salt, n.value)
}

// maxText bounds a text on a span (telemetry.md 4.4).
const maxText = 256

func limit(s string) string {
	if len(s) > maxText {
		return other
	}
	return s
}
