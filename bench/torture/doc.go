// Package torture ends real children at random moments of scripted turns and
// checks that what the host was told is true: what was acknowledged is in the
// session, the session opens at once, and text that the host had seen a second
// before is in the history. `make torture` runs the long form.
package torture
