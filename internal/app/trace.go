package app

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"magicode/internal/agent"
	"magicode/internal/config"
	"magicode/internal/tracecmd"
	"magicode/internal/vfs"
	"magicode/telemetry/capture"
	telemetryconfig "magicode/telemetry/config"
	"magicode/telemetry/rawfile"
	"magicode/telemetry/reader"
)

// traceCmd explains what telemetry has recorded.
type traceCmd struct {
	Explain traceExplainCmd `cmd:"" default:"withargs" help:"Explain a capture; the word explain may be left out. 'magi-code trace explain --help' has the flags: --resolve, --html, --json, --fail-on, --run."`
	List    struct{}        `cmd:"" help:"List the captures of this home, one line each: its name, size, time, exit and first verdict."`
	Diff    traceDiffCmd    `cmd:"" help:"Hold two captures against each other: both cleanups, and the medians of all phases. Status 3 when B is slower by more than --over."`
	Check   struct {
		Capture string `arg:"" optional:"" help:"${capture}"`
	} `cmd:"" help:"Hold every key and value of a capture against what this program writes. Status 1 when something is foreign."`
	Pack struct {
		Capture string `arg:"" optional:"" help:"${capture}"`
		Output  string `short:"o" required:"" placeholder:"FILE.zip" help:"The archive, which must not exist."`
	} `cmd:"" help:"Check a capture and put its files into an archive, to be sent."`
	CheckConfig struct{} `cmd:"" name:"check-config" help:"Check the telemetry settings and variables; opens nothing. Status 1 when something is wrong."`
}

type traceExplainCmd struct {
	Capture string   `arg:"" optional:"" help:"${capture}"`
	JSON    bool     `name:"json" help:"Print the analysis as one JSON object."`
	HTML    string   `name:"html" placeholder:"FILE" help:"Write one page that needs nothing else; FILE must not exist."`
	FailOn  []string `placeholder:"CODE" help:"End with status 3 when one of these fires: ${failwords}."`
	Resolve bool     `help:"Show names of this home in the place of their hashes: MCP servers and those of their tools that a stored session mentions, custom providers and models, subagent profiles, sessions. Nothing in a capture or an archive changes."`
	All     bool     `help:"Shorten no list, and say of each verdict in which file and line it stands."`
	Run     *int64   `help:"Show this run only, with all of its parts; the first is 1." placeholder:"N"`
	traceLook
}

type traceDiffCmd struct {
	A    string   `arg:"" help:"The capture to compare with: its name, any file of it, or a folder, whose newest is meant."`
	B    string   `arg:"" help:"The capture that is judged."`
	Over *float64 `placeholder:"PCT" help:"End with status 3 when the median of a phase of B is longer than that of A by more than this many percent, and by 5 ms."`
	JSON bool     `name:"json" help:"Print the comparison as one JSON object."`
	traceLook
}

type traceLook struct {
	Width int    `help:"Width in characters, 60 at least." default:"100"`
	Color string `enum:"auto,always,never" default:"auto" help:"auto, always or never. auto: on a terminal, without NO_COLOR."`
}

// Validate is called by the parser: what it refuses is a wrong call.
func (l traceLook) Validate() error {
	if l.Width < reader.LeastWidth {
		return fmt.Errorf("--width: must be a whole number of %d or more", reader.LeastWidth)
	}
	return nil
}

// Validate is that of the flags, and of a run's number.
func (c traceExplainCmd) Validate() error {
	if c.Run != nil && *c.Run < 1 {
		return errors.New("--run: must be a whole number of 1 or more")
	}
	return c.traceLook.Validate()
}

func (l traceLook) look(stdout *os.File) reader.Look {
	color := l.Color == "always" || l.Color == "auto" && os.Getenv("NO_COLOR") == "" && isTerminal(stdout)
	return reader.Look{Width: l.Width, Color: color}
}

