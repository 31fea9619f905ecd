//go:build !race

package mcp

const raced = false
