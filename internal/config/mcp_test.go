package config

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	homeMCP = rootDir + "/.mcp.json"
	workMCP = workDir + "/.mcp.json"
)

func server(def string) string { return `{"mcpServers":{"fx":` + def + `}}` }

// approve puts a record for one server into the global settings.
func (w *world) approve(source, name, record string) {
	w.global(fmt.Sprintf(`{"capabilities":{"mcp_approvals":{%q:{%q:%s}}}}`, source, name, record))
}

// TestMCPStructure: these rules hold for every definition, approved or not.
func TestMCPStructure(t *testing.T) {
	http := func(fields string) string { return server(`{"type":"http","url":"https://x"` + fields + `}`) }
	for text, ok := range map[string]bool{
		"{}": true, "[]": true, " [ ] ": true, "[1]": false, "3": false, "": false, "\ufeff{}": false, `{"x":1}`: true,
		`{"mcpServers":null}`: false, `{"mcpServers":[]}`: false, `{"mcpServers":{}}`: true,
		server(`{"command":"x"}`): true, server(`{"command":" "}`): true, server(`{"command":"${NOT_SET}"}`): true, server("{}"): false, server("null"): false, server("[]"): false,
		server(`{"command":null}`): false, server(`{"command":1}`): false, server(`{"command":"x","args":null}`): false, server(`{"command":"x","args":[1]}`): false,
		server(`{"command":"x","env":null}`): false, server(`{"command":"x","env":{"A":1}}`): false, server(`{"command":"x","type":null}`): false,
		server(`{"command":"x","timeout":0}`): true, server(`{"command":"x","timeout":301}`): true, server(`{"command":"x","timeout":null}`): true,
		server(`{"command":"x","timeout":1.0}`): false, server(`{"command":"x","timeout":-1}`): false, server(`{"command":"x","timeout":"3"}`): false,
		server(`{"command":"x","enabled":"yes"}`): true, server(`{"command":"x","foo":1}`): true, server(`{"command":"x","url":3}`): true,
		server(`{"url":"https://x"}`): false, server(`{"type":"sse","url":"https://x"}`): false, server(`{"type":"http"}`): false,
		http(""): true, http(`,"args":3`): true, http(`,"headers":null`): false, http(`,"headers":{"a":1}`): false, http(`,"oauth":null`): true, http(`,"oauth":{}`): true,
		http(`,"oauth":[]`): false, http(`,"oauth":{"scopes":null}`): false, http(`,"oauth":{"scopes":[1]}`): false, http(`,"oauth":{"client_id":null,"x":1}`): true, http(`,"oauth":{"client_id":1}`): false,
		server(`{"type":"http","url":"ftp://x"}`): true,
		`{"mcpServers":{"a b":{"command":"x"}}}`:  false, `{"mcpServers":{"a__b":{"command":"x"}}}`: false, `{"mcpServers":{"a_":{"command":"x"}}}`: false, `{"mcpServers":{"":{"command":"x"}}}`: false,
		`{"mcpServers":{"` + strings.Repeat("a", 100) + `":{"command":"x"}}}`: true,
		`{"mcpServers":{"a":{"command":3},"a":{"command":"x"}}}`:              true, `{"mcpServers":{"a":{"command":"x"},"a":{"command":3}}}`: false,
	} {
		for _, file := range []string{homeMCP, workMCP} {
			w := newWorld(t)
			w.write(file, text)
			l, err := Load(t.Context(), w.env)
			if (err == nil) != ok {
				t.Errorf("%s: %v", text, err)
			}
			if err == nil && len(l.MCP.Servers) > 0 {
				t.Errorf("%s: an unapproved server would start", text)
			}
		}
	}
}

