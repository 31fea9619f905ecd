// Package prompt assembles the system prompt (tools.md 9.4, runner.md 12): the
// order of the parts and their wrapper tags are facts that sessions of other
// programs share; the texts are this product's own.
package prompt
