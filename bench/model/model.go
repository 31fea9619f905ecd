// Package model is a scripted model on a loopback port, for drivers and
// benchmarks: the Responses wire, one script of steps per request.
package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Step is one thing that the model does while it streams a reply.
type Step struct {
	Text   string         // a text delta
	Reason string         // a reasoning summary
	Tool   string         // a call, with Args
	Args   map[string]any // of the call
	Status int            // answer with this HTTP status instead of a stream
	Hang   bool           // wait for the client to go away
	Cut    bool           // end the connection without the closing events
	Wait   time.Duration
	Raw    []byte // a whole reply as Burst renders it, in one write; the only step of its script
}

// Server answers request n with script n; the last one repeats.
type Server struct {
	http     *http.Server
	listener net.Listener
	done     chan struct{}

	mu       sync.Mutex
	script   [][]Step
	requests int
	first    time.Time // when the first text of the latest reply was about to be written
}

// Start listens on a loopback port.
func Start(script ...[]Step) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l, done: make(chan struct{}), script: script}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l)
	}()
	return s, nil
}

// BaseURL is what a custom provider is configured with.
func (s *Server) BaseURL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Load sets the script of the next requests.
func (s *Server) Load(script ...[]Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.requests = script, 0
}

// Requests is how many requests came since the last Load.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// FirstText is when the first text of the latest reply was about to be sent.
func (s *Server) FirstText() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

func (s *Server) began() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = time.Now()
}

// Burst renders a reply of n pieces of text of PieceSize bytes each.
func Burst(n int) []byte {
	var b bytes.Buffer
	out := &stream{w: &b}
	out.start()
	for i := range n {
		out.text(Piece(i))
	}
	out.end()
	return b.Bytes()
}

// Close ends every stream.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	return err
}

// PieceSize is the length of a piece in bytes.
const PieceSize = 40

// Piece is the i-th piece of a long reply, i below ten millions. It holds nothing
// that JSON escapes.
func Piece(i int) string { return fmt.Sprintf("piece %7d of a reply that goes on.. ", i) }

func (s *Server) next() (steps []Step, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = s.requests
	s.requests++
	if len(s.script) == 0 {
		return []Step{{Text: "Done."}}, n
	}
	return s.script[min(n, len(s.script)-1)], n
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	steps, n := s.next()
	for _, st := range steps {
		if st.Status != 0 {
			http.Error(w, `{"error":{"message":"scripted failure","type":"invalid_request_error"}}`, st.Status)
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if len(steps) == 1 && steps[0].Raw != nil {
		s.began()
		_, _ = w.Write(steps[0].Raw)
		return
	}
	out := &stream{w: w, rc: http.NewResponseController(w), n: n}
	out.start()
	began := false
	for _, st := range steps {
		if st.Text != "" && !began {
			began = true
			s.began()
		}
		switch {
		case st.Hang:
			<-r.Context().Done()
			return
		case st.Cut:
			return
		case st.Wait > 0:
			time.Sleep(st.Wait)
		case st.Reason != "":
			out.reason(st.Reason)
		case st.Tool != "":
			out.call(st.Tool, st.Args)
		default:
			out.text(st.Text)
		}
	}
	out.end()
}

// stream writes one reply as server-sent events.
type stream struct {
	w     io.Writer
	rc    *http.ResponseController // nil: nothing to flush
	n     int
	items []any
	open  strings.Builder
	seq   int
}

func (o *stream) id() string { return fmt.Sprintf("resp_%d", o.n) }

func (o *stream) event(kind string, fields map[string]any) {
	fields["type"], fields["sequence_number"] = kind, o.seq
	o.seq++
	b, err := json.Marshal(fields)
	if err != nil {
		return
	}
	fmt.Fprintf(o.w, "event: %s\ndata: %s\n\n", kind, b)
	if o.rc != nil {
		_ = o.rc.Flush()
	}
}

func (o *stream) start() {
	o.event("response.created", map[string]any{"response": map[string]any{"id": o.id(), "status": "in_progress", "model": "fixture-model"}})
}

func (o *stream) text(s string) {
	o.open.WriteString(s)
	o.event("response.output_text.delta", map[string]any{"item_id": fmt.Sprintf("msg_%d_%d", o.n, len(o.items)), "output_index": len(o.items), "content_index": 0, "delta": s})
}

func (o *stream) closeText() {
	if o.open.Len() == 0 {
		return
	}
	o.item(map[string]any{"id": fmt.Sprintf("msg_%d_%d", o.n, len(o.items)), "type": "message", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": o.open.String(), "annotations": []any{}}}})
	o.open.Reset()
}

func (o *stream) item(item map[string]any) {
	o.event("response.output_item.done", map[string]any{"output_index": len(o.items), "item": item})
	o.items = append(o.items, item)
}

func (o *stream) reason(s string) {
	o.closeText()
	id := fmt.Sprintf("rs_%d_%d", o.n, len(o.items))
	o.event("response.reasoning_summary_text.done", map[string]any{"item_id": id, "output_index": len(o.items), "summary_index": 0, "text": s})
	o.item(map[string]any{"id": id, "type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": s}}})
}

func (o *stream) call(name string, args map[string]any) {
	o.closeText()
	b, err := json.Marshal(args)
	if err != nil {
		return
	}
	i := len(o.items)
	item := map[string]any{"id": fmt.Sprintf("fc_%d_%d", o.n, i), "type": "function_call", "status": "completed", "call_id": fmt.Sprintf("call_%d_%d", o.n, i), "name": name, "arguments": string(b)}
	o.event("response.output_item.added", map[string]any{"output_index": i, "item": map[string]any{"id": item["id"], "type": "function_call", "call_id": item["call_id"], "name": name, "arguments": ""}})
	o.event("response.function_call_arguments.done", map[string]any{"item_id": item["id"], "output_index": i, "arguments": string(b)})
	o.item(item)
}

func (o *stream) end() {
	o.closeText()
	o.event("response.completed", map[string]any{"response": map[string]any{"id": o.id(), "status": "completed", "model": "fixture-model", "output": o.items,
		"usage": map[string]any{"input_tokens": 11, "output_tokens": 7, "total_tokens": 18, "input_tokens_details": map[string]any{"cached_tokens": 0}}}})
}
