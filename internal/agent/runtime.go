package agent

import (
	"context"
	"path/filepath"

	"magicode/internal/attach"
	"magicode/internal/ledger"
	"magicode/internal/lsp"
	"magicode/internal/models"
	"magicode/internal/proc"
	"magicode/internal/provider"
	"magicode/internal/provider/factory"
	"magicode/internal/replay"
	"magicode/internal/server"
	"magicode/internal/session"
	"magicode/internal/startup"
	"magicode/internal/tokens"
	"magicode/telemetry"
)

// agentRuntime is the admitted snapshot with its attachment. It implements
// server.Runtime; its methods but Close are called one at a time.
type agentRuntime struct {
	agent     *Agent
	snap      *startup.Snapshot
	store     *session.Store
	models    *models.Models
	providers *factory.Factory
	tools     *toolset
	ledger    *ledger.Store
	system    string // of a run that is offered everything
	attach    *attach.Service
	judge     *judgement   // nil: commands are judged here alone
	lsp       *lsp.Manager // nil: no language servers

	headroom []byte // from the first turn on

	replay    *replay.Follower // of the attachment below; nil until its first turn
	replayOf  *attach.Attachment
	tokens    *tokens.Counter
	counterOf provider.Selection
}

// recoveredDir is where torn tails are set aside (decision 16).
func recoveredDir(state string) string { return filepath.Join(state, "recovered") }

// Create implements server.Runtime.
func (r *agentRuntime) Create(ctx context.Context) (server.Attached, error) {
	r.sidecar(ctx)
	a, err := r.attach.Create(ctx)
	return r.attached(ctx, a, err)
}

// Open implements server.Runtime.
func (r *agentRuntime) Open(ctx context.Context, id string) (server.Attached, error) {
	r.sidecar(ctx)
	telemetry.Current(ctx).Name(telemetry.KeySessionRef, telemetry.SessionID(id))
	a, err := r.attach.Open(ctx, id)
	return r.attached(ctx, a, err)
}

func (r *agentRuntime) attached(ctx context.Context, a *attach.Attachment, err error) (server.Attached, error) {
	if err != nil {
		return server.Attached{}, err
	}
	if span := telemetry.Current(ctx); span.On() {
		span.Name(telemetry.KeySessionRef, telemetry.SessionID(a.ID()))
		span.Int(telemetry.KeySessionNotices, int64(len(a.Notices())))
	}
	sel := a.Selection()
	return server.Attached{
		SessionID: a.ID(), Durable: a.Durable(), Revision: a.Revision(), Notices: a.Notices(),
		Provider: ShownName(sel.Provider), Model: ShownName(sel.Model),
	}, nil
}

// Page implements server.Runtime.
func (r *agentRuntime) Page(ctx context.Context, p server.PageRequest) ([]byte, error) {
	telemetry.Current(ctx).Name(telemetry.KeySessionRef, telemetry.SessionID(p.SessionID))
	return r.attach.Page(ctx, nil, p.SessionID, p.Revision, p.Cursor)
}

// Close implements server.Runtime: child processes and servers are told to end
// before leases are released.
func (r *agentRuntime) Close(ctx context.Context) error {
	r.lsp.Tell() // before anything is waited for
	errs := []error{stopServers(ctx, r.snap.Servers), r.lsp.Stop(ctx), proc.Shutdown(ctx), r.judge.Close()}
	r.sidecar(ctx)
	_, span := r.agent.tel.Begin(ctx, telemetry.SpanCleanupLease)
	defer span.End()
	span.Str(telemetry.KeyLease, telemetry.WordOf("writer")) // the active one goes with it
	return joinErrors(append(errs, r.attach.Close()))
}

// sidecar brings the attached session's sidecar up to date where nobody waits
// for it: it is a cache that a reader rebuilds when it is stale (storage.md 5.8).
func (r *agentRuntime) sidecar(ctx context.Context) {
	if h := r.handle(); h != nil && h.Durable() {
		_, _ = h.WriteSidecar(ctx)
	}
}

// handle is the attached session's handle.
func (r *agentRuntime) handle() *session.Handle {
	if a := r.attach.Current(); a != nil {
		return a.Handle()
	}
	return nil
}

// diagnose records an internal error in the attached session, as well as it can.
func (r *agentRuntime) diagnose(message string) {
	r.record(context.Background(), session.KindDiagnostic, map[string]any{"level": "error", "message": message})
}

// record stores something that no run waits for, in a session that exists.
func (r *agentRuntime) record(ctx context.Context, kind session.Kind, payload map[string]any) {
	if h := r.handle(); h != nil && h.Durable() {
		_, _ = h.Append(ctx, session.Optional, session.Event{Kind: kind, Payload: payload})
	}
}

// conversation returns the attached session's conversation. It is fed the whole
// file at the first turn, and follows the handle after that.
func (r *agentRuntime) conversation(ctx context.Context) (*replay.Follower, error) {
	a, h := r.attach.Current(), r.handle()
	if a == nil || h == nil {
		return nil, errNoSession
	}
	if r.replayOf == a {
		return r.replay, nil
	}
	f := r.fold()
	if h.Durable() {
		if _, err := h.Read(ctx, f); err != nil {
			return nil, err
		}
	}
	follower := replay.NewFollower(f)
	h.Follow(follower)
	r.replay, r.replayOf = follower, a
	return follower, nil
}
