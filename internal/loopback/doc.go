// Package loopback is the end of an OAuth login on the user's own machine
// (RFC 8252): a listener on 127.0.0.1 that waits for the one redirect which
// carries the login's state, and the values of PKCE (RFC 7636). It exists only
// while a command waits for a browser (decision 36).
package loopback
