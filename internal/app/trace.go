package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"magicode/internal/config"
	"magicode/internal/tracecmd"
	"magicode/internal/vfs"
)

// traceCmd explains what telemetry has recorded.
type traceCmd struct {
	Capture string   `arg:"" optional:"" help:"A capture, any file of one, or a folder. Default: the newest in the home's telemetry folder."`
	JSON    bool     `name:"json" help:"Print the analysis as one JSON object."`
	FailOn  []string `placeholder:"CODE" help:"End with status 3 when one of these fires: ${failwords}."`
}

func runTrace(c traceCmd, stdout, stderr io.Writer) int {
	o := tracecmd.Options{Capture: c.Capture, JSON: c.JSON, FailOn: c.FailOn}
	if o.Capture == "" {
		paths, _, err := config.ResolveRoot(config.Env{FS: vfs.OS(), Lookup: os.LookupEnv, PID: os.Getpid(), UID: os.Geteuid(), PasswordHome: passwordHome})
		if err != nil {
			fmt.Fprintf(stderr, "magi-code trace: %v\n", err)
			return exitError
		}
		o.Dir = filepath.Join(paths.State(), "telemetry")
	}
	return tracecmd.Run(o, stdout, stderr)
}
