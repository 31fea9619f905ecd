package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// languageServer is a shell script that speaks just enough of the protocol: it
// answers initialize, and finds the same in every file that it is shown. It
// notes its process id and ignores SIGTERM.
const languageServer = `#!/bin/bash
trap '' TERM
echo $$ > "$1"
say() { printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"; }
while IFS= read -r line; do
  line=${line%$'\r'}
  case $line in
  Content-Length:*) size=${line#*: } ;;
  "")
    IFS= read -r -N "$size" body
    case $body in
    *'"method":"initialize"'*) say '{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}' ;;
    *didOpen*)
      uri=${body#*'"uri":"'}
      say '{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"'"${uri%%'"'*}"'","diagnostics":[{"range":{"start":{"line":2,"character":6}},"severity":1,"source":"compiler","code":"UndeclaredName","message":"undefined: x"}]}}' ;;
    esac ;;
  esac
done
sleep 60
`

// TestDiagnosticsOfEdits: the whole way, from the settings to the model, and the
// end of the server with the child.
func TestDiagnosticsOfEdits(t *testing.T) {
	dir := t.TempDir()
	program, pidFile := filepath.Join(dir, "fixturels"), filepath.Join(dir, "pid")
	if err := os.WriteFile(program, []byte(languageServer), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf(`,"capabilities":{"lsp":{"enabled":true,"diagnostics_wait_ms":15000,"servers":{"gopls":{"command":%q,"args":[%q]}}}}`, program, pidFile)
	p := serveWith(t, `tool:write {"path":"a.go","content":"package a"}`+"\ntext:done", settings, nil)
	p.start()
	if got := p.turn(); got != "completed durable <nil>" {
		t.Fatal(got)
	}
	want := "DIAGNOSTICS (fixturels, " + filepath.Join(p.agent.cwd, "a.go") + "):\\n- error [compiler] UndeclaredName at 3:7: undefined: x"
	if body := p.provider.Seen()[1]; !strings.Contains(body, "\\n\\n"+want) {
		t.Errorf("no %s in %s", want, body[max(0, len(body)-1500):])
	}
	raw, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(raw), &pid); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	p.shutdown()
	if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil || time.Since(began) > 4*time.Second {
		t.Errorf("the server is there %v after the shutdown began", time.Since(began))
	}
}
