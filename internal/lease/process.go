package lease

import "strings"

// Processes tells about the processes of this machine.
type Processes interface {
	// Alive reports whether a process with this id exists, or may exist.
	Alive(pid int) bool
	// Start returns a word that differs between two processes that had the
	// same id, "" when it cannot be told. running is false for a process that
	// has ended and was not yet waited for: it writes nothing any more.
	Start(pid int) (start string, running bool)
}

// sameStart compares two start words, `<time>` or `<time>@<boot>`. A boot that
// one side could not read decides nothing.
func sameStart(a, b string) bool {
	at, aboot, _ := strings.Cut(a, "@")
	bt, bboot, _ := strings.Cut(b, "@")
	return at == bt && (aboot == bboot || aboot == "" || bboot == "")
}
