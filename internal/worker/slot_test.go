package worker

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errFirst  = errors.New("first")
	errSecond = errors.New("second")
)

// waitCancelled is work that ends with its cancellation and returns the cause.
func waitCancelled(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func cleanup(t *testing.T, s *Slot) {
	t.Helper()
	if err := s.Cleanup(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestOneJobAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Slot
		got := make(chan error, 1)
		job := Job[error]{Work: waitCancelled, Done: func(err error) { got <- err }}
		if err := Run(context.Background(), &s, job); err != nil {
			t.Fatal(err)
		}
		if err := Run(context.Background(), &s, job); !errors.Is(err, ErrBusy) {
			t.Errorf("a second job: %v", err)
		}
		s.Cancel(errFirst)
		s.Cancel(errSecond)
		if err := <-got; !errors.Is(err, errFirst) {
			t.Errorf("cancelled with %v, want the first cause", err)
		}
		if err := Run(context.Background(), &s, job); err != nil {
			t.Errorf("a job behind the first: %v", err)
		}
		s.Cancel(errSecond)
		if err := <-got; !errors.Is(err, errSecond) {
			t.Errorf("cancelled with %v, want its own cause", err)
		}
		cleanup(t, &s)
		s.Cancel(errFirst) // there is nothing to cancel
		if err := Run(context.Background(), &s, job); !errors.Is(err, ErrClosed) {
			t.Errorf("a job after the cleanup: %v", err)
		}
	})
}

// TestDoneMayStartTheNext: the slot is free when the result is handed over.
func TestDoneMayStartTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Slot
		n := 0
		var job Job[int]
		job = Job[int]{
			Work: func(context.Context) int { return n + 1 },
			Done: func(v int) {
				if n = v; n < 3 {
					if err := Run(context.Background(), &s, job); err != nil {
						t.Error(err)
					}
				}
			},
		}
		if err := Run(context.Background(), &s, job); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n != 3 {
			t.Errorf("%d jobs ran", n)
		}
		cleanup(t, &s)
	})
}

// TestCleanupHoldsWhatIsOpen: nothing is released before the job has handed
// over its result, and then the last thing first.
func TestCleanupHoldsWhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Slot
		var order []string
		note := func(what string, err error) func(context.Context) error {
			return func(context.Context) error { order = append(order, what); return err }
		}
		s.Hold(note("first held", errFirst))
		err := Run(context.Background(), &s, Job[error]{
			Work: waitCancelled,
			Done: func(error) {
				time.Sleep(time.Second)
				order = append(order, "job done")
				s.Hold(note("held by the job", errSecond))
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Cancel(nil)
		err = s.Cleanup(context.Background())
		if !errors.Is(err, errFirst) || !errors.Is(err, errSecond) {
			t.Errorf("cleanup: %v, want both errors", err)
		}
		if diff := cmp.Diff([]string{"job done", "held by the job", "first held"}, order); diff != "" {
			t.Error(diff)
		}
	})
}

// unmade is a map that nothing may be put into.
func unmade() map[string]int { return nil }

func TestPanics(t *testing.T) {
	var none *int
	tests := map[string]struct {
		work func(context.Context) Panic
		fn   string
	}{
		"value":   {panicsWithText, "magicode/internal/worker.panicsWithText"},
		"nil map": {func(context.Context) Panic { unmade()["secret"] = 1; return Panic{} }, "magicode/internal/worker.TestPanics.func1"},
		"nil":     {func(context.Context) Panic { *none = 1; return Panic{} }, "magicode/internal/worker.TestPanics.func2"},
		"index":   {panicsDeep, "magicode/internal/worker.element"},
		"goexit":  {func(context.Context) Panic { runtime.Goexit(); return Panic{} }, "magicode/internal/worker.TestPanics.func3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s Slot
				got := make(chan Panic, 1)
				err := Run(context.Background(), &s, Job[Panic]{
					Work:    test.work,
					Crashed: func(p Panic) Panic { return p },
					Done:    func(p Panic) { got <- p },
				})
				if err != nil {
					t.Fatal(err)
				}
				p := <-got
				if p.Function != test.fn || p.File != "slot_test.go" || p.Line == 0 {
					t.Errorf("panicked in %+v, want %s", p, test.fn)
				}
				// The slot is free again.
				if err := Run(context.Background(), &s, Job[int]{Work: func(context.Context) int { return 0 }, Done: func(int) {}}); err != nil {
					t.Error(err)
				}
				cleanup(t, &s)
			})
		})
	}
}

func panicsWithText(context.Context) Panic { panic("secret text of a user") }

func panicsDeep(context.Context) Panic {
	element(nil, 3)
	return Panic{}
}

//go:noinline
func element(s []int, i int) int { return s[i] }
