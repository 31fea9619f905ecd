//go:build !linux && !darwin

package proc

import (
	"context"
	"os"
)

// Process is never made on this system.
type Process struct{}

// Start refuses: this system has no process groups.
func Start(Spec) (*Process, error) { return nil, ErrUnsupported }

// Run refuses like Start.
func Run(context.Context, Spec) (Result, error) { return Result{}, ErrUnsupported }

// Shutdown has nothing to do.
func Shutdown(context.Context) error { return nil }

func (*Process) Pid() int                   { return 0 }
func (*Process) Stdin() *os.File            { return nil }
func (*Process) Stdout() *os.File           { return nil }
func (*Process) Done() <-chan struct{}      { return nil }
func (*Process) Exited() <-chan struct{}    { return nil }
func (*Process) Result() Result             { return Result{} }
func (*Process) StderrText() string         { return "" }
func (*Process) Stop(context.Context) error { return ErrUnsupported }
