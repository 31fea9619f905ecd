//go:build !unix

package fdio

import "net"

// Conn returns the connection as it is.
func Conn(c net.Conn) net.Conn { return c }
