package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"magicode/internal/config"
	"magicode/internal/session/inventory"
)

// maxDays bounds --days: a date before the year 1 is none.
const maxDays = 100_000

// days is after how many days without activity a session is old.
func (k *keeper) days(given *int) (int, error) {
	if given != nil {
		if *given < 1 || *given > maxDays {
			return 0, usageError(fmt.Sprintf("--days must be a number from 1 to %d", maxDays))
		}
		return *given, nil
	}
	days, err := k.retention()
	if err != nil {
		return 0, fmt.Errorf("%w; --days says it without the settings", err)
	}
	if days == 0 {
		return 0, usageError("the setting sessions.retention_days is 0, so no session is ever old; --days says otherwise for once")
	}
	return min(days, maxDays), nil
}

// retention is the setting of the global file alone: a project that is looked at
// has no say in what becomes of the sessions of others.
func (k *keeper) retention() (int, error) {
	env := k.env
	env.CWD = k.paths.Root // where there is no project
	loaded, err := config.Look(env)
	if err != nil {
		return 0, err
	}
	return loaded.Settings.Sessions.RetentionDays, nil
}

// pruned is an item of `sessions prune --json`.
type pruned struct {
	Kind    inventory.Kind `json:"kind"`
	ID      string         `json:"session_id"`
	Path    string         `json:"path"` // below the home
	Bytes   int64          `json:"bytes"`
	Latest  string         `json:"latest_activity"`
	Title   *string        `json:"title"`
	Deleted bool           `json:"deleted"`
	Why     *string        `json:"kept_because"`
}

func (k *keeper) prune(ctx context.Context, c sessionsPruneCmd) error {
	days, err := k.days(c.Days)
	if err != nil {
		return err
	}
	plan, err := k.home.Survey(ctx, k.now.AddDate(0, 0, -days))
	if err != nil {
		return err
	}
	r := &pruning{keeper: k, quiet: c.JSON, days: days, items: []pruned{}}
	for _, kept := range plan.Kept {
		r.kept(kept.ID, kept.Why)
	}
	blobs := 0
	if c.Yes {
		blobs, err = k.home.Delete(ctx, plan, r.tell)
	} else {
		for _, item := range plan.Items {
			r.tell(item, errOnlyLooking)
		}
	}
	if c.JSON {
		err = errors.Join(err, printJSON(k.out, map[string]any{"days": days, "deleted": r.deleted, "file_snapshots_deleted": blobs, "items": r.items, "kept": append([]inventory.Kept{}, plan.Kept...)}))
	} else {
		r.sum(c.Yes, len(plan.Items), blobs)
	}
	if err == nil && r.failed > 0 {
		err = fmt.Errorf("%d could not be deleted", r.failed)
	}
	return err
}

// errOnlyLooking stands in for the outcome of a deletion that was not asked for.
var errOnlyLooking = errors.New("not asked for: --yes deletes it")

// pruning tells about one run.
type pruning struct {
	*keeper
	quiet           bool
	days            int
	items           []pruned
	deleted, failed int
	bytes           int64
}

func (r *pruning) tell(item inventory.Item, err error) {
	p := pruned{Kind: item.Kind, ID: item.ID, Path: item.Path, Bytes: item.Bytes, Latest: item.Latest.UTC().Format(time.RFC3339), Title: orNull(item.Title), Deleted: err == nil}
	verb := "deleted"
	switch {
	case err == nil:
		r.deleted++
	case errors.Is(err, errOnlyLooking):
		verb = "would go"
	case errors.Is(err, inventory.ErrInUse), errors.Is(err, inventory.ErrChanged):
		verb = "stays"
	default:
		verb = "FAILED"
		r.failed++
	}
	r.bytes += item.Bytes
	if err != nil {
		p.Why = orNull(err.Error())
	}
	r.items = append(r.items, p)
	if r.quiet {
		return
	}
	line := fmt.Sprintf("%-8s  %s  %8s  %s  %s", verb, item.Latest.Local().Format("2006-01-02"), size(item.Bytes), printable(item.Path), printable(item.Title))
	if err != nil && verb != "would go" {
		line += fmt.Sprintf("  (%v)", err)
	}
	fmt.Fprintln(r.out, strings.TrimRight(line, " "))
}

func (r *pruning) kept(id, why string) {
	if !r.quiet {
		fmt.Fprintf(r.out, "%-8s  %s  (%s)\n", "stays", id, why)
	}
}

func (r *pruning) sum(asked bool, items, blobs int) {
	switch {
	case items == 0:
		fmt.Fprintf(r.out, "nothing is older than %s\n", counted(r.days, "day"))
	case !asked:
		fmt.Fprintf(r.out, "nothing was deleted: %d would go, %s, older than %s. --yes deletes them\n", items, size(r.bytes), counted(r.days, "day"))
	default:
		fmt.Fprintf(r.out, "%d deleted", r.deleted)
		if blobs > 0 {
			fmt.Fprintf(r.out, ", and %d file snapshots that nothing needs any more", blobs)
		}
		fmt.Fprintln(r.out)
	}
}
