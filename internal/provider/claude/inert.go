package claude

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"magicode/internal/jsonscan"
)

// maxInertLine bounds one message of the command to the inert server.
const maxInertLine = 4 << 20

// ServeInert is the MCP server that tells the claude command which tools there
// are and runs none of them: our own loop runs what the model calls. inventory
// is the JSON array of tools. It returns when the input ends.
func ServeInert(r io.Reader, w io.Writer, inventory []byte) error {
	if v, err := jsonscan.Parse(inventory, jsonscan.Options{AnyNumber: true, LoneSurrogates: true}); err != nil || v.Kind() != jsonscan.Array {
		return errors.New("the inventory is no list of tools")
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxInertLine)
	for lines.Scan() {
		v, err := jsonscan.Parse(lines.Bytes(), jsonscan.Options{AnyNumber: true, LoneSurrogates: true})
		if err != nil || v.Kind() != jsonscan.Object {
			continue
		}
		id := v.Get("id")
		if id.Kind() != jsonscan.Number && id.Kind() != jsonscan.String {
			continue // a notification
		}
		if _, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", id, inertAnswer(v.Get("method"), inventory)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func inertAnswer(method jsonscan.Value, inventory []byte) string {
	switch {
	case method.Is("initialize"):
		return `"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"magi","version":"1"}}`
	case method.Is("tools/list"):
		return `"result":{"tools":` + string(inventory) + `}`
	case method.Is("tools/call"):
		return `"result":{"content":[{"type":"text","text":"This tool does not run here."}],"isError":true}`
	case method.Is("ping"):
		return `"result":{}`
	}
	return `"error":{"code":-32601,"message":"method not found"}`
}
