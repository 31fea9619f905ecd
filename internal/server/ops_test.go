package server

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"magicode/internal/event"
	"magicode/pkg/localagent"
)

// states brings a child into each state of runner.md 6.
var states = []struct {
	name  string
	reach func(t *testing.T) *rig
}{
	{"fresh", func(t *testing.T) *rig { return newRig(t, &backend{}) }},
	{"pending", func(t *testing.T) *rig {
		r := newRig(t, &backend{start: waitCancelled})
		r.send(req("init", "initialize", `{"required_capabilities":[]}`))
		return r
	}},
	{"failed", func(t *testing.T) *rig {
		r := newRig(t, &backend{start: func(context.Context) error { return errFixture }})
		r.send(req("init", "initialize", `{"required_capabilities":[]}`))
		r.take()
		return r
	}},
	{"ready", func(t *testing.T) *rig { return newRig(t, &backend{}).initialized() }},
	{"attached", func(t *testing.T) *rig { return newRig(t, &backend{}).attached() }},
	{"working", func(t *testing.T) *rig {
		r := newRig(t, &backend{open: func(ctx context.Context, _ string) (Attached, error) {
			return Attached{}, waitCancelled(ctx)
		}}).attached()
		r.send(req("open", "session.open", `{"session_id":"other"}`))
		return r
	}},
	{"running", func(t *testing.T) *rig { return newRig(t, lasting()).running() }},
}

