package approval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"magicode/internal/protect"
	"magicode/internal/tool"
	"magicode/telemetry/reader/spantest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asked is what a test's user sees.
type asked struct {
	requests chan Request
	err      error
	hold     time.Duration // before the question is queued for output
}

func (a *asked) announce(ctx context.Context, r Request, started func()) error {
	if a.err != nil {
		return a.err
	}
	time.Sleep(a.hold)
	started()
	a.requests <- r
	return nil
}

func newBroker(a *asked) *Broker {
	n := 0
	a.requests = make(chan Request, 8)
	return NewBroker(a.announce, func() string { n++; return fmt.Sprintf("id%d", n) }, time.Minute)
}

type result struct {
	answer Answer
	err    error
}

func ask(ctx context.Context, b *Broker, summary string) chan result {
	out := make(chan result, 1)
	go func() {
		a, err := b.Ask(ctx, summary)
		out <- result{a, err}
	}()
	return out
}

// TestExpiry: an answer at 59,999 ms counts, one at 60,001 ms does not, and the
// minute begins when the question is queued for output.
func TestExpiry(t *testing.T) {
	for _, c := range []struct {
		at   time.Duration
		hold time.Duration
		want Answer
		err  error
	}{
		{59_999 * time.Millisecond, 0, Allowed, nil},
		{60_001 * time.Millisecond, 0, Expired, ErrStale},
		{59_999 * time.Millisecond, 30 * time.Second, Allowed, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := &asked{hold: c.hold}
			b := newBroker(a)
			got := ask(t.Context(), b, "x")
			r := <-a.requests
			time.Sleep(c.at)
			synctest.Wait()
			if err := b.Answer(r.ID, true); !errors.Is(err, c.err) {
				t.Errorf("answer at %v: %v", c.at, err)
			}
			if g := <-got; g.answer != c.want || g.err != nil {
				t.Errorf("at %v: %+v", c.at, g)
			}
		})
	}
}

// TestOutcomes: how a question ended is in its span (T-16).
func TestOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := spantest.New(t)
		a := &asked{}
		b := newBroker(a)
		b.Tel = p.Tel
		reply := func(allow bool) {
			if err := b.Answer((<-a.requests).ID, allow); err != nil {
				t.Error(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		for _, end := range []func(){
			func() { reply(true) },
			func() { reply(false) },
			func() { <-a.requests }, // and a minute passes
			func() { <-a.requests; cancel() },
		} {
			got := ask(ctx, b, "x")
			end()
			<-got
		}
		a.err = errors.New("nobody hears it")
		<-ask(t.Context(), b, "x")
		want := []string{"allow", "deny", "expired", "cancelled", "undelivered"}
		if diff := cmp.Diff(want, p.Values("magi.approval.wait", "magi.approval.outcome")); diff != "" {
			t.Error(diff)
		}
		for _, s := range p.Spans() {
			if s.Error || s.Attributes["error.type"] != nil {
				t.Errorf("an answer counts as an error: %v", s.Attributes)
			}
		}
	})
}

func TestFirstReplyWins(t *testing.T) {
	a := &asked{}
	b := newBroker(a)
	got := ask(t.Context(), b, "x")
	r := <-a.requests
	if err := b.Answer("other", true); !errors.Is(err, ErrStale) {
		t.Errorf("wrong id: %v", err)
	}
	if err := b.Answer(r.ID, false); err != nil {
		t.Error(err)
	}
	if err := b.Answer(r.ID, true); !errors.Is(err, ErrStale) {
		t.Errorf("second reply: %v", err)
	}
	if g := <-got; g.answer != Denied || g.err != nil {
		t.Errorf("%+v", g)
	}
	if err := b.Answer(r.ID, true); !errors.Is(err, ErrStale) {
		t.Errorf("after the end: %v", err)
	}
}

func TestCancellationDenies(t *testing.T) {
	stop := errors.New("stop")
	a := &asked{}
	b := newBroker(a)
	ctx, cancel := context.WithCancelCause(t.Context())
	got := ask(ctx, b, "x")
	r := <-a.requests
	cancel(stop)
	if err := b.Answer(r.ID, true); !errors.Is(err, ErrStale) {
		t.Errorf("allow after cancel: %v", err)
	}
	if g := <-got; g.answer == Allowed || !errors.Is(g.err, stop) {
		t.Errorf("%+v", g)
	}
}

// TestAnswerDoesNotOutliveACancellation: the reply was recorded, and the run was
// cancelled before the waiter woke.
func TestAnswerDoesNotOutliveACancellation(t *testing.T) {
	a := &asked{}
	b := newBroker(a)
	ctx, cancel := context.WithCancelCause(t.Context())
	q := &question{id: "q", ctx: ctx, started: make(chan struct{}), answer: make(chan bool, 1)}
	b.set(q)
	b.start(q)
	if err := b.Answer("q", true); err != nil {
		t.Fatal(err)
	}
	cancel(errors.New("stop"))
	if got, err := b.judge(ctx, <-q.answer); got == Allowed || err == nil {
		t.Errorf("%v %v", got, err)
	}
}

func TestQueueServesOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{}
		b := newBroker(a)
		first := ask(t.Context(), b, "first")
		synctest.Wait()
		second := ask(t.Context(), b, "second")
		time.Sleep(50 * time.Second)
		synctest.Wait()
		if len(a.requests) != 1 {
			t.Fatalf("%d questions open", len(a.requests))
		}
		r1 := <-a.requests
		if err := b.Answer(r1.ID, true); err != nil {
			t.Error(err)
		}
		r2 := <-a.requests
		time.Sleep(50 * time.Second) // more than a minute since it was put, less since it was announced
		if err := b.Answer(r2.ID, true); err != nil || r2.Summary != "second" {
			t.Errorf("%v %v", err, r2)
		}
		for _, g := range []result{<-first, <-second} {
			if g.answer != Allowed {
				t.Errorf("%+v", g)
			}
		}
	})
}

func TestAnnouncementThatFailsDenies(t *testing.T) {
	lost := errors.New("undeliverable")
	a := &asked{err: lost}
	if got, err := newBroker(a).Ask(t.Context(), "x"); got == Allowed || !errors.Is(err, lost) {
		t.Errorf("%v %v", got, err)
	}
}

type fixedAsker struct {
	answer Answer
	seen   []string
}

func (f *fixedAsker) Ask(_ context.Context, s string) (Answer, error) {
	f.seen = append(f.seen, s)
	return f.answer, nil
}

func TestGuard(t *testing.T) {
	risky := func(command string, _ protect.Place) protect.Assessment {
		s := protect.Score{Score: 0, Confidence: 1}
		a := protect.Assessment{Overall: s, Destruction: s, Credentials: s, Privilege: s, Untrusted: s}
		if strings.Contains(command, "rm") {
			a.Destruction = protect.Score{Score: 2, Confidence: 1}
		}
		return a
	}
	for _, c := range []struct {
		name, args string
		level      protect.Level
		answer     Answer
		asked      bool
		allowed    bool
	}{
		{"bash", `{"command":"rm x","intent":"i"}`, protect.Relaxed, Allowed, true, true},
		{"bash", `{"command":"rm x","intent":"i"}`, protect.Relaxed, Denied, true, false},
		{"bash", `{"command":"rm x","intent":"i"}`, protect.Relaxed, Expired, true, false},
		{"shell", `{"cmd":"rm x","intent":"i"}`, protect.Relaxed, Denied, true, false},
		{"bash", `{"command":"ls","intent":"i"}`, protect.Relaxed, Denied, false, true},
		{"bash", `{"command":"rm x","intent":"i"}`, protect.Off, Denied, false, true},
		{"write", `{"command":"rm x","intent":"i"}`, protect.Strict, Denied, false, true},
		{"bash", `{}`, protect.Strict, Denied, false, true},
	} {
		asker := &fixedAsker{answer: c.answer}
		g := &Guard{Level: c.level, Assess: risky, Asker: asker}
		v, err := g.Check(t.Context(), tool.Env{}, tool.Call{Name: c.name, Arguments: []byte(c.args)}, func(string) {})
		if err != nil || v.Allowed != c.allowed || len(asker.seen) > 0 != c.asked {
			t.Errorf("%s %s at %s: %+v, asked %v, %v", c.name, c.args, c.level, v, asker.seen, err)
		}
	}
}

func TestSummary(t *testing.T) {
	long := "printf BEGIN; " + strings.Repeat("true; ", 400) + "printf END"
	for _, c := range []struct {
		label, command string
		holds, lacks   []string
	}{
		{"", "rm -rf x", []string{"destruction: rm -rf x"}, nil},
		{"", "a\nb\tc\x1b[2J\u202ed\u200be\rf\u0085", []string{`a\nb\tc\x1b[2J\u202ed\u200be\rf\x85`}, []string{"\n", "\t", "\x1b", "\u202e", "\u200b", "\r", "\u0085"}},
		{"", long, []string{"printf BEGIN", "printf END", " bytes] "}, nil},
		{"g1 · look " + strings.Repeat("x", 500), "ls", []string{"g1 · look ", " · ls"}, nil},
		{"", strings.Repeat("\U0001f600", 600), []string{"\U0001f600"}, nil},
	} {
		s := Summary(c.label, protect.Destruction, c.command)
		if len(s) > maxSummaryBytes {
			t.Errorf("%d bytes", len(s))
		}
		for _, h := range c.holds {
			if !strings.Contains(s, h) {
				t.Errorf("%q is not in %q", h, s)
			}
		}
		for _, h := range c.lacks {
			if strings.Contains(s, h) {
				t.Errorf("%q is in %q", h, s)
			}
		}
		if strings.ToValidUTF8(s, "") != s {
			t.Errorf("not UTF-8: %q", s)
		}
	}
}
