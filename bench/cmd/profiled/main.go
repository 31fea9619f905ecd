// Command profiled is magi-code with two profiles of its whole life in the
// folder that MAGI_CODE_PROFILE_DIR names: of its processor time, PID.prof, and
// of what it allocated, PID.allocs. `make pgo` runs the workload of versus with
// it and merges the first kind into cmd/magi-code/default.pgo.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"

	"magicode/internal/app"
)

// sampleEvery is how many allocated bytes lie between two samples: a child of a
// few seconds allocates some tens of MiB, which the default of 512 KiB shows as
// a handful of places.
const sampleEvery = 16 << 10

func main() {
	runtime.MemProfileRate = sampleEvery
	os.Exit(run())
}

func run() int {
	dir := os.Getenv("MAGI_CODE_PROFILE_DIR")
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%d.prof", os.Getpid())))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status := app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		return 1
	}
	if err := allocations(filepath.Join(dir, fmt.Sprintf("%d.allocs", os.Getpid()))); err != nil {
		return 1
	}
	return status
}

func allocations(path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return pprof.Lookup("allocs").WriteTo(f, 0)
}