func waitCancelled(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// lasting is a backend whose runs last until they are cancelled and have the
// approval a1 open.
func lasting() *backend {
	return &backend{newRun: func(RunRequest) (Run, error) {
		return &fakeRun{do: untilCancelled, answer: func(id string, _ bool) bool { return id == "a1" }}, nil
	}}
}

const ok = "ok"

// TestOperations holds every row of runner.md 6 in every state. The columns
// are the states above.
func TestOperations(t *testing.T) {
	const (
		notInit, already, params, failed = "not_initialized", "already_initialized", "invalid_params", "startup_failed"
		busy, missing, stale             = "busy", "session_missing", "stale_session"
		staleRun, staleApproval          = "stale_run", "stale_approval"
	)
	long := strings.Repeat("a", 65)
	tests := []struct {
		name, method, params string
		// fresh, pending, failed, ready, attached, working, running
		want [7]string
	}{
		{"initialize", "initialize", `{"required_capabilities":["status"]}`, [7]string{ok, already, already, already, already, already, already}},
		{"initialize shape", "initialize", `{}`, [7]string{params, already, already, already, already, already, already}},
		{"initialize 17 names", "initialize", `{"required_capabilities":[` + strings.Repeat(`"x",`, 16) + `"x"]}`, [7]string{params, already, already, already, already, already, already}},
		{"initialize bad name", "initialize", `{"required_capabilities":["a b"]}`, [7]string{params, already, already, already, already, already, already}},
		{"initialize unknown name", "initialize", `{"required_capabilities":["status","time.travel"]}`, [7]string{"unsupported_capability", already, already, already, already, already, already}},
		{"status", "status", `{}`, [7]string{notInit, ok, ok, ok, ok, ok, ok}},
		{"status shape", "status", `{"x":1}`, [7]string{notInit, params, params, params, params, params, params}},
		{"shutdown", "shutdown", `{}`, [7]string{ok, ok, ok, ok, ok, ok, ok}},
		{"shutdown shape", "shutdown", `[]`, [7]string{params, params, params, params, params, params, params}},
		{"create", "session.create", `{}`, [7]string{notInit, notInit, failed, ok, ok, busy, busy}},
		{"create shape", "session.create", `{"x":1}`, [7]string{notInit, notInit, failed, params, params, busy, params}},
		{"open", "session.open", `{"session_id":"x"}`, [7]string{notInit, notInit, failed, ok, ok, busy, busy}},
		{"open shape", "session.open", `{}`, [7]string{notInit, notInit, failed, params, params, busy, params}},
		{"open grammar", "session.open", `{"session_id":"a.b"}`, [7]string{notInit, notInit, failed, params, params, busy, params}},
		{"page", "history.page", `{"session_id":"s1","revision":"r"}`, [7]string{notInit, notInit, failed, missing, ok, busy, busy}},
		{"page other session", "history.page", `{"session_id":"s2","revision":"r"}`, [7]string{notInit, notInit, failed, missing, stale, busy, busy}},
		{"page shape", "history.page", `{"session_id":"s1"}`, [7]string{notInit, notInit, failed, params, params, busy, params}},
		{"page cursor", "history.page", `{"session_id":"s1","revision":"r","cursor":"` + long + `"}`, [7]string{notInit, notInit, failed, params, params, busy, params}},
		{"page empty cursor", "history.page", `{"session_id":"s1","revision":"r","cursor":""}`, [7]string{notInit, notInit, failed, params, params, busy, params}},
		{"page revision", "history.page", `{"session_id":"s1","revision":""}`, [7]string{notInit, notInit, failed, params, params, busy, params}},
		{"start", "turn.start", `{"session_id":"s1","prompt":"p"}`, [7]string{notInit, notInit, failed, missing, ok, busy, busy}},
		{"start other session", "turn.start", `{"session_id":"s2","prompt":"p"}`, [7]string{notInit, notInit, failed, missing, stale, busy, busy}},
		{"start shape", "turn.start", `{"session_id":"s1"}`, [7]string{notInit, notInit, failed, params, params, params, params}},
		{"start grammar", "turn.start", `{"session_id":"s.1","prompt":"p"}`, [7]string{notInit, notInit, failed, params, params, params, params}},
		{"start blank", "turn.start", `{"session_id":"s1","prompt":" \u2003\n"}`, [7]string{notInit, notInit, failed, params, params, params, params}},
		{"start long", "turn.start", `{"session_id":"s1","prompt":"` + strings.Repeat("p", 16385) + `"}`, [7]string{notInit, notInit, failed, params, params, params, params}},
		{"start longest", "turn.start", `{"session_id":"s1","prompt":"` + strings.Repeat("p", 16384) + `"}`, [7]string{notInit, notInit, failed, missing, ok, busy, busy}},
		{"cancel", "turn.cancel", `{"session_id":"s1","run_id":"id-2"}`, [7]string{notInit, notInit, failed, staleRun, staleRun, staleRun, ok}},
		{"cancel other run", "turn.cancel", `{"session_id":"s1","run_id":"id-3"}`, [7]string{notInit, notInit, failed, staleRun, staleRun, staleRun, staleRun}},
		{"cancel other session", "turn.cancel", `{"session_id":"s2","run_id":"id-2"}`, [7]string{notInit, notInit, failed, staleRun, staleRun, staleRun, staleRun}},
		{"cancel shape", "turn.cancel", `{"session_id":1}`, [7]string{params, params, params, params, params, params, params}},
		{"cancel grammar", "turn.cancel", `{"session_id":"","run_id":"x"}`, [7]string{notInit, notInit, failed, params, params, params, params}},
		{"answer", "approval.answer", `{"session_id":"s1","run_id":"id-2","approval_id":"a1","allow":true}`, [7]string{notInit, notInit, failed, staleApproval, staleApproval, staleApproval, ok}},
		{"answer other", "approval.answer", `{"session_id":"s1","run_id":"id-2","approval_id":"a2","allow":true}`, [7]string{notInit, notInit, failed, staleApproval, staleApproval, staleApproval, staleApproval}},
		{"answer other run", "approval.answer", `{"session_id":"s1","run_id":"id-3","approval_id":"a1","allow":true}`, [7]string{notInit, notInit, failed, staleApproval, staleApproval, staleApproval, staleApproval}},
		{"answer shape", "approval.answer", `{"session_id":"s1","run_id":"id-2","approval_id":"a1","allow":1}`, [7]string{params, params, params, params, params, params, params}},
		{"answer approval grammar", "approval.answer", `{"session_id":"s1","run_id":"id-2","approval_id":"","allow":true}`, [7]string{params, params, params, params, params, params, params}},
		{"answer run grammar", "approval.answer", `{"session_id":"s1","run_id":"","approval_id":"a1","allow":true}`, [7]string{notInit, notInit, failed, params, params, params, params}},
		{"unknown", "session.destroy", `{}`, [7]string{"unsupported_method", "unsupported_method", "unsupported_method", "unsupported_method", "unsupported_method", "unsupported_method", "unsupported_method"}},
	}
	for _, test := range tests {
		for i, state := range states {
			t.Run(test.name+"/"+state.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := state.reach(t)
					r.take()
					r.send(req("q", test.method, test.params))
					got := answerTo(r.take(), "q")
					want := test.want[i]
					if want == ok && !strings.HasPrefix(got, "{") || want != ok && got != "!"+want {
						t.Errorf("got %s, want %s", got, want)
					}
				})
			})
		}
	}
}