// TestMCPValues: these rules hold for approved definitions, after expansion.
func TestMCPValues(t *testing.T) {
	http := func(fields string) string { return `{"type":"http","url":"http://127.0.0.1:9",` + fields + `}` }
	for def, ok := range map[string]bool{
		`{"command":" "}`: false, `{"command":"${E}"}`: false, `{"command":"x","timeout":0}`: false, `{"command":"x","timeout":301}`: false, `{"command":"x","timeout":300}`: true, `{"command":"x","timeout":1}`: true,
		`{"command":"${}"}`: false, `{"command":"${1A}"}`: false, `{"command":"${A"}`: false, `{"command":"$A"}`: true, `{"command":"${Q-x}"}`: false, `{"command":"${NOT_SET}"}`: false,
		`{"command":"${NOT_SET:-x}"}`: true, `{"command":"x","args":["${E}"]}`: true, `{"command":"x","env":{"${Q}":"x"}}`: true, `{"command":"x","env":{"A":"${NOT_SET}"}}`: false, `{"command":"x","args":["a","${NOT_SET}"]}`: false,
		`{"type":"http","url":"https://h.example/x?q#f"}`: true, `{"type":"http","url":"http://h.example"}`: false, `{"type":"http","url":"http://localhost:1"}`: true, `{"type":"http","url":"http://[::1]"}`: true,
		`{"type":"http","url":"http://127.9.9.9"}`: true, `{"type":"http","url":"https://u@h.example"}`: false, `{"type":"http","url":"/x"}`: false, `{"type":"http","url":"${E}"}`: false, `{"type":"http","url":"${U:-https://h.example}"}`: true,
		http(`"headers":{"a":"x\ty"}`): true, http(`"headers":{"a b":"x"}`): false, http(`"headers":{"":"x"}`): false, http(`"headers":{"a:":"x"}`): false, http(`"headers":{"a":"x\ny"}`): false, http(`"headers":{"a":"${NOT_SET}"}`): false,
		http(`"headers":{"authorization":"x"}`): true, http(`"headers":{"authorization":"x"},"oauth":{}`): false, http(`"headers":{"PROXY-Authorization":"x"},"oauth":{}`): false,
		http(`"oauth":{"client_id":" "}`): false, http(`"oauth":{"client_id":"${NOT_SET}","scopes":["a:b"]}`): true, http(`"oauth":{"scopes":[""]}`): false, http(`"oauth":{"scopes":["a b"]}`): false, http(`"oauth":{"scopes":["é"]}`): false,
		http(`"oauth":{"authorization_server":"https://a.example"}`): true, http(`"oauth":{"authorization_server":"http://a.example"}`): false,
	} {
		w := newWorld(t)
		w.vars["E"] = ""
		w.write(homeMCP, server(def))
		w.approve(homeMCP, "fx", "true")
		l, err := Load(t.Context(), w.env)
		if (err == nil) != ok {
			t.Errorf("%s: %v", def, err)
		}
		if err == nil && len(l.MCP.Servers) != 1 {
			t.Errorf("%s: not approved", def)
		}
	}
}

func TestMCPErrorsNameTheLine(t *testing.T) {
	w := newWorld(t)
	w.write(homeMCP, "{\"mcpServers\": {\n  \"fx\": {\"command\": \"x\",\n \"env\": {\"A\": \"SECRET${NOT_SET}\"}}}}")
	w.approve(homeMCP, "fx", "true")
	e := w.refuse()
	if e.File != homeMCP || e.Line != 3 || e.Key != "mcpServers.fx.env.A" || strings.Contains(e.Error(), "SECRET") {
		t.Errorf("%+v", e)
	}
}

func TestMCPTypeIsAskedFor(t *testing.T) {
	w := newWorld(t)
	w.write(homeMCP, server(`{"url":"https://example.org/mcp"}`))
	if e := w.refuse(); e.Key != "mcpServers.fx.type" || !strings.Contains(e.Reason, "the type http") {
		t.Errorf("%+v", e)
	}
}

func TestExpansion(t *testing.T) {
	vars := map[string]string{"A": "1", "EMPTY": "", "B_2": "${A}"}
	lookup := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	for in, want := range map[string]string{
		"": "", "plain": "plain", "$": "$", "$A": "$A", "a$": "a$", "${A}": "1", "x${A}y${A}z": "x1y1z", "${B_2}": "${A}", "${EMPTY}": "", "${EMPTY:-x}": "",
		"${N:-x}": "x", "${N:-}": "", "${N:-${A}}": "${A}", "${N:-a:-b}": "a:-b", "$${A}": "$1", "}": "}", "${A}}": "1}",
	} {
		if got, p := substitute(in, lookup); p != nil || got != want {
			t.Errorf("%q gives %q %v", in, got, p)
		}
	}
	for _, in := range []string{"${", "${A", "${}", "${:-x}", "${A B}", "${1}", "${A-x}", "${A:x}", "${N}", "${é}"} {
		if got, p := substitute(in, lookup); p == nil {
			t.Errorf("%q gives %q", in, got)
		}
	}
}

