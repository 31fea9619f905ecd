package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"magicode/internal/session/inventory"
	"magicode/internal/worktree"
)

// sessionRow is a session of `sessions list --json`.
type sessionRow struct {
	ID         string  `json:"session_id"`
	Title      *string `json:"title"`
	FirstInput *string `json:"first_prompt"` // since the title, redacted
	Workspace  *string `json:"workspace"`
	Latest     string  `json:"latest_activity"` // RFC 3339, UTC
	Modified   string  `json:"modified"`        // of the file
	Bytes      int64   `json:"bytes"`
	Prompts    int     `json:"prompts"`
	InUse      bool    `json:"in_use"`
	PID        *int    `json:"in_use_by_pid"`
	Problem    *string `json:"problem"`
}

func rowOf(e inventory.Entry) sessionRow {
	r := sessionRow{
		ID: e.ID, Title: orNull(e.Title), FirstInput: orNull(e.FirstInput), Workspace: orNull(e.Workspace), Problem: orNull(e.Problem),
		Latest: e.Latest.UTC().Format(time.RFC3339), Modified: e.Modified.UTC().Format(time.RFC3339), Bytes: e.Bytes, Prompts: e.UserInputs, InUse: e.InUse != nil,
	}
	if e.InUse != nil && e.InUse.PID > 0 {
		r.PID = &e.InUse.PID
	}
	return r
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (k *keeper) list(ctx context.Context, c sessionsListCmd) error {
	all, err := k.home.List(ctx)
	if err != nil {
		return err
	}
	if c.Here {
		here := []string{k.env.CWD, worktree.Main(k.env.FS, k.env.CWD)}
		all = slices.DeleteFunc(all, func(e inventory.Entry) bool { return !slices.Contains(here, e.Workspace) })
	}
	shown := all
	if c.Limit > 0 {
		shown = all[:min(c.Limit, len(all))]
	}
	if c.JSON {
		rows := make([]sessionRow, 0, len(shown))
		for _, e := range shown {
			rows = append(rows, rowOf(e))
		}
		return printJSON(k.out, map[string]any{"sessions": rows, "total": len(all)})
	}
	for _, e := range shown {
		fmt.Fprintln(k.out, k.line(e))
	}
	switch {
	case len(all) == 0 && c.Here:
		fmt.Fprintln(k.notes, "no session of this folder; without --here those of others are listed too")
	case len(all) == 0:
		fmt.Fprintln(k.notes, "no sessions yet")
	case len(shown) < len(all):
		fmt.Fprintf(k.notes, "%d of %d sessions\n", len(shown), len(all))
	}
	return nil
}

// maxShownTitle is the width of a title in the list; longer ones are cut.
const maxShownTitle = 50

func (k *keeper) line(e inventory.Entry) string {
	what := printable(cmp.Or(e.Title, e.FirstInput))
	if utf8.RuneCountInString(what) > maxShownTitle {
		what = string([]rune(what)[:maxShownTitle-1]) + "…"
	}
	switch {
	case e.Problem != "":
		what = "cannot be read: " + e.Problem
	case e.Title == "" && what != "":
		what = "“" + what + "”" // the first prompt stands in for a title
	}
	if e.InUse != nil {
		what += "  [" + inUse(e.InUse) + "]"
	}
	return strings.TrimRight(fmt.Sprintf("%-36s  %s  %8s  %3d  %s  %s", e.ID, e.Latest.Local().Format("2006-01-02 15:04"), size(e.Bytes), e.UserInputs, cmp.Or(printable(e.Workspace), "-"), what), " ")
}

func inUse(u *inventory.Use) string {
	if u.PID == 0 {
		return "in use"
	}
	return fmt.Sprintf("in use by process %d", u.PID)
}