func runTrace(c traceCmd, what string, stdout, stderr *os.File) int {
	switch what {
	case "diff":
		return tracecmd.Diff(tracecmd.DiffOptions{A: c.Diff.A, B: c.Diff.B, Dir: traceSettings().dir, Over: c.Diff.Over, JSON: c.Diff.JSON, Look: c.Diff.look(stdout)}, stdout, stderr)
	case "check-config":
		h := traceSettings()
		return tracecmd.CheckConfig(h.telemetry, h.err, stdout, stderr)
	}
	capture := c.Explain.Capture + c.Check.Capture + c.Pack.Capture // of the one that was called
	h := traceSettings()
	if capture == "" && h.root != nil {
		fmt.Fprintf(stderr, "magi-code trace: %v\n", h.root)
		return exitError
	}
	dir := h.dir
	switch what {
	case "list":
		return tracecmd.List(dir, stdout, stderr)
	case "check":
		return tracecmd.Check(capture, dir, stdout, stderr)
	case "pack":
		return tracecmd.Pack(capture, dir, c.Pack.Output, stdout, stderr)
	}
	return explainTrace(c.Explain, dir, stdout, stderr)
}

func explainTrace(c traceExplainCmd, dir string, stdout, stderr *os.File) int {
	o := tracecmd.Options{Capture: c.Capture, Dir: dir, JSON: c.JSON, HTML: c.HTML, FailOn: c.FailOn, Look: c.look(stdout)}
	o.Look.All = c.All
	if c.Run != nil {
		o.Look.Run = *c.Run
	}
	if c.Resolve {
		o.Resolve = traceNames
	}
	return tracecmd.Run(o, stdout, stderr)
}

// traceHome is what the home says of telemetry.
type traceHome struct {
	dir       string // where captures are
	telemetry telemetryconfig.Config
	root, err error // why there is no home, and what is wrong with its settings
}

// traceSettings reads the settings as a start does, and starts nothing.
func traceSettings() (h traceHome) {
	env := config.Env{FS: vfs.OS(), Lookup: os.LookupEnv, PID: os.Getpid(), UID: os.Geteuid(), PasswordHome: agent.PasswordHome}
	paths, _, err := config.ResolveRoot(env)
	if err != nil {
		h.root, h.err = err, err
		return h
	}
	h.dir = filepath.Join(paths.State(), "telemetry")
	var raw []byte
	project := false
	if cwd, err := agent.WorkingDir(env.FS); err == nil {
		env.CWD = cwd
		l, err := config.Look(env)
		raw, project, h.err = l.Telemetry, l.ProjectTelemetry, err
	}
	h.telemetry = telemetryOf(paths, raw, project)
	if h.telemetry.File.Dir != "" {
		h.dir = h.telemetry.File.Dir
	}
	return h
}

// telemetryOf is what the next child of a home would do, the look at its capture's
// folder included. Nothing is opened to be written.
func telemetryOf(p config.Paths, raw []byte, project bool) telemetryconfig.Config {
	c := telemetryconfig.Load(os.Environ(), raw, project)
	if !c.File.On {
		return c
	}
	dir := cmp.Or(c.File.Dir, filepath.Join(p.State(), "telemetry"))
	var trouble rawfile.Trouble
	if errors.As(capture.Look(dir, c.File.Dir == ""), &trouble) {
		c.File.On = false
		c.Add(telemetryconfig.Problem{Code: string(trouble), Key: "telemetry.file"}, dir+" "+unfit[trouble])
	}
	return c
}

// unfit says what is wrong with a capture's folder.
var unfit = map[rawfile.Trouble]string{
	rawfile.DirMissing: "is not there",
	rawfile.DirUnsafe:  "is no folder, is a link, or may be written to by others (chmod go-w)",
	rawfile.DirOwner:   "is somebody else's",
	rawfile.DirNetwork: "is on a file system that a child must not wait for",
	rawfile.DiskFull:   "has less than 64 MiB free",
	rawfile.FileOpen:   "cannot be used on this system",
}
