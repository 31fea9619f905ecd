// Package tokens estimates how many tokens a conversation costs (runner.md 26).
//
// Codex models are counted with their public BPE tables, which are embedded and
// loaded at the first use; everything else by characters. Counts of texts are
// remembered, because a conversation is counted again before every request.
package tokens
