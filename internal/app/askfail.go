package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"magicode/internal/config"
	"magicode/internal/session/inventory"
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

// wholeID completes the beginning of a session's id, as 'sessions show' does. A
// session of a delegated task cannot be gone on with.
func wholeID(word string) (string, error) {
	if word == "" {
		return "", nil
	}
	env, err := settingsEnv()
	if err != nil {
		return "", err
	}
	paths, _, err := config.ResolveRoot(env)
	if err != nil {
		return "", err
	}
	k := &keeper{home: inventory.Home{FS: env.FS, Root: paths.Root, UID: env.UID}}
	id, home, err := k.find(word)
	if err == nil && home.Child {
		err = fmt.Errorf("%s is the session of a delegated task: it can be shown, and not gone on with", id)
	}
	return id, err
}

// notOpened words a session that did not open: the wire carries a code only.
func notOpened(id string, err error) error {
	help := map[localagent.Code]string{
		localagent.CodeSessionBusy:    "another program has it open",
		localagent.CodeCwdMismatch:    "it was recorded in another folder: go there first; 'magi-code sessions list' names it",
		localagent.CodeSessionInvalid: "its file cannot be used: 'magi-code doctor' and 'magi-code sessions list' say why",
		localagent.CodeHistoryLimit:   "it has grown too large; begin a new one",
	}
	var wire *client.WireError
	if errors.As(err, &wire) && help[wire.Code] != "" {
		return fmt.Errorf("open session %s: %s (%s)", id, help[wire.Code], wire.Code)
	}
	return fmt.Errorf("open session %s: %w", id, err)
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
	if strings.Contains(why, "HTTP status 401") || strings.Contains(why, "HTTP status 403") { // the key is not taken
		why += " (which key is used: magi-code auth status)"
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
