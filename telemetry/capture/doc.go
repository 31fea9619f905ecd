// Package capture owns the files of one capture: three of JSON lines, one
// signal each, in a private folder, bounded in size, and the sweep that removes
// old captures (telemetry.md 8). It works on raw descriptors, so that nothing
// is registered with the runtime's poller, and opens with O_EXCL and O_NOFOLLOW,
// so that no name can lead it to a link, a FIFO, a device or a standard stream.
//
// A Capture is for one goroutine.
package capture
