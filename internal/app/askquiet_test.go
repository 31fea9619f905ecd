package app

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestQuiet: a person is told after 10, 20, 40 s of silence and then every five
// minutes; what happens begins anew.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := quiet{first: quietAfter}
		from := time.Now()
		q.begin()
		defer q.end()
		var at []time.Duration
		event := time.After(75 * time.Second)
		for len(at) < 8 {
			select {
			case <-q.c:
				said := q.again()
				at = append(at, time.Since(from))
				if len(at) == 3 && said != 70*time.Second {
					t.Errorf("it says %v", said)
				}
			case <-event:
				event = nil
				q.begin()
			}
		}
		want := []time.Duration{10, 30, 70, 85, 105, 145, 225, 385}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(at, want) {
			t.Errorf("told at %v", at)
		}
	})
	var none quiet
	none.begin()
	if none.c != nil {
		t.Error("nobody wanted to know")
	}
}

// TestQuietWhileAsked: the time that a person thought about a command is no silence of
// the turn.
func TestQuietWhileAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		a := &asker{cmd: askCmd{Approve: "ask"}, stderr: new(bytes.Buffer), stdin: bufio.NewReader(r), quiet: quiet{first: quietAfter}}
		a.quiet.begin()
		defer a.quiet.end()
		go func() {
			time.Sleep(time.Minute)
			_, _ = io.WriteString(w, "y\n")
		}()
		if !a.approve("rm x") {
			t.Error("denied")
		}
		answered := time.Now()
		if <-a.quiet.c; time.Since(answered) != quietAfter {
			t.Errorf("told %v after the answer", time.Since(answered))
		}
	})
}
