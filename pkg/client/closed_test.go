package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/pkg/localagent"
)

// TestFailClosed: each violation ends the connection before anything changes:
// the call that waits fails, Events closes without it, the child's input closes.
func TestFailClosed(t *testing.T) {
	whole := func(fields string) string { return "{" + fields + "}\n" }
	base := `"protocol":"magi-code.local-agent","version":1,"instance_id":"child-1","seq":1,`
	ok := `"type":"response","id":"c1","result":` + idle
	replace := func(old, new string) string { return strings.Replace(whole(base+ok), old, new, 1) }
	ev := func(name, data string) string { return whole(base + event(name, data)) }
	deep := strings.Repeat("[", 32) + strings.Repeat("]", 32)
	for name, line := range map[string]string{
		"empty line":               "\n",
		"no JSON":                  "hello\n",
		"an array":                 "[]\n",
		"two values":               "{} {}\n",
		"invalid UTF-8":            replace(`"provider":"p"`, "\"provider\":\"\xff\""),
		"lone surrogate":           replace(`"provider":"p"`, `"provider":"\ud800"`),
		"duplicate field":          replace(`"seq":1,`, `"seq":1,"seq":1,`),
		"duplicate field, escaped": replace(`"seq":1,`, `"seq":1,"s\u0065q":1,`),
		"duplicate in the result":  replace(`"state":"idle"`, `"state":"idle","state":"idle"`),
		"field in other case":      replace(`"type"`, `"Type"`),
		"too large":                replace(`"provider":"p"`, `"provider":"`+strings.Repeat("p", localagent.MaxFrameBytes)+`"`),
		"too large, no end":        strings.Repeat("x", 2*localagent.MaxFrameBytes),
		"too deep":                 replace(`"provider":"p"`, `"more":`+deep),
		"other protocol":           replace(localagent.Name, "magi-code.remote-agent"),
		"no protocol":              replace(`"protocol"`, `"protokoll"`),
		"other version":            replace(`"version":1`, `"version":2`),
		"version as text":          replace(`"version":1`, `"version":"1"`),
		"version 1.5":              replace(`"version":1`, `"version":1.5`),
		"unknown type":             replace(`"response"`, `"notification"`),
		"seq zero":                 replace(`"seq":1`, `"seq":0`),
		"seq from two":             replace(`"seq":1`, `"seq":2`),
		"negative seq":             replace(`"seq":1`, `"seq":-1`),
		"no instance":              replace(`"instance_id":"child-1",`, ``),
		"instance of other form":   replace(`child-1`, `child 1`),
		"neither result nor error": whole(base + `"type":"response","id":"c1"`),
		"result and error":         replace(`"result"`, `"error":{"code":"busy"},"result"`),
		"unknown code":             whole(base + `"type":"response","id":"c1","error":{"code":"tired"}`),
		"no code":                  whole(base + `"type":"response","id":"c1","error":{}`),
		"result of no request":     replace(`"id":"c1"`, `"id":null`),
		"response to no request":   replace(`"id":"c1"`, `"id":"c9"`),
		"response with data":       replace(`"result"`, `"data":{},"result"`),
		"event with an id":         whole(base + `"id":"c1",` + event("message.delta", `"message_id":"m","part":0,"text":"x"`)),
		"event without data":       whole(base + `"type":"event","event":"activity"`),
		"unknown event":            ev("message.undo", `"message_id":"m"`),
		"event of no run":          ev("message.delta", `"message_id":"m","part":0,"text":"x"`),
		"result is null":           replace(idle, "null"),
		"result is a list":         replace(idle, "[]"),
		"unknown state":            replace(`"idle"`, `"tired"`),
		"unknown readiness":        replace(`"ready"`, `"almost"`),
		"run id of other form":     replace(`"run_id":null`, `"run_id":"a b"`),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, p *peer) {
				called := p.asking(t.Context())
				go p.write(line)
				if err := <-called; !errors.Is(err, ErrProtocol) {
					t.Errorf("the call ended with %v", err)
				}
				if err := p.c.Err(); !errors.Is(err, ErrProtocol) {
					t.Errorf("Err is %v", err)
				}
				if got := p.request(); got != "" {
					t.Errorf("the input is still open: %q", got)
				}
				if _, err := p.c.Status(t.Context()); !errors.Is(err, ErrClosed) {
					t.Errorf("a later call ended with %v", err)
				}
				go p.send(event("diagnostic", `"code":"execution_notice","summary":"s"`)) // is drained, and changes nothing
				synctest.Wait()
				_ = p.out.Close() // a child without input ends
				if ev, ok := <-p.c.Events(); ok {
					t.Errorf("event %+v", ev)
				}
			})
		})
	}
}

