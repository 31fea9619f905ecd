package demo

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Names under which the model is configured in the demo's home.
const (
	providerID = "offline"
	modelName  = "offline-1"
)

// model is the scripted model: a Chat Completions server that looks only at
// how many tool results the conversation holds. It is deterministic.
type model struct {
	server   *http.Server
	listener net.Listener
	served   chan struct{}
}

// step is what the model says at one point of the conversation.
type step struct {
	text string
	tool string
	args map[string]any
}

// script has one step for each number of tool results seen.
func script() []step {
	return []step{
		{text: "I will look at the folder first.", tool: "list_files", args: map[string]any{"path": "."}},
		{text: "There is a README. I will put a greeting beside it with a shell command.", tool: "bash",
			args: map[string]any{"command": "printf 'Hello from magi-code.\\n' > greeting.txt && cat greeting.txt", "intent": "write the greeting and show it"}},
		{text: "Done: greeting.txt now holds one line, and nothing else was changed."},
	}
}

func startModel() (*model, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a loopback port for the offline model: %v", err)
	}
	m := &model{listener: l, served: make(chan struct{})}
	m.server = &http.Server{Handler: http.HandlerFunc(m.complete), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(m.served)
		_ = m.server.Serve(l)
	}()
	return m, nil
}

func (m *model) baseURL() string { return "http://" + m.listener.Addr().String() + "/v1" }

// Close ends the server and every stream on it.
func (m *model) Close() error {
	err := m.server.Close()
	<-m.served
	return err
}

type chatRequest struct {
	Messages []struct {
		Role string `json:"role"`
	} `json:"messages"`
}

// maxBody bounds a request of the demo's own child.
const maxBody = 16 << 20

func (m *model) complete(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	var req chatRequest
	if err := json.UnmarshalRead(http.MaxBytesReader(w, r.Body, maxBody), &req); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	results := 0
	for _, msg := range req.Messages {
		if msg.Role == "tool" {
			results++
		}
	}
	steps := script()
	s := stream{w: w, rc: http.NewResponseController(w), id: fmt.Sprintf("demo-%d", results)}
	s.play(steps[min(results, len(steps)-1)], results)
}

// pieceDelay makes the reply grow visibly, as a real model's does.
const pieceDelay = 12 * time.Millisecond

// stream writes one reply as server-sent events.
type stream struct {
	w  http.ResponseWriter
	rc *http.ResponseController
	id string
}

func (s stream) play(st step, n int) {
	s.w.Header().Set("Content-Type", "text/event-stream")
	for _, word := range strings.SplitAfter(st.text, " ") {
		s.chunk(map[string]any{"content": word}, nil)
		time.Sleep(pieceDelay)
	}
	finish := "stop"
	if st.tool != "" {
		finish = "tool_calls"
		args, _ := json.Marshal(st.args, json.Deterministic(true))
		call := map[string]any{"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function",
			"function": map[string]any{"name": st.tool, "arguments": string(args)}}
		s.chunk(map[string]any{"tool_calls": []any{call}}, nil)
	}
	s.chunk(map[string]any{}, finish)
	s.event(map[string]any{"id": s.id, "object": "chat.completion.chunk", "model": modelName, "choices": []any{},
		"usage": map[string]any{"prompt_tokens": 40 + 10*n, "completion_tokens": 12, "total_tokens": 52 + 10*n}})
	fmt.Fprint(s.w, "data: [DONE]\n\n")
}

func (s stream) chunk(delta map[string]any, finish any) {
	s.event(map[string]any{"id": s.id, "object": "chat.completion.chunk", "model": modelName,
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
}

func (s stream) event(v any) {
	b, _ := json.Marshal(v, json.Deterministic(true))
	fmt.Fprintf(s.w, "data: %s\n\n", b)
	_ = s.rc.Flush()
}
