package checkpoint

import (
	"encoding/json"
	"slices"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
	"magicode/internal/session"
)

// Bounds of the evidence samples (storage.md 6.4).
const (
	maxSamples      = 24
	maxSampleID     = 256
	maxSamplePath   = 512
	schemaVersion   = 1
	primaryFragment = "/primary/"
)

// Fold collects from the records before the cutoff. The zero value is ready.
type Fold struct {
	meta  session.Meta
	usage usage
	calls map[string]string // id of an open call -> tool

	mutations, shells uint64
	incomplete        bool
	samples           []sample

	activeMS         uint64
	primarySinceText bool
	preferences      json.RawMessage
	scope            json.RawMessage
}

type sample struct {
	CallID string `json:"call_id"`
	Path   string `json:"path"`
}

// Apply takes one record.
func (f *Fold) Apply(rec session.Record) error {
	if err := f.meta.Apply(rec); err != nil {
		return err
	}
	p := jsonscan.Value(rec.Payload)
	switch rec.Kind {
	case session.KindSessionUsage:
		f.usage.record(p)
		f.primarySinceText = f.primarySinceText || strings.Contains(p.Get("id").LenientText(), primaryFragment)
	case session.KindAssistantOutput:
		f.primarySinceText = false
	case session.KindToolCall:
		f.open(p.Get("id").LenientText(), p.Get("name").LenientText())
	case session.KindToolResult:
		f.result(p)
	case session.KindSessionActiveTime:
		f.activeMS, _ = p.Get("session_active_ms").Uint64()
	case session.KindSessionPreferences:
		f.preferences = slices.Clone(json.RawMessage(p))
	case session.KindTaskScope:
		f.scope = slices.Clone(json.RawMessage(p))
	case session.KindCompaction:
		f.earlier(p)
	}
	return nil
}

func (f *Fold) open(id, name string) {
	if f.calls == nil {
		f.calls = make(map[string]string)
	}
	f.calls[id] = name
}

// result counts a call by what its result says it did.
func (f *Fold) result(p jsonscan.Value) {
	id := p.Get("call_id").LenientText()
	name := f.calls[id]
	delete(f.calls, id)
	if name == "bash" || name == "shell" {
		f.shells++
	}
	effects := p.Get("execution_effects")
	if n, ok := effects.Get("changed_path_count").Uint64(); ok && n > 0 {
		f.mutations++
		for path := range effects.Get("paths").Elements() {
			f.sample(id, path.LenientText())
		}
	}
}

func (f *Fold) sample(id, path string) {
	if len(f.samples) < maxSamples {
		f.samples = append(f.samples, sample{redact.Cut(id, maxSampleID), redact.Cut(path, maxSamplePath)})
	}
}

// earlier takes over what an earlier checkpoint collected.
func (f *Fold) earlier(p jsonscan.Value) {
	f.usage.earlier(p.Get("session_usage"))
	f.primarySinceText, _ = p.Get("primary_usage_since_output").Bool()
	f.activeMS, _ = p.Get("session_active_ms").Uint64()
	if v := p.Get("session_preferences"); v.Kind() == jsonscan.Object {
		f.preferences = slices.Clone(json.RawMessage(v))
	}
	if v := p.Get("task_scope"); v.Kind() == jsonscan.Object {
		f.scope = slices.Clone(json.RawMessage(v))
	}
	e := p.Get("execution_effects")
	m, okM := e.Get("mutation_calls").Uint64()
	s, okS := e.Get("shell_calls").Uint64()
	if !okM || !okS {
		f.incomplete = true
		return
	}
	f.mutations, f.shells = m, s
	if on, _ := e.Get("incomplete").Bool(); on {
		f.incomplete = true
	}
	for v := range e.Get("samples").Elements() {
		f.sample(v.Get("call_id").LenientText(), v.Get("path").LenientText())
	}
}

// Payload is the checkpoint's payload for a summary, which is redacted already.
// runID is the run in progress: its usage records stay single, because later
// ones may replace them.
func (f *Fold) Payload(summary, provider, model, runID string) map[string]any {
	samples := f.samples
	if samples == nil {
		samples = []sample{}
	}
	out := map[string]any{
		"schema_version": schemaVersion, "summary": summary, "provider": provider, "model": model, "cutoff_event_count": 0,
		"aggregate": map[string]any{
			"latest_title": orNull(f.meta.Title), "user_input_count": f.meta.UserInputs, "first_user_input_text": orNull(f.meta.FirstInput),
			"session_path": orNull(f.meta.SessionPath), "latest_activity_timestamp": orNull(f.meta.LatestActivity),
		},
		"session_usage": f.usage.payload(runID), "primary_usage_since_output": f.primarySinceText, "session_active_ms": f.activeMS,
		"execution_effects": map[string]any{"mutation_calls": f.mutations, "shell_calls": f.shells, "incomplete": f.incomplete || len(f.calls) > 0, "samples": samples},
	}
	if f.preferences != nil {
		out["session_preferences"] = f.preferences
	}
	if f.scope != nil {
		out["task_scope_version"], out["task_scope"] = 1, f.scope
	}
	return out
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
