package agenttest

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

// Model is a Chat Completions server that answers each request with the next
// line of a script. A line is steps, divided by " | ":
//
//	text:WORDS           a piece of text
//	tool:NAME JSON       a call
//	gate:NAME            wait for Release(NAME), or for the end of the request
//	status:CODE          an HTTP status instead of a stream
//	cut                  the connection ends here
type Model struct {
	Server *httptest.Server
	// Spent is how long the requests since Load took here, in nanoseconds: what a
	// turn takes beyond that is the child's own time and the loopback's.
	Spent atomic.Int64

	mu       sync.Mutex
	lines    []string
	requests []string // bodies
	gates    map[string]chan struct{}
}

// New starts a model; Close ends it.
func New(script string) *Model {
	p := &Model{lines: strings.Split(strings.TrimSpace(script), "\n"), gates: map[string]chan struct{}{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := time.Now()
		p.serve(w, r)
		p.Spent.Add(int64(time.Since(from)))
	}))
	return p
}

// Load sets what the next requests are answered with, and forgets the earlier ones.
func (p *Model) Load(lines ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines, p.requests = lines, nil
	p.Spent.Store(0)
}

// Close ends the model and what is under way.
func (p *Model) Close() {
	p.Server.CloseClientConnections()
	p.Server.Close()
}

func (p *Model) gate(name string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gates[name] == nil {
		p.gates[name] = make(chan struct{})
	}
	return p.gates[name]
}

// Release lets the requests go on that wait at a gate.
func (p *Model) Release(name string) { close(p.gate(name)) }

func (p *Model) next(body string) (line string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n = len(p.requests)
	p.requests = append(p.requests, body)
	if n >= len(p.lines) {
		return "status:500", n
	}
	return p.lines[n], n
}

// Seen are the bodies of the requests.
func (p *Model) Seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

func (p *Model) serve(w http.ResponseWriter, r *http.Request) {
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

// Settings makes a home whose model is this server. more is further JSON
// members of the settings object.
func (p *Model) Settings(home, more string) error {
	text := fmt.Sprintf(`{"schema_version":2,"agent":{"model":{"provider":"fixture","model":"fixture-model"}},
"providers":{"custom":{"fixture":{"label":"Fixture","base_url":"%s/v1","use_responses_endpoint":false}}}%s}`, p.Server.URL, more)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, "settings.json"), []byte(text), 0o600)
}

// Strictly makes every change ask for approval.
const Strictly = `,"capabilities":{"approvals":{"level":"strict"}}`

// Start is New for the time of a test.
func Start(t *testing.T, script string) *Model {
	t.Helper()
	p := New(script)
	t.Cleanup(p.Close)
	return p
}
