// Package grep searches file contents: tools.md 1.11. What is walked is decided
// by internal/ignore.
//
// A search runs in stages: the walk hands out files in order, a few workers
// read and scan them side by side, and their results are joined in the order
// of the walk. A line is found by literals that every match must contain, where
// there are such, and by an automaton that is built as it runs (automaton.go);
// regexp itself only places the match in a long line and decides about text
// that is not valid UTF-8.
package grep
