package auth

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"magicode/internal/jsonscan"
)

// ErrInvalid: the credential file cannot be used. The text names the key, never
// a value.
var ErrInvalid = errors.New("auth.json invalid")

// Kind is the type of a record.
type Kind string

// Kinds.
const (
	KindAPIKey Kind = "api_key"
	KindOAuth  Kind = "oauth"
)

// Record is one provider's credential. Key belongs to KindAPIKey, the others to
// KindOAuth. A nil field is null.
type Record struct {
	Kind      Kind
	Key       Secret
	Access    Secret
	Refresh   *Secret
	Expires   *int64 // Unix seconds
	AccountID *string
}

// Equal compares all fields.
func (r Record) Equal(o Record) bool {
	return r.Kind == o.Kind && r.Key == o.Key && r.Access == o.Access &&
		same(r.Refresh, o.Refresh) && same(r.Expires, o.Expires) && same(r.AccountID, o.AccountID)
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// File is the content of auth.json. Values that Store hands out are its own
// copies; treat them as immutable.
type File struct {
	APIKey      *Secret // legacy, unused
	Revision    uint64
	Generations map[string]uint64
	Records     map[string]Record
}

// State is a provider's readiness, judged without the network.
type State uint8

// States. Missing covers what is absent, expired without a refresh token, or of
// the wrong kind.
const (
	Missing State = iota
	Refreshable
	Ready
)

// refreshMargin: an access token that ends within 300 s counts as expired (storage.md 3.2).
const refreshMargin = 300

// Codex judges the record of openai-codex.
func (f File) Codex(now time.Time) State { return f.Records["openai-codex"].codex(now) }

func (r Record) codex(now time.Time) State {
	switch {
	case r.Kind != KindOAuth:
		return Missing
	case r.Access != "" && r.AccountID != nil && *r.AccountID != "" && r.Expires != nil && *r.Expires > now.Unix()+refreshMargin:
		return Ready
	case r.Refresh != nil && *r.Refresh != "":
		return Refreshable
	}
	return Missing
}

// Ready judges one of the two built-in providers that keep a credential here or
// in the environment. Other names are Missing: custom providers go by CustomKey,
// claude-subscription by its own command.
func (f File) Ready(provider string, lookup Lookup, now time.Time) State {
	switch provider {
	case "openai-codex":
		return f.Codex(now)
	case "anthropic":
		if _, ok := AnthropicKey(lookup, f); ok {
			return Ready
		}
	}
	return Missing
}

// clone copies the maps.
func (f File) clone() File {
	f.Generations, f.Records = maps.Clone(f.Generations), maps.Clone(f.Records)
	if f.Generations == nil {
		f.Generations = map[string]uint64{}
	}
	if f.Records == nil {
		f.Records = map[string]Record{}
	}
	return f
}

// parse reads the file's text. Repeated keys are refused: which of two
// credentials counts must not be a matter of the reader.
func parse(data []byte) (File, error) {
	f := File{}.clone()
	root, err := jsonscan.Parse(data, jsonscan.Options{})
	if err != nil || root.Kind() != jsonscan.Object {
		return f, fmt.Errorf("%w: no JSON object", ErrInvalid)
	}
	seen := map[string]bool{}
	for k, v := range root.Members() {
		name, _ := k.Text()
		if seen[name] || !f.member(name, v) {
			return f, fmt.Errorf("%w: %s", ErrInvalid, strconv.QuoteToASCII(name))
		}
		seen[name] = true
	}
	return f, nil
}

func (f *File) member(name string, v jsonscan.Value) (ok bool) {
	switch name {
	case "api_key":
		f.APIKey, ok = secretOrNull(v)
	case "revision":
		f.Revision, ok = v.Uint64()
	case "provider_generations":
		ok = f.generations(v)
	default:
		var r Record
		r, ok = record(v)
		f.Records[name] = r
	}
	return ok
}

func (f *File) generations(v jsonscan.Value) bool {
	if v.Kind() != jsonscan.Object {
		return false
	}
	for k, n := range v.Members() {
		name, _ := k.Text()
		count, ok := n.Uint64()
		if _, twice := f.Generations[name]; !ok || twice {
			return false
		}
		f.Generations[name] = count
	}
	return true
}

func record(v jsonscan.Value) (r Record, ok bool) {
	fields := map[string]jsonscan.Value{}
	for k, m := range v.Members() {
		name, _ := k.Text()
		if _, twice := fields[name]; twice {
			return r, false
		}
		fields[name] = m
	}
	kind, _ := fields["type"].Text()
	switch r.Kind = Kind(kind); r.Kind {
	case KindAPIKey:
		key, ok := fields["key"].Text()
		r.Key = Secret(key)
		return r, ok
	case KindOAuth:
		return oauthRecord(r, fields)
	}
	return r, false
}

func oauthRecord(r Record, fields map[string]jsonscan.Value) (Record, bool) {
	access, okAccess := fields["access"].Text()
	r.Access = Secret(access)
	var okRefresh, okExpires, okAccount bool
	r.Refresh, okRefresh = secretOrNull(fields["refresh"])
	r.Expires, okExpires = int64OrNull(fields["expires"])
	account, okAccount := secretOrNull(fields["accountId"])
	r.AccountID = (*string)(account)
	return r, okAccess && okRefresh && okExpires && okAccount
}

func absent(v jsonscan.Value) bool {
	return v.Kind() == jsonscan.Invalid || v.Kind() == jsonscan.Null
}

func secretOrNull(v jsonscan.Value) (*Secret, bool) {
	if absent(v) {
		return nil, true
	}
	s, ok := v.Text()
	secret := Secret(s)
	return &secret, ok
}

func int64OrNull(v jsonscan.Value) (*int64, bool) {
	if absent(v) {
		return nil, true
	}
	n, ok := v.Int64()
	return &n, ok
}

// text is the file's written form: 2-space pretty JSON, fixed keys first, then
// the providers sorted, absent options as null (storage.md 3).
func (f File) text() []byte {
	b := append([]byte(nil), "{\n  \"api_key\": "...)
	b = appendOptional(b, f.APIKey)
	b = append(b, ",\n  \"revision\": "...)
	b = strconv.AppendUint(b, f.Revision, 10)
	b = append(b, ",\n  \"provider_generations\": "...)
	b = appendGenerations(b, f.Generations)
	for _, name := range slices.Sorted(maps.Keys(f.Records)) {
		b = append(b, ",\n  "...)
		b = jsonscan.AppendString(b, name)
		b = append(b, ": "...)
		b = f.Records[name].append(b)
	}
	return append(b, "\n}"...)
}

func appendGenerations(b []byte, m map[string]uint64) []byte {
	if len(m) == 0 {
		return append(b, "{}"...)
	}
	sep := "{\n    "
	for _, name := range slices.Sorted(maps.Keys(m)) {
		b = append(b, sep...)
		sep = ",\n    "
		b = jsonscan.AppendString(b, name)
		b = append(b, ": "...)
		b = strconv.AppendUint(b, m[name], 10)
	}
	return append(b, "\n  }"...)
}

func (r Record) append(b []byte) []byte {
	b = append(b, "{\n    \"type\": \""...)
	b = append(b, r.Kind...)
	b = append(b, '"')
	if r.Kind == KindAPIKey {
		b = append(b, ",\n    \"key\": "...)
		b = jsonscan.AppendString(b, string(r.Key))
		return append(b, "\n  }"...)
	}
	b = append(b, ",\n    \"access\": "...)
	b = jsonscan.AppendString(b, string(r.Access))
	b = append(b, ",\n    \"refresh\": "...)
	b = appendOptional(b, r.Refresh)
	b = append(b, ",\n    \"expires\": "...)
	if r.Expires == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, *r.Expires, 10)
	}
	b = append(b, ",\n    \"accountId\": "...)
	b = appendOptional(b, (*Secret)(r.AccountID))
	return append(b, "\n  }"...)
}

func appendOptional(b []byte, s *Secret) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return jsonscan.AppendString(b, string(*s))
}
