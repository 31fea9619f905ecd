// Package prompttag expands the tags of a prompt: #tree, #git-status and
// #diff-changes stand for what a command or a store says, which is put behind
// the prompt in a block of its own (runner.md 12). What cannot be had becomes
// text in the block, never an error. It runs nothing itself: the caller hands in
// the shell.
package prompttag