// TestFailClosedOnEvents: the bounds and enumerations of each event.
func TestFailClosedOnEvents(t *testing.T) {
	long := strings.Repeat("x", 4001)
	summary := strings.Repeat("x", 1025)
	for name, rest := range map[string]string{
		"other session":                strings.Replace(event("message.delta", `"message_id":"m","part":0,"text":"x"`), `"s1"`, `"s2"`, 1),
		"other run":                    strings.Replace(event("message.delta", `"message_id":"m","part":0,"text":"x"`), "run1", "run2", 1),
		"no run":                       strings.Replace(event("message.delta", `"message_id":"m","part":0,"text":"x"`), `"run_id":"run1",`, "", 1),
		"delta too long":               event("message.delta", `"message_id":"m","part":0,"text":"`+long+`"`),
		"delta without message":        event("message.delta", `"part":0,"text":"x"`),
		"delta with a negative part":   event("message.delta", `"message_id":"m","part":-1,"text":"x"`),
		"delta of other shape":         event("message.delta", `"message_id":"m","part":"0","text":"x"`),
		"reconciliation too long":      event("message.reconcile", `"message_id":"m","part":0,"last_part":true,"partial":true,"text":"`+long+`"`),
		"not durable":                  event("input.persisted", `"message_id":"m","durable":false,"revision":"r"`),
		"no revision":                  event("input.persisted", `"message_id":"m","durable":true`),
		"unknown activity kind":        event("activity", `"activity_id":"a","kind":"dream","state":"started","name":"n","summary":"s"`),
		"unknown activity state":       event("activity", `"activity_id":"a","kind":"tool","state":"paused","name":"n","summary":"s"`),
		"activity name too long":       event("activity", `"activity_id":"a","kind":"tool","state":"started","name":"`+summary+`","summary":"s"`),
		"activity without id":          event("activity", `"kind":"tool","state":"started","name":"n","summary":"s"`),
		"approval without expiry":      event("approval.requested", `"approval_id":"a","summary":"s"`),
		"approval summary too long":    event("approval.requested", `"approval_id":"a","expires_in_ms":60000,"summary":"`+summary+`"`),
		"unknown diagnostic":           event("diagnostic", `"code":"mood","summary":"s"`),
		"unknown outcome":              event("run.finished", `"outcome":"bored","persistence":"durable","revision":"r","error_code":null`),
		"unknown persistence":          event("run.finished", `"outcome":"completed","persistence":"maybe","revision":"r","error_code":null`),
		"unknown error code":           event("run.finished", `"outcome":"failed","persistence":"durable","revision":"r","error_code":"tired"`),
		"failed without a code":        event("run.finished", `"outcome":"failed","persistence":"durable","revision":"r","error_code":null`),
		"completed with a code":        event("run.finished", `"outcome":"completed","persistence":"durable","revision":"r","error_code":"busy"`),
		"not started with a revision":  event("run.finished", `"outcome":"cancelled","persistence":"not_started","revision":"r","error_code":null`),
		"a result in an event's frame": `"result":{},` + event("diagnostic", `"code":"execution_notice","summary":"s"`),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, p *peer) {
				p.admitRun()
				p.send(rest)
				if ev, ok := <-p.c.Events(); ok {
					t.Errorf("event %+v", ev)
				}
				if err := p.c.Err(); !errors.Is(err, ErrProtocol) {
					t.Errorf("Err is %v", err)
				}
			})
		})
	}
}

