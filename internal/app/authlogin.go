package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"magicode/internal/auth"
	"magicode/internal/provider/claude"
	"magicode/internal/provider/codex"
)

// authLoginCmd stores a credential.
type authLoginCmd struct {
	Provider  string        `arg:"" optional:"" default:"openai-codex" help:"openai-codex (default) or anthropic."`
	NoBrowser bool          `help:"Only print the address."`
	Wait      time.Duration `help:"How long to wait for the browser." default:"5m"`
}

var (
	errNobody  = errors.New("nobody came back from the browser in time")
	errKeyFrom = usageError("the key is read from standard input, so that no shell remembers it: magi-code auth login anthropic < FILE. Or set ANTHROPIC_API_KEY")
)

// login stores what the user or the service gives, in place of what is there.
func (d *desk) login(ctx context.Context, c authLoginCmd, stdin *os.File, w io.Writer) error {
	if d.known(c.Provider) != nil {
		return noProvider(c.Provider, stored)
	}
	if def, own := d.snap.Custom[c.Provider]; own {
		if def.KeyVariable == "" {
			return usageError(c.Provider + " needs no key")
		}
		return usageError(fmt.Sprintf("%s takes its key from the variable %s and from nowhere else", c.Provider, def.KeyVariable))
	}
	// A file that cannot be written to later is told of before the browser is.
	if _, err := d.snap.Auth.Read(ctx); err != nil {
		return err
	}
	switch c.Provider {
	case claude.ID:
		return usageError("the claude command owns its login: run 'claude auth login'")
	case codex.ID:
		return d.loginCodex(ctx, c, &codex.Login{HTTP: d.http}, w)
	}
	if isTerminal(stdin) {
		return errKeyFrom
	}
	return d.storeKey(ctx, c.Provider, stdin, w)
}

func (d *desk) loginCodex(ctx context.Context, c authLoginCmd, l *codex.Login, w io.Writer) error {
	if c.Wait <= 0 {
		return usageError("--wait must be positive")
	}
	waiting, cancel := context.WithTimeoutCause(ctx, c.Wait, errNobody)
	defer cancel()
	l.Visit = func(address string) error {
		if err := visit(waiting, w, address, !c.NoBrowser); err != nil {
			return err
		}
		port := callbackPort(address)
		_, err := fmt.Fprintf(w, "Waiting for the browser, at most %v. It must run on this machine, or reach its port: ssh -L %s:localhost:%s ...\n", c.Wait, port, port)
		return err
	}
	rec, err := l.Run(waiting)
	if err != nil {
		return err
	}
	return d.put(ctx, codex.ID, rec, w)
}

// callbackPort is where the browser will come back to.
func callbackPort(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return ""
	}
	back, err := url.Parse(at.Query().Get("redirect_uri"))
	if err != nil {
		return ""
	}
	return back.Port()
}

// put stores a record. A login that was given must not be lost to a signal.
func (d *desk) put(ctx context.Context, id string, rec auth.Record, w io.Writer) error {
	if err := d.snap.Auth.Put(context.WithoutCancel(ctx), id, rec); err != nil {
		return fmt.Errorf("store the login: %w", err)
	}
	file, err := d.snap.Auth.Read(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %s\n", id, d.credential(ctx, id, file))
	if d.snap.Selection.Provider != id {
		fmt.Fprintf(w, "selected is %s; 'magi-code models use %s MODEL' selects this provider\n", d.snap.Selection.Provider, id)
	}
	return nil
}

// maxKey bounds an API key; known ones have about 110 bytes.
const maxKey = 4096

func (d *desk) storeKey(ctx context.Context, id string, r io.Reader, w io.Writer) error {
	text, err := io.ReadAll(io.LimitReader(r, maxKey+1))
	if err != nil {
		return fmt.Errorf("read the key: %v", err)
	}
	key := strings.TrimSpace(string(text))
	switch {
	case key == "":
		return errKeyFrom
	case len(text) > maxKey, strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }):
		return usageError("what stands on standard input is no API key")
	}
	return d.put(ctx, id, auth.Record{Kind: auth.KindAPIKey, Key: auth.Secret(key)}, w)
}
