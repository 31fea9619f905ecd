//go:build race

package mcp

// raced: twenty processes of a test binary with the race detector need a while
// of two processors just to begin.
const raced = true
