package provider

import (
	"crypto/sha256"
	"encoding/hex"
)

// ConversationID is the conversation id of a session, and the prompt cache key
// of its primary turns (providers.md 6).
func ConversationID(sessionID string) string { return keyOf(sessionID) }

// SubagentCacheKey is the prompt cache key that workers of one persona share,
// whatever their conversation ids (providers.md 6).
func SubagentCacheKey(providerID, model, identity string) string {
	return keyOf("provider=" + providerID + "\nmodel=" + model + "\nidentity=" + identity)
}

func keyOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "magi-code-session-" + hex.EncodeToString(sum[:])[:32]
}