func answerTo(frames []string, id string) string {
	for _, f := range frames {
		if rest, ok := strings.CutPrefix(f, id+" "); ok {
			return rest
		}
	}
	return fmt.Sprintf("nothing but %q", frames)
}

// TestCorrectedInitialize: a failed preflight starts nothing and leaves the
// child uninitialised; the next one is admitted.
func TestCorrectedInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		r := newRig(t, b)
		r.send(req("1", "initialize", `{"required_capabilities":["status","nope"]}`), req("2", "initialize", `{}`))
		wantFrames(t, r.take(), "1 !unsupported_capability", "2 !invalid_params")
		if n := b.started.Load(); n != 0 {
			t.Fatalf("%d startups", n)
		}
		r.initialized()
	})
}

func TestInitializeResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &backend{})
		r.send(req("1", "initialize", `{"required_capabilities":[]}`))
		wantFrames(t, r.take(), `1 {"capabilities":["initialize","status","shutdown","session.create","session.open","history.page","turn.start","turn.cancel","approval.answer"],`+
			`"limits":{"content_chunk_bytes":16384,"frame_bytes":65536,"history_page_bytes":32768,"history_page_entries":100,"id_bytes":64,"json_depth":32,`+
			`"output_deadline_ms":2000,"pending_responses":32,"prompt_bytes":16384,"requests_per_child":4096},"status":`+status("idle", "ready", "", "")+`}`)
	})
}

// status is the status object of the fixture.
func status(state, readiness, session, run string) string {
	return selectedStatus("fixture", "fixture-model", state, readiness, session, run)
}

func selectedStatus(provider, model, state, readiness, session, run string) string {
	quoted := func(s string) string {
		if s == "" {
			return "null"
		}
		return `"` + s + `"`
	}
	id := fixtureInfo.ContextID
	if provider == "" {
		id = ""
	}
	return fmt.Sprintf(`{"context_id":%s,"model":%s,"provider":%s,"readiness":%q,"run_id":%s,"session_id":%s,"state":%q}`,
		quoted(id), quoted(model), quoted(provider), readiness, quoted(run), quoted(session), state)
}

