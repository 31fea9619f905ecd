// Package openai is the provider of custom, OpenAI-compatible servers
// (providers.md 11, 13, 19): the Responses API, or Chat Completions when the
// settings say so. Both stream (decision 10).
package openai
