// Package oauth owns mcp-tokens/<server>.json and everything that fills it
// (storage.md 4.4, tools.md 6.7, decision 45): refreshing an access token when a
// connection needs one, and the interactive login of `magi-code mcp login` with
// discovery, dynamic registration, PKCE and a loopback callback.
//
// Tokens is what a connection asks; it never talks to a user. Login is the only
// function that does, through the callback it is given.
//
// Nothing follows a redirect, every body is bounded, and every endpoint must be
// https, or http on this machine. Errors name what failed and never a credential.
package oauth
