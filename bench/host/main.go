package host

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Interrupted is the status of a program that was told to end.
const Interrupted = 130

// Main runs a driver and returns its exit status: what run says, 1 with an error,
// and Interrupted where the driver was told to end, which ends run's context. So
// what run started and made is ended and removed in any case.
func Main(name string, run func(context.Context) (status int, err error)) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	status, err := run(ctx)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, name+": interrupted")
		return Interrupted
	case err != nil:
		fmt.Fprintln(os.Stderr, name+":", err)
		return 1
	}
	return status
}

// Progress returns what tells a person who waits, on standard error, how far a
// run of so many steps is. It is called before each of them.
func Progress(steps int) func(format string, args ...any) {
	begun, done := time.Now(), 0
	return func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%5.0f s, %3d %%: %s\n", time.Since(begun).Seconds(), 100*done/max(steps, 1), fmt.Sprintf(format, args...))
		done++
	}
}
