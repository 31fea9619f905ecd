package claude

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
)

// Bounds of one generation: providers.md 15, step 7.
const (
	maxLineBytes    = 1 << 20
	firstProgress   = 300 * time.Second
	defaultSemantic = 300 * time.Second
	overall         = 30 * time.Minute
	exitWait        = 10 * time.Second // from the result to the command's own end
)

// limits are how long a command may keep us waiting.
type limits struct {
	first    time.Duration // until the first progress
	semantic time.Duration // between progress events
	exit     time.Duration // from the result to the end of the output, and to the exit
}

var (
	errStalled = errors.New("the claude command made no progress")
	errLong    = errors.New("the generation took longer than 30 minutes")
	errLine    = errors.New("the claude command wrote a line that is too long, or no JSON")
	errAck     = errors.New("the claude command did not take the conversation")
)

// heard is what the command said.
type heard struct {
	assistant bool
	stopped   bool // message_stop
	results   int
	subtype   string
	isError   bool
}

// conversation speaks with one command. One goroutine drives it; another one
// reads lines.
type conversation struct {
	in     *os.File
	out    *os.File
	limits limits
	lines  chan line
	done   chan struct{} // closed when nobody reads lines any more
	heard  heard
}

// line is one line of the command, or why there is none.
type line struct {
	value jsonscan.Value
	err   error // io.EOF at the end
}

// run hands the messages over and listens until the command's output ends. It
// closes stdin and reads stdout to its end; the caller stops the command.
func (c *conversation) run(ctx context.Context, messages []message) error {
	c.lines, c.done = make(chan line), make(chan struct{})
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read()
	}()
	defer func() {
		close(c.done)
		_ = c.out.SetReadDeadline(time.Unix(1, 0)) // a reader that waits for the command is let go
		<-read
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, overall, errLong)
	defer cancel()
	ctx, stall := newStall(ctx, c.limits.first)
	defer stall.stop()
	unblock := context.AfterFunc(ctx, func() { _ = c.in.SetWriteDeadline(time.Unix(1, 0)) })
	defer unblock()
	for i := range messages {
		if err := c.say(ctx, &messages[i], i == len(messages)-1); err != nil {
			return errors.Join(err, c.in.Close())
		}
	}
	if err := c.in.Close(); err != nil {
		return err
	}
	return c.listen(ctx, stall)
}

// say writes one frame. A message of the user that is not the last one is not
// to be answered; the command says so before it takes the next one.
func (c *conversation) say(ctx context.Context, m *message, last bool) error {
	frame := append([]byte(`{"type":"`), m.role()...)
	frame = m.append(append(frame, `","message":`...))
	if m.user && !last {
		frame = append(frame, `,"shouldQuery":false`...)
	}
	if _, err := c.in.Write(append(frame, "}\n"...)); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return errAck
	}
	if !m.user || last {
		return nil
	}
	for {
		v, err := c.next(ctx)
		if err != nil {
			return err
		}
		if !v.Get("type").Is("result") {
			continue
		}
		turns, ok := v.Get("num_turns").Int64()
		bad, _ := v.Get("is_error").Bool()
		if !ok || turns != 0 || bad {
			return errAck
		}
		return nil
	}
}

// listen notes what the command says until its output ends.
func (c *conversation) listen(ctx context.Context, stall *stall) error {
	for {
		v, err := c.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if c.note(v) {
			stall.progress(c.limits.semantic)
		}
		if c.heard.results > 0 {
			stall.progress(c.limits.exit)
		}
	}
}

// note reports whether the model made progress.
func (c *conversation) note(v jsonscan.Value) (progress bool) {
	switch typ := v.Get("type"); {
	case typ.Is("assistant"):
		c.heard.assistant = true
	case typ.Is("result"):
		c.heard.results++
		c.heard.subtype = v.Get("subtype").LenientText()
		c.heard.isError, _ = v.Get("is_error").Bool()
	case typ.Is("stream_event"):
		ev := v.Get("event")
		if ev.Get("type").Is("message_stop") {
			c.heard.stopped = true
		}
		return generated(ev)
	}
	return false
}

// generated reports content of the model that is not empty.
func generated(ev jsonscan.Value) bool {
	if ev.Get("content_block").Get("type").Is("tool_use") {
		return true
	}
	d := ev.Get("delta")
	for _, key := range []string{"text", "partial_json", "thinking"} {
		if v := d.Get(key); v.Kind() == jsonscan.String && len(v) > 2 {
			return true
		}
	}
	return false
}

func (c *conversation) next(ctx context.Context) (jsonscan.Value, error) {
	select {
	case l := <-c.lines:
		return l.value, l.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// read sends each line, and at last why there are no more.
func (c *conversation) read() {
	r := bufio.NewReaderSize(c.out, 64<<10)
	for {
		l := readLine(r)
		select {
		case c.lines <- l:
		case <-c.done:
			return
		}
		if l.err != nil {
			return
		}
	}
}

func readLine(r *bufio.Reader) line {
	var text []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(text)+len(piece) > maxLineBytes+1 {
			return line{err: errLine}
		}
		text = append(text, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(text) == 0:
			return line{err: io.EOF} // a pipe ends however its writer ended
		}
		v, perr := jsonscan.Parse(text, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
		if perr != nil {
			return line{err: errLine}
		}
		return line{value: v}
	}
}

// stall ends a context when progress stays away.
type stall struct {
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

func newStall(ctx context.Context, d time.Duration) (context.Context, *stall) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &stall{cancel: cancel, timer: time.AfterFunc(d, func() { cancel(errStalled) })}
}

func (s *stall) progress(d time.Duration) { s.timer.Reset(d) }

func (s *stall) stop() {
	s.timer.Stop()
	s.cancel(nil)
}

// told turns an error of the conversation into one of the generation.
func told(err error) error {
	switch {
	case errors.Is(err, errStalled), errors.Is(err, errLong):
		return failed(provider.ErrStreamTerminal, err.Error())
	default:
		return refused(err.Error())
	}
}
