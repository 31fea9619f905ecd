package runner

import (
	"context"

	"magicode/internal/ledger"
	"magicode/internal/redact"
	"magicode/internal/session"
	"magicode/internal/tool"
	"magicode/internal/tool/preview"
)

// Bounds of what a result's record tells of its call (extensions.md 13.12), in
// bytes. That of one text lets eight entries fit.
const (
	maxResourceDisplay = 12 << 10
	maxDisplayText     = 512
)

// resourceDisplay is resource_display of a result, nil where there is none or it
// would be too large.
func resourceDisplay(res tool.Result) any {
	name := tool.Canonical(res.ToolName)
	d := res.Display
	if d == nil && !res.Success && dispatched(res) {
		d = tool.DescribeFailure(name)
	}
	if d == nil || !tool.Displays(name) {
		return nil
	}
	facts := make([]map[string]any, len(d.Facts))
	for i, f := range d.Facts {
		v, known := f.Text()
		facts[i] = map[string]any{"label": f.Label, "value": tool.Known(known, displayText(v))}
	}
	resources := make([]map[string]any, len(d.Resources))
	for i, r := range d.Resources {
		resources[i] = map[string]any{
			"location": orNull(displayText(r.Location)), "outcome": r.Outcome,
			"supplied_lines": count(r.Supplied), "retained_output_lines": count(r.Retained),
			"completeness": r.Completeness, "reason": orNull(displayText(r.Reason)),
		}
	}
	v := map[string]any{"schema_version": 1, "tool_name": name, "facts": facts, "resources": resources, "limited": d.Limited}
	if len(resources) == 0 {
		return v // 24 labels of ours with a number each: it fits
	}
	if n, err := session.EncodedSize(v); err != nil || n > maxResourceDisplay {
		return nil
	}
	return v
}

func displayText(s string) string { return redact.Cut(redact.Display(s), maxDisplayText) }

func orNull(s string) any { return tool.Known(s != "", s) }

func count(n int) any { return tool.Known(n >= 0, n) }

// applied notes what an edit changed, on its way to who keeps it for a rewind.
type applied struct {
	next  tool.Edits
	edits []tool.Edit
}

// Record implements tool.Edits.
func (a *applied) Record(ctx context.Context, e tool.Edit) {
	a.edits = append(a.edits, e)
	if a.next != nil {
		a.next.Record(ctx, e)
	}
}

// maxPictureBytes bounds the previews of one run (extensions.md 13.12).
const maxPictureBytes = 8 << 20

// shown is the preview that is to follow a result; the zero value: none does.
type shown struct {
	id      string
	payload map[string]any
}

// preview makes the picture of what was applied. Like the contents for a rewind,
// those of files with secrets are left out.
func (r *run) preview(o origin, edits []tool.Edit) shown {
	if len(edits) == 0 {
		return shown{}
	}
	p, ok := preview.Of(o.env, edits, ledger.Secret)
	if !ok {
		return shown{}
	}
	id := r.NewID()
	payload := o.stamp(map[string]any{"display_id": id, "preview": p.Payload()})
	n, err := session.EncodedSize(payload)
	if err != nil || r.previewBytes+n > maxPictureBytes {
		return shown{}
	}
	r.previewBytes += n
	return shown{id: id, payload: payload}
}

// show stores a preview behind its result. One that is lost degrades the run, no
// more: nothing rests on it. It does not count against what a script may store.
func (r *run) show(o origin, s shown) {
	if s.id != "" {
		_ = o.recorder.write(session.Optional, session.Event{Kind: session.KindToolAppliedPreview, Payload: s.payload})
	}
}
