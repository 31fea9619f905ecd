package event

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"magicode/pkg/localagent"
	"magicode/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func notice(n int) Diagnostic { return Diagnostic{Code: "execution_notice", Summary: fmt.Sprint(n)} }

func newTestQueue() *Queue { return NewQueue(telemetry.Tel{}, func() {}, func() {}) }

// fill puts 32 events into the queue.
func fill(t *testing.T, q *Queue) {
	t.Helper()
	for i := range localagent.MaxWorkerEvents {
		if err := q.Emit(notice(i)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestQueueOrder(t *testing.T) {
	var woken int
	q := NewQueue(telemetry.Tel{}, func() { woken++ }, func() { t.Error("lost") })
	fill(t, q)
	for i := range localagent.MaxWorkerEvents {
		item, ok := q.Take()
		if diff := cmp.Diff(Event(notice(i)), item.Event()); !ok || diff != "" {
			t.Fatalf("event %d: %v %s", i, ok, diff)
		}
	}
	if _, ok := q.Take(); ok {
		t.Error("an empty queue gave an event")
	}
	if woken != localagent.MaxWorkerEvents {
		t.Errorf("woken %d times", woken)
	}
}

func TestTryNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue()
		fill(t, q)
		if q.Try(Delta{MessageID: "m", Text: "x"}) {
			t.Error("a full queue took a delta")
		}
		q.Take()
		if !q.Try(Delta{MessageID: "m", Text: "x"}) {
			t.Error("a delta was refused although there was room")
		}
	})
}

// TestTryMerges: text that waits is merged, in pieces of at most 4,000 bytes of
// one message, behind nothing else; the parts count without gaps.
func TestTryMerges(t *testing.T) {
	q := newTestQueue()
	deltas := []Delta{
		{"m", "a"}, {"m", "b"}, {"m", strings.Repeat("c", 3998)}, {"m", "d"}, {"n", "e"}, {"n", "f"},
	}
	for _, d := range deltas {
		if !q.Try(d) {
			t.Fatalf("%.10v was refused", d)
		}
	}
	if err := q.Emit(notice(1)); err != nil {
		t.Fatal(err)
	}
	q.Try(Delta{"n", "g"})
	type got struct {
		Message string
		Part    int
		Text    string
	}
	var all []got
	for item, ok := q.Take(); ok; item, ok = q.Take() {
		all = append(all, got{item.delta.MessageID, item.part, item.delta.Text})
	}
	want := []got{
		{"m", 0, "ab" + strings.Repeat("c", 3998)}, {"m", 1, "d"}, {"n", 0, "ef"}, {"", 0, ""}, {"n", 1, "g"},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
}

func TestEmitWaits(t *testing.T) {
	tests := []struct {
		name string
		room time.Duration // when there is some
		err  error
	}{
		{"1,999 ms", 1999 * time.Millisecond, nil},
		{"2,001 ms", 2001 * time.Millisecond, ErrUndeliverable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lost atomic.Int32
				q := NewQueue(telemetry.Tel{}, func() {}, func() { lost.Add(1) })
				fill(t, q)
				go func() {
					time.Sleep(test.room)
					q.Take()
				}()
				began := time.Now()
				err := q.Emit(notice(99))
				if !errors.Is(err, test.err) {
					t.Errorf("got %v, want %v", err, test.err)
				}
				if want := min(test.room, localagent.CriticalEventWait); time.Since(began) != want {
					t.Errorf("waited %v, want %v", time.Since(began), want)
				}
				time.Sleep(time.Second)
				failed := test.err != nil
				if q.Undeliverable() != failed || (lost.Load() == 1) != failed {
					t.Errorf("undeliverable %v, lost %d", q.Undeliverable(), lost.Load())
				}
				if failed {
					failsAtOnce(t, q, ErrUndeliverable)
				}
			})
		})
	}
}

// failsAtOnce: later events do not wait again, and deltas are refused.
func failsAtOnce(t *testing.T, q *Queue, want error) {
	t.Helper()
	q.Take()
	began := time.Now()
	if err := q.Emit(notice(100)); !errors.Is(err, want) {
		t.Errorf("a later event: %v", err)
	}
	if q.Try(Delta{MessageID: "m", Text: "x"}) {
		t.Error("a later delta was taken")
	}
	if time.Since(began) != 0 {
		t.Error("a later event waited")
	}
}