// TestOrder: what ties a frame to those before it.
func TestOrder(t *testing.T) {
	finished := event("run.finished", `"outcome":"cancelled","persistence":"not_started","revision":null,"error_code":null`)
	notice := event("diagnostic", `"code":"execution_notice","summary":"s"`)
	for name, test := range map[string]struct {
		play func(p *peer)
		took int // events that the host still gets
	}{
		"seq again":     {func(p *peer) { p.send(notice); p.seq--; p.send(notice) }, 1},
		"seq backwards": {func(p *peer) { p.send(notice); p.seq -= 2; p.send(notice) }, 1},
		"other instance": {func(p *peer) {
			p.write(strings.Replace(frameHead, "child-1", "child-2", 1) + `"seq":9,` + notice + "}\n")
		}, 0},
		"other session later": {func(p *peer) {
			p.send(notice)
			p.send(strings.Replace(notice, `"session_id":"s1"`, `"session_id":"s2"`, 1))
		}, 1},
		"after run.finished": {func(p *peer) { p.send(finished); p.send(notice) }, 1},
		"finished twice":     {func(p *peer) { p.send(finished); p.send(finished) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, p *peer) {
				p.admitRun()
				go test.play(p)
				took := 0
				for range p.c.Events() {
					took++
				}
				if took != test.took || !errors.Is(p.c.Err(), ErrProtocol) {
					t.Errorf("%d events, then %v", took, p.c.Err())
				}
			})
		})
	}
	t.Run("gaps in seq are allowed", func(t *testing.T) {
		bubble(t, func(t *testing.T, p *peer) {
			called := p.asking(t.Context())
			p.send(`"type":"response","id":"c1","later":{"field":[1]},"result":` + strings.Replace(idle, "{", `{"new":1,`, 1))
			if err := <-called; err != nil {
				t.Error(err)
			}
			called = p.asking(t.Context())
			p.seq += 7
			p.send(response("c2", idle))
			if err := <-called; err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("two runs at once", func(t *testing.T) {
		bubble(t, func(t *testing.T, p *peer) {
			p.admitRun()
			go func() { p.request(); p.send(response("c2", `{"accepted":true,"run_id":"run2"}`)) }()
			if _, err := p.c.StartTurn(t.Context(), "s1", "again"); !errors.Is(err, ErrProtocol) {
				t.Error(err)
			}
		})
	})
}

// TestResults: results that say too little end the connection.
func TestResults(t *testing.T) {
	ctx := context.Background()
	calls := map[string]func(c *Client) error{
		"initialize": func(c *Client) error { _, err := c.Initialize(ctx, AllCapabilities()...); return err },
		"create":     func(c *Client) error { _, err := c.CreateSession(ctx); return err },
		"open":       func(c *Client) error { _, err := c.OpenSession(ctx, "s1"); return err },
		"page":       func(c *Client) error { _, _, err := c.History(ctx, "s1", "rev"); return err },
		"start":      func(c *Client) error { _, err := c.StartTurn(ctx, "s1", "hi"); return err },
		"cancel":     func(c *Client) error { return c.CancelTurn(ctx, "s1", "run1") },
		"answer":     func(c *Client) error { return c.AnswerApproval(ctx, "s1", "run1", "a", true) },
		"shutdown":   func(c *Client) error { return c.Shutdown(ctx) },
	}
	page := func(entries, cursor string) string {
		return `{"session_id":"s1","revision":"rev","entries":[` + entries + `],"next_cursor":` + cursor + `,"complete":true}`
	}
	entry := func(id string, part int, last bool, kind string) string {
		return fmt.Sprintf(`{"message_id":%q,"kind":%q,"text":"t","partial":false,"part":%d,"last_part":%v}`, id, kind, part, last)
	}
	for _, test := range []struct{ call, result string }{
		{"initialize", `{"status":` + idle + `}`},
		{"initialize", `{"capabilities":["status"],"status":` + strings.Replace(idle, "idle", "lost", 1) + `}`},
		{"create", `{}`},
		{"create", `{"session_id":"a b","durable":false,"revision":"r","notices":[]}`},
		{"open", `{"session_id":"s1","durable":true,"notices":[]}`},
		{"open", `{"session_id":"s1","durable":true,"revision":"r","notices":["new_notice"]}`},
		{"page", strings.Replace(page("", "null"), "s1", "s2", 1)},
		{"page", strings.Replace(page("", "null"), "rev", "old", 1)},
		{"page", page("", `"`+strings.Repeat("c", 65)+`"`)},
		{"page", page("", `"next"`)}, // complete with a cursor
		{"page", page(entry("m", 1, true, "user"), "null")},
		{"page", page(entry("m", 0, false, "user"), "null")},
		{"page", page(entry("m", 0, false, "user")+","+entry("n", 1, true, "user"), "null")},
		{"page", page(entry("m", 0, false, "user")+","+entry("m", 2, true, "user"), "null")},
		{"page", page(entry("m", 0, true, "thought"), "null")},
		{"page", page(strings.Replace(entry("m", 0, true, "user"), `"t"`, `"`+strings.Repeat("t", 16385)+`"`, 1), "null")},
		{"page", page(strings.Repeat(entry("m", 0, true, "user")+",", 100)+entry("m", 0, true, "user"), "null")},
		{"start", `{"run_id":"run1","accepted":false}`},
		{"start", `{"accepted":true}`},
		{"cancel", `{}`},
		{"cancel", `{"cancellation_requested":false}`},
		{"answer", `{"recorded":false}`},
		{"shutdown", `{"state":"running"}`},
	} {
		t.Run(test.call, func(t *testing.T) {
			bubble(t, func(t *testing.T, p *peer) {
				go func() { p.request(); p.send(response("c1", test.result)) }()
				if err := calls[test.call](p.c); !errors.Is(err, ErrProtocol) {
					t.Errorf("%s: %v", test.result, err)
				}
				if !errors.Is(p.c.Err(), ErrProtocol) {
					t.Errorf("%s: the connection goes on", test.result)
				}
			})
		})
	}
	t.Run("history", func(t *testing.T) {
		bubble(t, func(t *testing.T, p *peer) {
			go func() {
				p.request()
				first := page(entry("a", 0, true, "user")+","+entry("b", 0, false, "assistant"), `"2"`)
				p.send(response("c1", strings.Replace(first, `"complete":true`, `"complete":false`, 1)))
				if got := p.request(); !strings.Contains(got, `"cursor":"2"`) {
					t.Errorf("%s", got)
				}
				p.send(response("c2", page(entry("b", 1, true, "assistant"), "null")))
			}()
			got, complete, err := p.c.History(t.Context(), "s1", "rev")
			want := []HistoryMessage{{ID: "a", Kind: "user", Text: "t"}, {ID: "b", Kind: "assistant", Text: "tt"}}
			if diff := cmp.Diff(want, got); diff != "" || !complete || err != nil {
				t.Errorf("%s %v %v", diff, complete, err)
			}
		})
	})
}

// TestEndOfOutput: what Err says, and that a cut frame is no message.
func TestEndOfOutput(t *testing.T) {
	for name, test := range map[string]struct {
		last string
		want error
	}{
		"whole frames":        {"", io.EOF},
		"an unterminated end": {frameHead + `"seq":1,` + response("c1", idle) + "}", io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, p *peer) {
				called := p.asking(t.Context())
				p.write(test.last)
				_ = p.out.Close()
				if err := <-called; !errors.Is(err, ErrClosed) || !errors.Is(err, test.want) {
					t.Errorf("the call ended with %v", err)
				}
				<-p.c.Done()
				if err := p.c.Err(); err != test.want {
					t.Errorf("Err is %v", err)
				}
			})
		})
	}
	t.Run("a request that cannot be read", func(t *testing.T) {
		bubble(t, func(t *testing.T, p *peer) {
			called := p.asking(t.Context())
			p.send(`"type":"response","id":null,"error":{"code":"invalid_request"}`)
			var wire *WireError
			if err := <-called; !errors.As(err, &wire) || wire.Code != localagent.CodeInvalidRequest {
				t.Errorf("%v", err)
			}
		})
	})
}

