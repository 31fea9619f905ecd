// Package auth owns auth.json: reading it under its lock, telling which
// provider is ready, and changing one provider's record so that two processes
// which do so at once never lose a login (storage.md 3, providers.md 3-5).
//
// The package talks to no network. The exchange of a refresh token is a
// function that the caller hands in; it runs without any lock held. The
// environment is a lookup that is handed in too.
//
// Credentials are of type Secret, which prints as a placeholder.
package auth
