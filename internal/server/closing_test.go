package server

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/event"
	"magicode/pkg/localagent"
)

// TestClosing holds the table of runner.md 7: every trigger in every state.
func TestClosing(t *testing.T) {
	mismatch := strings.Replace(req("m", "status", `{}`), `"version":1`, `"version":7`, 1)
	triggers := []struct {
		name   string
		pull   func(r *rig)
		reason Reason
		answer string // the trigger's own frame, "" for none
		// resolves tells whether a pending request is answered.
		resolves bool
	}{
		{"shutdown", func(r *rig) { r.send(req("end", "shutdown", `{}`)) }, ReasonShutdown, `end {"state":"stopping"}`, true},
		{"mismatch", func(r *rig) { r.send(mismatch) }, ReasonMismatch, "m !protocol_mismatch", true},
		{"oversize", func(r *rig) { r.send(strings.Repeat(" ", localagent.MaxFrameBytes+1)) }, ReasonOversize, "null !frame_too_large", false},
		{"end of input", func(r *rig) { r.eof() }, ReasonEOF, "", false},
		{"end inside a frame", func(r *rig) {
			go func() {
				// What lies behind the end of a frame is not read.
				_, _ = r.in.Write([]byte(req("x", "shutdown", `{}`)))
				r.in.Close()
			}()
		}, ReasonEOF, "null !incomplete_frame", false},
		{"signal", func(r *rig) { r.signals <- syscall.SIGTERM }, ReasonSignal, "", true},
	}
	pending := map[string]string{"pending": "init !startup_cancelled", "working": "open !operation_cancelled"}
	for _, trigger := range triggers {
		for _, state := range states {
			t.Run(trigger.name+"/"+state.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := state.reach(t)
					r.take()
					trigger.pull(r)
					var want []string
					if trigger.answer != "" {
						want = append(want, trigger.answer)
					}
					if trigger.resolves && pending[state.name] != "" {
						want = append(want, pending[state.name])
					}
					if state.name == "running" {
						want = append(want, cancelledRun)
					}
					wantFrames(t, r.take(), want...)
					exit := Exit{Reason: trigger.reason}
					if trigger.name == "signal" {
						exit.Signal = syscall.SIGTERM
					}
					r.wantExit(exit)
					if r.after != 0 {
						t.Errorf("it took %v", r.after)
					}
					closed := int32(0)
					if state.name != "fresh" && state.name != "pending" && state.name != "failed" {
						closed = 1
					}
					if n := r.b.closed.Load(); n != closed {
						t.Errorf("the runtime was closed %d times, want %d", n, closed)
					}
				})
			})
		}
	}
}

// TestNothingIsReadWhileClosing: frames behind the one that closes are dropped,
// in the same batch and later.
func TestNothingIsReadWhileClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{newRun: func(RunRequest) (Run, error) {
			return &fakeRun{do: func(ctx context.Context) event.Finished {
				f := untilCancelled(ctx)
				time.Sleep(time.Second) // something that takes a while to stop
				return f
			}}, nil
		}}
		r := newRig(t, b).running()
		r.send(req("end", "shutdown", `{}`), req("late", "status", `{}`))
		r.send(req("later", "status", `{}`))
		r.signals <- syscall.SIGTERM // changes the status, not the course
		time.Sleep(time.Second)
		synctest.Wait()
		wantFrames(t, r.take(), `end {"state":"stopping"}`, cancelledRun)
		r.wantExit(Exit{Reason: ReasonShutdown, Signal: syscall.SIGTERM})
	})
}

// TestCancelCauses: a job sees why it ends.
func TestCancelCauses(t *testing.T) {
	for name, test := range map[string]struct {
		pull func(r *rig)
		want error
	}{
		"cancel":   {func(r *rig) { r.send(req("c", "turn.cancel", `{"session_id":"s1","run_id":"id-2"}`)) }, ErrUser},
		"shutdown": {func(r *rig) { r.send(req("c", "shutdown", `{}`)) }, ErrShutdown},
		"eof":      {func(r *rig) { r.eof() }, ErrShutdown},
		"first": {func(r *rig) {
			r.send(req("c", "turn.cancel", `{"session_id":"s1","run_id":"id-2"}`), req("d", "shutdown", `{}`))
		}, ErrUser},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var cause error
				b := &backend{newRun: func(RunRequest) (Run, error) {
					return &fakeRun{do: func(ctx context.Context) event.Finished {
						f := untilCancelled(ctx)
						cause = context.Cause(ctx)
						return f
					}}, nil
				}}
				r := newRig(t, b).running()
				test.pull(r)
				synctest.Wait()
				if cause != test.want {
					t.Errorf("cancelled with %v, want %v", cause, test.want)
				}
			})
		})
	}
}

