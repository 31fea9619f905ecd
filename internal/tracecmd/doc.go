// Package tracecmd is the command magi-code trace: it finds the files of a
// capture, has them explained or compared, and prints that. A capture is only
// read; pages (--html) and archives (pack) are new private files.
package tracecmd
