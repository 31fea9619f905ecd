package config

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strconv"

	"magicode/internal/vfs"
)

// MCPApproval is a record of capabilities.mcp_approvals: true and false, or the
// digest of the approved definition (extensions.md 18.2). Anything else is kept
// in the file and approves nothing.
type MCPApproval struct {
	Kind   ApprovalKind
	Digest string // 64 lower-case hex digits for ApprovalDigest
}

// ApprovalKind is the form of a record. The zero value is no record.
type ApprovalKind uint8

// Forms.
const (
	ApprovalNone ApprovalKind = iota
	ApprovalTrue
	ApprovalFalse
	ApprovalDigest
	ApprovalJunk
)

func mcpApprovals(_ string, v any) (map[string]MCPApproval, *problem) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, wrong("must be an object")
	}
	out := make(map[string]MCPApproval, len(m))
	for name, record := range m {
		out[name] = approvalOf(record)
	}
	return out, nil
}

func approvalOf(v any) MCPApproval {
	switch v := v.(type) {
	case bool:
		if v {
			return MCPApproval{Kind: ApprovalTrue}
		}
		return MCPApproval{Kind: ApprovalFalse}
	case map[string]any:
		digest, ok := v["digest"].(string)
		if ok && v["version"] == number("1") && hexDigest(digest) {
			return MCPApproval{Kind: ApprovalDigest, Digest: digest}
		}
	}
	return MCPApproval{Kind: ApprovalJunk}
}

func hexDigest(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 2*sha256.Size
}

type verdict struct {
	held  Held // "" is approved
	bound bool
}

func (a MCPApproval) check(key *approvalKey, name string, d mcpDefinition) (verdict, error) {
	switch a.Kind {
	case ApprovalTrue:
		return verdict{}, nil
	case ApprovalFalse:
		return verdict{held: HeldRevoked}, nil
	case ApprovalJunk:
		return verdict{held: HeldInvalid}, nil
	case ApprovalNone:
		return verdict{held: HeldUnapproved}, nil
	}
	secret, err := key.read()
	if err != nil {
		return verdict{}, err
	}
	want, _ := hex.DecodeString(a.Digest)
	if secret == nil || !hmac.Equal(want, d.mac(secret, name)) {
		return verdict{held: HeldChanged}, nil
	}
	return verdict{bound: true}, nil
}

// approvalKey is <root>/mcp-approval.key, read when the first digest asks for
// it. We never make one: without it our own approvals are plain true.
type approvalKey struct {
	env    Env
	file   string
	loaded bool
	secret []byte
}

// read gives nil when there is no key. A key that others can read, or of
// another size than 32 bytes, makes the configuration invalid.
func (k *approvalKey) read() ([]byte, error) {
	if k.loaded {
		return k.secret, nil
	}
	data, err := vfs.ReadFile(k.env.FS, k.file, maxFile, vfs.Private)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.loaded = true
		return nil, nil
	case err != nil:
		return nil, fileError(k.file, err)
	case len(data) != 32:
		return nil, &Error{File: k.file, Reason: "must have 32 bytes"}
	}
	info, err := k.env.FS.Lstat(k.file)
	if err != nil || k.env.UID >= 0 && info.UID != uint32(k.env.UID) {
		return nil, &Error{File: k.file, Reason: "is owned by another user", Err: err}
	}
	k.loaded, k.secret = true, data
	return data, nil
}

// mac is the digest of a definition as it stands in the file, before variables
// are put in.
func (d mcpDefinition) mac(secret []byte, name string) []byte {
	b := []byte(`["magi-code:mcp-approval:v1",`)
	b = appendJSON(b, d.source)
	b = append(b, ',')
	b = appendJSON(b, name)
	b = append(b, ',')
	if d.kind == "stdio" {
		b = d.appendStdio(b)
	} else {
		b = d.appendHTTP(b)
	}
	b = append(b, ']')
	h := hmac.New(sha256.New, secret)
	h.Write(b)
	return h.Sum(nil)
}

func (d mcpDefinition) appendStdio(b []byte) []byte {
	b = append(b, `{"type":"stdio","command":`...)
	b = appendJSON(b, d.stdio.Command)
	b = appendList(b, "args", d.stdio.Args)
	b = appendMap(b, "env", d.stdio.Env)
	return d.appendTail(b)
}

func (d mcpDefinition) appendHTTP(b []byte) []byte {
	b = append(b, `{"type":"http","url":`...)
	b = appendJSON(b, d.http.URL)
	b = appendMap(b, "headers", d.http.Headers)
	if o := d.http.OAuth; o != nil {
		b = append(b, `,"oauth":`...)
		fields := appendOptional(nil, "client_id", o.ClientID)
		fields = appendList(fields, "scopes", o.Scopes)
		fields = appendOptional(fields, "authorization_server", o.AuthorizationServer)
		if len(fields) > 0 {
			fields = fields[1:] // the first comma
		}
		b = append(b, '{')
		b = append(b, fields...)
		b = append(b, '}')
	}
	return d.appendTail(b)
}

func (d mcpDefinition) appendTail(b []byte) []byte {
	b = append(b, `,"enabled":false,"timeout":`...)
	b = strconv.AppendInt(b, int64(d.timeout), 10)
	return append(b, '}')
}

func appendOptional(b []byte, key string, value *string) []byte {
	if value == nil {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	return appendJSON(b, *value)
}

func appendList(b []byte, key string, items []string) []byte {
	if len(items) == 0 {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	sep := byte('[')
	for _, item := range items {
		b = append(b, sep)
		sep = ','
		b = appendJSON(b, item)
	}
	return append(b, ']')
}

func appendMap(b []byte, key string, m map[string]string) []byte {
	if len(m) == 0 {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	sep := byte('{')
	for _, k := range sortedKeys(m) {
		b = append(b, sep)
		sep = ','
		b = appendJSON(b, k)
		b = append(b, ':')
		b = appendJSON(b, m[k])
	}
	return append(b, '}')
}
