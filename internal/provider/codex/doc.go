// Package codex is the provider openai-codex: the Responses API behind a
// ChatGPT login (providers.md 5 and 12). It renews the login when it has run
// out, also in the middle of a turn, and keeps the state by which the service
// recognises the requests of one turn.
package codex
