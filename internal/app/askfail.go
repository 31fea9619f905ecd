package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"magicode/pkg/client"
	"magicode/pkg/localagent"
)

// notReady words a start that failed. The wire carries a code only; the child
// left the rest in its home.
func notReady(err error, began time.Time) error {
	var wire *client.WireError
	if !errors.As(err, &wire) {
		return fmt.Errorf("the agent is not ready: %w (magi-code doctor says more)", err)
	}
	why := whyNotStarted(string(wire.Code), began)
	if why == "" {
		return fmt.Errorf("the agent could not start: %s (magi-code doctor says more)", wire.Code)
	}
	return fmt.Errorf("the agent could not start: %s: %s (magi-code doctor says what to do)", wire.Code, why)
}

// historyWait bounds the look into the history after a failed turn.
const historyWait = 10 * time.Second

// unfinished says how a turn ended that was not completed and durable.
func (a *asker) unfinished(ctx context.Context, child *client.Child, run *client.Run) error {
	f := run.Finished
	session := "(session " + run.SessionID + ")"
	switch f.Outcome {
	case localagent.OutcomeCompleted:
		return fmt.Errorf("the turn completed, but it is not wholly stored: %s %s", f.Persistence, session)
	case localagent.OutcomeCancelled:
		return fmt.Errorf("the turn was cancelled %s", session)
	}
	code := ""
	if f.ErrorCode != nil {
		code = string(*f.ErrorCode)
	}
	why := a.reason(ctx, child, run)
	if a.denied {
		why = "the command was not approved (see --approve)"
	}
	if why == "" {
		why = code
	}
	if f.Persistence != localagent.PersistenceDurable {
		why += "; it is not wholly stored: " + f.Persistence
	}
	return fmt.Errorf("the turn failed: %s %s", why, session)
}

// reason is what the history tells about the end of a run: the diagnostics
// behind everything else. "" when there are none, or no history.
func (a *asker) reason(ctx context.Context, child *client.Child, run *client.Run) string {
	if run.Finished.Revision == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), historyWait)
	defer cancel()
	messages, _, err := child.History(ctx, run.SessionID, *run.Finished.Revision)
	if err != nil {
		return ""
	}
	return lastDiagnostics(messages)
}

// turnFailed is what the history says of every failed turn.
const turnFailed = "Turn Failed"

func lastDiagnostics(messages []client.HistoryMessage) string {
	at := len(messages)
	for at > 0 && messages[at-1].Kind == localagent.EntryDiagnostic {
		at--
	}
	var parts []string
	for _, m := range messages[at:] {
		if text := strings.TrimSpace(m.Text); text != "" && text != turnFailed {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}
