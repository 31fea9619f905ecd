// Package read shows files and skills to the model: tools.md 1.7. Text is shown
// as numbered rows under a tag, and what was shown is remembered in the
// snapshot store, which hash_edit relies on.
package read