// TestStatus follows status through the life of a child.
func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		go1, go2, go3 := make(chan struct{}), make(chan struct{}), make(chan struct{})
		b := &backend{
			start: func(context.Context) error { <-go1; return nil },
			open: func(context.Context, string) (Attached, error) {
				<-go2
				return Attached{SessionID: "s2", Provider: "saved", Model: "saved-model"}, nil
			},
			newRun: func(RunRequest) (Run, error) {
				return &fakeRun{do: func(context.Context) event.Finished { <-go3; return completed }}, nil
			},
		}
		r := newRig(t, b)
		asks := 0
		want := func(status string) {
			t.Helper()
			asks++
			id := fmt.Sprint("ask", asks)
			r.send(req(id, "status", `{}`))
			if got := answerTo(r.take(), id); got != status {
				t.Errorf("got  %s\nwant %s", got, status)
			}
		}
		r.send(req("init", "initialize", `{"required_capabilities":[]}`))
		want(selectedStatus("", "", "starting", "initializing", "", ""))
		close(go1)
		synctest.Wait()
		want(status("idle", "ready", "", ""))
		r.send(req("create", "session.create", `{}`))
		want(status("idle", "ready", "s1", ""))
		r.send(req("open", "session.open", `{"session_id":"s2"}`))
		want(status("idle", "ready", "s1", ""))
		close(go2)
		synctest.Wait()
		want(selectedStatus("saved", "saved-model", "idle", "ready", "s2", ""))
		r.send(req("start", "turn.start", `{"session_id":"s2","prompt":"p"}`))
		want(selectedStatus("saved", "saved-model", "running", "ready", "s2", "id-2"))
		close(go3)
		synctest.Wait()
		want(selectedStatus("saved", "saved-model", "idle", "ready", "s2", ""))
	})
}

// TestStatusOfAFailure: the selection may be known although startup failed.
func TestStatusOfAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &backend{start: func(context.Context) error { return errFixture }})
		r.send(req("1", "initialize", `{"required_capabilities":[]}`))
		r.send(req("2", "status", `{}`))
		wantFrames(t, r.take(), "1 !startup_failed", "2 "+status("failed", "startup_failed", "", ""))
	})
}

// TestSessionResults: attachments as the wire carries them; a failure leaves
// the attachment, and the connection, as they were.
func TestSessionResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		r := newRig(t, b).initialized()
		r.send(req("1", "session.create", `{}`))
		r.send(req("2", "session.open", `{"session_id":"x-1"}`))
		r.send(req("3", "history.page", `{"session_id":"x-1","revision":"v","cursor":null}`))
		b.open = func(context.Context, string) (Attached, error) { return Attached{}, errFixture }
		r.send(req("4", "session.open", `{"session_id":"y"}`))
		r.send(req("5", "status", `{}`))
		wantFrames(t, r.take(),
			`1 {"durable":false,"notices":[],"revision":"rev-1","session_id":"s1"}`,
			`2 {"durable":true,"notices":["cwd_unverified"],"revision":"rev-2","session_id":"x-1"}`,
			`3 {"complete":true,"entries":[],"next_cursor":null,"revision":"v","session_id":"x-1"}`,
			`4 !session_invalid`,
			`5 `+selectedStatus("saved", "saved-model", "idle", "ready", "x-1", ""))
	})
}

// TestBatchIsJudgedAsOne: what two frames of one write do to each other does
// not depend on how quick a job is.
func TestBatchIsJudgedAsOne(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &backend{}).initialized()
			r.send(req("c1", "session.create", `{}`), req("c2", "session.create", `{}`), req("o", "session.open", `{"nope":1}`), req("s", "status", `{}`))
			wantFrames(t, r.take(), "c2 !busy", "o !busy", "s "+status("idle", "ready", "", ""),
				`c1 {"durable":false,"notices":[],"revision":"rev-1","session_id":"s1"}`)
			r.send(req("c3", "session.create", `{}`), req("end", "shutdown", `{}`), req("late", "status", `{}`))
			wantFrames(t, r.take(), `end {"state":"stopping"}`, "c3 !operation_cancelled")
			r.wantExit(Exit{Reason: ReasonShutdown})
		})
	}
}

// slowBatch hands out frames and lets everybody else run in between.
type slowBatch struct{ frames []string }

func (b *slowBatch) Buffered() bool { return len(b.frames) > 0 }

func (b *slowBatch) Next() ([]byte, error) {
	for range 10000 {
		runtime.Gosched()
	}
	f := b.frames[0]
	b.frames = b.frames[1:]
	return []byte(f), nil
}

