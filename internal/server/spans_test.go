package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/event"
	"magicode/pkg/client"
	"magicode/pkg/localagent"
	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"
)

// TestEveryEndIsCaptured: each of the eleven reasons to end is in the child's span
// and in that of its cleanup, with the exit code (T-16).
func TestEveryEndIsCaptured(t *testing.T) {
	status := req("s", "status", `{}`)
	for reason, play := range map[Reason]func(r *rig){
		ReasonShutdown: func(r *rig) { r.send(req("end", "shutdown", `{}`)) },
		ReasonEOF:      func(r *rig) { r.eof() },
		ReasonMismatch: func(r *rig) { r.send(strings.Replace(status, `"version":1`, `"version":7`, 1)) },
		ReasonRequestLimit: func(r *rig) {
			for i := range localagent.MaxRequests {
				r.send(req(fmt.Sprint("n", i), "status", `{}`))
			}
		},
		ReasonOversize: func(r *rig) { r.send(strings.Repeat(" ", localagent.MaxFrameBytes+1)) },
		ReasonSignal:   func(r *rig) { r.signals <- syscall.SIGTERM },
		ReasonInput:    func(r *rig) { r.send(req("t", "turn.start", `{"session_id":"s1","prompt":"it panics"}`)) },
		ReasonClosingDeadline: func(r *rig) {
			r.b.newRun = stuck(3 * time.Second).newRun
			r.send(req("t", "turn.start", `{"session_id":"s1","prompt":"p"}`), req("end", "shutdown", `{}`))
		},
		ReasonOutputDeadline: func(r *rig) { r.send(status) },
		ReasonOverflow:       func(r *rig) { r.send(strings.Repeat("x\n", 32) + "x") },
		ReasonOutputBroken: func(r *rig) {
			_ = r.out.(io.Closer).Close() // of a net.Pipe
			r.send(status)
		},
	} {
		t.Run(string(reason), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := spantest.New(t)
				b := &backend{tel: p.Tel, newRun: func(RunRequest) (Run, error) { panic("text") }}
				var r *rig
				if strings.HasPrefix(string(reason), "output_") {
					r = newPipeRig(t, b)
					r.initializeByHand()
				} else {
					r = newRig(t, b).attached()
				}
				play(r)
				for range 50 {
					if _, over := r.ended(); over {
						break
					}
					time.Sleep(100 * time.Millisecond)
				}
				exit, _ := r.ended()
				if exit.Reason != reason || exit.Detached {
					t.Fatalf("ended with %+v", exit)
				}
				seen := map[string][]string{}
				for _, s := range p.Spans() {
					if s.Name == "magi.child" && s.Error != (exit.Code != 0) {
						t.Errorf("error %v, exit code %d", s.Error, exit.Code)
					}
					seen[s.Name] = append(seen[s.Name], fmt.Sprint(s.Attributes["magi.exit.reason"], " ", s.Attributes["process.exit.code"]))
				}
				want := map[string]string{"magi.child": fmt.Sprintf("[%s %d]", reason, exit.Code), "magi.cleanup": fmt.Sprintf("[%s <nil>]", began(reason))}
				for name, said := range want {
					if got := fmt.Sprint(seen[name]); got != said {
						t.Errorf("%s says %s, want %s", name, got, said)
					}
				}
			})
		})
	}
}

// TestEveryMethodIsCaptured: each of the nine methods has a span of its own, below
// the child's, and one that is no method has the name of none; a run is in error
// only if it failed (T-16, T-17).
func TestEveryMethodIsCaptured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := spantest.New(t)
		outcomes := []func(ctx context.Context) event.Finished{
			untilCancelled,
			func(context.Context) event.Finished { return completed },
			func(context.Context) event.Finished {
				return event.Finished{Outcome: localagent.OutcomeFailed, Persistence: localagent.PersistenceDegraded, Err: errFixture}
			},
		}
		b := &backend{tel: p.Tel}
		b.newRun = func(RunRequest) (Run, error) { return &fakeRun{do: outcomes[b.runs.Load()-1]}, nil }
		r := newRig(t, b).attached()
		for i, frame := range []string{"status {}", `session.open {"session_id":"s1"}`, `history.page {"session_id":"s1","revision":"r"}`,
			`turn.start {"session_id":"s1","prompt":"p"}`, `approval.answer {"session_id":"s1","run_id":"id-2","approval_id":"a1","allow":true}`,
			`turn.cancel {"session_id":"s1","run_id":"id-2"}`, `turn.start {"session_id":"s1","prompt":"p"}`, `turn.start {"session_id":"s1","prompt":"p"}`,
			"status.all {}", "shutdown {}"} {
			method, params, _ := strings.Cut(frame, " ")
			r.send(req(fmt.Sprint("q", i), method, params))
		}
		for range 50 {
			if _, over := r.ended(); over {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		var got []string
		child := ""
		for _, s := range p.Spans() {
			switch {
			case s.Name == "magi.child":
				child = s.ID
			case s.Attributes["rpc.method"] != nil:
				if s.Name != s.Attributes["rpc.method"] || s.Attributes["rpc.response.status_code"] != s.Attributes["error.type"] {
					t.Errorf("%s: %v", s.Name, s.Attributes)
				}
				fallthrough
			case s.Name == telemetry.SpanRun.String():
				got = append(got, fmt.Sprint(s.Name, " ", s.Attributes["error.type"], " ", s.Error))
			}
		}
		for _, s := range p.Spans() {
			if s.Attributes["rpc.method"] != nil && s.Parent != child {
				t.Errorf("%s is below %s", s.Name, s.Parent)
			}
		}
		want := []string{"_OTHER unsupported_method false", "approval.answer stale_approval false", "history.page <nil> false", "initialize <nil> false",
			"invoke_agent magi-code <nil> false", "invoke_agent magi-code <nil> false", "invoke_agent magi-code execution_failed true",
			"session.create <nil> false", "session.open <nil> false", "shutdown <nil> false", "status <nil> false",
			"turn.cancel <nil> false", "turn.start <nil> false", "turn.start <nil> false", "turn.start <nil> false"}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// began is why a cleanup began that ended for reason: where closing takes too
// long, it had begun as something else.
func began(reason Reason) Reason {
	if reason == ReasonClosingDeadline {
		return ReasonShutdown
	}
	return reason
}

// TestJoinSpan: a run that was cancelled takes 50 ms to end, behind the time
// that output has to drain, in which it is waited for anyway.
func TestJoinSpan(t *testing.T) {
	t.Parallel()
	p := spantest.New(t)
	b := &backend{newRun: func(RunRequest) (Run, error) {
		return &fakeRun{do: func(ctx context.Context) event.Finished {
			f := untilCancelled(ctx)
			time.Sleep(localagent.OutputDeadline + 100*time.Millisecond)
			p.Delay()
			return f
		}}, nil
	}}
	here, there := net.Pipe()
	c := client.New(here, here, nil)
	ended := make(chan Exit, 1)
	go func() {
		ended <- Serve(context.Background(), Config{Transport: there, Startup: b, NewID: func() string { return "r1" }, InstanceID: "00000000-0000-4000-8000-000000000000", Tel: p.Tel})
	}()
	ctx := t.Context()
	_, err := c.Initialize(ctx)
	if err == nil {
		_, err = c.CreateSession(ctx)
	}
	if err == nil {
		_, err = c.StartTurn(ctx, "s1", "hi")
	}
	if err != nil {
		t.Fatal(err)
	}
	here.Close() // nobody takes what the run has to say at its end
	<-ended
	p.Sees(telemetry.SpanCleanupJoin)
}
