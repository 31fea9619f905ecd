// Package tracecmd is the command magi-code trace: it finds the files of a
// capture, has them explained, and prints that. It reads only.
package tracecmd
