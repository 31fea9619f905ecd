package agent

import (
	"context"
	"errors"
	"strings"
	"time"

	"magicode/internal/provider"
	"magicode/internal/session"
)

// Bounds of a title request (runner.md 16.1).
const (
	titleTimeout    = 60 * time.Second
	maxTitleInput   = 2000 // characters of the prompt that are sent
	maxTitleOutput  = 512  // characters of the reply that are looked at
	titleSystem     = "Give the conversation one short, friendly title of at most 50 characters. Answer with the title alone, as plain text, without quotes."
	titleUserLeadIn = "The conversation begins with this request:\n\n"
)

// Reasons that a title's diagnostic may give.
const (
	titleEmpty   = "empty_output"
	titleTimeOut = "timeout"
	titleFailed  = "failed"
)

// errTitleConfig is told at each turn, and fails none.
const titleConfigNotice = "sessions.titles is enabled without a provider and a model: no title is made."

// title returns the title worker of this run, nil when none is due. A
// configuration that cannot work is told to notice.
func (u *agentRun) title(ctx context.Context, notice func(string)) func(context.Context) {
	t := u.runtime.snap.Settings.Sessions.Titles
	if !t.Enabled {
		return nil
	}
	if t.Provider == nil || t.Model == nil {
		u.runtime.record(ctx, session.KindDiagnostic, map[string]any{"level": "warning", "message": titleConfigNotice})
		notice(titleConfigNotice)
		return nil
	}
	if u.att.Title() != "" || u.att.Prompts() > 0 {
		return nil
	}
	sel := provider.Selection{Provider: *t.Provider, Model: *t.Model, Level: provider.LevelDefault}
	return func(ctx context.Context) { u.makeTitle(ctx, sel) }
}

// makeTitle asks for a title and stores it, or why there is none. Nothing of it
// is on the wire.
func (u *agentRun) makeTitle(ctx context.Context, sel provider.Selection) {
	ctx, cancel := context.WithTimeout(ctx, titleTimeout)
	defer cancel()
	text, err := u.askTitle(ctx, sel)
	title := session.CleanTitle(text)
	store := context.WithoutCancel(ctx)
	switch {
	case err == nil && title != "":
		u.runtime.record(store, session.KindSessionTitle, map[string]any{"title": title, "provider": sel.Provider, "model": sel.Model})
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
	default:
		reason := titleFailed
		if err == nil {
			reason = titleEmpty
		} else if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			reason = titleTimeOut
		}
		u.runtime.record(store, session.KindDiagnostic, map[string]any{"category": "session_title_generation", "level": "warning", "reason": reason,
			"message": "No title could be made for this session."})
	}
}

func (u *agentRun) askTitle(ctx context.Context, sel provider.Selection) (string, error) {
	p, err := u.runtime.providers.Make(ctx, sel, provider.PurposeTitle)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	enough := errors.New("enough")
	err = p.Stream(ctx, provider.Request{Model: sel.Model, Level: sel.Level, Items: []provider.Item{
		{Kind: provider.ItemMessage, Role: "system", Text: titleSystem},
		{Kind: provider.ItemMessage, Role: "user", Text: titleUserLeadIn + firstChars(u.request.Prompt, maxTitleInput)},
	}}, func(ev provider.Event) error {
		if ev.Kind == provider.EventText {
			b.WriteString(ev.Text)
		}
		if b.Len() > 4*maxTitleOutput {
			return enough
		}
		return nil
	})
	if err != nil && !errors.Is(err, enough) {
		return "", err
	}
	return firstChars(b.String(), maxTitleOutput), nil
}

func firstChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
