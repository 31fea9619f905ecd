// Package anthropic is Anthropic's Messages API: how a request looks, what a
// stream's events mean, and the provider that asks with an API key
// (providers.md 14).
package anthropic
