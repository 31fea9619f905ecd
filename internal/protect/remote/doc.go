// Package remote judges shell commands by questions to a judgement service
// (tools.md 7.2).
//
// What it sends is the command, the folder it would run in, the workspace, and
// what of it nobody can know. Secrets that redaction knows are taken out of the
// command first. What was taken out the service did not see, so the local
// judgement counts beside it: a command cannot hide behind what looks like a
// secret.
package remote
