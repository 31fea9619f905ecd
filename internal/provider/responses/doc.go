// Package responses is OpenAI's Responses API: how a request looks and what a
// stream's events mean (providers.md 11). Custom providers and openai-codex
// share it; who is asked, with which headers, is theirs.
package responses
