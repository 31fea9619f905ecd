// Package chat is OpenAI's Chat Completions API as many servers speak it: how a
// request looks and what a stream's chunks mean (providers.md 13). Who is
// asked, with which headers, is its callers' business.
package chat
