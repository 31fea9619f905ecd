package hashedit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"magicode/internal/tool"
)

// commit writes the prepared jobs in order, and returns how many are in place.
// The first failure ends it; what was written stays.
func (t *Tool) commit(ctx context.Context, edits tool.Edits, jobs []*job) (committed int) {
	for i, j := range jobs {
		j.status = "not_written"
		if i > committed {
			continue
		}
		if ctx.Err() != nil {
			j.status, j.err = "canceled", context.Cause(ctx)
			continue
		}
		j.err = t.write(j)
		j.record(ctx, edits)
		if done(j.status) {
			t.remember(j)
			if j.status == "committed" {
				committed++
			}
		}
	}
	return committed
}

// done reports whether the change is in place, durable or not.
func done(status string) bool { return status == "committed" || status == "committed_but_undurable" }

// write does one job and sets its status.
func (t *Tool) write(j *job) error {
	var err error
	switch j.verb {
	case "delete":
		err = t.files.Remove(j.source)
	case "move":
		return t.move(j)
	default:
		err = t.files.Replace(j.source, j.out, 0)
	}
	j.status = statusOf(err)
	return err
}

func statusOf(err error) string {
	switch {
	case err == nil:
		return "committed"
	case errors.Is(err, tool.ErrUndurable):
		return "committed_but_undurable"
	}
	return "failed"
}

// record tells what is in place now: the two files of a move one by one.
func (j *job) record(ctx context.Context, edits tool.Edits) {
	if edits == nil {
		return
	}
	kept := j.status == "destination_written_source_retained"
	if !kept && !done(j.status) {
		return
	}
	made, was := tool.Present(j.out), tool.Present(j.data)
	edit := func(t tool.Target, before, after tool.Version) {
		edits.Record(ctx, tool.Edit{Tool: "edit", Path: t.Path(), Before: before, After: after})
	}
	switch j.verb {
	case "move":
		edit(*j.dest, tool.Version{}, made)
		if !kept {
			edit(j.source, was, tool.Version{})
		}
	case "delete":
		edit(j.source, was, tool.Version{})
	default:
		edit(j.source, was, made)
	}
}

// move writes the destination, then removes the source; if that fails the
// destination is taken back.
func (t *Tool) move(j *job) error {
	if err := t.checkDest(*j.dest, j.section.path); err != nil { // again, under the lock
		j.status = "failed"
		return err
	}
	written := t.files.Replace(*j.dest, j.out, j.mode)
	if written != nil && !errors.Is(written, tool.ErrUndurable) {
		j.status = "failed"
		return written
	}
	removed := t.files.Remove(j.source)
	if removed == nil || errors.Is(removed, tool.ErrUndurable) {
		err := errors.Join(written, removed)
		j.status = statusOf(err)
		return err
	}
	if undo := t.files.Remove(*j.dest); undo != nil && !errors.Is(undo, tool.ErrUndurable) {
		j.status = "destination_written_source_retained"
		return errors.Join(removed, undo)
	}
	j.status = "failed"
	return removed
}

// remember stores the new text, all of it seen, so that a next edit can use the
// returned tag.
func (t *Tool) remember(j *job) {
	if j.verb == "delete" || j.verb == "move" {
		t.snapshots.Forget(j.source.Path())
	}
	if j.verb != "delete" {
		t.snapshots.Record(j.path(), j.tag, j.text, 1, tool.LineCount(j.text))
	}
}

