package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"magicode/internal/config"
	"magicode/internal/lease"
	"magicode/internal/redact"
	"magicode/internal/session/inventory"
)

// sessionsCmd is the care for the sessions of a home. Nothing is deleted without
// --yes, and nothing that is in use.
type sessionsCmd struct {
	List   sessionsListCmd   `cmd:"" help:"List the sessions of this home, latest first: id, time, size, prompts, folder, title."`
	Show   sessionsShowCmd   `cmd:"" help:"Print the history of a session as text, and why calls failed. Secrets are hidden as they are for a host."`
	Export sessionsExportCmd `cmd:"" help:"Write the history of a session as Markdown or JSON. Secrets are hidden as they are for a host."`
	Prune  sessionsPruneCmd  `cmd:"" help:"Tell which sessions are old and, with --yes, delete them. One that is in use always stays."`
	Repair struct {
		DryRun bool `help:"Only tell what would be changed."`
	} `cmd:"" name:"repair-permissions" help:"Close the folder of sessions and the files in it to other users. Refuses, and changes nothing, when it finds a link, another user's file or a name that does not belong there."`
}

type sessionsListCmd struct {
	Here  bool `help:"Only sessions of this folder or git repository."`
	Limit int  `short:"n" help:"At most so many; 0, the default: all." placeholder:"N"`
	JSON  bool `name:"json" help:"Print one JSON object with all of them."`
}

type sessionsShowCmd struct {
	ID   string `arg:"" help:"The session's id, or its beginning, at least 4 characters, if no other begins so."`
	JSON bool   `name:"json" help:"Print one JSON object, as export --format json."`
}

type sessionsExportCmd struct {
	ID     string       `arg:"" help:"The session's id, or its beginning, at least 4 characters, if no other begins so."`
	Format exportFormat `help:"markdown or json. Default: what the name of the output file says, else markdown." placeholder:"FORMAT"`
	Output string       `short:"o" help:"Write to this file, which must not exist, instead of standard output." placeholder:"FILE"`
	Force  bool         `help:"Replace the output file if it exists."`
}

type sessionsPruneCmd struct {
	Days *int `help:"Sessions without any activity for so many days are old. Default: the setting sessions.retention_days, or 30." placeholder:"N"`
	Yes  bool `help:"Delete them. Without it nothing is deleted."`
	JSON bool `name:"json" help:"Print one JSON object."`
}

// errUsage marks what is wrong with the command line: status 2.
var errUsage = errors.New("usage")

// usageError is an errUsage with a text of its own.
type usageError string

func (e usageError) Error() string        { return string(e) }
func (e usageError) Is(target error) bool { return target == errUsage }

// keeper is what the commands about sessions work with.
type keeper struct {
	out, notes io.Writer
	env        config.Env
	paths      config.Paths
	home       inventory.Home
	now        time.Time
}

func runSessions(c sessionsCmd, what string, stdout, stderr *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := doSessions(ctx, c, what, stdout, stderr)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "magi-code: %v\n", err)
	return statusOf(err)
}

// statusOf tells a wrong command line from what went wrong later.
func statusOf(err error) int {
	if errors.Is(err, errUsage) {
		return exitUsage
	}
	return exitError
}

func doSessions(ctx context.Context, c sessionsCmd, what string, stdout, stderr io.Writer) (err error) {
	env, err := settingsEnv()
	if err != nil {
		return err
	}
	// The home as it is: to look, to delete and to repair make none.
	paths, _, err := config.ResolveRoot(env)
	if err != nil {
		return err
	}
	leases := lease.New(lease.Options{FS: env.FS})
	defer func() { err = errors.Join(err, leases.Close()) }()
	k := &keeper{out: stdout, notes: stderr, env: env, paths: paths, now: time.Now(),
		home: inventory.Home{FS: env.FS, Leases: leases, Root: paths.Root, UID: env.UID}}
	switch what {
	case "show":
		return k.show(ctx, c.Show)
	case "export":
		return k.export(ctx, c.Export)
	case "prune":
		return k.prune(ctx, c.Prune)
	case "repair-permissions":
		return k.repair(c.Repair.DryRun)
	}
	return k.list(ctx, c.List)
}

func (k *keeper) repair(try bool) error {
	changes, err := k.home.RepairPermissions(try)
	verb := "set"
	if try {
		verb = "would be set"
	}
	for _, c := range changes {
		fmt.Fprintf(k.out, "%s: %04o, %s to %04o\n", printable(c.Path), c.From, verb, c.To)
	}
	if err == nil && len(changes) == 0 {
		fmt.Fprintln(k.out, "nothing to repair: the folder of sessions and all that is in it are private")
	}
	return err
}

// printable is text from a file on one line of a terminal.
func printable(s string) string {
	return strings.Join(strings.FieldsFunc(redact.Strip(s), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

// counted is a number of things, for people.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 999_500:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
