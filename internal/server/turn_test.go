package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/event"
	"magicode/internal/frame"
	"magicode/pkg/localagent"
)

// scripted is a backend whose run does this.
func scripted(do func(ctx context.Context, q *event.Queue) event.Finished) *backend {
	return &backend{newRun: func(r RunRequest) (Run, error) {
		return &fakeRun{do: func(ctx context.Context) event.Finished { return do(ctx, r.Events) }}, nil
	}}
}

// begin attaches and starts a run, and returns all that it has sent.
func (r *rig) begin() []string {
	r.t.Helper()
	r.attached()
	r.send(req("start", "turn.start", `{"session_id":"s1","prompt":"hello"}`))
	return r.take()
}

const ids = `"run_id":"id-2","session_id":"s1"`

// TestTurnOnTheWire: the answer comes before the events, the end behind all of
// them; late events of helpers are dropped.
func TestTurnOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan error, 1)
		r := newRig(t, scripted(func(_ context.Context, q *event.Queue) event.Finished {
			emit := func(e event.Event) {
				if err := q.Emit(e); err != nil {
					t.Error(err)
				}
			}
			emit(event.InputPersisted{MessageID: "u", Revision: "v1"})
			q.Try(event.Delta{MessageID: "a", Text: "one "})
			q.Try(event.Delta{MessageID: "a", Text: "two"})
			emit(event.Reconcile{MessageID: "a", Text: "one two", LastPart: true})
			emit(event.Diagnostic{Err: event.ErrUndeliverable, Summary: "by error"})
			emit(event.Diagnostic{Err: errFixture, Summary: "unknown"})
			emit(event.Diagnostic{Code: localagent.DiagnosticHookNotice, Summary: "by code"})
			go func() {
				time.Sleep(time.Second)
				late <- q.Emit(event.Diagnostic{Code: localagent.DiagnosticHookNotice, Summary: "late"})
			}()
			return completed
		}))
		wantFrames(t, r.begin(),
			`start {"accepted":true,"run_id":"id-2"}`,
			`input.persisted {"durable":true,"message_id":"u","revision":"v1",`+ids+`}`,
			`message.delta {"message_id":"a","part":0,`+ids+`,"text":"one "}`,
			`message.delta {"message_id":"a","part":1,`+ids+`,"text":"two"}`,
			`message.reconcile {"last_part":true,"message_id":"a","part":0,"partial":false,`+ids+`,"text":"one two"}`,
			`diagnostic {"code":"output_unavailable",`+ids+`,"summary":"by error"}`,
			`diagnostic {"code":"execution_failed",`+ids+`,"summary":"unknown"}`,
			`diagnostic {"code":"hook_notice",`+ids+`,"summary":"by code"}`,
			`run.finished {"error_code":null,"outcome":"completed","persistence":"durable","revision":"rev-3",`+ids+`}`)
		if err := <-late; !errors.Is(err, event.ErrStopped) {
			t.Errorf("a late event: %v", err)
		}
		wantFrames(t, r.take())
	})
}

