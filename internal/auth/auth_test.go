package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

const file = "/h/auth.json"

var now = time.Unix(1_800_000_000, 0)

type world struct {
	*Store
	fs *memfs.FS
	t  testing.TB
	mu sync.Mutex
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{fs: memfs.New(), t: t}
	if err := w.fs.MkdirAll("/h", 0o700); err != nil {
		t.Fatal(err)
	}
	w.Store = NewStore(w.fs, file, w.lock, func() time.Time { return now })
	return w
}

func (w *world) lock(ctx context.Context, target string, wait time.Duration) (func() error, error) {
	if target != file || wait != LockWait {
		w.t.Errorf("locks %s for %v", target, wait)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	w.mu.Lock()
	return func() error { w.mu.Unlock(); return nil }, nil
}

func (w *world) put(text string) {
	w.t.Helper()
	if err := vfs.Replace(w.fs, file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) text() string {
	w.t.Helper()
	data, err := vfs.ReadFile(w.fs, file, 1<<20)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ptr[T any](v T) *T { return &v }

func oauth(access, refresh string, expires int64) Record {
	return Record{Kind: KindOAuth, Access: Secret(access), Refresh: ptr(Secret(refresh)), Expires: ptr(expires), AccountID: ptr("acct")}
}

// valid, stale: an access token that lasts, and one that does not.
func valid(access string) Record { return oauth(access, "r-"+access, now.Unix()+301) }
func stale(access string) Record { return oauth(access, "r-"+access, now.Unix()+300) }

func TestParse(t *testing.T) {
	const rec = `"p":{"type":"oauth","access":"a"%s}`
	for text, ok := range map[string]bool{
		"{}": true, "": false, "[]": false, "null": false, "{": false, "{} x": false, "\ufeff{}": false,
		`{"api_key":null,"revision":18446744073709551615,"provider_generations":{"p":1}}`: true,
		`{"api_key":"k"}`: true, `{"api_key":1}`: false, `{"revision":-1}`: false, `{"revision":null}`: false, `{"revision":1.0}`: false, `{"revision":18446744073709551616}`: false,
		`{"provider_generations":null}`: false, `{"provider_generations":{"p":"1"}}`: false, `{"provider_generations":{"p":1,"p":1}}`: false,
		`{"p":null}`: false, `{"p":{}}`: false, `{"p":[]}`: false, `{"p":{"type":"nonsense"}}`: false, `{"p":{"type":"api_key"}}`: false, `{"p":{"type":"api_key","key":1}}`: false,
		`{"p":{"type":"api_key","key":""}}`: true, `{"p":{"key":"k","x":[1],"type":"api_key"}}`: true, `{"p":{"type":"oauth"}}`: false, `{"p":{"type":"oauth","access":null}}`: false,
		"{" + fmt.Sprintf(rec, "") + "}": true, "{" + fmt.Sprintf(rec, `,"refresh":null,"expires":null,"accountId":null`) + "}": true,
		"{" + fmt.Sprintf(rec, `,"refresh":1`) + "}": false, "{" + fmt.Sprintf(rec, `,"expires":-1`) + "}": true, "{" + fmt.Sprintf(rec, `,"expires":1.0`) + "}": false,
		"{" + fmt.Sprintf(rec, `,"expires":"1"`) + "}": false, "{" + fmt.Sprintf(rec, `,"expires":9223372036854775808`) + "}": false, "{" + fmt.Sprintf(rec, `,"accountId":1`) + "}": false,
		"{" + fmt.Sprintf(rec, `,"access":"b"`) + "}": false, "{" + fmt.Sprintf(rec, "") + "," + fmt.Sprintf(rec, "") + "}": false, `{"revision":1,"revision":1}`: false,
		`{"p":{"type":"api_key","key":"\ud800"}}`: false,
	} {
		w := newWorld(t)
		w.put(text)
		_, err := w.Read(t.Context())
		if (err == nil) != ok || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestErrorsHoldNoValues(t *testing.T) {
	w := newWorld(t)
	w.put(`{"p":{"type":"oauth","access":"HIDDEN","refresh":5}}`)
	if _, err := w.Read(t.Context()); strings.Contains(err.Error(), "HIDDEN") {
		t.Error(err)
	}
	r := valid("HIDDEN")
	for _, text := range []string{fmt.Sprint(r), fmt.Sprintf("%+v %#v %q %x %s", r, r, r.Access, r.Access, r.Access), fmt.Sprint(File{Records: map[string]Record{"p": r}})} {
		if strings.Contains(text, "HIDDEN") || strings.Contains(text, fmt.Sprintf("%x", "HIDDEN")) {
			t.Errorf("a secret prints: %s", text)
		}
	}
	if data, err := json.Marshal(r); err != nil || strings.Contains(string(data), "HIDDEN") {
		t.Errorf("a secret marshals: %s %v", data, err)
	}
}

func TestFileRules(t *testing.T) {
	for name, c := range map[string]struct {
		make func(*world) error
		ok   bool
	}{
		"missing":    {func(*world) error { return nil }, true},
		"private":    {func(w *world) error { w.put("{}"); return nil }, true},
		"read only":  {func(w *world) error { w.put("{}"); return w.fs.Chmod(file, 0o400) }, true},
		"for all":    {func(w *world) error { w.put("{}"); return w.fs.Chmod(file, 0o644) }, false},
		"for group":  {func(w *world) error { w.put("{}"); return w.fs.Chmod(file, 0o610) }, false},
		"link":       {func(w *world) error { w.put("{}"); _ = w.fs.Rename(file, "/h/x"); return w.fs.Symlink("/h/x", file) }, false},
		"dangling":   {func(w *world) error { return w.fs.Symlink("/nowhere", file) }, false},
		"directory":  {func(w *world) error { return w.fs.Mkdir(file, 0o700) }, false},
		"FIFO":       {func(w *world) error { return w.fs.Mkfifo(file, 0o600) }, false},
		"just fits":  {func(w *world) error { w.put("{}" + strings.Repeat(" ", 1<<20-2)); return nil }, true},
		"a byte too": {func(w *world) error { w.put("{}" + strings.Repeat(" ", 1<<20-1)); return nil }, false},
		"a stranger": {func(w *world) error { w.put("{}"); return w.fs.Chown(file, 12345) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if err := c.make(w); err != nil {
				t.Fatal(err)
			}
			f, err := w.Read(t.Context())
			if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrInvalid) {
				t.Fatal(err)
			}
			if c.ok && (f.Revision != 0 || len(f.Records) != 0) {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestReadiness(t *testing.T) {
	env := func(key string) Lookup {
		return func(name string) (string, bool) { return key, name == "ANTHROPIC_API_KEY" }
	}
	empty := oauth("a", "", now.Unix()+301)
	noAccount, blankAccount, noExpiry, noRefresh := valid("a"), valid("a"), valid("a"), stale("a")
	noAccount.AccountID, blankAccount.AccountID, noExpiry.Expires, noRefresh.Refresh = nil, ptr(""), nil, nil
	noAccountNoRefresh := noAccount
	noAccountNoRefresh.Refresh = nil
	for name, c := range map[string]struct {
		provider string
		record   Record
		key      string
		want     State
	}{
		"codex":                  {"openai-codex", valid("a"), "", Ready},
		"codex, no refresh":      {"openai-codex", empty, "", Ready},
		"codex, soon over":       {"openai-codex", stale("a"), "", Refreshable},
		"codex, over for good":   {"openai-codex", noRefresh, "", Missing},
		"codex, no expiry":       {"openai-codex", noExpiry, "", Refreshable},
		"codex, no account":      {"openai-codex", noAccount, "", Refreshable},
		"codex, blank account":   {"openai-codex", blankAccount, "", Refreshable},
		"codex, nothing":         {"openai-codex", noAccountNoRefresh, "", Missing},
		"codex, empty access":    {"openai-codex", oauth("", "r", 0), "", Refreshable},
		"codex, negative expiry": {"openai-codex", oauth("a", "", -1), "", Missing},
		"codex, latest expiry":   {"openai-codex", oauth("a", "", math.MaxInt64), "", Ready},
		"codex, API key":         {"openai-codex", Record{Kind: KindAPIKey, Key: "k"}, "k", Missing},
		"codex, none":            {"openai-codex", Record{}, "k", Missing},
		"anthropic, variable":    {"anthropic", Record{}, " ", Ready},
		"anthropic, key":         {"anthropic", Record{Kind: KindAPIKey, Key: "k"}, "", Ready},
		"anthropic, empty key":   {"anthropic", Record{Kind: KindAPIKey}, "", Missing},
		"anthropic, OAuth":       {"anthropic", valid("a"), "", Missing},
		"anthropic, none":        {"anthropic", Record{}, "", Missing},
		"custom":                 {"fixture", Record{Kind: KindAPIKey, Key: "k"}, "k", Missing},
	} {
		t.Run(name, func(t *testing.T) {
			f := File{Records: map[string]Record{c.provider: c.record}}
			if got := f.Ready(c.provider, env(c.key), now); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
	f := File{Records: map[string]Record{"anthropic": {Kind: KindAPIKey, Key: "stored"}}}
	if key, _ := AnthropicKey(env("variable"), f); key != "variable" {
		t.Error("the variable comes first")
	}
	if key, _ := AnthropicKey(env(""), f); key != "stored" {
		t.Error("the stored key comes second")
	}
}

func TestCustomKey(t *testing.T) {
	vars := map[string]string{"K": "key", "BLANK": " ", "EMPTY": "", "BAD": "\xff"}
	lookup := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	for name, want := range map[string]struct {
		key Secret
		ok  bool
	}{"": {"", true}, "K": {"key", true}, "BLANK": {" ", true}, "EMPTY": {"", false}, "UNSET": {"", false}, "BAD": {"\xff", false}} {
		if key, ok := CustomKey(lookup, name); key != want.key || ok != want.ok {
			t.Errorf("%s: %v", name, ok)
		}
	}
	if ClaudeConflict(lookup) != "" {
		t.Error("conflict")
	}
	vars["CLAUDE_CODE_USE_VERTEX"] = "0"
	if ClaudeConflict(lookup) != "CLAUDE_CODE_USE_VERTEX" {
		t.Error("no conflict")
	}
}

func TestWrittenForm(t *testing.T) {
	w := newWorld(t)
	w.put(`{"openai-codex":{"type":"oauth","access":"a","x":1},"revision":6,"api_key":"old","provider_generations":{"z":2}}`)
	if err := w.Put(t.Context(), "anthropic", Record{Kind: KindAPIKey, Key: `k"`}); err != nil {
		t.Fatal(err)
	}
	want := `{
  "api_key": "old",
  "revision": 7,
  "provider_generations": {
    "anthropic": 1,
    "z": 2
  },
  "anthropic": {
    "type": "api_key",
    "key": "k\""
  },
  "openai-codex": {
    "type": "oauth",
    "access": "a",
    "refresh": null,
    "expires": null,
    "accountId": null
  }
}`
	if diff := cmp.Diff(want, w.text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if info, _ := w.fs.Stat(file); info.Mode.Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode)
	}
}

func TestWrittenFormReadsBack(t *testing.T) {
	rapid.Check(t, func(q *rapid.T) {
		secret := rapid.Map(rapid.StringN(0, 20, 40), func(s string) Secret { return Secret(s) })
		record := rapid.Custom(func(q *rapid.T) Record {
			if rapid.Bool().Draw(q, "key") {
				return Record{Kind: KindAPIKey, Key: secret.Draw(q, "key")}
			}
			return Record{
				Kind: KindOAuth, Access: secret.Draw(q, "access"), Refresh: rapid.Ptr(secret, true).Draw(q, "refresh"),
				Expires: rapid.Ptr(rapid.Int64(), true).Draw(q, "expires"), AccountID: rapid.Ptr(rapid.String(), true).Draw(q, "account"),
			}
		})
		name := rapid.StringMatching(`p[a-z\n"é]{0,5}`)
		f := File{
			APIKey: rapid.Ptr(secret, true).Draw(q, "api_key"), Revision: rapid.Uint64().Draw(q, "revision"),
			Generations: rapid.MapOf(name, rapid.Uint64()).Draw(q, "generations"), Records: rapid.MapOf(name, record).Draw(q, "records"),
		}
		text := f.text()
		if !json.Valid(text) {
			q.Fatalf("no JSON: %s", text)
		}
		got, err := parse(text)
		if err != nil {
			q.Fatal(err)
		}
		if diff := cmp.Diff(f, got); diff != "" {
			q.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestCounters(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	for i, change := range []func() error{
		func() error { return w.Put(ctx, "p", valid("a")) },
		func() error { return w.Put(ctx, "p", valid("a")) }, // nothing changes
		func() error { return w.Remove(ctx, "p") },
		func() error { return w.Remove(ctx, "p") },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		f, _ := w.Read(ctx)
		if n := uint64(i + 1); f.Revision != n || f.Generations["p"] != n {
			t.Errorf("after %d changes: %d %d", n, f.Revision, f.Generations["p"])
		}
	}
	for _, text := range []string{`{"revision":18446744073709551615}`, `{"provider_generations":{"p":18446744073709551615}}`} {
		w.put(text)
		if err := w.Put(ctx, "p", valid("a")); !errors.Is(err, ErrCounter) || w.text() != text {
			t.Errorf("overflow: %v", err)
		}
	}
}

func TestLoginKeepsTheRefreshToken(t *testing.T) {
	w := newWorld(t)
	_ = w.Put(t.Context(), "p", valid("old"))
	fresh := valid("new")
	fresh.Refresh = nil
	_ = w.Put(t.Context(), "p", fresh)
	if f, _ := w.Read(t.Context()); f.Records["p"].Access != "new" || *f.Records["p"].Refresh != "r-old" {
		t.Errorf("%#v", f.Records["p"].Refresh == nil)
	}
	_ = w.Put(t.Context(), "p", valid("newer"))
	if f, _ := w.Read(t.Context()); *f.Records["p"].Refresh != "r-newer" {
		t.Error("a new one is kept")
	}
}

func TestRefresh(t *testing.T) {
	broken := errors.New("network down")
	const p = "openai-codex"
	same := func(*world) {}
	for name, c := range map[string]struct {
		stored  Record
		force   bool
		answer  Record
		fails   error
		during  func(*world) // while the exchange runs
		want    string       // access token
		refresh string
		err     error
		asked   bool
		changes uint64 // of the generation, by anybody
	}{
		"ready":                   {stored: valid("a"), during: same, want: "a", refresh: "r-a"},
		"forced":                  {stored: valid("a"), force: true, answer: valid("b"), during: same, want: "b", refresh: "r-b", asked: true, changes: 1},
		"stale":                   {stored: stale("a"), answer: valid("b"), during: same, want: "b", refresh: "r-b", asked: true, changes: 1},
		"keeps refresh":           {stored: stale("a"), answer: oauth("b", "", now.Unix()+999), during: same, want: "b", refresh: "r-a", asked: true, changes: 1},
		"nothing to refresh":      {stored: oauth("a", "", 0), during: same, err: ErrLoginNeeded},
		"API key":                 {stored: Record{Kind: KindAPIKey, Key: "k"}, during: same, err: ErrLoginNeeded},
		"no record":               {during: same, err: ErrLoginNeeded},
		"failed":                  {stored: stale("a"), fails: broken, during: same, err: broken, asked: true},
		"failed, another won":     {stored: stale("a"), fails: broken, during: func(w *world) { _ = w.Put(w.t.Context(), p, valid("c")) }, want: "c", refresh: "r-c", asked: true, changes: 1},
		"failed, another lost":    {stored: stale("a"), fails: broken, during: func(w *world) { _ = w.Put(w.t.Context(), p, stale("c")) }, err: broken, asked: true, changes: 1},
		"failed, ready all along": {stored: valid("a"), force: true, fails: broken, during: same, err: broken, asked: true},
		"another won":             {stored: stale("a"), answer: valid("b"), during: func(w *world) { _ = w.Put(w.t.Context(), p, valid("c")) }, want: "c", refresh: "r-c", asked: true, changes: 1},
		"another lost":            {stored: stale("a"), answer: valid("b"), during: func(w *world) { _ = w.Put(w.t.Context(), p, stale("c")) }, err: ErrLoginNeeded, asked: true, changes: 1},
		"logged out":              {stored: stale("a"), answer: valid("b"), during: func(w *world) { _ = w.Remove(w.t.Context(), p) }, err: ErrLoginNeeded, asked: true, changes: 1},
		"same generation, other record": {stored: stale("a"), answer: valid("b"), during: func(w *world) {
			w.put(strings.Replace(w.text(), `"a"`, `"z"`, 1))
		}, err: ErrLoginNeeded, asked: true},
		"same record, other generation": {stored: stale("a"), answer: valid("b"), during: func(w *world) { _ = w.Put(w.t.Context(), p, stale("a")) }, err: ErrLoginNeeded, asked: true, changes: 1},
		"another provider changed":      {stored: stale("a"), answer: valid("b"), during: func(w *world) { _ = w.Put(w.t.Context(), "q", valid("q")) }, want: "b", refresh: "r-b", asked: true, changes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.stored.Kind != "" {
				_ = w.Put(t.Context(), p, c.stored)
			}
			before, _ := w.Read(t.Context())
			asked := false
			got, err := w.Refresh(t.Context(), p, c.force, func(_ context.Context, refresh Secret) (Record, error) {
				asked = true
				if refresh != *c.stored.Refresh {
					t.Errorf("another token is traded")
				}
				c.during(w) // would deadlock if the lock were held
				return c.answer, c.fails
			})
			if !errors.Is(err, c.err) || asked != c.asked {
				t.Fatalf("%v, asked %v", err, asked)
			}
			after, _ := w.Read(t.Context())
			if n := after.Generations[p] - before.Generations[p]; n != c.changes {
				t.Errorf("%d changes", n)
			}
			if err != nil {
				return
			}
			if string(got.Access) != c.want || string(*got.Refresh) != c.refresh {
				t.Errorf("got another record: %v %v", string(got.Access), string(*got.Refresh))
			}
			if !got.Equal(after.Records[p]) {
				t.Error("what is given is not what is stored")
			}
		})
	}
}

// TestRefreshSurvivesCancellation: the server has taken the old token; the new
// one must reach the file.
func TestRefreshSurvivesCancellation(t *testing.T) {
	w := newWorld(t)
	_ = w.Put(t.Context(), "p", stale("a"))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := w.Refresh(ctx, "p", false, func(context.Context, Secret) (Record, error) {
		cancel()
		return valid("b"), nil
	})
	if f, _ := w.Read(t.Context()); err != nil || f.Records["p"].Access != "b" {
		t.Errorf("lost: %v", err)
	}
}

// TestRefreshRace: many at once, with a server that takes each refresh token
// once. Nobody is logged out, and everybody ends with the stored record.
func TestRefreshRace(t *testing.T) {
	w := newWorld(t)
	_ = w.Put(t.Context(), "p", stale("a"))
	var mu sync.Mutex
	current, trades := Secret("r-a"), 0
	exchange := func(_ context.Context, refresh Secret) (Record, error) {
		mu.Lock()
		defer mu.Unlock()
		if refresh != current {
			return Record{}, errors.New("token was used")
		}
		trades++
		current = Secret(fmt.Sprintf("r-%d", trades))
		return oauth(fmt.Sprint(trades), string(current), now.Unix()+1000), nil
	}
	var wg sync.WaitGroup
	var failed []error
	for range 16 {
		wg.Go(func() {
			_, err := w.Refresh(t.Context(), "p", false, exchange)
			if err != nil {
				mu.Lock()
				failed = append(failed, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	f, err := w.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := f.Records["p"]
	if r.codex(now) != Ready || *r.Refresh != current || trades != 1 {
		t.Errorf("after %d trades the file holds another token than the server", trades)
	}
	for _, err := range failed {
		// Whoever was refused before the winner had stored its record may say so.
		if err.Error() != "token was used" {
			t.Error(err)
		}
	}
}

func TestLockErrors(t *testing.T) {
	w := newWorld(t)
	busy := errors.New("busy")
	w.Store.lock = func(context.Context, string, time.Duration) (func() error, error) { return nil, busy }
	if f, err := w.Read(t.Context()); err != nil || f.Revision != 0 {
		t.Errorf("nothing to read and nobody to wait for: %v", err)
	}
	must(t, vfs.Replace(w.fs, "/h/.auth.json.lock", []byte("pid=1\n"), 0o644))
	if _, err := w.Read(t.Context()); !errors.Is(err, busy) || errors.Is(err, ErrInvalid) {
		t.Errorf("a login in progress is not waited for: %v", err)
	}
	must(t, w.fs.Remove("/h/.auth.json.lock"))
	w.put("{}")
	if _, err := w.Read(t.Context()); !errors.Is(err, busy) || errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	w.Store.lock = func(context.Context, string, time.Duration) (func() error, error) {
		return func() error { return busy }, nil
	}
	if err := w.Put(t.Context(), "p", valid("a")); !errors.Is(err, busy) {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"api_key":null,"revision":1,"provider_generations":{"p":1},"p":{"type":"oauth","access":"a","refresh":null,"expires":1,"accountId":"x"}}`))
	f.Add([]byte(`{"p":{"type":"api_key","key":"k"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parse(data)
		if err != nil {
			return
		}
		again, err := parse(got.text())
		if err != nil || !cmp.Equal(got, again) {
			t.Fatalf("written and read again: %v", err)
		}
	})
}
