package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"magicode/internal/demo"
)

// runDemo runs the demo against this very executable.
func runDemo(c demoCmd, stdout, stderr *os.File) int {
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintf(stderr, "magi-code: find this program's own file: %v\n", err)
		return exitError
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Whoever reads may go early, as head does. The write fails then, and the
	// demo still takes its folder away.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	err = demo.Run(ctx, demo.Options{Executable: exe, Frames: c.Frames, Out: stdout})
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, demo.ErrTurn):
		fmt.Fprintln(stderr, "magi-code: the demo's turn failed; the lines above say why")
	default:
		fmt.Fprintf(stderr, "magi-code: demo: %v\n", err)
	}
	return exitError
}
