package agent

import (
	"context"
	"errors"
	"sync/atomic"

	"magicode/internal/ledger"
	"magicode/internal/session"
	"magicode/internal/tool"
)

var errEnded = errors.New("the session is no longer attached")

// edits records what this run's tools change, and those of its tasks: a rewind
// is one of the attached session, whoever worked for it.
func (u *agentRun) edits() tool.Edits {
	h := u.runtime.handle()
	var told atomic.Bool
	return u.runtime.ledger.For(ledger.Run{
		Session: u.att.ID(), Cwd: u.runtime.agent.cwd,
		Turn: func(ctx context.Context) (int, error) {
			if h == nil {
				return 0, errEnded
			}
			m, err := h.Meta(ctx)
			return m.UserInputs, err
		},
		Lost: func(ctx context.Context, reason string) {
			if told.Swap(true) {
				return // once a turn
			}
			u.runtime.record(ctx, session.KindDiagnostic, map[string]any{"level": "warning",
				"message": "An edit of this turn is in place, but a rewind cannot take it back: " + reason + "."})
		},
	})
}