// report makes the result of a commit.
func (t *Tool) report(jobs []*job, committed, inputBytes int) tool.Result {
	res := tool.Result{Success: committed == len(jobs), Metadata: map[string]any{
		"path": jobs[len(jobs)-1].path(), "sections": len(jobs), "input_bytes": inputBytes,
		"committed": committed, "diff_truncated": false,
	}}
	var added, removed int
	anyStale := false
	files := []map[string]any{}
	paths, touched := []string{}, []string{}
	for _, j := range jobs {
		files = append(files, j.metadata())
		paths = append(paths, j.path())
		anyStale = anyStale || j.stale
		if j.changedFiles(&res) {
			touched = append(touched, res.Changed[len(res.Changed)-1])
		}
		if done(j.status) {
			added, removed = added+j.added, removed+j.removed
		}
	}
	m := res.Metadata
	m["files"], m["paths"], m["stale_recovery"], m["added"], m["removed"] = files, paths, anyStale, added, removed
	if res.Success {
		m["outcome"] = "success"
		res.Content = clipOutput(successText(jobs))
		return res
	}
	m["outcome"], m["error_kind"] = failureOf(jobs, len(touched) > 0)
	m["changed"], m["touched_paths"] = len(touched) > 0, touched
	res.Content = clipOutput(failureText(jobs))
	return res
}

// changedFiles adds what the job changed to the result and reports whether it
// changed anything.
func (j *job) changedFiles(res *tool.Result) bool {
	add := func(target tool.Target, kind string) {
		res.Changed = append(res.Changed, target.Path())
		res.Touched = append(res.Touched, tool.Touched{Path: target.Path(), Kind: kind, Success: j.status == "committed", InsideCwd: target.Inside})
	}
	switch {
	case j.status == "destination_written_source_retained":
		add(*j.dest, "move")
	case !done(j.status):
		return false
	case j.verb == "delete":
		add(j.source, "delete")
	case j.verb == "move":
		add(j.source, "move")
		add(*j.dest, "move")
	default:
		add(j.source, "edit")
	}
	return true
}

func (j *job) metadata() map[string]any {
	m := map[string]any{
		"path": j.source.Path(), "destination": nil, "operation": j.verb, "status": j.status,
		"added": j.added, "removed": j.removed, "stale_recovery": j.stale, "error": nil,
	}
	if j.dest != nil {
		m["destination"] = j.dest.Path()
	}
	if j.err != nil {
		m["error"] = firstLine(j.err)
	}
	if !done(j.status) {
		m["added"], m["removed"] = 0, 0
	}
	return m
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}

// failureOf names the outcome and the kind of the first failure.
func failureOf(jobs []*job, changed bool) (outcome, kind string) {
	outcome, kind = "failure", "write"
	for _, j := range jobs {
		if j.status == "canceled" {
			outcome, kind = "canceled", "canceled"
			break
		}
		if j.status == "committed_but_undurable" {
			kind = "undurable"
			break
		}
		if j.err != nil {
			break
		}
	}
	if changed && outcome == "failure" {
		outcome = "partial"
	}
	return outcome, kind
}

func successText(jobs []*job) string {
	var b strings.Builder
	fmt.Fprintf(&b, "applied %d hash_edit section(s)", len(jobs))
	var warnings, resolutions []string
	for _, j := range jobs {
		if j.verb == "delete" {
			fmt.Fprintf(&b, "\ndelete %s", j.source.Path())
		} else {
			fmt.Fprintf(&b, "\n%s [%s#%s]", j.verb, j.path(), j.tag)
		}
		warnings = append(warnings, j.warnings...)
		resolutions = append(resolutions, j.resolutions...)
	}
	notes(&b, "warnings", warnings)
	notes(&b, "block resolutions", resolutions)
	for _, j := range jobs {
		if j.first > 0 {
			fmt.Fprintf(&b, "\nfirst_changed_line %s: %d", j.path(), j.first)
		}
	}
	return b.String()
}

func notes(b *strings.Builder, title string, list []string) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n" + title + ":")
	for _, n := range list[:min(len(list), maxNotes)] {
		b.WriteString("\n- " + n)
	}
}

func failureText(jobs []*job) string {
	var b strings.Builder
	b.WriteString("the patch was not applied as a whole:")
	for _, j := range jobs {
		fmt.Fprintf(&b, "\n%s %s: %s", j.verb, j.source.Path(), strings.ReplaceAll(j.status, "_", " "))
		if done(j.status) && j.verb != "delete" {
			fmt.Fprintf(&b, ", now [%s#%s]", j.path(), j.tag)
		}
		if j.err != nil {
			b.WriteString(": " + firstLine(j.err))
		}
	}
	return b.String()
}
