package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"magicode/internal/jsonscan"
	"magicode/internal/vfs"
)

// MCP is what the .mcp.json files define. Servers holds the approved ones,
// expanded and validated, sorted by name; the others are absent for all purposes.
type MCP struct {
	Servers []MCPServer
	Held    []HeldServer // not approved, sorted by name
}

// MCPServer is one definition. Exactly one of Stdio and HTTP is set.
type MCPServer struct {
	Name    string
	Source  string // canonical path of the .mcp.json that supplied it
	Timeout time.Duration
	Stdio   *StdioServer
	HTTP    *HTTPServer
	// Bound tells that the approval covers exactly this definition (a digest).
	Bound bool
}

// StdioServer is a server that is spawned.
type StdioServer struct {
	Command string
	Args    []string
	Env     map[string]string
}

// HTTPServer is a server at a URL.
type HTTPServer struct {
	URL     string
	Headers map[string]string
	OAuth   *MCPOAuth
}

// MCPOAuth is how to log in to a server.
type MCPOAuth struct {
	ClientID            *string
	Scopes              []string
	AuthorizationServer *string
}

// HeldServer is a definition that runs nowhere, and why. Exactly one of Stdio
// and HTTP is set: the definition as it stands in the file, neither validated
// nor with variables put in.
type HeldServer struct {
	Name   string
	Source string
	Why    Held
	Stdio  *StdioServer
	HTTP   *HTTPServer
}

// Held says why a definition is not approved.
type Held string

// Reasons.
const (
	HeldUnapproved Held = "unapproved" // no record
	HeldRevoked    Held = "revoked"    // false
	HeldChanged    Held = "changed"    // the digest does not match
	HeldInvalid    Held = "invalid"    // the record is neither form
	HeldUnusable   Held = "unusable"   // approved, and cannot be started: every start fails over it
)

// mcpDefinition is an entry before expansion.
type mcpDefinition struct {
	kind    string
	timeout int // seconds, 30 when absent
	stdio   StdioServer
	http    HTTPServer
	source  string
}

// loadMCP reads both sources, checks every definition's structure, and expands
// and validates those that are approved (storage.md 4).
func loadMCP(env Env, p Paths, approvals map[string]map[string]MCPApproval) (MCP, error) {
	defs := map[string]mcpDefinition{}
	docs := map[string]*document{}
	for _, dir := range []string{p.CanonicalRoot, p.CWD} {
		doc, err := readMCP(env.FS, filepath.Join(dir, ".mcp.json"))
		if err != nil {
			return MCP{}, err
		}
		if doc == nil {
			continue
		}
		docs[doc.file] = doc
		if p := collect(defs, doc); p != nil {
			return MCP{}, errorIn(p, doc)
		}
	}
	key := approvalKey{env: env, file: filepath.Join(p.Root, "mcp-approval.key")}
	var out MCP
	var first error
	for _, name := range sortedKeys(defs) {
		d := defs[name]
		verdict, err := approvals[d.source][name].check(&key, name, d)
		if err != nil {
			return MCP{}, err
		}
		if verdict.held != "" {
			out.Held = append(out.Held, d.held(name, verdict.held))
			continue
		}
		server, problem := d.expand(name, env.Lookup)
		if problem != nil {
			out.Held = append(out.Held, d.held(name, HeldUnusable))
			if first == nil {
				first = errorIn(problem.under(name).under("mcpServers"), docs[d.source])
			}
			continue
		}
		server.Bound = verdict.bound
		out.Servers = append(out.Servers, server)
	}
	return out, first
}

func (d mcpDefinition) held(name string, why Held) HeldServer {
	h := HeldServer{Name: name, Source: d.source, Why: why}
	if d.kind == "stdio" {
		h.Stdio = &d.stdio
	} else {
		h.HTTP = &d.http
	}
	return h
}

// readMCP gives nil for a missing file. An empty array counts as an empty object.
func readMCP(fsys vfs.FS, file string) (*document, error) {
	data, err := vfs.ReadFile(fsys, file, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fileError(file, err)
	}
	if !utf8.ValidString(file) {
		return nil, &Error{Reason: "the path of an .mcp.json is not UTF-8"}
	}
	if v, err := jsonscan.Parse(data, jsonscan.Options{MaxDepth: maxContainers}); err == nil && emptyArray(v) {
		return nil, nil
	}
	return parseDocument(file, data)
}