func TestFinishedCodes(t *testing.T) {
	tests := []struct {
		name string
		f    event.Finished
		lose bool
		want string
	}{
		{"failed", event.Finished{Outcome: "failed", Persistence: "durable", Revision: "v", Err: errFixture}, false,
			`{"error_code":"execution_failed","outcome":"failed","persistence":"durable","revision":"v",` + ids + `}`},
		{"failed without a reason", event.Finished{Outcome: "failed", Persistence: "not_started"}, false,
			`{"error_code":"execution_failed","outcome":"failed","persistence":"not_started","revision":null,` + ids + `}`},
		{"cancelled", event.Finished{Outcome: "cancelled", Persistence: "durable", Revision: "v", Err: context.Canceled}, false,
			`{"error_code":null,"outcome":"cancelled","persistence":"durable","revision":"v",` + ids + `}`},
		{"undeliverable", event.Finished{Outcome: "completed", Persistence: "durable", Revision: "v"}, true,
			`{"error_code":"output_unavailable","outcome":"failed","persistence":"durable","revision":"v",` + ids + `}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, scripted(func(_ context.Context, q *event.Queue) event.Finished {
					if test.lose {
						q.Lose()
					}
					return test.f
				}))
				wantFrames(t, r.begin()[1:], "run.finished "+test.want)
			})
		})
	}
}

// TestTurnRefused: a run that cannot start refuses the request and leaves the child idle.
func TestTurnRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{newRun: func(RunRequest) (Run, error) { return nil, errFixture }}
		r := newRig(t, b)
		wantFrames(t, r.begin(), "start !execution_failed")
		r.send(req("s", "status", `{}`))
		wantFrames(t, r.take(), "s "+status("idle", "ready", "s1", ""))
	})
}

// TestEventsWaitForRoom: while output stalls, events wait in their channel,
// where deltas are merged; nothing is lost, and the order stays.
func TestEventsWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const deltas = 500
		finished := false
		r := newPipeRig(t, scripted(func(_ context.Context, q *event.Queue) event.Finished {
			if err := q.Emit(event.InputPersisted{MessageID: "u", Revision: "v"}); err != nil {
				t.Error(err)
			}
			for i := range deltas {
				if !q.Try(event.Delta{MessageID: "a", Text: fmt.Sprintf("%d ", i)}) {
					t.Errorf("delta %d was refused", i)
				}
			}
			for i := range 20 {
				if err := q.Emit(event.Diagnostic{Code: localagent.DiagnosticExecutionNotice, Summary: fmt.Sprint(i)}); err != nil {
					t.Error(err)
				}
			}
			finished = true
			return completed
		}))
		r.initializeByHand()
		r.send(req("start", "turn.start", `{"session_id":"s1","prompt":"hello"}`))
		if !finished {
			t.Fatal("the run waits although the channel has room")
		}
		time.Sleep(1900 * time.Millisecond)
		r.readAll()
		got := r.take()
		var text strings.Builder
		notices, part := 0, 0
		for _, f := range got[2 : len(got)-1] {
			name, data, _ := strings.Cut(f, " ")
			switch name {
			case "message.delta":
				if !strings.HasPrefix(data, fmt.Sprintf(`{"message_id":"a","part":%d,`, part)) {
					t.Fatalf("part %d: %s", part, data)
				}
				part++
				_, s, _ := strings.Cut(data, `"text":"`)
				text.WriteString(strings.TrimSuffix(s, `"}`))
			case "diagnostic":
				if want := fmt.Sprintf(`{"code":"execution_notice",%s,"summary":"%d"}`, ids, notices); data != want {
					t.Fatalf("got %s, want %s", data, want)
				}
				notices++
			}
		}
		var want strings.Builder
		for i := range deltas {
			fmt.Fprintf(&want, "%d ", i)
		}
		if text.String() != want.String() || notices != 20 || part >= deltas {
			t.Errorf("%d notices, %d pieces, text %q", notices, part, text.String())
		}
		if !strings.HasPrefix(got[len(got)-1], "run.finished ") {
			t.Errorf("last: %s", got[len(got)-1])
		}
	})
}

// initializeByHand attaches on a connection whose output nobody reads yet.
func (r *rig) initializeByHand() {
	r.t.Helper()
	for i, line := range []string{req("init", "initialize", `{"required_capabilities":[]}`), req("create", "session.create", `{}`)} {
		go func() { _, _ = r.in.Write([]byte(line + "\n")) }()
		b := make([]byte, 1<<16)
		for n := 0; n == 0 || b[n-1] != '\n'; {
			m, err := r.out.Read(b[n:])
			if err != nil {
				r.t.Fatalf("answer %d: %v", i, err)
			}
			n += m
		}
	}
}

// TestResponsesHaveRoomBehindEvents: a host that takes nothing for a moment while
// a run has much to say can ask all the same; one answer more than the room that
// events leave is one too many.
func TestResponsesHaveRoomBehindEvents(t *testing.T) {
	for asked := kept; asked <= kept+1; asked++ {
		synctest.Test(t, func(t *testing.T) {
			r := newPipeRig(t, scripted(func(ctx context.Context, q *event.Queue) event.Finished {
				for i := range 40 {
					if err := q.Emit(event.Diagnostic{Code: localagent.DiagnosticExecutionNotice, Summary: fmt.Sprint(i)}); err != nil {
						t.Error(err)
					}
				}
				return untilCancelled(ctx)
			}))
			r.initializeByHand()
			r.send(req("start", "turn.start", `{"session_id":"s1","prompt":"hello"}`))
			for i := range asked {
				if _, ended := r.ended(); ended {
					t.Fatalf("ended after %d answers", i)
				}
				r.send(req(fmt.Sprint("s", i), "status", `{}`))
			}
			if _, ended := r.ended(); ended != (asked > kept) {
				t.Fatalf("%d answers: ended %v", asked, ended)
			}
			if asked > kept {
				r.wantExit(Exit{Code: 1, Reason: ReasonOverflow})
				return
			}
			r.wantExit(Exit{Code: 1, Reason: ReasonOutputDeadline}) // nobody takes them
		})
	}
}

