package config

import (
	"context"
	"encoding/hex"
	"errors"
	"path/filepath"
)

// ErrNoServer: no .mcp.json that counts here defines a server of that name.
var ErrNoServer = errors.New("no such MCP server")

// SetMCPApproval approves or revokes the definition that counts for a name in
// the working directory, in the global settings file, and returns the canonical
// path of its source. An approval is bound to the definition's digest if
// mcp-approval.key exists, and is a plain true if not (extensions.md 18.2).
func SetMCPApproval(ctx context.Context, env Env, p Paths, name string, approve bool) (source string, err error) {
	defs := map[string]mcpDefinition{}
	for _, dir := range []string{p.CanonicalRoot, p.CWD} {
		doc, err := readMCP(env.FS, filepath.Join(dir, ".mcp.json"))
		if err != nil {
			return "", err
		}
		if doc == nil {
			continue
		}
		if problem := collect(defs, doc); problem != nil {
			return "", errorIn(problem, doc)
		}
	}
	d, ok := defs[name]
	if !ok {
		return "", ErrNoServer
	}
	value, err := approvalValue(env, p, name, d, approve)
	if err != nil {
		return "", err
	}
	return d.source, Save(ctx, env, p, ScopeGlobal, []string{"capabilities", "mcp_approvals", d.source, name}, value)
}

func approvalValue(env Env, p Paths, name string, d mcpDefinition, approve bool) ([]byte, error) {
	if !approve {
		return []byte("false"), nil
	}
	key := approvalKey{env: env, file: filepath.Join(p.Root, "mcp-approval.key")}
	secret, err := key.read()
	if err != nil {
		return nil, err
	}
	if secret == nil {
		return []byte("true"), nil
	}
	return []byte(`{"version":1,"digest":"` + hex.EncodeToString(d.mac(secret, name)) + `"}`), nil
}
