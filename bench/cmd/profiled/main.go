// Command profiled is magi-code with a CPU profile of its whole life in the
// folder that MAGI_CODE_PROFILE_DIR names. `make pgo` runs the workload of
// versus with it and merges what it leaves into cmd/magi-code/default.pgo.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"

	"magicode/internal/app"
)

func main() { os.Exit(run()) }

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
	return status
}
