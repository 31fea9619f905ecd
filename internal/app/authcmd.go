package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"magicode/internal/auth"
	"magicode/internal/provider/claude"
	"magicode/internal/provider/codex"
)

// authCmd is the credentials without a terminal user interface. Values are
// never shown.
type authCmd struct {
	Status struct{}     `cmd:"" help:"Say which providers have a usable credential, and where it comes from."`
	Login  authLoginCmd `cmd:"" help:"Log in to openai-codex with a browser, or store an API key of anthropic, which is read from standard input."`
	Logout struct {
		Provider string `arg:"" help:"openai-codex or anthropic."`
	} `cmd:"" help:"Remove a provider's stored credential from this computer."`
}

// stored are the providers whose credentials are kept here.
var stored = []string{codex.ID, "anthropic"}

var errNoLogout = errors.New("nothing of this provider is stored here: custom providers read a variable, and the claude command owns its login ('claude auth logout')")

func runAuth(c authCmd, what string, stdin, stdout, stderr *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	open := openDesk
	if what != "login" { // alone in making the home
		open = lookDesk
	}
	d, err := open(ctx)
	if err == nil {
		switch what {
		case "status":
			err = d.authStatus(ctx, stdout)
		case "login":
			err = d.login(ctx, c.Login, stdin, stdout)
		case "logout":
			err = d.logout(ctx, stdout, c.Logout.Provider)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "magi-code: %v\n", err)
		return statusOf(err)
	}
	return exitOK
}

func (d *desk) authStatus(ctx context.Context, w io.Writer) error {
	file, err := d.snap.Auth.Read(ctx)
	if err != nil {
		return err
	}
	for _, id := range d.providers() {
		mark := " "
		if id == d.snap.Selection.Provider {
			mark = "*"
		}
		fmt.Fprintf(w, "%s %-22s %s\n", mark, id, d.credential(ctx, id, file))
	}
	return nil
}

// credential says in words what a provider has.
func (d *desk) credential(ctx context.Context, id string, file auth.File) string {
	if def, ok := d.snap.Custom[id]; ok {
		switch {
		case def.KeyVariable == "":
			return "ready: needs no key"
		case def.Ready:
			return "ready: key from " + def.KeyVariable
		}
		return "not ready: " + def.KeyVariable + " is empty or not set"
	}
	switch id {
	case claude.ID:
		if name := auth.ClaudeConflict(auth.Lookup(d.env.Lookup)); name != "" {
			return "not ready: " + name + " is set and would override the login of the claude command"
		}
		if d.models.Claude.Ready(ctx) {
			return "ready: the claude command is logged in"
		}
		return "not ready: the claude command is missing or not logged in"
	case "anthropic":
		if v, _ := auth.Lookup(d.env.Lookup)("ANTHROPIC_API_KEY"); v != "" {
			return "ready: key from ANTHROPIC_API_KEY"
		}
	}
	switch file.Ready(id, auth.Lookup(d.env.Lookup), time.Now()) {
	case auth.Ready:
		return "ready: stored in auth.json" + expiry(file.Records[id])
	case auth.Refreshable:
		return "ready: stored in auth.json, renewed at the next turn"
	}
	hint := "'magi-code auth login' logs in"
	if id == "anthropic" {
		hint = "set ANTHROPIC_API_KEY, or 'magi-code auth login anthropic < FILE' stores a key"
	}
	return "not ready: nothing usable is stored; " + hint
}

func expiry(r auth.Record) string {
	if r.Expires == nil {
		return ""
	}
	return ", until " + time.Unix(*r.Expires, 0).UTC().Format(time.RFC3339)
}

func (d *desk) logout(ctx context.Context, w io.Writer, id string) error {
	if d.known(id) != nil {
		return noProvider(id, stored)
	}
	if _, own := d.snap.Custom[id]; own || id == claude.ID {
		return errNoLogout
	}
	file, err := d.snap.Auth.Read(ctx)
	if err != nil {
		return err
	}
	if _, ok := file.Records[id]; !ok {
		fmt.Fprintf(w, "%s: nothing was stored\n", id)
		return nil
	}
	if err := d.snap.Auth.Remove(ctx, id); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: removed\n", id)
	return nil
}
