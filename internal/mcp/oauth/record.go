package oauth

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"magicode/internal/auth"
	"magicode/internal/jsonscan"
	"magicode/internal/vfs"
)

// Record is the content of one token file. Nil is null.
type Record struct {
	ClientID            string
	AccessToken         auth.Secret
	RefreshToken        *auth.Secret
	ExpiresAt           *int64 // Unix seconds; nil: unknown, never refreshed ahead of time
	GrantedScopes       []string
	ClientSecret        *auth.Secret
	AuthorizationServer *string
	Issuer              *string
	TokenEndpoint       *string
	Resource            *string
	ServerURL           string
	ReceivedAt          int64 // Unix seconds
}

const (
	// maxFile bounds a token file.
	maxFile = 1 << 20
	// lockWait is how long its lock is waited for (storage.md 12.2).
	lockWait = 30 * time.Second
)

// Errors of the store and of Tokens.
var (
	// ErrLoginNeeded: there is no usable token; only a new login helps.
	ErrLoginNeeded = errors.New("login needed")
	errMalformed   = errors.New("the token file is malformed")
)

// Store is the folder mcp-tokens. It keeps nothing in memory.
type Store struct {
	FS   vfs.FS
	Dir  string // absolute
	Lock auth.Acquire
}

func (s *Store) path(server string) string { return filepath.Join(s.Dir, server+".json") }

// Read returns the record of a server; fs.ErrNotExist if it has none. A file that
// is a link or open to others is refused.
func (s *Store) Read(server string) (Record, error) {
	data, err := vfs.ReadFile(s.FS, s.path(server), maxFile, vfs.Private)
	if err != nil {
		return Record{}, err
	}
	return parse(data)
}

// Put stores a login.
func (s *Store) Put(ctx context.Context, server string, r Record) error {
	return s.locked(ctx, server, func() error { return s.write(server, r) })
}

// Swap replaces old by fresh and reports whether old was still what stood there.
func (s *Store) Swap(ctx context.Context, server string, old, fresh Record) (swapped bool, err error) {
	err = s.locked(ctx, server, func() error {
		current, err := s.Read(server)
		if err != nil || !current.equal(old) {
			return nil // a login or a logout came between: it counts
		}
		swapped = true
		return s.write(server, fresh)
	})
	return swapped && err == nil, err
}

// Remove forgets a server's login and reports whether there was one.
func (s *Store) Remove(ctx context.Context, server string) (removed bool, err error) {
	if _, err := s.FS.Lstat(s.path(server)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	err = s.locked(ctx, server, func() error {
		err := s.FS.Remove(s.path(server))
		removed = err == nil
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return removed, err
}

func (s *Store) write(server string, r Record) error {
	err := vfs.Replace(s.FS, s.path(server), r.text(), 0o600)
	if errors.Is(err, vfs.ErrUndurable) {
		return nil // every reader sees the new content
	}
	return err
}

func (s *Store) locked(ctx context.Context, server string, do func() error) error {
	if err := s.FS.MkdirAll(s.Dir, 0o777); err != nil {
		return fmt.Errorf("make the folder of tokens: %w", err)
	}
	release, err := s.Lock(ctx, s.path(server), lockWait)
	if err != nil {
		return fmt.Errorf("lock the token file: %w", err)
	}
	return errors.Join(do(), release())
}

// equal compares everything.
func (r Record) equal(o Record) bool { return string(r.text()) == string(o.text()) }

func parse(data []byte) (Record, error) {
	v, err := jsonscan.Parse(data, jsonscan.Options{})
	if err != nil || v.Kind() != jsonscan.Object {
		return Record{}, errMalformed
	}
	f := fields{v: v, ok: true}
	r := Record{
		ClientID: f.must("client_id"), AccessToken: auth.Secret(f.must("access_token")), ServerURL: f.must("server_url"),
		RefreshToken: f.secret("refresh_token"), ClientSecret: f.secret("client_secret"),
		AuthorizationServer: f.may("authorization_server"), Issuer: f.may("issuer"), TokenEndpoint: f.may("token_endpoint"), Resource: f.may("resource"),
		GrantedScopes: f.list("granted_scopes"), ExpiresAt: f.number("expires_at"),
	}
	at := f.number("token_received_at")
	if at == nil || !f.ok {
		return Record{}, errMalformed
	}
	r.ReceivedAt = *at
	return r, nil
}

// fields reads members of an object and remembers whether all were of their type.
type fields struct {
	v  jsonscan.Value
	ok bool
}

func (f *fields) absent(key string) bool {
	k := f.v.Get(key).Kind()
	return k == jsonscan.Invalid || k == jsonscan.Null
}

func (f *fields) must(key string) string {
	s, ok := f.v.Get(key).Text()
	f.ok = f.ok && ok
	return s
}

func (f *fields) may(key string) *string {
	if f.absent(key) {
		return nil
	}
	s := f.must(key)
	return &s
}

func (f *fields) secret(key string) *auth.Secret { return (*auth.Secret)(f.may(key)) }

func (f *fields) number(key string) *int64 {
	if f.absent(key) {
		return nil
	}
	n, ok := f.v.Get(key).Int64()
	f.ok = f.ok && ok
	return &n
}

func (f *fields) list(key string) []string {
	out := []string{}
	if f.absent(key) {
		return out
	}
	v := f.v.Get(key)
	f.ok = f.ok && v.Kind() == jsonscan.Array
	for e := range v.Elements() {
		s, ok := e.Text()
		f.ok = f.ok && ok
		out = append(out, s)
	}
	return out
}

// text is the file's written form: 2-space pretty JSON in this order.
func (r Record) text() []byte {
	b := jsonscan.AppendString([]byte("{\n  \"client_id\": "), r.ClientID)
	str := func(key string, s *string) {
		b = append(b, ",\n  \""+key+"\": "...)
		if s == nil {
			b = append(b, "null"...)
			return
		}
		b = jsonscan.AppendString(b, *s)
	}
	access := string(r.AccessToken)
	str("access_token", &access)
	str("refresh_token", (*string)(r.RefreshToken))
	b = append(b, ",\n  \"expires_at\": "...)
	if r.ExpiresAt == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, *r.ExpiresAt, 10)
	}
	b = appendScopes(append(b, ",\n  \"granted_scopes\": "...), r.GrantedScopes)
	str("client_secret", (*string)(r.ClientSecret))
	str("authorization_server", r.AuthorizationServer)
	str("issuer", r.Issuer)
	str("token_endpoint", r.TokenEndpoint)
	str("resource", r.Resource)
	str("server_url", &r.ServerURL)
	b = strconv.AppendInt(append(b, ",\n  \"token_received_at\": "...), r.ReceivedAt, 10)
	return append(b, "\n}"...)
}

func appendScopes(b []byte, scopes []string) []byte {
	if len(scopes) == 0 {
		return append(b, "[]"...)
	}
	for i, s := range slices.All(scopes) {
		if i == 0 {
			b = append(b, "[\n    "...)
		} else {
			b = append(b, ",\n    "...)
		}
		b = jsonscan.AppendString(b, s)
	}
	return append(b, "\n  ]"...)
}
