// Package syntax parses source text of Go, Python, JavaScript, TypeScript, TSX
// and Rust into concrete syntax trees, for tools that search code by its
// structure (ast_grep) and edit whole blocks (hash_edit).
//
// A language is a tokenizer (lex_*.go) and a grammar in a small notation
// (grammars/*.txt, compile.go, notation.go): ordered choice over tokens, with folds for
// suffixes and tables for binary operators in place of left recursion.
// Grammars are compiled on first use and shared; nothing is made at start.
//
// A parse is bounded in steps, nesting and memory, whatever the text holds, and
// ends soon after its context does. Where the text does not fit the grammar, a
// second run leaves out the lines that do not and marks the tree Broken.
//
// Trees keep every token but comments. Kinds of nodes are named like those of
// the tree-sitter grammars where there is no reason to differ, because people
// and models know these names.
package syntax
