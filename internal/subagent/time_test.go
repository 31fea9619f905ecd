package subagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/approval"
	"magicode/internal/protect"
	"magicode/internal/provider"
	"magicode/internal/runner"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// user answers questions through a real broker, each after a while.
type user struct {
	broker *approval.Broker
	asked  []string
	after  time.Duration
	allow  func(n int) bool
}

// asks makes every command of a world's tasks ask, and answers.
func (w *world) asks(after time.Duration, allow func(n int) bool) *user {
	u := &user{after: after, allow: allow}
	u.broker = approval.NewBroker(func(ctx context.Context, q approval.Request, started func()) error {
		started()
		u.asked = append(u.asked, q.Summary)
		n := len(u.asked)
		go func() {
			select {
			case <-time.After(u.after):
				_ = u.broker.Answer(q.ID, u.allow(n))
			case <-ctx.Done():
			}
		}()
		return nil
	}, w.newID, time.Minute)
	w.guard = func(label string) runner.Guard {
		return &approval.Guard{Level: protect.Relaxed, Asker: u.broker, Label: label, Assess: func(string, protect.Place) protect.Assessment {
			s := protect.Score{Score: 2, Confidence: 1}
			return protect.Assessment{Overall: s, Destruction: s, Credentials: s, Privilege: s, Untrusted: s}
		}}
	}
	w.tools = append(w.tools, fakeTool{"bash", func(context.Context, json.RawMessage) tool.Result { return tool.Result{Success: true, Content: "ran"} }})
	w.replies = func(Request) []reply {
		return []reply{says(calls("bash", map[string]string{"command": "x", "intent": "i"})), says(text("done"))}
	}
	return u
}

func names(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint("task ", i))
	}
	return out
}

// TestTenQuestions: tasks that wait for an answer are not stalled, however long.
func TestTenQuestions(t *testing.T) {
	for _, concurrency := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, delegates(concurrency, names(10)...))
			u := w.asks(59*time.Second, func(int) bool { return true })
			began := time.Now()
			if res := w.run(t.Context()); res.Err != nil {
				t.Fatal(res.Err)
			}
			w.settled()
			if r := w.report(); r.Summary.Completed != 10 || len(u.asked) != 10 {
				t.Errorf("%+v after %d questions", r.Summary, len(u.asked))
			}
			if took := time.Since(began); took < 590*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestQuestionFarBelow: a task whose own task waits for an answer is not stalled either.
func TestQuestionFarBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, delegates(1, "outer"))
		u := w.asks(59*time.Second, func(int) bool { return true })
		ask := w.replies
		w.replies = func(r Request) []reply {
			if r.Depth == 2 {
				return ask(r)
			}
			return []reply{delegates(4, names(10)...), says(text("done"))}
		}
		if res := w.run(t.Context()); res.Err != nil {
			t.Fatal(res.Err)
		}
		w.settled()
		if r := w.report(); r.Summary.Completed != 1 || len(u.asked) != 10 || !strings.Contains(u.asked[0], "g1/g") {
			t.Errorf("%+v %q", r, u.asked)
		}
	})
}

// TestDenialEndsTheRun at the first and at the second level; the others are cancelled.
func TestDenialEndsTheRun(t *testing.T) {
	for depth := 1; depth <= 2; depth++ {
		for name, answer := range map[string]time.Duration{"denied": time.Second, "expired": 2 * time.Minute} {
			t.Run(fmt.Sprint(name, depth), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, delegates(4, names(6)...))
					w.asks(answer, func(int) bool { return false })
					ask := w.replies
					w.replies = func(r Request) []reply {
						switch {
						case r.Depth == 1 && r.ID != "g1":
							return []reply{hangs}
						case r.Depth < depth:
							return []reply{delegates(1, "inner")}
						}
						return ask(r)
					}
					if res := w.run(t.Context()); !errors.Is(res.Err, runner.ErrDenied) || !res.Persisted || res.Degraded {
						t.Fatalf("%+v", res)
					}
					w.settled()
					if r := w.report(); r.Summary.Failed != 6 || !strings.Contains(*r.Results[0].Error, "not approved") || *r.Results[5].Error != tool.CancelledText {
						t.Errorf("%+v", r)
					}
					if len(w.model.requests) != 1 {
						t.Error("the model was asked after a denial")
					}
					if st := w.log.of(session.KindTurnStatus); len(st) != 1 || st[0]["status"] != "failed" {
						t.Errorf("%v", st)
					}
				})
			})
		}
	}
}

