package exchange

import (
	"context"
	"errors"
	"io"
	"strings"

	"magicode/internal/provider"
	"magicode/internal/provider/sse"
)

// readBufferBytes is what one read may bring. Deltas of one read are merged,
// and their text is one record of the session: a fast reply costs a quarter
// less processor time than with 32 KiB, and more brings no more.
const readBufferBytes = 128 << 10

var (
	errEnded   = errors.New("provider stream ended before the response was complete")
	errUnended = errors.New("provider stream ended inside an event")
	errFinal   = errors.New("response is final") // ends Feed; never leaves this file
)

// stream reads a response body to the end of the response.
func (a *attempt) stream(ctx context.Context, cancel context.CancelCauseFunc, r io.Reader) (*failure, error) {
	parser := a.call.NewParser(&a.sink)
	defer func() { a.model, a.tier = parser.Model(), parser.Tier() }()
	err := conclude(parser, &a.sink, a.read(ctx, cancel, r, parser))
	if a.sink.err != nil {
		return nil, a.sink.err
	}
	if err != nil {
		return a.scrub(asFailure(err)), nil
	}
	return nil, nil
}

// scrub hides credentials of ours that a server repeated in its stream.
func (a *attempt) scrub(f *failure) *failure {
	text := f.err.Error()
	for _, s := range a.call.Hide {
		if len(s) >= minSecret && strings.Contains(text, s) {
			f.err.Err = errors.New(hideAll(text, a.call.Hide))
			break
		}
	}
	return f
}

// conclude ends a parser after its last event; err is why there is no further one.
func conclude(parser Parser, sink *Sink, err error) error {
	sink.drained()
	if ferr := parser.Finish(err == nil); err == nil {
		err = ferr
	}
	sink.finish()
	if sink.err != nil {
		return sink.err
	}
	return err
}

// Read parses a response body that is already there, without watchdogs: what
// another program has received, or a test has written down. It returns nil when
// the response is complete, the context's cause, the error of emit, or a
// *provider.Error that is not yet wrapped.
func Read(ctx context.Context, r io.Reader, newParser func(*Sink) Parser, emit func(provider.Event) error) error {
	sink := &Sink{ctx: ctx, emit: emit}
	parser := newParser(sink)
	frames := framer{parser: parser, sink: sink}
	buf := make([]byte, readBufferBytes)
	for {
		n, rerr := r.Read(buf)
		err := frames.feed(buf[:n])
		sink.drained()
		switch {
		case err != nil:
			return conclude(parser, sink, frameError(err))
		case parser.State() == Final:
			return conclude(parser, sink, nil)
		case errors.Is(rerr, io.EOF):
			return conclude(parser, sink, frames.end())
		case rerr != nil:
			return conclude(parser, sink, transport("response body error", rerr, nil))
		}
	}
}

// read feeds the parser until the response is complete; nil means that it is.
func (a *attempt) read(ctx context.Context, cancel context.CancelCauseFunc, r io.Reader, parser Parser) error {
	semantic := a.call.Semantic
	if semantic <= 0 {
		semantic = DefaultSemanticTimeout
	}
	if a.call.Whole {
		semantic = wholeTotal // nothing of it has a meaning before its end
	}
	watch := newWatchdog(cancel, semantic)
	defer watch.stop()
	buf := a.engine.buffer()
	defer a.engine.buffers.Put(buf)
	frames := framer{parser: parser, sink: &a.sink}
	for {
		watch.arm(parser.State())
		n, rerr := r.Read(buf[:])
		watch.disarm()
		if n > 0 {
			err := frames.feed(buf[:n])
			if a.sink.drained() {
				watch.progress()
			}
			if a.sink.err != nil {
				return a.sink.err
			}
			if err != nil {
				return frameError(err)
			}
			if parser.State() == Final {
				watch.arm(Final)
				_, _ = io.CopyN(io.Discard, r, maxDrainBytes)
				return nil
			}
		}
		switch {
		case rerr == nil:
		case errors.Is(rerr, io.EOF):
			return frames.end()
		case parser.State() != Open:
			return nil // it was complete before the connection broke or lingered
		default:
			return a.readFailure(ctx, rerr)
		}
	}
}

// maxDrainBytes may follow the last event without costing the connection.
const maxDrainBytes = 4 << 10

// readFailure says why a read failed: a watchdog, or the connection.
func (a *attempt) readFailure(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return terminal(cause)
	}
	return transport("request or response body error", err, a.call.Hide)
}

func frameError(err error) error {
	if errors.Is(err, sse.ErrTooLarge) {
		return terminal(err)
	}
	return err
}

func (e *Engine) buffer() *[readBufferBytes]byte {
	if b, ok := e.buffers.Get().(*[readBufferBytes]byte); ok {
		return b
	}
	return new([readBufferBytes]byte)
}

// framer cuts a body into events for a parser. A body that begins with an
// object is no event stream but one plain answer: some servers and gateways
// report errors that way, or ignore that a stream was asked for.
type framer struct {
	parser Parser
	sink   *Sink
	events sse.Decoder
	plain  []byte
	mode   mode
}

type mode uint8

const (
	undecided mode = iota
	eventStream
	plainBody
)

// maxPlainBytes bounds an answer that is no stream.
const maxPlainBytes = 8 << 20

func (f *framer) feed(chunk []byte) error {
	if f.mode == undecided {
		chunk = f.decide(chunk)
	}
	if f.mode == plainBody {
		if len(f.plain)+len(chunk) > maxPlainBytes {
			return sse.ErrTooLarge
		}
		f.plain = append(f.plain, chunk...)
		return nil
	}
	if err := f.events.Feed(chunk, f.event); !errors.Is(err, errFinal) {
		return err
	}
	return nil
}

// decide looks at the first byte that is no white space.
func (f *framer) decide(chunk []byte) []byte {
	for i, c := range chunk {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{':
			f.mode = plainBody
		default:
			f.mode = eventStream
		}
		return chunk[i:]
	}
	return nil
}

func (f *framer) event(data []byte) error {
	if err := f.parser.Event(data); err != nil {
		return err
	}
	if f.sink.err != nil {
		return f.sink.err
	}
	if f.parser.State() == Final {
		return errFinal
	}
	return nil
}

// end handles what is left at the end of the body and judges the response.
func (f *framer) end() error {
	var err error
	if f.mode == plainBody {
		err = f.event(f.plain)
	} else {
		err = f.events.End(whole, f.event)
	}
	switch {
	case err == nil, errors.Is(err, errFinal):
	case errors.Is(err, sse.ErrLeftover):
		if f.parser.State() != Open {
			return nil
		}
		return Plain("%w", errUnended)
	default:
		return frameError(err)
	}
	if f.parser.State() == Open {
		return terminal(errEnded)
	}
	return nil
}
