package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/session"
)

// TestBackground: side work starts when the input is stored, and the run ends after it.
func TestBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(says(text("answer")))
		began, ended := "", false
		b.cfg.Background = func(context.Context) {
			began = b.log.kinds()
			time.Sleep(time.Minute)
			ended = true
		}
		if res := Run(t.Context(), b.cfg, "q"); res.Err != nil || !ended || !strings.HasPrefix(began, "user_input") {
			t.Errorf("%v, ended %v, began after %q", res.Err, ended, began)
		}
	})
}

func TestBackgroundIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		b := newBench(hangs(text("half")))
		var cause error
		b.cfg.Background = func(ctx context.Context) {
			<-ctx.Done()
			time.Sleep(time.Second)
			cause = context.Cause(ctx)
		}
		time.AfterFunc(time.Second, func() { cancel(stop) })
		began := time.Now()
		if res := Run(ctx, b.cfg, "q"); !errors.Is(res.Err, stop) || cause != stop {
			t.Errorf("%v, %v", res.Err, cause)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

func TestBackgroundWithoutInput(t *testing.T) {
	b := newBench(says(text("never")))
	b.log.failAt = 1
	b.cfg.Background = func(context.Context) { t.Error("it started") }
	if res := b.run(t, background(t)); !errors.Is(res.Err, ErrInputAppend) {
		t.Error(res.Err)
	}
}

// TestControlAmongOthers: magi_control must be the only call of a batch; none runs.
func TestControlAmongOthers(t *testing.T) {
	b := newBench(says(callEvent("a", "bash", "{}"), callEvent("b", "magi_control", `{"action":"compact"}`)), says(text("sorry")))
	if res := b.run(t, background(t)); res.Err != nil || len(b.tools.calls) != 0 {
		t.Fatalf("%v, %d effects", res.Err, len(b.tools.calls))
	}
	want := []string{"input", "start a bash", "finish a ok=false", "start b magi_control compact", "finish b ok=false", `segment 0 "sorry" closed=false`}
	if diff := cmp.Diff(want, b.tape.lines); diff != "" {
		t.Error(diff)
	}
	for _, r := range b.log.of(session.KindToolResult) {
		if r["changed_paths"] != nil || r["execution_effects"] != nil || r["result"].(map[string]any)["success"] != false {
			t.Errorf("%v", r)
		}
	}
	if got := asks(b.prov.requests[1]); got != "system:SYSTEM | user:the question | call | call | result | result" {
		t.Error(got)
	}
}

// TestUsageIDs: each request of a run has a record of its own (decision 21).
func TestUsageIDs(t *testing.T) {
	b := newBench(says(usage(5, 1), callEvent("c", "bash", "{}")), says(usage(9, 2), text("done")))
	if res := b.run(t, background(t)); res.Err != nil {
		t.Fatal(res.Err)
	}
	var got []string
	for _, u := range b.log.of(session.KindSessionUsage) {
		final := "pending"
		if u["final_usage"] == true {
			final = "final"
		}
		got = append(got, strings.TrimPrefix(u["id"].(string), "session-usage/run/")+" "+final)
	}
	if diff := cmp.Diff([]string{"primary/0 pending", "primary/0 final", "primary/1 pending", "primary/1 final"}, got); diff != "" {
		t.Error(diff)
	}
}
