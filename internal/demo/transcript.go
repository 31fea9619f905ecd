package demo

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"magicode/pkg/client"
	"magicode/pkg/localagent"
)

// transcript prints what happened, one line a fact, in the order of arrival.
type transcript struct {
	mu    sync.Mutex
	out   io.Writer
	quiet bool // the wire is printed instead
	shown map[string]string
	grown int // deltas of the open message
}

func (t *transcript) line(who, format string, args ...any) {
	if t.quiet {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	for i, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i > 0 {
			who = ""
		}
		fmt.Fprintf(t.out, "%-9s %s\n", who, l)
	}
}

// frame prints one frame as it stood on the wire. It is called from two goroutines.
func (t *transcript) frame(sent bool, frame []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	arrow := "agent -> host"
	if sent {
		arrow = "host -> agent"
	}
	fmt.Fprintf(t.out, "%s  %s\n", arrow, frame)
}

func (t *transcript) started(pid int) {
	t.line("host", "started `magi-code serve --stdio` as process %d, with an offline model on a loopback port", pid)
}

func (t *transcript) ready(r client.Initialized) {
	t.line("agent", "ready: provider %s, model %s, %d operations", orNone(r.Status.Provider), orNone(r.Status.Model), len(r.Capabilities))
}

func (t *transcript) session(s client.Session) {
	t.line("agent", "session %s (nothing stored yet)", s.SessionID)
}

func (t *transcript) prompt(p string) { t.line("user", "%s", p) }

func (t *transcript) allowed() { t.line("host", "allowed it (a real host asks its user)") }

// event prints what a user would be shown for one event.
func (t *transcript) event(run *client.Run, ev client.Event) {
	switch ev.Name {
	case localagent.EventInputPersisted:
		t.line("agent", "the prompt is stored")
	case localagent.EventMessageDelta:
		t.grown++
	case localagent.EventMessageReconcile:
		t.message(run, ev)
	case localagent.EventActivity:
		t.line("tool", "%s: %s", ev.Activity, ev.State)
	case localagent.EventApprovalRequested:
		t.line("approval", "wants to run, %d s to answer - %s", ev.ExpiresInMS/1000, ev.Summary)
	case localagent.EventDiagnostic:
		t.line("notice", "%s: %s", ev.Code, ev.Summary)
	case localagent.EventRunFinished:
		if ev.ErrorCode != nil {
			t.line("end", "the run %s (%s), %s", ev.Outcome, *ev.ErrorCode, ev.Persistence)
			return
		}
		t.line("end", "the run %s, %s", ev.Outcome, ev.Persistence)
	}
}

// message prints a message when a complete reconciliation changed its text.
func (t *transcript) message(run *client.Run, ev client.Event) {
	if !ev.LastPart {
		return
	}
	for _, m := range run.Messages {
		text, _ := m.Text()
		if m.ID != ev.MessageID || t.shown[m.ID] == text {
			continue
		}
		if t.shown == nil {
			t.shown = map[string]string{}
		}
		t.shown[m.ID] = text
		t.line("model", "%s", text)
		if t.grown > 0 {
			t.line("", "(arrived in %d pieces)", t.grown)
		}
		t.grown = 0
	}
}

func (t *transcript) history(messages []client.HistoryMessage, complete bool) {
	state := "complete"
	if !complete {
		state = "not complete"
	}
	t.line("history", "%d entries, %s:", len(messages), state)
	for _, m := range messages {
		t.line("", "  %-10s %s", m.Kind, m.Text)
	}
}

func (t *transcript) exited(err error) {
	if err != nil {
		t.line("agent", "ended: %v", err)
		return
	}
	t.line("agent", "ended with status 0")
}

func orNone(s *string) string {
	if s == nil {
		return "(not shown)"
	}
	return *s
}