// stuck is a backend whose run ignores its cancellation for so long.
func stuck(d time.Duration) *backend {
	return &backend{newRun: func(RunRequest) (Run, error) {
		return &fakeRun{do: func(ctx context.Context) event.Finished {
			f := untilCancelled(ctx)
			time.Sleep(d)
			return f
		}}, nil
	}}
}

func TestClosingDeadline(t *testing.T) {
	tests := []struct {
		took   time.Duration
		frames []string
		exit   Exit
		after  time.Duration
	}{
		{1999 * time.Millisecond, []string{`end {"state":"stopping"}`, cancelledRun}, Exit{Reason: ReasonShutdown}, 1999 * time.Millisecond},
		{2001 * time.Millisecond, []string{`end {"state":"stopping"}`}, Exit{Code: 1, Reason: ReasonClosingDeadline}, 2001 * time.Millisecond},
		// The drain and the teardown have 2,000 ms each.
		{3999 * time.Millisecond, []string{`end {"state":"stopping"}`}, Exit{Code: 1, Reason: ReasonClosingDeadline}, 3999 * time.Millisecond},
		{4001 * time.Millisecond, []string{`end {"state":"stopping"}`}, Exit{Code: 1, Reason: ReasonClosingDeadline, Detached: true}, 4000 * time.Millisecond},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.took), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, stuck(test.took)).running()
				r.send(req("end", "shutdown", `{}`))
				r.wantExit(test.exit)
				wantFrames(t, r.take(), test.frames...)
				if r.after != test.after {
					t.Errorf("it took %v, want %v", r.after, test.after)
				}
				time.Sleep(5 * time.Second) // a detached job ends with the process
			})
		})
	}
}

func TestCleanupWait(t *testing.T) {
	tests := []struct {
		took     time.Duration
		detached bool
		after    time.Duration
	}{
		{1999 * time.Millisecond, false, 1999 * time.Millisecond},
		{2001 * time.Millisecond, true, 2000 * time.Millisecond},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.took), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ctxEnded time.Duration
				b := &backend{}
				r := newRig(t, b).initialized()
				b.close = func(ctx context.Context) error {
					context.AfterFunc(ctx, func() { ctxEnded = time.Since(r.began) })
					time.Sleep(test.took)
					return nil
				}
				r.send(req("end", "shutdown", `{}`))
				wantFrames(t, r.take(), `end {"state":"stopping"}`)
				r.wantExit(Exit{Reason: ReasonShutdown, Detached: test.detached})
				if r.after != test.after {
					t.Errorf("it took %v, want %v", r.after, test.after)
				}
				time.Sleep(time.Second)
				if ctxEnded != test.after {
					t.Errorf("the teardown was told after %v", ctxEnded)
				}
			})
		})
	}
}

// TestCleanupJoinsFirst: leases stay with a worker until it has ended.
func TestCleanupJoinsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		b := &backend{
			open: func(ctx context.Context, _ string) (Attached, error) {
				<-ctx.Done()
				time.Sleep(time.Second)
				order = append(order, "worker ended")
				return Attached{SessionID: "late"}, nil
			},
			close: func(context.Context) error { order = append(order, "runtime closed"); return nil },
		}
		r := newRig(t, b).initialized()
		r.send(req("o", "session.open", `{"session_id":"x"}`), req("end", "shutdown", `{}`))
		wantFrames(t, r.take(), `end {"state":"stopping"}`, "o !operation_cancelled")
		r.wantExit(Exit{Reason: ReasonShutdown})
		wantFrames(t, order, "worker ended", "runtime closed")
	})
}

// TestLateResultIsDropped: what closing has answered is not answered again by a
// job that ends while the output is still being written.
func TestLateResultIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, op := range []string{req("q", "session.create", `{}`), req("q", "session.open", `{"session_id":"x"}`)} {
			slow := func() (Attached, error) { time.Sleep(time.Second); return Attached{SessionID: "x"}, nil }
			r := newPipeRig(t, &backend{
				create: func(context.Context) (Attached, error) { return slow() },
				open:   func(context.Context, string) (Attached, error) { return slow() },
			})
			go func() { _, _ = r.in.Write([]byte(req("init", "initialize", `{"required_capabilities":[]}`) + "\n")) }()
			if _, err := bufio.NewReaderSize(r.out, 1<<16).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			r.send(op, req("end", "shutdown", `{}`))
			time.Sleep(1500 * time.Millisecond)
			r.readAll()
			wantFrames(t, r.take(), `end {"state":"stopping"}`, "q !operation_cancelled")
			r.wantExit(Exit{Reason: ReasonShutdown})
		}
	})
}

