package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// scripted is a Chat Completions server that answers each request with the next
// line of a script. A line is steps, divided by " | ":
//
//	text:WORDS           a piece of text
//	tool:NAME JSON       a call
//	gate:NAME            wait for release(NAME), or for the end of the request
//	status:CODE          an HTTP status instead of a stream
//	cut                  the connection ends here
type scripted struct {
	server *httptest.Server

	mu       sync.Mutex
	lines    []string
	requests []string // bodies
	gates    map[string]chan struct{}
}

func newScripted(script string) *scripted {
	p := &scripted{lines: strings.Split(strings.TrimSpace(script), "\n"), gates: map[string]chan struct{}{}}
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	return p
}

func (p *scripted) close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

func (p *scripted) gate(name string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gates[name] == nil {
		p.gates[name] = make(chan struct{})
	}
	return p.gates[name]
}

func (p *scripted) release(name string) { close(p.gate(name)) }

func (p *scripted) next(body string) (line string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n = len(p.requests)
	p.requests = append(p.requests, body)
	if n >= len(p.lines) {
		return "status:500", n
	}
	return p.lines[n], n
}

func (p *scripted) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

func (p *scripted) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	line, n := p.next(string(body))
	rc := http.NewResponseController(w)
	send := func(delta string, finish string) {
		fmt.Fprintf(w, `data: {"id":"r%d","object":"chat.completion.chunk","model":"fixture-model","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", n, delta, finish)
		_ = rc.Flush()
	}
	finish := `"stop"`
	for i, step := range strings.Split(line, " | ") {
		verb, arg, _ := strings.Cut(step, ":")
		switch verb {
		case "text":
			text, _ := json.Marshal(strings.ReplaceAll(arg, `\n`, "\n"))
			send(`{"content":`+string(text)+`}`, "null")
		case "tool":
			name, args, _ := strings.Cut(arg, " ")
			quoted, _ := json.Marshal(args)
			send(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"call_%d_%d","type":"function","function":{"name":%q,"arguments":%s}}]}`, i, n, i, name, quoted), "null")
			finish = `"tool_calls"`
		case "gate":
			select {
			case <-p.gate(arg):
			case <-r.Context().Done():
				return
			}
		case "status":
			code, _ := strconv.Atoi(arg)
			http.Error(w, `{"error":{"message":"refused"}}`, code)
			return
		case "cut":
			panic(http.ErrAbortHandler)
		}
	}
	send("{}", finish)
	fmt.Fprintf(w, `data: {"id":"r%d","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`+"\n\ndata: [DONE]\n\n", n)
}

// settings makes a home whose model is this server. more is further JSON
// members of the settings object.
func (p *scripted) settings(home, more string) error {
	text := fmt.Sprintf(`{"schema_version":2,"agent":{"model":{"provider":"fixture","model":"fixture-model"}},
"providers":{"custom":{"fixture":{"label":"Fixture","base_url":"%s/v1","use_responses_endpoint":false}}}%s}`, p.server.URL, more)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, "settings.json"), []byte(text), 0o600)
}

// strictly makes every change ask for approval.
const strictly = `,"capabilities":{"approvals":{"level":"strict"}}`

func startScripted(t *testing.T, script string) *scripted {
	t.Helper()
	p := newScripted(script)
	t.Cleanup(p.close)
	return p
}

// timed is a scripted model that knows how long it took itself: what a turn
// takes beyond that is the child's own time and the loopback's.
type timed struct {
	*scripted
	spent atomic.Int64
}

func startTimed(t *testing.T) *timed {
	m := &timed{scripted: &scripted{gates: map[string]chan struct{}{}}}
	m.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := time.Now()
		m.serve(w, r)
		m.spent.Add(int64(time.Since(from)))
	}))
	t.Cleanup(m.close)
	return m
}

// load sets what the next requests are answered with.
func (m *timed) load(lines ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines, m.requests = lines, nil
	m.spent.Store(0)
}
