// Package bash runs shell commands in the workspace: tools.md 1.8. Processes
// and their end belong to internal/proc; whether a command may run at all is
// decided before dispatch, by the assessor and the approval broker.
package bash
