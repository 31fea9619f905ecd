package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/frame"
	"magicode/internal/worker"
	"magicode/pkg/localagent"
)

// rig is a client with a connection, in a synctest bubble.
type rig struct {
	t       *testing.T
	b       *backend
	in      net.Conn // the client's end of the input
	out     io.Reader
	signals chan os.Signal
	stop    context.CancelFunc // ends Serve from outside
	panics  []string
	began   time.Time

	mu    sync.Mutex
	lines []string
	done  bool
	exit  Exit
	after time.Duration // when Serve returned
}

// duplex is a transport of two net.Pipes: its halves end on their own.
type duplex struct {
	net.Conn // the input
	out      net.Conn
}

func (d *duplex) Write(p []byte) (int, error)         { return d.out.Write(p) }
func (d *duplex) SetWriteDeadline(at time.Time) error { return d.out.SetWriteDeadline(at) }
func (d *duplex) Close() error                        { d.Conn.Close(); return d.out.Close() }

// direct is a duplex whose output always has room: everything is written by
// the goroutine that has something to write.
type direct struct {
	*duplex
	r *rig
}

func (d direct) TryWrite(p []byte) (int, error) {
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		d.r.lines = append(d.r.lines, strings.TrimSuffix(line, "\n"))
	}
	return len(p), nil
}

// newRig starts a connection whose output is read at once.
func newRig(t *testing.T, b *backend) *rig { return startRig(t, b, true) }

// newPipeRig starts a connection whose output has no buffer and is read only
// by readAll, or by the test from r.out.
func newPipeRig(t *testing.T, b *backend) *rig { return startRig(t, b, false) }

func startRig(t *testing.T, b *backend, isDirect bool) *rig {
	return startRigOver(t, b, func(d *duplex, r *rig) frame.Transport {
		if isDirect {
			return direct{d, r}
		}
		return d
	})
}

func startRigOver(t *testing.T, b *backend, transport func(*duplex, *rig) frame.Transport) *rig {
	t.Helper()
	r := &rig{t: t, b: b, signals: make(chan os.Signal, 1), began: time.Now()}
	serverIn, in := net.Pipe()
	serverOut, out := net.Pipe()
	r.in, r.out = in, out
	tr := transport(&duplex{serverIn, serverOut}, r)
	ids := 0
	cfg := Config{
		Transport: tr, Startup: b, Signals: Signals{C: r.signals}, Tel: b.tel,
		NewID: func() string { ids++; return fmt.Sprintf("id-%d", ids) },
		Panicked: func(w Worker, p worker.Panic) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.panics = append(r.panics, fmt.Sprintf("%s %s %s", w, p.Function, p.File))
		},
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() {
		exit := Serve(ctx, cfg)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.done, r.exit, r.after = true, exit, time.Since(r.began)
	}()
	t.Cleanup(func() {
		in.Close()
		out.Close()
		cancel()
		for range 60 { // all deadlines, and what a detached job sleeps
			time.Sleep(100 * time.Millisecond)
		}
	})
	return r
}

// readAll reads the output from now on.
func (r *rig) readAll() {
	go func() {
		s := bufio.NewScanner(r.out)
		s.Buffer(nil, 2*localagent.MaxFrameBytes)
		for s.Scan() {
			r.mu.Lock()
			r.lines = append(r.lines, s.Text())
			r.mu.Unlock()
		}
	}()
}

// send writes in one piece and waits until everything that follows from it has happened.
func (r *rig) send(lines ...string) {
	data := strings.Join(lines, "\n") + "\n"
	go func() {
		// A connection that closes leaves a rest unread.
		_, _ = io.WriteString(r.in, data)
	}()
	synctest.Wait()
}

// eof ends the input.
func (r *rig) eof() {
	r.in.Close()
	synctest.Wait()
}

// take returns what has come since the last take, without the fields that all
// frames have: "id result" or "event data", in a short form.
func (r *rig) take() []string {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	var short []string
	for _, line := range r.lines {
		short = append(short, abridge(r.t, line))
	}
	r.lines = nil
	return short
}

func abridge(t *testing.T, line string) string {
	t.Helper()
	var f struct {
		ID     *string         `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *struct{ Code string }
		Event  string          `json:"event"`
		Data   json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal([]byte(line), &f); err != nil {
		t.Fatalf("output line %q: %v", line, err)
	}
	id := "null"
	if f.ID != nil {
		id = *f.ID
	}
	switch {
	case f.Event != "":
		return f.Event + " " + string(f.Data)
	case f.Error != nil:
		return id + " !" + f.Error.Code
	}
	return id + " " + string(f.Result)
}

// ended returns the exit, if the child has ended.
func (r *rig) ended() (Exit, bool) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exit, r.done
}

// wantExit waits for the end and compares it.
func (r *rig) wantExit(want Exit) {
	r.t.Helper()
	for range 50 {
		if exit, ok := r.ended(); ok {
			if exit != want {
				r.t.Errorf("ended with %+v, want %+v", exit, want)
			}
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	r.t.Fatal("the child did not end")
}

// req is a request as a client sends it.
func req(id, method, params string) string {
	return fmt.Sprintf(`{"protocol":"magi-code.local-agent","version":1,"id":%q,"method":%q,"params":%s}`, id, method, params)
}

// initialized brings the child to ready.
func (r *rig) initialized() *rig {
	r.t.Helper()
	r.send(req("init", "initialize", `{"required_capabilities":[]}`))
	if got := r.take(); len(got) != 1 || !strings.HasPrefix(got[0], "init {") {
		r.t.Fatalf("initialize: %v", got)
	}
	return r
}

// attached brings the child to the session s1.
func (r *rig) attached() *rig {
	r.t.Helper()
	r.initialized()
	r.send(req("create", "session.create", `{}`))
	if got := r.take(); len(got) != 1 || !strings.HasPrefix(got[0], "create {") {
		r.t.Fatalf("session.create: %v", got)
	}
	return r
}

// running starts the run id-2, which needs a backend whose run lasts.
func (r *rig) running() *rig {
	r.t.Helper()
	r.attached()
	r.send(req("start", "turn.start", `{"session_id":"s1","prompt":"hello"}`))
	if got := r.take(); len(got) == 0 || got[0] != `start {"accepted":true,"run_id":"id-2"}` {
		r.t.Fatalf("turn.start: %v", got)
	}
	return r
}

func diffLines(want, got []string) string { return cmp.Diff(want, got) }
