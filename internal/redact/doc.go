// Package redact hides secrets in everything that is shown or stored
// (storage.md 11, runner.md 18.2-18.4, decisions 33, 41 and 46).
//
// One scanner serves finished text and text that is still arriving. It walks
// from left to right, and each decision it takes rests on characters it has
// read, never on where the text happens to end; where the end would matter, a
// stream waits and a finished text decides. So what a Stream has released is a
// prefix of Text of everything that can follow, by construction.
//
// The scanner looks at two kinds of places only: the start of a word, where a
// key of a known format may begin, and ':' or '=', where the value of an
// assignment or the password of a URL may follow. All other bytes cost a table
// lookup.
//
// The package holds no state outside its types and knows nothing of files or
// wires. Functions are safe for concurrent use; a Stream or Stripper belongs to
// one goroutine.
package redact