// TestJobsWaitForTheBatch is the same with jobs that have all the time they
// want to be quicker. It is no test in a bubble: there a lock is no wait.
func TestJobsWaitForTheBatch(t *testing.T) {
	tr := &replayed{}
	c := newConn(Config{Transport: tr, Startup: &backend{}, NewID: func() string { return "id" }})
	c.runtime, c.startup = &backend{}, startupReady
	b := &slowBatch{frames: []string{req("c1", "session.create", `{}`), req("c2", "session.create", `{}`), req("end", "shutdown", `{}`)}}
	f, err := b.Next()
	c.batch(context.Background(), b, f, err)
	if err := c.slot.Cleanup(context.Background()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(tr.out)) {
		got = append(got, abridge(t, line))
	}
	wantFrames(t, got, "c2 !busy", `end {"state":"stopping"}`, "c1 !operation_cancelled")
}

func TestFrameErrors(t *testing.T) {
	longest := req("r1", "shutdown", `{}`)
	longest += strings.Repeat(" ", localagent.MaxFrameBytes-len(longest))
	tests := []struct {
		name string
		send string
		want []string
		exit *Exit // nil: the child goes on
	}{
		{"empty line", "", []string{"null !invalid_request"}, nil},
		{"no JSON", "hello", []string{"null !invalid_request"}, nil},
		{"depth 33", strings.Repeat("[", 33) + strings.Repeat("]", 33), []string{"null !invalid_frame"}, nil},
		{"bad id", req("a b", "status", `{}`), []string{"null !invalid_request"}, nil},
		{"mismatch", strings.Replace(req("r1", "status", `{}`), `"version":1`, `"version":2`, 1), []string{"r1 !protocol_mismatch"}, &Exit{Reason: ReasonMismatch}},
		{"65,536 bytes", longest, []string{`r1 {"state":"stopping"}`}, &Exit{Reason: ReasonShutdown}},
		{"65,537 bytes", longest + " ", []string{"null !frame_too_large"}, &Exit{Reason: ReasonOversize}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &backend{})
				r.send(test.send)
				wantFrames(t, r.take(), test.want...)
				if test.exit != nil {
					r.wantExit(*test.exit)
					return
				}
				r.send(req("next", "shutdown", `{}`))
				wantFrames(t, r.take(), `next {"state":"stopping"}`)
				r.wantExit(Exit{Reason: ReasonShutdown})
			})
		})
	}
}

// TestIDsAreUsedUp: an id serves once, whatever became of its request, but for
// frames that were refused before it counted.
func TestIDsAreUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &backend{})
		r.send(req("a", "nope", `{}`), req("a", "shutdown", `{}`), req("b", "status", `{"x":1}`), req("b", "shutdown", `{}`))
		r.send(req("c", "x y", `{}`), req("c", "status", `{}`))
		wantFrames(t, r.take(), "a !unsupported_method", "a !duplicate_id", "b !not_initialized", "b !duplicate_id",
			"null !invalid_request", "c !not_initialized")
	})
}

func TestRequestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lasting()
		r := newRig(t, b).running() // three ids
		for i := 3; i < localagent.MaxRequests; i++ {
			r.send(req(fmt.Sprint("n", i), "status", `{}`))
		}
		if got := r.take(); len(got) != localagent.MaxRequests-3 || strings.Contains(strings.Join(got, ""), "!") {
			t.Fatalf("%d answers", len(got))
		}
		r.send(req("n3", "status", `{}`), req("more", "status", `{}`))
		wantFrames(t, r.take(), "n3 !duplicate_id", "more !request_limit", cancelledRun)
		r.wantExit(Exit{Reason: ReasonRequestLimit})
	})
}

const cancelledRun = `run.finished {"error_code":null,"outcome":"cancelled","persistence":"durable","revision":"rev-3","run_id":"id-2","session_id":"s1"}`

func wantFrames(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := diffLines(want, got); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}