// TestCorrelation: responses in another order than their requests.
func TestCorrelation(t *testing.T) {
	bubble(t, func(t *testing.T, p *peer) {
		opened := make(chan error, 1)
		go func() { _, err := p.c.OpenSession(t.Context(), "s1"); opened <- err }()
		p.request()
		called := p.asking(t.Context())
		p.send(response("c2", idle))
		if err := <-called; err != nil {
			t.Error(err)
		}
		p.send(`"type":"response","id":"c1","error":{"code":"session_missing"}`)
		var wire *WireError
		if err := <-opened; !errors.As(err, &wire) || wire.Code != localagent.CodeSessionMissing {
			t.Errorf("%v", err)
		}
	})
}

// TestContext: a call ends with its context, and its late response is no violation.
func TestContext(t *testing.T) {
	bubble(t, func(t *testing.T, p *peer) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := <-p.asking(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		p.send(response("c1", idle))
		called := p.asking(t.Context())
		p.send(response("c2", idle))
		if err := <-called; err != nil {
			t.Error(err)
		}
		if _, err := p.c.Status(ctx); !errors.Is(err, context.DeadlineExceeded) || p.c.next != 2 {
			t.Errorf("%v after %d requests", err, p.c.next)
		}
	})
}

// TestStalledChild: a child that takes no input ends with its caller's patience,
// and nobody else hangs behind it.
func TestStalledChild(t *testing.T) {
	bubble(t, func(t *testing.T, p *peer) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		behind := make(chan error, 1)
		began := time.Now()
		go func() {
			time.Sleep(time.Millisecond)
			_, err := p.c.Status(context.Background())
			behind <- err
		}()
		if _, err := p.c.Status(ctx); !errors.Is(err, ErrInputStalled) {
			t.Error(err)
		}
		if err := <-behind; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if took := time.Since(began); took != 3*time.Second+writeGrace {
			t.Errorf("after %v", took)
		}
	})
}

