// Package profile reads what shapes the prompt besides settings: instruction
// files, skills, primary agents, subagent profiles and replacements of prompt
// fragments (tools.md 5.5 and 9).
//
// Everything is read once and given back as values that nobody changes. What
// settings say about these files comes in as plain arguments; the package knows
// no settings, and leaves the assembly of a prompt to package prompt.
package profile