func emptyArray(v jsonscan.Value) bool {
	if v.Kind() != jsonscan.Array {
		return false
	}
	for range v.Elements() {
		return false
	}
	return true
}

// collect adds a file's definitions; a later file replaces a name entirely.
func collect(defs map[string]mcpDefinition, doc *document) *problem {
	servers, ok := doc.tree["mcpServers"]
	if !ok {
		return nil
	}
	m, ok := servers.(map[string]any)
	if !ok {
		return wrong("must be an object", "mcpServers")
	}
	for _, name := range sortedKeys(m) {
		d, p := define(name, m[name])
		if p != nil {
			return p.under(name).under("mcpServers")
		}
		d.source = doc.file
		defs[name] = d
	}
	return nil
}

func define(name string, v any) (mcpDefinition, *problem) {
	var d mcpDefinition
	if !serverName(name) {
		return d, wrong("is no server name (letters, digits, hyphens and single underscores)")
	}
	m, ok := v.(map[string]any)
	if !ok {
		return d, wrong("must be an object")
	}
	kind, ok := m["type"]
	if !ok {
		kind = "stdio"
		if m["command"] == nil && m["url"] != nil {
			return d, wrong("is missing; a server with a url has the type http", "type")
		}
	}
	switch kind {
	case "stdio":
		d.kind = "stdio"
		return d, stdioShape().decode(&d, v)
	case "http":
		d.kind = "http"
		return d, httpShape().decode(&d, v)
	}
	return d, wrong("must be stdio or http", "type")
}

// serverName: names become parts of mcp__SERVER__TOOL.
func serverName(s string) bool {
	for i := 0; i < len(s); i++ {
		if !wordByte(s[i]) {
			return false
		}
	}
	return s != "" && !strings.Contains(s, "__") && !strings.HasSuffix(s, "_")
}

func stdioShape() *shape[mcpDefinition] {
	return newShape([]rule[mcpDefinition]{
		text("command", anyText, func(d *mcpDefinition) *string { return &d.stdio.Command }).must(),
		list("args", asIs, func(d *mcpDefinition) *[]string { return &d.stdio.Args }),
		textMap("env", func(d *mcpDefinition) *map[string]string { return &d.stdio.Env }),
		timeoutRule(),
	}, nil, nil)
}

func httpShape() *shape[mcpDefinition] {
	return newShape([]rule[mcpDefinition]{
		text("url", anyText, func(d *mcpDefinition) *string { return &d.http.URL }).must(),
		textMap("headers", func(d *mcpDefinition) *map[string]string { return &d.http.Headers }),
		special("oauth", nil, fixed(object{}), takeOAuth),
		timeoutRule(),
	}, nil, nil)
}

// timeoutRule: null is the default; the range is judged after the approval.
func timeoutRule() rule[mcpDefinition] {
	return special("timeout", nil, fixed(object{}), func(d *mcpDefinition, v any) *problem {
		d.timeout = 30
		if v == nil {
			return nil
		}
		var p *problem
		d.timeout, p = inRange(v, 0, noLimit)
		return p
	})
}

func textMap(path string, at func(*mcpDefinition) *map[string]string) rule[mcpDefinition] {
	return keyed(path, fixed(object{"type": "string"}), at, func(_ string, v any) (string, *problem) {
		s, ok := v.(string)
		if !ok {
			return "", wrong("must be a string")
		}
		return s, nil
	})
}

func takeOAuth(d *mcpDefinition, v any) *problem {
	if v == nil {
		return nil
	}
	d.http.OAuth = new(MCPOAuth)
	return newShape([]rule[MCPOAuth]{
		optText("client_id", anyText, func(o *MCPOAuth) **string { return &o.ClientID }),
		list("scopes", asIs, func(o *MCPOAuth) *[]string { return &o.Scopes }),
		optText("authorization_server", anyText, func(o *MCPOAuth) **string { return &o.AuthorizationServer }),
	}, nil, nil).decode(d.http.OAuth, v)
}

// visible reports printable ASCII without spaces, not empty.
func visible(s string) bool {
	return s != "" && !slices.ContainsFunc([]byte(s), func(c byte) bool { return c <= ' ' || c > '~' })
}
