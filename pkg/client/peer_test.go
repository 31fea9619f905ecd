package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(fakeChild); mode != "" {
		playChild(mode)
	}
	goleak.VerifyTestMain(m)
}

// peer is the child's side of a connection, played by a test.
type peer struct {
	t   *testing.T
	c   *Client
	in  *bufio.Reader // the client's requests
	out io.WriteCloser
	seq int
}

func newPeer(t *testing.T) *peer {
	requests, w := io.Pipe()
	r, out := io.Pipe()
	return &peer{t: t, c: New(r, w, nil), in: bufio.NewReader(requests), out: out}
}

// request returns the next request; "" when the client has closed its input.
func (p *peer) request() string {
	line, err := p.in.ReadString('\n')
	if err != nil {
		return ""
	}
	return line
}

func (p *peer) write(s string) { _, _ = io.WriteString(p.out, s) }

const frameHead = `{"protocol":"magi-code.local-agent","version":1,"instance_id":"child-1",`

// send writes one frame with the next sequence number.
func (p *peer) send(rest string) {
	p.seq++
	p.write(fmt.Sprintf(`%s"seq":%d,%s}`+"\n", frameHead, p.seq, rest))
}

func response(id, result string) string {
	return fmt.Sprintf(`"type":"response","id":%q,"result":%s`, id, result)
}

func event(name, data string) string {
	return fmt.Sprintf(`"type":"event","event":%q,"data":{"session_id":"s1","run_id":"run1",%s}`, name, data)
}

// close ends the child's output and lets the client end.
func (p *peer) close() {
	_ = p.out.Close()
	<-p.c.Done()
	_ = p.c.CloseInput()
}

// bubble runs a test with a peer in a synctest bubble.
func bubble(t *testing.T, f func(t *testing.T, p *peer)) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		defer p.close()
		f(t, p)
	})
}

// asking starts a status call and returns where its error comes.
func (p *peer) asking(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := p.c.Status(ctx)
		done <- err
	}()
	if got := p.request(); !strings.Contains(got, `"method":"status"`) {
		p.t.Fatalf("request %q", got)
	}
	return done
}

const idle = `{"state":"idle","readiness":"ready","provider":"p","model":"m","context_id":"x","session_id":null,"run_id":null}`

// admitRun plays turn.start.
func (p *peer) admitRun() *Run {
	started := make(chan *Run, 1)
	go func() {
		run, err := p.c.StartTurn(context.Background(), "s1", "hello")
		if err != nil {
			p.t.Error(err)
		}
		started <- run
	}()
	p.request()
	p.send(response(fmt.Sprintf("c%d", p.c.next), `{"accepted":true,"run_id":"run1"}`))
	return <-started
}
