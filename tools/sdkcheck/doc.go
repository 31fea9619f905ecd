// Package sdkcheck holds our requests and our test streams against the official
// SDKs of OpenAI and Anthropic (decision 20). It is a module of its own: the
// product links neither.
package sdkcheck
