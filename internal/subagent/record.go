package subagent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
	"magicode/internal/runner"
	"magicode/internal/session"
)

// Bounds of the snapshot that a failed task leaves (tools.md 5.7).
const (
	maxTailEvents = 200
	maxTailBytes  = 256 << 10
)

// record passes a child's records on. It remembers the last ones and the files
// that were changed. It implements runner.Recorder.
type record struct {
	dst   runner.Recorder
	watch *watch
	tail  []session.Event
	paths []string
}

// Append implements runner.Recorder. The runner's recorder calls it one at a time.
func (r *record) Append(ctx context.Context, d session.Durability, events ...session.Event) (session.Outcome, error) {
	r.watch.touch()
	for _, ev := range events {
		r.tail = append(r.tail, ev)
		if ev.Kind == session.KindToolResult || ev.Kind == session.KindCodeModeToolResult {
			r.paths = append(r.paths, changedPaths(ev.Payload)...)
		}
	}
	if extra := len(r.tail) - maxTailEvents; extra > 0 {
		r.tail = slices.Delete(r.tail, 0, extra)
	}
	return r.dst.Append(ctx, d, events...)
}

func changedPaths(payload any) []string {
	switch p := payload.(type) {
	case map[string]any:
		paths, _ := p["changed_paths"].([]string)
		return paths
	case json.RawMessage:
		var v struct {
			Paths []string `json:"changed_paths"`
		}
		_ = json.Unmarshal(p, &v) // ours: it fits
		return v.Paths
	}
	return nil
}

// changed lists the changed files, sorted, each once.
func (r *record) changed() []string {
	slices.Sort(r.paths)
	r.paths = slices.Compact(r.paths)
	return r.paths
}

// snapshot renders the last records, the newest within the bound.
func (r *record) snapshot() string {
	var lines []string
	size := 0
	for _, ev := range slices.Backward(r.tail) {
		raw, err := json.Marshal(ev.Payload)
		if err != nil {
			continue
		}
		line := string(jsonscan.AppendString([]byte(`{"event_type":`), string(ev.Kind))) + `,"payload":` + redact.Text(string(raw)) + "}"
		if size += len(line) + 1; size > maxTailBytes {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}
