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

// childMode names the environment variable that chooses the child's backend.
const childMode = "MAGI_CODE_TEST_BACKEND"

func childBackend() *backend {
	switch os.Getenv(childMode) {
	case "lasting":
		return lasting()
	case "stuck startup":
		return &backend{start: func(context.Context) error { select {} }}
	case "crash":
		return &backend{start: func(context.Context) error {
			go crash("argument", []int{1, 2, 3})
			select {}
		}}
	}
	return &backend{}
}

//go:noinline
func crash(_ string, s []int) { _ = s[len(s)] }
