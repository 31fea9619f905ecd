// Package startup turns a home, a working directory and an environment into one
// immutable Snapshot: settings, instructions, skills, profiles, MCP definitions
// and the credential's readiness, in the order of storage.md 2.6 and with one
// sentinel for each way to fail.
//
// It knows no wire. It makes no network request of its own: connecting MCP
// servers and asking the claude command are functions that the caller hands in.
// A failed start leaves a note in state/last-startup.json (decision 35).
package startup