// TestCancelReachesAll: two levels, calls and streams; nothing is left.
func TestCancelReachesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, delegates(4, names(10)...))
		w.tools = []tool.Tool{fakeTool{"wait", func(ctx context.Context, _ json.RawMessage) tool.Result {
			<-ctx.Done()
			return tool.Failed(tool.CancelledText)
		}}}
		w.replies = func(r Request) []reply {
			switch {
			case r.Depth == 1 && r.ID == "g1":
				return []reply{delegates(2, "x", "y")}
			case r.ID == "g2":
				return []reply{says(calls("wait", 1))}
			}
			return []reply{hangs}
		}
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(stop) })
		began := time.Now()
		res := w.run(ctx)
		if took := time.Since(began) - time.Second; took > 300*time.Millisecond || !errors.Is(res.Err, stop) {
			t.Errorf("%v after %v", res.Err, took)
		}
		w.settled()
		if r := w.report(); r.Summary.Failed != 10 || *r.Results[9].Error != tool.CancelledText || len(w.kids) != 6 {
			t.Errorf("%+v, %d opened", r.Summary, len(w.kids))
		}
		for _, k := range w.kids {
			if st := k.log.of(session.KindTurnStatus); len(st) != 1 || st[0]["status"] != "cancelled" {
				t.Errorf("%s: %v", k.request.Scope, st)
			}
		}
	})
}

// TestStall: 300 seconds without a sign of life, and not a second less.
func TestStall(t *testing.T) {
	beats := func(every time.Duration, n int) reply {
		return func(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
			for range n {
				time.Sleep(every)
				if err := errors.Join(context.Cause(ctx), emit(provider.Event{Kind: provider.EventToolProgress})); err != nil {
					return err
				}
			}
			return emit(text("done"))
		}
	}
	for name, c := range map[string]struct {
		reply reply
		ok    bool
	}{"hangs": {hangs, false}, "slow": {beats(299*time.Second, 5), true}, "too slow": {beats(301*time.Second, 1), false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, delegates(4, "one", "two"))
				w.replies = func(r Request) []reply {
					if r.ID == "g2" {
						return []reply{says(text("quick"))}
					}
					return []reply{c.reply}
				}
				if res := w.run(t.Context()); res.Err != nil {
					t.Fatal(res.Err)
				}
				w.settled()
				r := w.report()
				if (r.Results[0].Status == "completed") != c.ok || r.Results[1].Status != "completed" {
					t.Errorf("%+v", r.Summary)
				}
				if e := r.Results[0].Error; !c.ok && *e != errStalled.Error() {
					t.Error(*e)
				}
			})
		})
	}
}

// TestRetry: once, two seconds later, from where the task was; never over a
// changed file.
func TestRetry(t *testing.T) {
	busy := &provider.Error{Kind: provider.ErrHTTPStatus, Status: 503, Retryable: true, Err: errors.New("busy")}
	final := &provider.Error{Kind: provider.ErrHTTPStatus, Status: 400, Err: errors.New("bad request")}
	write := says(calls("write", 1))
	look := says(calls("look", 1))
	for _, c := range []struct {
		name     string
		replies  []reply
		ok       bool
		requests int
		wait     time.Duration
		holds    string
	}{
		{"recovers", []reply{fails(busy), says(text("done"))}, true, 2, retryWait, ""},
		{"goes on", []reply{look, fails(busy), says(text("done"))}, true, 3, retryWait, ""},
		{"exhausted", []reply{fails(busy), fails(busy)}, false, 2, retryWait, "[provider retry exhausted after 2 attempts] "},
		{"not retryable", []reply{fails(final)}, false, 1, 0, "bad request"},
		{"changed a file", []reply{write, fails(busy)}, false, 2, 0, "busy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, delegates(1, "one"))
				did := func(changed ...string) fakeTool {
					name := "look"
					if len(changed) > 0 {
						name = "write"
					}
					return fakeTool{name, func(context.Context, json.RawMessage) tool.Result {
						return tool.Result{Success: true, Changed: changed}
					}}
				}
				w.tools = []tool.Tool{did(), did("/w/f")}
				w.replies = func(Request) []reply { return c.replies }
				began := time.Now()
				if res := w.run(t.Context()); res.Err != nil {
					t.Fatal(res.Err)
				}
				r, k := w.report().Results[0], w.kids[0]
				if (r.Status == "completed") != c.ok || len(k.model.requests) != c.requests || time.Since(began) != c.wait {
					t.Errorf("%+v after %d requests and %v", r, len(k.model.requests), time.Since(began))
				}
				if !c.ok && !strings.HasPrefix(*r.Error, c.holds) {
					t.Error(*r.Error)
				}
				if in := k.log.of(session.KindUserInput); c.ok && (in[1]["auto_recovery"] != true || in[1]["origin"] != nil || in[1]["task_scope_version"] != 1) {
					t.Errorf("%v", in)
				}
			})
		})
	}
}