// timeless is a duplex without write deadlines. A client that takes nothing for
// so long that an event is lost would end the child in the same moment.
type timeless struct{ *duplex }

func (timeless) SetWriteDeadline(time.Time) error { return nil }

// TestCriticalEventDeadline: a run whose event finds no room for 2,000 ms is
// cancelled because of the output, and fails, whatever it says itself.
func TestCriticalEventDeadline(t *testing.T) {
	for _, stall := range []time.Duration{1999 * time.Millisecond, 2001 * time.Millisecond} {
		t.Run(fmt.Sprint(stall), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var emitted, cause error
				b := scripted(func(ctx context.Context, q *event.Queue) event.Finished {
					// 24 frames of output, the answer among them, 32 events, and one more.
					for range localagent.MaxPendingFrames - kept - 1 + localagent.MaxWorkerEvents + 1 {
						emitted = q.Emit(event.Diagnostic{Code: localagent.DiagnosticExecutionNotice, Summary: "x"})
					}
					cause = context.Cause(ctx)
					return completed
				})
				r := startRigOver(t, b, func(d *duplex, _ *rig) frame.Transport { return timeless{d} })
				r.initializeByHand()
				r.send(req("start", "turn.start", `{"session_id":"s1","prompt":"hello"}`))
				time.Sleep(stall)
				synctest.Wait()
				r.readAll()
				got := r.take()
				want := `run.finished {"error_code":null,"outcome":"completed","persistence":"durable","revision":"rev-3",` + ids + `}`
				if stall > localagent.CriticalEventWait {
					want = `run.finished {"error_code":"output_unavailable","outcome":"failed","persistence":"durable","revision":"rev-3",` + ids + `}`
					if !errors.Is(emitted, event.ErrUndeliverable) || !errors.Is(cause, ErrOutput) {
						t.Errorf("emit: %v, cancelled with %v", emitted, cause)
					}
				} else if emitted != nil || cause != nil {
					t.Errorf("emit: %v, cancelled with %v", emitted, cause)
				}
				if last := got[len(got)-1]; last != want {
					t.Errorf("got %s, want %s", last, want)
				}
			})
		})
	}
}

// TestBrokenOutputFreesTheRun: an event that waits for room does not wait on
// when the output has ended.
func TestBrokenOutputFreesTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := scripted(func(_ context.Context, q *event.Queue) event.Finished {
			time.Sleep(1500 * time.Millisecond)
			for q.Emit(event.Diagnostic{Code: localagent.DiagnosticExecutionNotice}) == nil {
			}
			return completed
		})
		r := newPipeRig(t, b)
		r.initializeByHand()
		r.send(req("start", "turn.start", `{"session_id":"s1","prompt":"hello"}`))
		r.wantExit(Exit{Code: 1, Reason: ReasonOutputDeadline})
		if r.after != 2*time.Second {
			t.Errorf("the child ended after %v", r.after)
		}
	})
}

// TestTaken: who asks for approval learns when the question is queued for output.
func TestTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var after time.Duration
		began := time.Now()
		r := newPipeRig(t, scripted(func(ctx context.Context, q *event.Queue) event.Finished {
			for i := range 32 {
				if err := q.Emit(event.Diagnostic{Code: localagent.DiagnosticExecutionNotice, Summary: fmt.Sprint(i)}); err != nil {
					t.Error(err)
				}
			}
			taken := make(chan struct{})
			if err := q.Emit(event.ApprovalRequested{ID: "a1", Expires: time.Minute, Taken: func() { close(taken) }}); err != nil {
				t.Error(err)
			}
			<-taken
			after = time.Since(began)
			return completed
		}))
		r.initializeByHand()
		r.send(req("start", "turn.start", `{"session_id":"s1","prompt":"hello"}`))
		time.Sleep(1500 * time.Millisecond)
		r.readAll()
		r.take()
		if after != 1500*time.Millisecond {
			t.Errorf("told after %v", after)
		}
	})
}

func TestApprovalAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan bool, 1)
		open := "a1"
		b := &backend{newRun: func(RunRequest) (Run, error) {
			return &fakeRun{
				do: func(context.Context) event.Finished { <-answers; return completed },
				answer: func(id string, allow bool) bool {
					if id != open {
						return false
					}
					open = ""
					answers <- allow
					return true
				},
			}, nil
		}}
		r := newRig(t, b).running()
		answer := func(id string) string {
			return req(id, "approval.answer", `{"session_id":"s1","run_id":"id-2","approval_id":"a1","allow":true}`)
		}
		r.send(answer("1"), answer("2"))
		r.send(answer("3"))
		wantFrames(t, r.take(), `1 {"recorded":true}`, "2 !stale_approval",
			`run.finished {"error_code":null,"outcome":"completed","persistence":"durable","revision":"rev-3",`+ids+`}`,
			"3 !stale_approval")
	})
}

