package server

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"magicode/internal/frame"
)

// TestMain is also the child of the process tests: called as a host calls
// magi-code, the test binary serves its own pipes with a fixture behind them.
func TestMain(m *testing.M) {
	if slices.Equal(os.Args[1:], []string{"serve", "--stdio"}) {
		os.Exit(serveChild())
	}
	goleak.VerifyTestMain(m)
}

func serveChild() int {
	Silence()
	pipes, err := frame.OpenStdio()
	if err != nil {
		return 1
	}
	exit := Serve(context.Background(), Config{Transport: pipes, Startup: childBackend(), NewID: uuid.NewString, Signals: Notify()})
	if exit.Signal != nil {
		Raise(exit.Signal)
	}
	return exit.Code
}

func childBackend() *backend { return &backend{} }