func TestMCPSourcesAndApproval(t *testing.T) {
	w := newWorld(t)
	w.write(homeMCP, `{"mcpServers":{"a":{"command":"home-a"},"b":{"command":"home-b","env":{"X":"${HOME}"}},"c":{"command":"home-c"}}}`)
	w.write(workMCP, `{"mcpServers":{"a":{"command":"work-a","enabled":true},"d":{"type":"http","url":"https://d.example","timeout":7,"oauth":{"scopes":["s"]}}}}`)
	w.write("/srv/.mcp.json", "{broken") // a parent's is not read
	w.global(fmt.Sprintf(`{"capabilities":{"mcp_approvals":{%q:{"a":true,"b":true,"c":false},%q:{"d":true}}}}`, homeMCP, workMCP))
	w.project(fmt.Sprintf(`{"capabilities":{"mcp_approvals":{%q:{"a":true}}}}`, workMCP)) // a project approves nothing
	got := w.load().MCP
	want := MCP{
		Servers: []MCPServer{
			{Name: "b", Source: homeMCP, Timeout: 30 * time.Second, Stdio: &StdioServer{Command: "home-b", Args: []string{}, Env: map[string]string{"X": homeDir}}},
			{Name: "d", Source: workMCP, Timeout: 7 * time.Second, HTTP: &HTTPServer{URL: "https://d.example", Headers: map[string]string{}, OAuth: &MCPOAuth{Scopes: []string{"s"}}}},
		},
		Held: []HeldServer{
			{Name: "a", Source: workMCP, Why: HeldUnapproved, Stdio: &StdioServer{Command: "work-a", Args: []string{}, Env: map[string]string{}}},
			{Name: "c", Source: homeMCP, Why: HeldRevoked, Stdio: &StdioServer{Command: "home-c", Args: []string{}, Env: map[string]string{}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestApprovalGoesByTheRealPath(t *testing.T) {
	w := newWorld(t)
	w.mkdir("/real")
	if err := w.fs.Symlink("/real", "/link"); err != nil {
		t.Fatal(err)
	}
	w.vars["MC_HOME"] = "/link"
	w.write("/real/.mcp.json", server(`{"command":"x"}`))
	for source, want := range map[string]int{"/link/.mcp.json": 0, "/real/.mcp.json": 1} {
		w.write("/real/settings.json", fmt.Sprintf(`{"capabilities":{"mcp_approvals":{%q:{"fx":true}}}}`, source))
		if got := w.load().MCP; len(got.Servers) != want {
			t.Errorf("approved as %s: %+v", source, got)
		}
	}
}

// digest is the record's value, computed from the documented text.
func digest(key, text string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

func TestDigestApproval(t *testing.T) {
	key := strings.Repeat("k", 32)
	for def, text := range map[string]string{
		`{"command":"python3","args":["s.py"],"env":{"B":"ü","A":"1"}}`:                               `{"type":"stdio","command":"python3","args":["s.py"],"env":{"A":"1","B":"ü"},"enabled":false,"timeout":30}`,
		`{"type":"stdio","command":"a\"b\u2028","args":[],"env":{},"enabled":true,"timeout":5,"x":1}`: "{\"type\":\"stdio\",\"command\":\"a\\\"b\u2028\",\"enabled\":false,\"timeout\":5}",
		`{"type":"stdio","command":"${HOME}"}`:                                                        `{"type":"stdio","command":"${HOME}","enabled":false,"timeout":30}`,
		`{"type":"http","url":"https://x"}`:                                                           `{"type":"http","url":"https://x","enabled":false,"timeout":30}`,
		`{"type":"http","url":"https://x","headers":{"b":"2","a":"1"},"oauth":{"authorization_server":"https://a","scopes":["s","t"],"client_id":"c"}}`: `{"type":"http","url":"https://x","headers":{"a":"1","b":"2"},"oauth":{"client_id":"c","scopes":["s","t"],"authorization_server":"https://a"},"enabled":false,"timeout":30}`,
		`{"type":"http","url":"https://x","oauth":{"scopes":[]}}`: `{"type":"http","url":"https://x","oauth":{},"enabled":false,"timeout":30}`,
	} {
		record := fmt.Sprintf(`{"version":1,"digest":%q}`, digest(key, `["magi-code:mcp-approval:v1","`+homeMCP+`","fx",`+text+`]`))
		w := newWorld(t)
		w.write(homeMCP, server(def))
		w.write(rootDir+"/mcp-approval.key", key)
		w.approve(homeMCP, "fx", record)
		if got := w.load().MCP; len(got.Servers) != 1 || !got.Servers[0].Bound {
			t.Errorf("%s: %+v", def, got)
		}
	}
}

func TestDigestThatDoesNotMatch(t *testing.T) {
	key := strings.Repeat("k", 32)
	good := digest(key, `["magi-code:mcp-approval:v1","`+homeMCP+`","fx",{"type":"stdio","command":"x","enabled":false,"timeout":30}]`)
	for name, c := range map[string]struct {
		def, record, key string
		why              Held
	}{
		"changed":      {`{"command":"y"}`, `{"version":1,"digest":"` + good + `"}`, key, HeldChanged},
		"other key":    {`{"command":"x"}`, `{"version":1,"digest":"` + good + `"}`, strings.Repeat("j", 32), HeldChanged},
		"no key":       {`{"command":"x"}`, `{"version":1,"digest":"` + good + `"}`, "", HeldChanged},
		"upper case":   {`{"command":"x"}`, `{"version":1,"digest":"` + strings.ToUpper(good) + `"}`, key, HeldInvalid},
		"short":        {`{"command":"x"}`, `{"version":1,"digest":"` + good[2:] + `"}`, key, HeldInvalid},
		"version 2":    {`{"command":"x"}`, `{"version":2,"digest":"` + good + `"}`, key, HeldInvalid},
		"number":       {`{"command":"x"}`, `1`, key, HeldInvalid},
		"text":         {`{"command":"x"}`, `"true"`, key, HeldInvalid},
		"null":         {`{"command":"x"}`, `null`, key, HeldInvalid},
		"false":        {`{"command":"x"}`, `false`, key, HeldRevoked},
		"bad but held": {`{"command":"${NOT_SET}"}`, `{}`, key, HeldInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(homeMCP, server(c.def))
			if c.key != "" {
				w.write(rootDir+"/mcp-approval.key", c.key)
			}
			w.approve(homeMCP, "fx", c.record)
			got := w.load().MCP
			if len(got.Held) != 1 || got.Held[0].Stdio == nil {
				t.Fatalf("%+v", got)
			}
			got.Held[0].Stdio = nil
			want := MCP{Held: []HeldServer{{Name: "fx", Source: homeMCP, Why: c.why}}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestApprovalKeyMustBePrivate(t *testing.T) {
	const file = rootDir + "/mcp-approval.key"
	for name, spoil := range map[string]func(*world){
		"mode":     func(w *world) { _ = w.fs.Chmod(file, 0o640) },
		"size":     func(w *world) { w.write(file, "short") },
		"link":     func(w *world) { _ = w.fs.Rename(file, "/k"); _ = w.fs.Symlink("/k", file) },
		"stranger": func(w *world) { _ = w.fs.Chown(file, uint32(w.env.UID)+1) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(homeMCP, server(`{"command":"x"}`))
			w.write(file, strings.Repeat("k", 32))
			spoil(w)
			w.approve(homeMCP, "fx", "true")
			w.load() // nobody asks for the key
			w.approve(homeMCP, "fx", `{"version":1,"digest":"`+strings.Repeat("0", 64)+`"}`)
			if e := w.refuse(); e.File != file {
				t.Errorf("%+v", e)
			}
		})
	}
}
