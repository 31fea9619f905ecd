// Package mcptest makes a test binary an MCP server over its standard streams,
// for tests and benchmarks of whole children. The servers that break the
// protocol in many ways are internal/mcp's own.
package mcptest

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Mode is the environment variable that names what kind of server this process is.
const Mode = "MAGI_CODE_TEST_MCP"

// Tool is the environment variable that names the server's tool; "": look.
const Tool = "MAGI_CODE_TEST_MCP_TOOL"

// What Mode may say.
const (
	Ready    = "ready"    // ends with its input
	Mute     = "mute"     // never answers, and ends with its input
	Stubborn = "stubborn" // ignores the end of its input and every signal that can be ignored
)

// life bounds what a stubborn server leaves behind after a test that failed.
const life = time.Minute

// Main serves and ends the process if Mode says so. begin is called before
// anything is read; nil is nothing.
func Main(begin func()) {
	mode := os.Getenv(Mode)
	if mode == "" {
		return
	}
	if mode == Stubborn {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	}
	if begin != nil {
		begin()
	}
	out := io.Writer(os.Stdout)
	if mode == Mute {
		out = io.Discard
	}
	serve(os.Stdin, out)
	if mode == Stubborn {
		time.Sleep(life)
	}
	os.Exit(0)
}

// serve offers one tool and never refuses.
func serve(in io.Reader, out io.Writer) {
	results := answers(cmp.Or(os.Getenv(Tool), "look"))
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		if result, ok := results[m.Method]; ok {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		}
	}
}

func answers(tool string) map[string]string {
	return map[string]string{
		"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`,
		"ping":       `{}`,
		"tools/list": fmt.Sprintf(`{"tools":[{"name":%q,"inputSchema":{"type":"object"}}]}`, tool),
		"tools/call": `{"content":[{"type":"text","text":"seen"}]}`,
	}
}