// TestLateStartupIsClosed: a startup that succeeds although it was cancelled is
// not lost for the cleanup.
func TestLateStartupIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{start: func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(time.Second)
			return nil
		}}
		r := newRig(t, b)
		r.send(req("i", "initialize", `{"required_capabilities":[]}`), req("end", "shutdown", `{}`))
		wantFrames(t, r.take(), `end {"state":"stopping"}`, "i !startup_cancelled")
		r.wantExit(Exit{Reason: ReasonShutdown})
		if n := b.closed.Load(); n != 1 {
			t.Errorf("closed %d times", n)
		}
	})
}

// TestStuckWorkers: a start and a session job that do not notice that they are
// cancelled cost the wait for the cleanup, and not more.
func TestStuckWorkers(t *testing.T) {
	deaf := func(ctx context.Context) {
		<-ctx.Done()
		time.Sleep(time.Minute)
	}
	for name, c := range map[string]struct {
		backend *backend
		begin   string
		answers []string
	}{
		"startup": {&backend{start: func(ctx context.Context) error { deaf(ctx); return nil }},
			req("i", "initialize", `{"required_capabilities":[]}`), []string{`end {"state":"stopping"}`, "i !startup_cancelled"}},
		"session": {&backend{open: func(ctx context.Context, _ string) (Attached, error) { deaf(ctx); return Attached{}, nil }},
			req("o", "session.open", `{"session_id":"x"}`), []string{`end {"state":"stopping"}`, "o !operation_cancelled"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.backend)
				if name == "session" {
					r = r.initialized()
				}
				r.send(c.begin, req("end", "shutdown", `{}`))
				wantFrames(t, r.take(), c.answers...)
				r.wantExit(Exit{Reason: ReasonShutdown, Detached: true})
				if r.after != localagent.CleanupWait {
					t.Errorf("it took %v", r.after)
				}
				time.Sleep(2 * time.Minute) // a detached job ends with the process
			})
		})
	}
}

// TestOutputDeadlineEndsTheChild: nobody reads, 2,000 ms after the oldest
// answer the child ends, whatever it is doing.
func TestOutputDeadlineEndsTheChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPipeRig(t, &backend{})
		time.Sleep(time.Second)
		r.send(req("a", "status", `{}`))
		time.Sleep(1500 * time.Millisecond)
		r.send(req("b", "status", `{}`))
		r.wantExit(Exit{Code: 1, Reason: ReasonOutputDeadline})
		if r.after != 3*time.Second {
			t.Errorf("ended after %v", r.after)
		}
	})
}

// TestClosingWithoutReader: the closing deadline does not extend the output's.
func TestClosingWithoutReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPipeRig(t, &backend{})
		r.send(req("a", "status", `{}`))
		time.Sleep(time.Second)
		r.send(req("b", "shutdown", `{}`))
		r.wantExit(Exit{Code: 1, Reason: ReasonOutputDeadline})
		if r.after != 2*time.Second {
			t.Errorf("ended after %v", r.after)
		}
	})
}

func TestUnreadAnswers(t *testing.T) {
	for _, n := range []int{32, 33} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newPipeRig(t, &backend{})
				r.send(strings.Repeat("x\n", n-1) + "x")
				if n == 33 {
					r.wantExit(Exit{Code: 1, Reason: ReasonOverflow})
					if r.after != 0 {
						t.Errorf("ended after %v", r.after)
					}
					r.readAll()
					wantFrames(t, r.take())
					return
				}
				if _, ended := r.ended(); ended {
					t.Fatal("the child ended")
				}
				r.readAll()
				if got := r.take(); len(got) != n {
					t.Errorf("%d answers", len(got))
				}
			})
		})
	}
}

// TestBrokenOutput: a write that fails ends the child with 1; the run is told why.
func TestBrokenOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		b := &backend{newRun: func(RunRequest) (Run, error) {
			return &fakeRun{do: func(ctx context.Context) event.Finished {
				f := untilCancelled(ctx)
				cause = context.Cause(ctx)
				return f
			}}, nil
		}}
		r := newPipeRig(t, b)
		r.readAll()
		r.running()
		r.out.(interface{ Close() error }).Close()
		r.send(req("a", "status", `{}`))
		r.wantExit(Exit{Code: 1, Reason: ReasonOutputBroken})
		if cause != ErrOutput {
			t.Errorf("the run was cancelled with %v", cause)
		}
		if b.closed.Load() != 1 {
			t.Error("no cleanup")
		}
	})
}

// TestOutside: who called Serve may end it.
func TestOutsideEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, lasting()).running()
		r.stop()
		wantFrames(t, r.take(), cancelledRun)
		r.wantExit(Exit{Reason: ReasonEOF})
	})
}
