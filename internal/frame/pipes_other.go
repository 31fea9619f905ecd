//go:build !unix

package frame

import "time"

// Pipes is the transport over two inherited pipes, which this system has not.
type Pipes struct{}

// OpenStdio refuses with ErrUnsupported.
func OpenStdio() (*Pipes, error) { return nil, ErrUnsupported }

// Read refuses.
func (*Pipes) Read([]byte) (int, error) { return 0, ErrUnsupported }

// Write refuses.
func (*Pipes) Write([]byte) (int, error) { return 0, ErrUnsupported }

// TryWrite refuses.
func (*Pipes) TryWrite([]byte) (int, error) { return 0, ErrUnsupported }

// SetWriteDeadline refuses.
func (*Pipes) SetWriteDeadline(time.Time) error { return ErrUnsupported }

// Close does nothing.
func (*Pipes) Close() error { return nil }