// TestCancelIsIdempotent: as often as one likes while the run is there, stale afterwards.
func TestCancelIsIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, stuck(time.Second)).running()
		cancel := func(id string) string { return req(id, "turn.cancel", `{"session_id":"s1","run_id":"id-2"}`) }
		r.send(cancel("1"), cancel("2"))
		time.Sleep(time.Second)
		synctest.Wait()
		r.send(cancel("3"))
		wantFrames(t, r.take(), `1 {"cancellation_requested":true}`, `2 {"cancellation_requested":true}`, cancelledRun, "3 !stale_run")
		// The session takes the next run.
		r.send(req("again", "turn.start", `{"session_id":"s1","prompt":"again"}`))
		wantFrames(t, r.take(), `again {"accepted":true,"run_id":"id-3"}`)
	})
}

func TestPanics(t *testing.T) {
	boom := func() { panic("text of a user") }
	start := req("start", "turn.start", `{"session_id":"s1","prompt":"p"}`)
	failed := `run.finished {"error_code":"execution_failed","outcome":"failed","persistence":"%s","revision":null,` + ids + `}`
	tests := []struct {
		name  string
		b     *backend
		send  []string
		want  []string
		where string
	}{
		{"startup", &backend{start: func(context.Context) error { boom(); return nil }},
			[]string{req("i", "initialize", `{"required_capabilities":[]}`)}, []string{"i !startup_failed"}, "startup"},
		{"session", &backend{open: func(context.Context, string) (Attached, error) { boom(); return Attached{}, nil }},
			[]string{req("i", "initialize", `{"required_capabilities":[]}`), req("o", "session.open", `{"session_id":"x"}`)},
			[]string{"", "o !session_invalid"}, "session"},
		{"page", &backend{page: func(context.Context, PageRequest) ([]byte, error) { boom(); return nil, nil }},
			[]string{req("i", "initialize", `{"required_capabilities":[]}`), req("c", "session.create", `{}`), req("p", "history.page", `{"session_id":"s1","revision":"r"}`)},
			[]string{"", "", "p !session_invalid"}, "session"},
		{"turn", scripted(func(context.Context, *event.Queue) event.Finished { boom(); return completed }),
			[]string{req("i", "initialize", `{"required_capabilities":[]}`), req("c", "session.create", `{}`), start},
			[]string{"", "", "", fmt.Sprintf(failed, "not_started")}, "turn"},
		{"turn with input", scripted(func(_ context.Context, q *event.Queue) event.Finished {
			_ = q.Emit(event.InputPersisted{MessageID: "u", Revision: "v"})
			boom()
			return completed
		}), []string{req("i", "initialize", `{"required_capabilities":[]}`), req("c", "session.create", `{}`), start},
			[]string{"", "", "", "", fmt.Sprintf(failed, "degraded")}, "turn"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, test.b)
				for _, line := range test.send {
					r.send(line)
				}
				got := r.take()
				for i, want := range test.want {
					if want != "" && (i >= len(got) || got[i] != want) {
						t.Errorf("frame %d of %q, want %s", i, got, want)
					}
				}
				wantFrames(t, r.panics, test.where+" magicode/internal/server.TestPanics.func1 turn_test.go")
				r.send(req("still", "status", `{}`))
				if got := r.take(); len(got) != 1 || !strings.HasPrefix(got[0], "still {") {
					t.Errorf("the connection is unusable: %q", got)
				}
			})
		})
	}
}

// TestPanicOfTheCleanup and of the connection's own code: the child still ends.
func TestPanicAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &backend{close: func(context.Context) error { panic("text") }}).initialized()
		r.send(req("end", "shutdown", `{}`))
		r.wantExit(Exit{Reason: ReasonShutdown})
		if len(r.panics) != 1 || !strings.HasPrefix(r.panics[0], "cleanup ") {
			t.Errorf("reported %q", r.panics)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := &backend{newRun: func(RunRequest) (Run, error) { panic("text") }}
		r := newRig(t, b).attached()
		r.send(req("start", "turn.start", `{"session_id":"s1","prompt":"p"}`))
		r.wantExit(Exit{Code: 1, Reason: ReasonInput})
		if len(r.panics) != 1 || !strings.HasPrefix(r.panics[0], "connection ") || b.closed.Load() != 1 {
			t.Errorf("reported %q, closed %d times", r.panics, b.closed.Load())
		}
	})
}
