package lsp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"magicode/internal/proc"
)

const (
	// startWait is how long a server may take to answer initialize.
	startWait = 30 * time.Second
	// stopGrace is what it has after its input was closed, before SIGTERM.
	stopGrace = 200 * time.Millisecond
	// writeWait is how long it may leave its input unread.
	writeWait = 5 * time.Second
	// maxQueued is how many messages to it may wait.
	maxQueued  = 4 * maxOpen
	stderrTail = 8 << 10
)

var (
	errExited  = errors.New("the server closed its output")
	errBlocked = errors.New("the server does not read its input")
	errRefused = errors.New("the server refused initialize")
)

// server is one language server. run is its life.
type server struct {
	m    *Manager
	key  key
	conf Server
	name string

	out   chan []byte   // to the writer
	ready chan struct{} // closed when it has answered initialize
	dead  chan struct{} // closed when it is to end, or has ended
	once  sync.Once
	cause error         // settled when dead is closed; nil when it was asked to end
	saves bool          // it wants to hear of saved files; settled when ready is closed
	turn  chan struct{} // one place: who holds it shows files

	mu       sync.Mutex
	idle     *time.Timer
	docs     map[string]*document // open ones, by path
	fresh    chan struct{}        // closed and replaced when something is published
	clock    int                  // counts uses, to find the document used least recently
	versions int                  // of all documents together
}

func newServer(m *Manager, k key, conf Server) *server {
	return &server{m: m, key: k, conf: conf, name: conf.Name(), out: make(chan []byte, maxQueued), ready: make(chan struct{}),
		dead: make(chan struct{}), docs: make(map[string]*document), fresh: make(chan struct{}), turn: make(chan struct{}, 1)}
}

// end begins the end; the first cause stays.
func (s *server) end(cause error) {
	s.once.Do(func() {
		s.cause = cause
		close(s.dead)
	})
}

func (s *server) isDead() bool {
	select {
	case <-s.dead:
		return true
	default:
		return false
	}
}

// run starts the process, sees it through and takes it down.
func (s *server) run() {
	defer s.m.gone(s)
	defer s.rest(0)
	child, err := s.spawn()
	if err != nil {
		s.end(fmt.Errorf("start: %w", err))
		return
	}
	s.rest(s.m.opt.Idle)
	var both sync.WaitGroup
	both.Go(func() { s.end(s.reader(child)) })
	both.Go(func() { s.end(s.writer(child)) })
	s.send(s.initialize())
	late := time.AfterFunc(startWait, func() {
		select {
		case <-s.ready:
		default:
			s.end(errors.New("the server did not answer initialize"))
		}
	})
	<-s.dead
	late.Stop()
	_ = child.Stop(context.Background()) // its steps are bounded
	both.Wait()
}

func (s *server) spawn() (*proc.Process, error) {
	o := s.m.opt
	env := []string{"PATH=" + o.Path}
	if o.Home != "" {
		env = append(env, "HOME="+o.Home)
	}
	return proc.Start(proc.Spec{
		Path: proc.Program(s.conf.Command, o.Path, s.key.root), Args: s.conf.Args, Dir: s.key.root, Env: env, StdinPipe: true, Grace: stopGrace,
		Stdout: proc.Capture{Keep: proc.KeepNone}, Stderr: proc.Capture{Limit: stderrTail, Keep: proc.KeepTail},
	})
}

// reader takes messages until there are no more; it says why.
func (s *server) reader(child *proc.Process) error {
	out := child.Stdout()
	defer out.Close()
	r := bufio.NewReaderSize(out, maxHeader)
	for {
		body, err := readMessage(r)
		if errors.Is(err, io.EOF) {
			return errExited
		}
		if err == nil {
			err = s.receive(body)
		}
		if err != nil {
			return err
		}
	}
}

// writer sends what is queued.
func (s *server) writer(child *proc.Process) error {
	in := child.Stdin()
	for {
		select {
		case <-s.dead:
			return nil
		case msg := <-s.out:
			if err := in.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
				return errExited
			}
			if _, err := in.Write(msg); err != nil {
				return errBlocked
			}
		}
	}
}

// send queues a message; it never waits. A server that lets the queue fill does
// not read.
func (s *server) send(body []byte) {
	select {
	case s.out <- frame(body):
	case <-s.dead:
	default:
		s.end(errBlocked)
	}
}

// rest sets when the server ends for want of use; 0: the timer goes.
func (s *server) rest(after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
	if after > 0 && !s.isDead() {
		s.idle = time.AfterFunc(after, func() { s.end(nil) })
	}
}
