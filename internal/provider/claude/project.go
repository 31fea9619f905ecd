package claude

import (
	"bytes"
	"slices"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/provider/anthropic"
	"magicode/internal/provider/body"
	"magicode/internal/provider/transcript"
)

const (
	wire = "claude" // names the form that items keep
	// prefix is what the command puts before the names of an MCP server's tools.
	prefix       = "mcp__magi__"
	maxToolBytes = 50
)

// prompt is a request as the command takes it.
type prompt struct {
	system   string
	messages []message
	// tools as the API takes them, under their prefixed names; inventory as MCP
	// lists them, under their own.
	tools, inventory []byte
	names            map[string]bool // without prefix
}

// message is one side's content blocks, in order.
type message struct {
	user    bool
	blocks  [][]byte
	results int // how many of them are results
}

func (m *message) role() string {
	if m.user {
		return "user"
	}
	return "assistant"
}

// append appends the message as the API takes it.
func (m *message) append(dst []byte) []byte {
	dst = append(dst, `{"content":[`...)
	dst = append(dst, bytes.Join(m.blocks, []byte{','})...)
	dst = append(dst, `],"role":"`...)
	return append(append(dst, m.role()...), `"}`...)
}

// project maps a request (providers.md 15, step 2).
func project(req *provider.Request) (*prompt, error) {
	if req.Model == "" || req.Model[0] == '-' {
		return nil, refused("the model's name cannot be given to the claude command")
	}
	p := &prompt{names: make(map[string]bool)}
	if err := p.addTools(req.Tools); err != nil {
		return nil, err
	}
	p.add(transcript.Arrange(transcript.Parts(req.Items, wire, encode)))
	if n := len(p.messages); n == 0 || !p.messages[n-1].user {
		return nil, refused("the conversation does not end with a message of the user")
	}
	return p, nil
}

// add joins neighbours of one side; the API wants results before all else.
func (p *prompt) add(parts []*transcript.Part) {
	var system []string
	for _, part := range parts {
		switch {
		case part.JSON == nil:
			continue
		case part.Kind == transcript.System:
			system = append(system, part.Text)
			continue
		}
		user := part.Kind == transcript.User || part.Kind == transcript.Result
		if n := len(p.messages); n == 0 || p.messages[n-1].user != user {
			p.messages = append(p.messages, message{user: user})
		}
		m := &p.messages[len(p.messages)-1]
		if part.Kind != transcript.Result {
			m.blocks = append(m.blocks, part.JSON)
			continue
		}
		m.blocks = slices.Insert(m.blocks, m.results, part.JSON)
		m.results++
	}
	p.system = strings.Join(system, "\n\n")
}

// encode is the Anthropic mapping without thinking, whose signatures belong to
// another road, and with the names of tools as the command knows them.
func encode(p *transcript.Part) []byte {
	switch p.Kind {
	case transcript.Thinking, transcript.Redacted:
		return nil
	case transcript.Call:
		q := *p
		q.Name = prefix + p.Name
		return anthropic.Encode(&q)
	}
	return anthropic.Encode(p)
}

// addTools lists the tools in both forms. An empty list is one, too: a request
// without tools must not fall back to the command's own.
func (p *prompt) addTools(defs []provider.ToolDef) error {
	p.tools, p.inventory = []byte{'['}, []byte{'['}
	for i, d := range defs {
		if !toolName(d.Name) || p.names[d.Name] {
			return refused("a tool's name cannot be given to the claude command")
		}
		if !plainSchema(d.Parameters) {
			return refused("the schema of a tool cannot be given to the claude command")
		}
		p.names[d.Name] = true
		if i > 0 {
			p.tools, p.inventory = append(p.tools, ','), append(p.inventory, ',')
		}
		p.tools = appendTool(p.tools, "input_schema", prefix+d.Name, d)
		p.inventory = appendTool(p.inventory, "inputSchema", d.Name, d)
	}
	p.tools, p.inventory = append(p.tools, ']'), append(p.inventory, ']')
	return nil
}

func appendTool(dst []byte, schemaKey, name string, d provider.ToolDef) []byte {
	dst = jsonscan.AppendString(append(dst, `{"description":`...), d.Description)
	dst = append(append(append(dst, `,"`...), schemaKey...), `":`...)
	dst = body.AppendSchema(dst, d.Parameters)
	dst = jsonscan.AppendString(append(dst, `,"name":`...), name)
	return append(dst, '}')
}

func toolName(name string) bool {
	return name != "" && len(name) <= maxToolBytes && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// plainSchema: the API refuses schemas with alternatives at the top.
func plainSchema(schema []byte) bool {
	v, err := body.Parse(schema)
	if err != nil || v.Kind() != jsonscan.Object {
		return false
	}
	for _, key := range []string{"oneOf", "allOf", "anyOf"} {
		if v.Get(key).Kind() != jsonscan.Invalid {
			return false
		}
	}
	return true
}