// TestUnreadEvents: a host that reads no events loses the connection, not its calls.
func TestUnreadEvents(t *testing.T) {
	bubble(t, func(t *testing.T, p *peer) {
		p.admitRun()
		called := p.asking(context.Background())
		began := time.Now()
		go func() {
			for range eventBuffer + 1 {
				p.send(event("diagnostic", `"code":"execution_notice","summary":"s"`))
			}
			p.send(response("c2", idle))
		}()
		if err := <-called; !errors.Is(err, ErrEventsUnread) {
			t.Error(err)
		}
		if took := time.Since(began); took != EventWait {
			t.Errorf("after %v", took)
		}
		n := 0
		for range p.c.Events() {
			n++
		}
		if n != eventBuffer {
			t.Errorf("%d events", n)
		}
	})
	t.Run("in time", func(t *testing.T) {
		bubble(t, func(t *testing.T, p *peer) {
			p.admitRun()
			go func() {
				for range eventBuffer + 5 {
					p.send(event("diagnostic", `"code":"execution_notice","summary":"s"`))
				}
			}()
			time.Sleep(EventWait - time.Millisecond)
			for range eventBuffer + 5 {
				<-p.c.Events()
			}
			if p.c.Err() != nil {
				t.Error(p.c.Err())
			}
		})
	})
}

// TestOwnBounds: what the client refuses before it is sent.
func TestOwnBounds(t *testing.T) {
	bubble(t, func(t *testing.T, p *peer) {
		if _, err := p.c.StartTurn(t.Context(), "s1", strings.Repeat("x", localagent.MaxFrameBytes)); err == nil {
			t.Error("a frame over the bound was sent")
		}
		go io.Copy(io.Discard, p.in)
		ctx, cancel := context.WithCancel(t.Context())
		for range localagent.MaxPendingFrames {
			go func() { _, _ = p.c.Status(ctx) }()
		}
		synctest.Wait()
		if _, err := p.c.Status(ctx); !errors.Is(err, ErrInFlight) {
			t.Error(err)
		}
		cancel()
		synctest.Wait()
		p.c.mu.Lock()
		p.c.next, p.c.waiting = localagent.MaxRequests, map[string]pending{}
		p.c.mu.Unlock()
		if _, err := p.c.Status(t.Context()); !errors.Is(err, ErrRequestLimit) {
			t.Error(err)
		}
	})
}
