package app

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"magicode/internal/agent"
	"magicode/internal/frame"
	"magicode/internal/provider/claude"
	"magicode/internal/tracecmd"
)

// Exit statuses (runner.md 3).
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// cli is the argument grammar.
type cli struct {
	Version kong.VersionFlag `help:"Print the version and exit."`

	Serve    serveCmd    `cmd:"" help:"Serve the local-agent protocol on stdin and stdout, which must be pipes. For host applications."`
	Ask      askCmd      `cmd:"" help:"Run one turn and print the reply. Starts a child as any host would; status 0 only for completed and durable."`
	Doctor   doctorCmd   `cmd:"" help:"Check home, permissions, settings, credentials and locks, and say what to do. Changes nothing. Status 1 means that a child would not start."`
	Sessions sessionsCmd `cmd:"" help:"List, show, export and delete sessions; set their file modes right."`
	Settings settingsCmd `cmd:"" help:"Show and change settings."`
	Models   modelsCmd   `cmd:"" help:"List, fetch and select models."`
	Auth     authCmd     `cmd:"" help:"Log in, log out, show which credentials there are."`
	MCP      mcpCmd      `cmd:"" name:"mcp" help:"List, test, approve and log in to MCP servers."`
	Trace    traceCmd    `cmd:"" help:"Explain a telemetry capture: what was stuck, since when, in which phase."`
	Demo     demoCmd     `cmd:"" help:"Run one full turn through a real child process with an embedded offline model. Needs no key and no network."`
	Complete completeCmd `cmd:"" name:"completion" help:"Print a script that completes this program's commands and flags in your shell."`
	Help     helpCmd     `cmd:"" help:"Show the help of a command."`
	About    struct{}    `cmd:"" name:"version" help:"Print the version and exit."`
}

type serveCmd struct {
	Stdio bool `help:"Speak on the inherited stdin and stdout. Required; no other flag may stand beside it."`
}

// helpCmd stands in the grammar to be listed; spelled answers it.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command."`
}

type demoCmd struct {
	Frames bool `help:"Print the frames of the wire instead of the transcript."`
}

// launchFlags belong to the terminal front end. They never stand beside serve.
var launchFlags = []string{"--prompt", "--continue", "--resume", "--no-session", "--provider", "--model", "--theme", "--api-key", "--update", "--update-restart"}

const description = `A coding agent that a host application owns as one child process over two pipes.

Start with 'magi-code demo'. Hosts run 'magi-code serve --stdio'.

Settings and sessions live in ~/.magi-code, or in the folder that MC_HOME names.

The exit status is 0 for success, 1 for what failed or is not there, and 2 for a command line that cannot be used; trace has a 3 of its own.`

// Main runs the program and returns its exit status. args excludes the program's name.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	// The host's launch, and nothing else, skips the grammar: a child starts as
	// quickly as it can.
	if isServe(args) {
		return serve(stderr)
	}
	if inventory := os.Getenv(claude.InventoryVariable); inventory != "" && len(args) == 0 {
		if agent.ServeInert(inventory, stdin, stdout) != nil { // nobody would read why
			return exitError
		}
		return exitOK
	}
	args = spelled(args)
	if status, done := refuse(args, stderr); done {
		return status
	}
	return run(args, stdin, stdout, stderr)
}

// serve runs this process as a child. It may say that it cannot on this system;
// after that nothing is written to stderr.
func serve(stderr io.Writer) int {
	launched := time.Now()
	if err := frame.CheckPlatform(runtime.GOOS); err != nil {
		fmt.Fprintf(stderr, "magi-code: %v\n", err)
		return exitUsage
	}
	status, err := agent.Serve(launched)
	if err != nil {
		return exitError
	}
	return status
}

// isServe: exactly serve --stdio (a closing -- is no flag).
func isServe(args []string) bool {
	return slices.Equal(args, []string{"serve", "--stdio"}) || slices.Equal(args, []string{"serve", "--stdio", "--"})
}

// refuse answers what is rejected whatever else stands on the line.
func refuse(args []string, stderr io.Writer) (status int, done bool) {
	fail := func(format string, a ...any) (int, bool) {
		fmt.Fprintf(stderr, "magi-code: "+format+"\nTry 'magi-code --help'.\n", a...)
		return exitUsage, true
	}
	asksHelp := slices.Contains(args, "--help") || slices.Contains(args, "-h")
	switch {
	case len(args) > 0 && args[0] != "serve" && args[0] != "daemon" && !strings.HasPrefix(args[0], "-"):
		return 0, false // another command reads its own words: a prompt may say serve
	case slices.Contains(args, "--app"), len(args) > 0 && args[0] == "daemon":
		return fail("there is no daemon and no --app mode: a host starts 'magi-code serve --stdio' as its own child")
	case slices.Contains(args, "serve") && !asksHelp:
		return fail("serve takes exactly one flag: 'magi-code serve --stdio'")
	case slices.Contains(args, "--stdio") && !asksHelp:
		return fail("--stdio belongs to serve: 'magi-code serve --stdio'")
	case len(args) == 0, isLaunchFlag(args[0]):
		return fail("Mission Control, the terminal front end, is not part of this version; use 'magi-code ask TEXT', or a host application that runs 'magi-code serve --stdio'; 'magi-code demo' shows a turn")
	}
	return 0, false
}

