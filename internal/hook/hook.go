package hook

import (
	"context"
	"encoding/json"
	"slices"

	"magicode/internal/config"
	"magicode/internal/session"
	"magicode/internal/tool"
	"magicode/internal/vfs"
	"magicode/telemetry"
)

// Phase says when a hook runs.
type Phase string

// The phases.
const (
	BeforeTool     Phase = "before_tool"
	AfterTool      Phase = "after_tool"
	AfterAssistant Phase = "after_assistant"
	AfterReasoning Phase = "after_reasoning"
)

// Context is where a hook runs, as its payload tells it.
type Context struct {
	Cwd            string
	SessionID      string
	SessionPath    string // of the session's log
	ProviderID     string
	ModelID        string
	AgentID        string // "" for none
	InvocationMode string // local_agent, subagent
	Turn           int    // 1-based within the session
	Subagent       any    // nil in the primary run
}

// Options are what a set is made of.
type Options struct {
	Settings config.Hooks
	Shell    tool.ShellPolicy
	Environ  []string // of this program; hooks get the profile of it
	FS       vfs.FS
	// Payloads is the sessions folder, below which payloads too large for a pipe
	// are left for the time of a hook. Temp is the folder for those that cannot
	// be left there.
	Payloads, Temp string
	NewID          func() string
	Context        Context
	Tel            telemetry.Tel
}

// Set is the hooks of one run. It does not change and is safe for concurrent
// use. A nil set has no hooks.
type Set struct {
	opt Options
	env []string
}

// New returns the hooks of the settings, nil where they are switched off.
func New(o Options) *Set {
	if !o.Settings.Enabled {
		return nil
	}
	return &Set{opt: o, env: profile(o.Environ)}
}

// Subject is what a hook runs for.
type Subject struct {
	Phase      Phase
	Tool       string // the call's name as sent; "assistant" or "reasoning" for messages
	CallID     string
	ActivityID string          // "" for messages
	Request    json.RawMessage // the call's arguments; {"text": …} for messages
	Result     *tool.Result    // after a tool
}

// Assistant is the subject of a turn's final text.
func (s *Set) Assistant(text string) Subject { return s.message(AfterAssistant, "assistant", text) }

// Reasoning is the subject of a completed reasoning summary.
func (s *Set) Reasoning(text string) Subject { return s.message(AfterReasoning, "reasoning", text) }

// Failure is a hook that stops something.
type Failure struct {
	Label    string
	Category string
	Policy   config.HookPolicy // block or fail
}

// Outcome is what the hooks of one phase came to.
type Outcome struct {
	Stop     *Failure // the first one whose policy stops; later hooks did not run
	Contexts []string // messages for the model, in order
	Notices  []string // for the user
}

// Any reports whether a phase has hooks at all, so that callers can save the
// work of a subject.
func (s *Set) Any(p Phase) bool { return s != nil && len(s.hooks(p)) > 0 }

// Run runs the hooks that match a subject, in the order of the settings.
// record gets every record at its time. The error is the cause of ctx: the hook
// that ran was ended, and none runs after it.
func (s *Set) Run(ctx context.Context, sub Subject, record func(session.Event)) (Outcome, error) {
	var out Outcome
	if s == nil {
		return out, nil
	}
	for i, h := range s.hooks(sub.Phase) {
		if !matches(h, sub) {
			continue
		}
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		j := job{set: s, hook: h, index: i, sub: sub, record: record}
		if stop, err := j.do(ctx, &out); stop || err != nil {
			return out, err
		}
	}
	return out, nil
}

func (s *Set) hooks(p Phase) []config.Hook {
	switch p {
	case BeforeTool:
		return s.opt.Settings.BeforeTool
	case AfterTool:
		return s.opt.Settings.AfterTool
	case AfterAssistant:
		return s.opt.Settings.AfterText
	case AfterReasoning:
		return s.opt.Settings.AfterThink
	}
	return nil
}

// matches applies the tool lists, which count for the tool phases only.
func matches(h config.Hook, sub Subject) bool {
	if sub.Phase != BeforeTool && sub.Phase != AfterTool {
		return true
	}
	if slices.Contains(h.ExcludeTools, sub.Tool) {
		return false
	}
	return len(h.IncludeTools) == 0 || slices.Contains(h.IncludeTools, sub.Tool)
}
