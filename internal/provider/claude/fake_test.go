package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// fakeMode makes the test binary a claude command; its value is what goes wrong.
const fakeMode = "FAKE_CLAUDE_MODE"

func TestMain(m *testing.M) {
	if inventory := os.Getenv(InventoryVariable); inventory != "" {
		data, err := os.ReadFile(inventory)
		if err == nil {
			err = ServeInert(os.Stdin, os.Stdout, data)
		}
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if mode, ok := os.LookupEnv(fakeMode); ok {
		os.Exit((&fake{mode: mode, out: os.Stdout}).main(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// fake plays the command.
type fake struct {
	mode  string
	out   io.Writer
	flags map[string]string
}

func (f *fake) main(args []string) int {
	if strings.Join(args, " ") == "auth status --json" {
		return f.status()
	}
	f.flags = make(map[string]string)
	for i := 0; i < len(args); i++ {
		if i+1 < len(args) && (args[i+1] == "" || args[i+1][0] != '-') {
			f.flags[args[i]] = args[i+1]
			i++
			continue
		}
		f.flags[args[i]] = "yes"
	}
	f.record("args", strings.Join(args, "\n"))
	f.record("env", strings.Join(os.Environ(), "\n"))
	system, _ := os.ReadFile(f.flags["--system-prompt-file"])
	f.record("system", string(system))
	messages, ok := f.take()
	if !ok {
		return 1
	}
	if f.mode == "mcp" {
		f.inventory()
	}
	return f.ask(messages)
}

// record leaves a file for the test beside the command.
func (f *fake) record(name, text string) {
	_ = os.WriteFile(filepath.Join(os.Getenv("FAKE_CLAUDE_DIR"), name), []byte(text), 0o600)
}

func (f *fake) status() int {
	switch f.mode {
	case "status:slow":
		time.Sleep(time.Minute)
	case "status:long":
		fmt.Fprint(f.out, `{"loggedIn":true,"authMethod":"claude.ai"}`, strings.Repeat(" ", 9000))
		return 0
	case "status:exit":
		fmt.Fprint(f.out, `{"loggedIn":true,"authMethod":"claude.ai"}`)
		return 3
	case "status:out":
		fmt.Fprint(f.out, `{"loggedIn":false,"authMethod":"claude.ai"}`)
		return 0
	case "status:key":
		fmt.Fprint(f.out, `{"loggedIn":true,"authMethod":"api_key"}`)
		return 0
	case "status:text":
		fmt.Fprint(f.out, "logged in")
		return 0
	}
	fmt.Fprintln(f.out, `{"loggedIn": true, "authMethod": "claude.ai", "email": "a@example.com"}`)
	return 0
}

// take reads the conversation and answers the frames that want it.
func (f *fake) take() (messages []any, ok bool) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 8<<20)
	for in.Scan() {
		f.append("frames", in.Text()+"\n")
		var frame struct {
			Type        string
			Message     any
			ShouldQuery *bool `json:"shouldQuery"`
		}
		if err := json.Unmarshal(in.Bytes(), &frame); err != nil {
			return nil, false
		}
		messages = append(messages, frame.Message)
		if frame.ShouldQuery == nil || *frame.ShouldQuery {
			continue
		}
		switch f.mode {
		case "noack":
			return nil, false
		case "badack":
			fmt.Fprintln(f.out, `{"type":"result","subtype":"success","is_error":false,"num_turns":1}`)
		default:
			fmt.Fprintln(f.out, `{"type":"system","subtype":"init"}`)
			fmt.Fprintln(f.out, `{"type":"result","subtype":"success","is_error":false,"num_turns":0}`)
		}
	}
	return messages, true
}

func (f *fake) append(name, text string) {
	w, err := os.OpenFile(filepath.Join(os.Getenv("FAKE_CLAUDE_DIR"), name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = w.WriteString(text)
		_ = w.Close()
	}
}

// inventory starts the MCP server as the command would, and asks it.
func (f *fake) inventory() {
	var c struct {
		Servers map[string]struct {
			Command string
			Env     map[string]string
		} `json:"mcpServers"`
	}
	_ = json.Unmarshal([]byte(f.flags["--mcp-config"]), &c)
	s := c.Servers["magi"]
	cmd := exec.Command(s.Command)
	for k, v := range s.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":"two","method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read"}}
{"jsonrpc":"2.0","id":4,"method":"resources/list"}
`)
	out, err := cmd.Output()
	f.record("mcp", fmt.Sprint(string(out), err))
}

// request is what the command makes of the conversation: its own order, its own
// additions.
func (f *fake) request(messages []any) []byte {
	var settings struct{ Env map[string]string }
	text, _ := os.ReadFile(f.flags["--settings"])
	_ = json.Unmarshal(text, &settings)
	body := map[string]any{"model": f.flags["--model"], "max_tokens": 32000, "stream": true,
		"system": []any{map[string]any{"type": "text", "text": "s", "cache_control": map[string]any{"type": "ephemeral"}}},
		"messages": []any{
			map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "text", "text": "<system-reminder>the date</system-reminder>"}, map[string]any{"type": "text", "text": "all merged"}}},
			map[string]any{"role": "system", "content": "late words"},
		}}
	if f.mode == "shape" {
		body["messages"] = messages
		body["messages"] = append(messages, map[string]any{"role": "tool", "content": "?"})
	}
	_ = json.Unmarshal([]byte(settings.Env["CLAUDE_CODE_EXTRA_BODY"]), &body)
	out, _ := json.Marshal(body)
	return out
}

func (f *fake) post(body []byte, path string) (*http.Response, error) {
	req, err := http.NewRequest(http.MethodPost, os.Getenv("ANTHROPIC_BASE_URL")+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer login-of-the-command")
	req.Header.Set("Anthropic-Beta", "oauth")
	req.Header.Set("Proxy-Authorization", "x")
	switch f.mode {
	case "origin":
		req.Header.Set("Origin", "http://evil.example")
	case "chunked":
		req.ContentLength, req.Body = -1, io.NopCloser(bytes.NewReader(body))
	}
	return http.DefaultClient.Do(req)
}

// ask makes the model request and tells of it.
func (f *fake) ask(messages []any) int {
	switch f.mode {
	case "norequest":
		return 0
	case "garbage":
		fmt.Fprintln(f.out, "not JSON")
	case "longline":
		fmt.Fprintln(f.out, `"`+strings.Repeat("x", maxLineBytes+10)+`"`)
	case "hang":
		fmt.Fprintln(f.out, `{"type":"system"}`)
		time.Sleep(time.Minute)
	case "wrongpath":
		resp, err := f.post([]byte("{}"), "/v1/messages/count_tokens")
		if err == nil {
			f.record("wrongpath", resp.Status)
		}
	}
	resp, err := f.post(f.request(messages), "/v1/messages?beta=true")
	if err != nil {
		return 1
	}
	calls := f.tell(resp)
	if f.mode == "twice" {
		resp, err := f.post(f.request(messages), "/v1/messages?beta=true")
		if err == nil {
			text, _ := io.ReadAll(resp.Body)
			f.record("second", resp.Status+" "+string(text))
		}
	}
	return f.conclude(resp.StatusCode == 200, calls)
}

// tell repeats the events of the stream.
func (f *fake) tell(resp *http.Response) (calls bool) {
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	for in.Scan() {
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		if f.mode == "nostop" && strings.Contains(data, "message_stop") {
			continue
		}
		calls = calls || strings.Contains(data, "tool_use")
		fmt.Fprintf(f.out, `{"type":"stream_event","event":%s}`+"\n", data)
	}
	return calls
}

func (f *fake) conclude(ok, calls bool) int {
	if f.mode != "noassistant" {
		fmt.Fprintln(f.out, `{"type":"assistant","message":{}}`)
	}
	result := `{"type":"result","subtype":"success","is_error":false,"num_turns":1}`
	status := 0
	switch {
	case !ok:
		result, status = `{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"secret words of the API"}`, 1
	case calls:
		result, status = `{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":2}`, 1
	}
	switch f.mode {
	case "noresult":
		return 0
	case "tworesults":
		fmt.Fprintln(f.out, result)
	case "exit2":
		status = 2
	case "maxturns":
		result = `{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":2}`
	case "lingers":
		fmt.Fprintln(f.out, result)
		time.Sleep(time.Minute)
	}
	fmt.Fprintln(f.out, result)
	return status
}