// TestEmitKeepsItsTurn: who waits goes before what comes later, deltas included.
func TestEmitKeepsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue()
		fill(t, q)
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				if err := q.Emit(notice(100 + i)); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		if q.Try(Delta{MessageID: "m", Text: "x"}) {
			t.Error("a delta overtook a waiting event")
		}
		var got []string
		for item, ok := q.Take(); ok; item, ok = q.Take() {
			got = append(got, item.Event().(Diagnostic).Summary)
		}
		wg.Wait()
		if diff := cmp.Diff([]string{"100", "101", "102"}, got[32:]); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEndsOfQueue(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*Queue)
		want error
		lost bool
	}{
		"stop":           {(*Queue).Stop, ErrStopped, false},
		"lose":           {(*Queue).Lose, ErrUndeliverable, true},
		"stop then lose": {func(q *Queue) { q.Stop(); q.Lose() }, ErrStopped, false},
		"lose then stop": {func(q *Queue) { q.Lose(); q.Stop() }, ErrStopped, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newTestQueue()
				fill(t, q)
				waiting := make(chan error, 1)
				go func() { waiting <- q.Emit(notice(1)) }()
				synctest.Wait()
				test.end(q)
				if err := <-waiting; err == nil {
					t.Error("who waited was not told")
				}
				if q.Undeliverable() != test.lost {
					t.Errorf("undeliverable %v", q.Undeliverable())
				}
				failsAtOnce(t, q, test.want)
				left := 0
				for _, ok := q.Take(); ok; _, ok = q.Take() {
					left++
				}
				if left != 31 {
					t.Errorf("%d events left, want all that were there", left)
				}
			})
		})
	}
}

// TestQueueProperties: whatever is offered and taken in whatever order, the
// taken text of each message is the accepted text, in pieces that fit, with
// parts that count from 0; events keep their order among all that was accepted.
func TestQueueProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newTestQueue()
		var accepted, taken story
		message, events, parts := 0, 0, map[string]int{}
		take := func() {
			item, ok := q.Take()
			if !ok {
				return
			}
			if item.Event() != nil {
				taken.add("", item.Event().(Diagnostic).Summary)
				return
			}
			d := item.delta
			if len(d.Text) == 0 || len(d.Text) > localagent.MaxLiveTextBytes {
				t.Fatalf("a piece of %d bytes", len(d.Text))
			}
			if item.part != parts[d.MessageID] {
				t.Fatalf("part %d of %s, want %d", item.part, d.MessageID, parts[d.MessageID])
			}
			parts[d.MessageID]++
			taken.add(d.MessageID, d.Text)
		}
		t.Repeat(map[string]func(*rapid.T){
			"delta": func(t *rapid.T) {
				text := strings.Repeat("x", rapid.IntRange(1, localagent.MaxLiveTextBytes).Draw(t, "size"))
				d := Delta{MessageID: fmt.Sprint("m", message), Text: text}
				if q.Try(d) {
					accepted.add(d.MessageID, d.Text)
				}
			},
			"segment": func(*rapid.T) { message++ },
			"event": func(t *rapid.T) {
				if q.n == len(q.ring) {
					return // it would wait
				}
				if err := q.Emit(notice(events)); err != nil {
					t.Fatal(err)
				}
				accepted.add("", fmt.Sprint(events))
				events++
			},
			"take": func(*rapid.T) { take() },
		})
		for q.n > 0 {
			take()
		}
		if diff := cmp.Diff(accepted, taken); diff != "" {
			t.Fatalf("what was taken is not what was accepted: %s", diff)
		}
	})
}

// story is what happened, with neighbouring deltas of one message joined.
type story []struct{ Message, Text string }

func (s *story) add(message, text string) {
	if n := len(*s); n > 0 && message != "" && (*s)[n-1].Message == message {
		(*s)[n-1].Text += text
		return
	}
	*s = append(*s, struct{ Message, Text string }{message, text})
}
