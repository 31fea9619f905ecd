// Package linediff tells which lines of two texts are the same. It serves edits
// that find their lines again and previews of what an edit did. It holds no
// state and knows nothing of files.
package linediff