func isLaunchFlag(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return slices.Contains(launchFlags, name)
}

// run parses the grammar and runs a command.
func run(args []string, stdin, stdout, stderr *os.File) int {
	var c cli
	exited, status := false, exitOK
	var parser *kong.Kong
	parser, err := grammar(&c, kong.Writers(stdout, stderr), kong.Exit(func(code int) {
		exited, status = true, code
		parser.Stdout = io.Discard // a second --help says no more
	}))
	if err != nil {
		fmt.Fprintf(stderr, "magi-code: %v\n", err)
		return exitError
	}
	ctx, err := parser.Parse(args)
	if exited {
		return status
	}
	if err != nil {
		fmt.Fprintf(stderr, "magi-code: %s\n", wording(err.Error(), parser.Model.Node, args))
		return exitUsage
	}
	return c.dispatch(ctx.Command(), stdin, stdout, stderr)
}

// grammar is the parser of command lines into c.
func grammar(c *cli, options ...kong.Option) (*kong.Kong, error) {
	for _, kind := range []reflect.Kind{reflect.Int, reflect.Int64, reflect.Float64} {
		options = append(options, kong.KindMapper(kind, kong.MapperFunc(number)))
	}
	return kong.New(c, append(options, kong.Name("magi-code"), kong.Description(description), kong.UsageOnError(),
		kong.Vars{"version": "magi-code " + agent.Version, "failwords": strings.Join(tracecmd.FailWords(), ", "),
			"capture": "The name of a capture, any file of one, or a folder, whose newest is meant. Default: the newest in the home's telemetry folder."},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}))...)
}

// number reads a flag's number: none of this program's is negative. A word with a
// dash is read as well, since -1 is a number and no flag.
func number(ctx *kong.DecodeContext, target reflect.Value) error {
	word := ctx.Scan.Pop()
	if word.IsEOL() {
		return errors.New("a number is missing")
	}
	switch target.Kind() {
	case reflect.Float64:
		v, err := strconv.ParseFloat(word.String(), 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("must be a number of 0 or more, not %q", word)
		}
		target.SetFloat(v)
	default:
		v, err := strconv.ParseInt(word.String(), 10, target.Type().Bits())
		if err != nil || v < 0 {
			return fmt.Errorf("must be a whole number of 0 or more, not %q", word)
		}
		target.SetInt(v)
	}
	return nil
}

// wording says why a line could not be parsed, and what may have been meant.
func wording(why string, n *kong.Node, args []string) string {
	try := "Try 'magi-code "
	for i := 0; i < len(args); i++ {
		j := slices.IndexFunc(n.Children, func(c *kong.Node) bool { return c.Name == args[i] })
		if j < 0 {
			break
		}
		n, try = n.Children[j], try+args[i]+" "
	}
	try += "--help'."
	if word, ok := strings.CutPrefix(why, "unexpected argument "); ok && len(n.Children) > 0 {
		why = "unknown command " + word
	}
	if n.Name == "ask" && strings.HasPrefix(why, "unknown flag ") {
		try += " A prompt that begins with a dash comes after two: magi-code ask -- '-x ...'"
	}
	return why + "\n" + try
}

// spelled turns the commands help and version, which other programs have, into
// the flags that do the same.
func spelled(args []string) []string {
	switch {
	case len(args) > 0 && args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && args[0] == "version":
		return []string{"--version"}
	}
	return args
}

func (c *cli) dispatch(command string, stdin, stdout, stderr *os.File) int {
	verb, rest, _ := strings.Cut(command, " ")
	switch verb {
	case "trace":
		what, _, _ := strings.Cut(rest, " ")
		return runTrace(c.Trace, what, stdout, stderr)
	case "demo":
		return runDemo(c.Demo, stdout, stderr)
	case "ask":
		return runAsk(c.Ask, stdin, stdout, stderr)
	case "doctor":
		return runDoctor(c.Doctor, stdout)
	case "mcp":
		what, _, _ := strings.Cut(rest, " ")
		return runMCP(c.MCP, what, stdout, stderr)
	case "completion":
		return runComplete(c.Complete, stdout, stderr)
	case "sessions":
		what, _, _ := strings.Cut(rest, " ")
		return runSessions(c.Sessions, what, stdout, stderr)
	case "settings":
		what, _, _ := strings.Cut(rest, " ")
		return runSettings(c.Settings, what, stdout, stderr)
	case "models":
		what, _, _ := strings.Cut(rest, " ")
		return runModels(c.Models, what, stdout, stderr)
	case "auth":
		what, _, _ := strings.Cut(rest, " ")
		return runAuth(c.Auth, what, stdin, stdout, stderr)
	}
	fmt.Fprintf(stderr, "magi-code: unknown command %q\n", command)
	return exitUsage
}
