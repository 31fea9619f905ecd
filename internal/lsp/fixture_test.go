package lsp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// fixtureArg as the first argument makes the test binary a language server; the
// second one names what kind, the third is its log.
const fixtureArg = "language-server-fixture"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == fixtureArg {
		(&fixture{mode: os.Args[2], log: os.Args[3], texts: map[string]string{}}).run()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// fixture finds the word "bad" on each line, and misbehaves by its mode.
type fixture struct {
	mode, log string
	texts     map[string]string
}

type wire struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
			Text    string `json:"text"`
			Lang    string `json:"languageId"`
		} `json:"textDocument"`
		ContentChanges []struct{ Text string } `json:"contentChanges"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (f *fixture) note(format string, args ...any) {
	file, err := os.OpenFile(f.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintf(file, format+"\n", args...)
		file.Close()
	}
}

func say(body string) { fmt.Printf("Content-Length: %d\r\n\r\n%s", len(body), body) }

func (f *fixture) run() {
	f.note("pid %d", os.Getpid())
	switch f.mode {
	case "dies":
		os.Exit(3)
	case "rubbish":
		fmt.Print("Welcome to the server!\nready\n")
	case "binary":
		_, _ = os.Stdout.Write([]byte(strings.Repeat("\x00\xff\x01", 50_000)))
	case "huge":
		fmt.Printf("Content-Length: %d\r\n\r\n", maxMessage+1)
	case "long header":
		fmt.Print("X: " + strings.Repeat("x", maxHeader) + "\r\n")
	case "no length":
		fmt.Print("Content-Type: x\r\n\r\n{}")
	case "no json":
		say("{]")
	case "cut":
		fmt.Print("Content-Length: 100\r\n\r\n{}")
		os.Exit(0)
	case "noisy":
		fmt.Fprintln(os.Stderr, strings.Repeat("e", 1<<20))
	case "stubborn", "family":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	}
	if f.mode == "family" {
		cmd := exec.Command("sh", "-c", "trap '' TERM HUP; while :; do sleep 1; done")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if cmd.Start() == nil {
			f.note("pid %d", cmd.Process.Pid)
		}
	}
	if f.mode == "deaf" {
		select {}
	}
	r := bufio.NewReader(os.Stdin)
	for {
		body, err := readMessage(r)
		if err != nil {
			break
		}
		var m wire
		if json.Unmarshal(body, &m) == nil {
			f.serve(m)
		}
	}
	if f.mode == "stubborn" || f.mode == "family" {
		select {}
	}
}

func (f *fixture) serve(m wire) {
	doc := m.Params.TextDocument
	short := doc.URI[strings.LastIndexByte(doc.URI, '/')+1:]
	switch m.Method {
	case "":
		f.note("answer %s %s%s", m.ID, m.Result, m.Error)
	case "initialize":
		f.hello(m)
	case "textDocument/didOpen":
		f.note("open %s %s %q", short, doc.Lang, doc.Text)
		f.texts[doc.URI] = doc.Text
		f.publish(doc.URI, doc.Version)
	case "textDocument/didChange":
		f.note("change %s %q", short, m.Params.ContentChanges[0].Text)
		f.texts[doc.URI] = m.Params.ContentChanges[0].Text
		f.publish(doc.URI, doc.Version)
	default:
		f.note("%s %s", strings.TrimPrefix(m.Method, "textDocument/"), short)
	}
}

func (f *fixture) hello(m wire) {
	f.note("initialize")
	switch f.mode {
	case "mute":
		return
	case "slow start":
		time.Sleep(500 * time.Millisecond)
	case "refuses":
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"no"}}`, m.ID))
		return
	case "asks":
		for i, ask := range []string{`"workspace/configuration","params":{"items":[{},{}]}`, `"workspace/applyEdit","params":{"edit":{}}`, `"client/registerCapability"`, `"window/showDocument"`, `"workspace/workspaceFolders"`} {
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":%s}`, i, ask))
		}
	}
	sync := `{"openClose":true,"change":1}`
	if f.mode == "saves" {
		sync = `{"openClose":true,"change":1,"save":{}}`
	}
	say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"capabilities":{"textDocumentSync":%s}}}`, m.ID, sync))
}

func (f *fixture) publish(uri string, version int) {
	var found []string
	for i, line := range strings.Split(f.texts[uri], "\n") {
		if at := strings.Index(line, "bad"); at >= 0 {
			text, _ := json.Marshal("found " + strings.TrimSpace(line))
			found = append(found, fmt.Sprintf(`{"range":{"start":{"line":%d,"character":%d}},"severity":%d,"source":"compiler","code":"Bad","message":%s}`, i, at, 1+i%2, text))
		}
	}
	body := func(v string, found []string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":%q,%s"diagnostics":[%s]}}`, uri, v, strings.Join(found, ","))
	}
	exact := fmt.Sprintf(`"version":%d,`, version)
	switch f.mode {
	case "silent":
	case "crashes":
		os.Exit(1)
	case "crashes slowly":
		time.Sleep(50 * time.Millisecond)
		os.Exit(1)
	case "old first": // what it found in the text before
		say(body(fmt.Sprintf(`"version":%d,`, version-1), []string{`{"range":{},"message":"old"}`}))
		time.Sleep(30 * time.Millisecond)
		say(body(exact, found))
	case "in two steps":
		say(body(exact, nil))
		time.Sleep(30 * time.Millisecond)
		say(body(exact, found))
	case "without versions":
		say(body("", found))
	case "late":
		time.Sleep(500 * time.Millisecond)
		say(body(exact, found))
	case "many":
		for i := range 5000 {
			found = append(found, fmt.Sprintf(`{"range":{"start":{"line":%d,"character":0}},"severity":2,"message":"number %d"}`, i, i))
		}
		say(body(exact, found))
	case "odd":
		say(body(exact, append(found, `null`, `7`, `{"message":5}`, `{"message":"no place","severity":99,"code":12}`, `{"message":"far","range":{"start":{"line":1e400,"character":-3}},"source":3}`)))
		say(`[]`)
	case "another file":
		say(strings.ReplaceAll(body(exact, []string{`{"range":{},"message":"elsewhere"}`}), uri, "file:///etc/passwd"))
		say(body(exact, found))
	case "other spelling":
		say(strings.ReplaceAll(body(exact, found), "/a", "/%61"))
	default:
		say(body(exact, found))
	}
}
