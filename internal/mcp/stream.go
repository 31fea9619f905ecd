package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// A stream is taken up again after the server's own hint, or this.
	defaultRetry = time.Second
	maxRetry     = 30 * time.Second
	// maxResumes is how often in a row a stream is taken up again without any
	// event before its request fails, or the server's own stream is left alone.
	maxResumes = 5
)

var errBrokeOff = errors.New("the answer's event stream ended before the answer came")

// stream receives the events of an answer until the request has its answer. A
// stream that ends early is taken up behind its last event, if that had an id.
// The body is the caller's.
func (h *streamable) stream(ctx context.Context, body io.Reader, id int64) error {
	answered := func() bool { return !h.peer.waits(id) }
	position := &events{src: body}
	_, err := h.drain(position, answered)
	for tries := 0; !answered(); {
		if errors.Is(err, errEventSize) || errors.Is(err, errProtocol) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if tries++; position.lastID == "" || tries > maxResumes {
			return errBrokeOff
		}
		var progress bool
		if progress, err = h.resume(ctx, position, answered); progress {
			tries = 0
		}
		if err != nil && !errors.Is(err, io.EOF) && !progress && !retryable(err) {
			return err
		}
	}
	return nil
}

// retryable: the connection was lost again, which the next try may mend.
func retryable(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errUnreachable)
}

// drain receives events until over says so or the stream ends. progress: there
// was one.
func (h *streamable) drain(e *events, over func() bool) (progress bool, err error) {
	for !over() {
		ev, err := e.next()
		if err != nil {
			return progress, err
		}
		progress = true
		if len(ev.data) == 0 {
			continue // it only marks a place to resume from
		}
		if err := h.peer.receive(ev.data); err != nil {
			return progress, err
		}
	}
	return progress, nil
}

// resume waits as long as the server wishes and reads the rest of a stream.
func (h *streamable) resume(ctx context.Context, e *events, over func() bool) (progress bool, err error) {
	if err := pause(ctx, e.retry); err != nil {
		return false, err
	}
	res, err := h.request(ctx, http.MethodGet, nil, h.carried(false), e.lastID)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	*e = events{src: res.Body, lastID: e.lastID, retry: e.retry}
	return h.drain(e, over)
}

// pause waits for a retry hint, 0 being none.
func pause(ctx context.Context, hint time.Duration) error {
	if hint == 0 {
		hint = defaultRetry
	}
	t := time.NewTimer(min(hint, maxRetry))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// steady is how long a stream that carries nothing must have stood to count as
// one that works.
const steady = 10 * time.Second

// listen keeps the server's own stream open, best effort: its pings and the
// answers to accepted requests come here.
func (h *streamable) listen() {
	position := new(events)
	for tries := 0; tries < maxResumes; tries++ {
		began := time.Now()
		progress, err := h.listenOnce(position)
		if errors.Is(err, errNoStream) || h.life.Err() != nil {
			return
		}
		if errors.Is(err, errSessionGone) {
			position = new(events) // the next request makes a new session, whose stream begins anew
		}
		if progress || time.Since(began) > steady {
			tries = 0
		}
		if pause(h.life, max(position.retry, defaultRetry)) != nil {
			return
		}
	}
}

func (h *streamable) listenOnce(e *events) (progress bool, err error) {
	res, err := h.request(h.life, http.MethodGet, nil, h.carried(false), e.lastID)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	*e = events{src: res.Body, lastID: e.lastID, retry: e.retry}
	return h.drain(e, func() bool { return h.life.Err() != nil })
}
