package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/provider"
	"magicode/internal/session"
)

var errBusy = errors.New("owned")

// fakeStore holds session files as records.
type fakeStore struct {
	files map[string][]session.Record
	torn  map[string]bool
	owned map[string]int
	made  int
	onEnd func()
}

func newFakeStore() *fakeStore {
	return &fakeStore{files: map[string][]session.Record{}, torn: map[string]bool{}, owned: map[string]int{}}
}

func (s *fakeStore) take(id string) (*fakeHandle, error) {
	if s.owned[id] > 0 {
		return nil, errBusy
	}
	s.owned[id]++
	return &fakeHandle{store: s, id: id}, nil
}

func (s *fakeStore) create(context.Context) (handle, error) {
	s.made++
	h, err := s.take(fmt.Sprint("new", s.made))
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (s *fakeStore) open(ctx context.Context, id string, fold session.Fold) (handle, session.ReadInfo, error) {
	if _, ok := s.files[id]; !ok {
		return nil, session.ReadInfo{}, ErrMissing
	}
	h, err := s.take(id)
	if err != nil {
		return nil, session.ReadInfo{}, err
	}
	info, err := h.Reload(ctx, fold)
	if err != nil {
		return nil, info, errors.Join(err, h.Close())
	}
	return h, info, nil
}

// fakeHandle compares files by their number of records.
type fakeHandle struct {
	store  *fakeStore
	id     string
	folds  []session.Fold
	seen   int
	stale  bool
	closed bool
}

func (h *fakeHandle) ID() string { return h.id }

func (h *fakeHandle) Follow(f session.Fold) { h.folds = append(h.folds, f) }

func (h *fakeHandle) Reload(_ context.Context, folds ...session.Fold) (session.ReadInfo, error) {
	recs, ok := h.store.files[h.id]
	if !ok {
		return session.ReadInfo{}, ErrMissing
	}
	for i, r := range recs {
		r.Index = i
		for _, f := range folds {
			if err := f.Apply(r); err != nil {
				return session.ReadInfo{}, err
			}
		}
	}
	h.seen, h.stale = len(recs), false
	if h.store.onEnd != nil {
		h.store.onEnd()
	}
	return session.ReadInfo{Torn: h.store.torn[h.id]}, nil
}

func (h *fakeHandle) Unchanged(ctx context.Context) error {
	if h.stale {
		return ErrStale
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(h.store.files[h.id]) != h.seen {
		h.stale = true
		return ErrStale
	}
	return nil
}

func (h *fakeHandle) Durable() bool { _, ok := h.store.files[h.id]; return ok }

func (h *fakeHandle) Close() error {
	if !h.closed {
		h.closed = true
		h.store.owned[h.id]--
	}
	return nil
}

func (h *fakeHandle) append(t *testing.T, recs ...session.Record) {
	t.Helper()
	for _, r := range recs {
		r.Index = len(h.store.files[h.id])
		h.store.files[h.id] = append(h.store.files[h.id], r)
		h.seen++
		for _, f := range h.folds {
			if err := f.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

type fakeModels struct {
	ready  map[string]bool
	offers map[string]bool // provider/model
}

func (m fakeModels) Ready(_ context.Context, p string) bool { return m.ready[p] }
func (m fakeModels) Offers(p, model string) bool            { return m.offers[p+"/"+model] }

var startup = provider.Selection{Provider: "start", Model: "start-model", Level: "low"}

func newService(t *testing.T, store *fakeStore) *Service {
	t.Helper()
	n := 0
	s := New(Options{
		FS: newHome(t), Cwd: "/w", Startup: startup,
		Models: fakeModels{map[string]bool{"p": true, "openai-codex": true, "claude-code": true}, map[string]bool{"p/m": true, "unready/m": true, "openai-codex/gpt-5.6-sol": true, "claude-code/m": true}},
		NewID:  func() string { n++; return fmt.Sprintf("id%d", n) },
	})
	s.store = store
	return s
}

func record(kind session.Kind, payload string) session.Record {
	return session.Record{Kind: kind, Cwd: "/w", Payload: []byte(payload)}
}

var (
	question = record(session.KindUserInput, `{"text":"Q"}`)
	answer   = record(session.KindAssistantOutput, `{"text":"A"}`)
)

func texts(t *testing.T, s *Service) []string {
	t.Helper()
	raw, err := s.Page(t.Context(), nil, s.Current().ID(), s.Current().Revision(), "")
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Complete bool
		Entries  []struct{ Text string }
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	out := []string{fmt.Sprint(p.Complete)}
	for _, e := range p.Entries {
		out = append(out, e.Text)
	}
	return out
}

func TestCreate(t *testing.T) {
	store := newFakeStore()
	s := newService(t, store)
	a, err := s.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a.Durable() || a.Revision() == "" || a.Notices() == nil || len(a.Notices()) != 0 || a.Selection() != startup || a != s.Current() {
		t.Errorf("%+v", a)
	}
	if d := cmp.Diff([]string{"true"}, texts(t, s)); d != "" {
		t.Error(d)
	}
	// The same child may open it again before anything was stored.
	b, err := s.Open(t.Context(), a.ID())
	if err != nil || b.Durable() || b.Revision() == a.Revision() || len(b.Notices()) != 0 {
		t.Errorf("%+v, %v", b, err)
	}
	if err := s.Close(); err != nil || store.owned[a.ID()] != 0 || s.Close() != nil {
		t.Errorf("%v, owned %v", err, store.owned)
	}
}

func TestOpen(t *testing.T) {
	prefer := func(p, m string) session.Record {
		return record(session.KindSessionPreferences, `{"provider":"`+p+`","model":"`+m+`","requested_thinking":"max"}`)
	}
	elsewhere := question
	elsewhere.Cwd = "/other"
	nowhere := question
	nowhere.Cwd = ""
	kept := provider.Selection{Provider: "start", Model: "start-model", Level: "max"}
	for _, c := range []struct {
		what    string
		in      []session.Record
		err     error
		notices []string
		sel     provider.Selection
	}{
		{"plain", []session.Record{question, answer}, nil, []string{}, startup},
		{"empty file", nil, nil, []string{NoticeCwdUnverified}, startup},
		{"no folder recorded", []session.Record{nowhere}, nil, []string{NoticeCwdUnverified}, startup},
		{"one without, one with", []session.Record{nowhere, answer}, nil, []string{}, startup},
		{"elsewhere", []session.Record{question, elsewhere}, ErrCwdMismatch, nil, startup},
		{"restored", []session.Record{question, prefer("p", "m")}, nil, []string{}, provider.Selection{Provider: "p", Model: "m", Level: "max"}},
		{"alias", []session.Record{question, prefer("openai-codex", "gpt-5.6")}, nil, []string{}, provider.Selection{Provider: "openai-codex", Model: "gpt-5.6-sol", Level: "max"}},
		{"not in the catalog", []session.Record{question, prefer("p", "other")}, nil, []string{NoticeSelectionUnavailable}, kept},
		{"not ready", []session.Record{question, prefer("unready", "m")}, nil, []string{NoticeSelectionUnavailable}, kept},
		{"claude-code", []session.Record{question, prefer("claude-code", "m")}, nil, []string{NoticeSelectionUnavailable}, kept},
		{"both notices", []session.Record{{Kind: session.KindSessionPreferences, Payload: prefer("x", "y").Payload}}, nil, []string{NoticeCwdUnverified, NoticeSelectionUnavailable}, kept},
		{"malformed text", []session.Record{record(session.KindUserInput, `{}`)}, ErrInvalid, nil, startup},
		{"over the limits", slices.Repeat([]session.Record{question, answer}, 5001), ErrLimit, nil, startup},
		{"broken scope", []session.Record{record(session.KindTaskScope, `{}`)}, ErrInvalid, nil, startup},
		{"the wrong place comes before a broken scope and the limits", append(slices.Repeat([]session.Record{question, answer}, 5001), record(session.KindTaskScope, `{}`), elsewhere), ErrCwdMismatch, nil, startup},
	} {
		store := newFakeStore()
		store.files["s"] = c.in
		s := newService(t, store)
		a, err := s.Open(t.Context(), "s")
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.what, err)
		}
		if c.err != nil {
			if a != nil || s.Current() != nil || store.owned["s"] != 0 {
				t.Errorf("%s: a failed open kept something", c.what)
			}
			continue
		}
		if d := cmp.Diff(c.notices, a.Notices()); d != "" || !a.Durable() {
			t.Errorf("%s: %s", c.what, d)
		}
		if a.Selection() != c.sel {
			t.Errorf("%s: %+v", c.what, a.Selection())
		}
	}
}

// TestOwnership: another session releases the first once it is attached; a
// failed open keeps it.
func TestOwnership(t *testing.T) {
	store := newFakeStore()
	store.files["a"], store.files["b"], store.files["bad"] = []session.Record{question, answer}, []session.Record{question, answer}, []session.Record{record(session.KindUserInput, `1`)}
	store.files["busy"], store.owned["busy"] = []session.Record{question}, 1
	s := newService(t, store)
	first, err := s.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]error{"missing": ErrMissing, "bad": ErrInvalid, "busy": errBusy} {
		if _, err := s.Open(t.Context(), id); !errors.Is(err, want) || s.Current() != first || store.owned["a"] != 1 {
			t.Errorf("%s: %v, owned %v", id, err, store.owned)
		}
	}
	if got := texts(t, s); len(got) != 3 {
		t.Errorf("the first one's history: %v", got)
	}
	if _, err := s.Open(t.Context(), "b"); err != nil || store.owned["a"] != 0 || store.owned["b"] != 1 {
		t.Errorf("%v, owned %v", err, store.owned)
	}
	if _, err := s.Create(t.Context()); err != nil || store.owned["b"] != 0 {
		t.Errorf("%v, owned %v", err, store.owned)
	}
}

func TestPageErrors(t *testing.T) {
	store := newFakeStore()
	s := newService(t, store)
	if _, err := s.Page(t.Context(), nil, "s", "r", ""); !errors.Is(err, ErrMissing) {
		t.Errorf("nothing attached: %v", err)
	}
	store.files["s"] = slices.Repeat([]session.Record{question, answer}, 60)
	a, err := s.Open(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, id, revision, cursor string
		err                        error
	}{
		{"first", "s", a.Revision(), "", nil},
		{"second", "s", a.Revision(), a.Revision() + ".1", nil},
		{"out of range", "s", a.Revision(), a.Revision() + ".2", ErrStale},
		{"other session", "t", a.Revision(), "", ErrOtherSession},
		{"other revision", "s", "r", "", ErrStale},
		{"other revision, bad cursor", "s", "r", "é", ErrCursor},
		{"bogus cursor", "s", a.Revision(), "bogus", ErrStale},
		{"long cursor", "s", a.Revision(), strings.Repeat("c", 65), ErrCursor},
	} {
		got, err := s.Page(t.Context(), []byte("kept "), c.id, c.revision, c.cursor)
		if !errors.Is(err, c.err) || (err == nil) != strings.HasPrefix(string(got), `kept {"complete":`) {
			t.Errorf("%s: %v, %.20s", c.what, err, got)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("stopped")
	cancel(cause)
	if _, err := s.Page(ctx, nil, "s", a.Revision(), ""); !errors.Is(err, cause) {
		t.Errorf("cancelled: %v", err)
	}
	store.files["s"] = append(store.files["s"], question)
	if _, err := s.Page(t.Context(), nil, "s", a.Revision(), ""); !errors.Is(err, ErrStale) {
		t.Errorf("changed: %v", err)
	}
}

// TestStaleForGood: an outside change invalidates the snapshot even when it is
// taken back; opening again gives a new one.
func TestStaleForGood(t *testing.T) {
	store := newFakeStore()
	store.files["s"] = []session.Record{question, answer}
	s := newService(t, store)
	a, err := s.Open(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	store.files["s"] = append(store.files["s"], question, answer)
	if err := a.Check(t.Context()); !errors.Is(err, ErrStale) {
		t.Fatal(err)
	}
	store.files["s"] = store.files["s"][:2]
	if err := a.Check(t.Context()); !errors.Is(err, ErrStale) {
		t.Errorf("forgiven: %v", err)
	}
	store.files["s"] = append(store.files["s"], question, answer)
	b, err := s.Open(t.Context(), "s")
	if err != nil || b.Revision() == a.Revision() || store.owned["s"] != 1 {
		t.Fatalf("%v, owned %v", err, store.owned)
	}
	if d := cmp.Diff([]string{"true", "Q", "A", "Q", "A"}, texts(t, s)); d != "" {
		t.Error(d)
	}
	// Records appended from now on reach the new folds.
	b.handle.(*fakeHandle).append(t, question, answer)
	if _, err := b.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, s); len(got) != 7 {
		t.Errorf("%v", got)
	}
}

// TestReopenFailsSoftly: the attachment stays, and stays stale.
func TestReopenFailsSoftly(t *testing.T) {
	store := newFakeStore()
	store.files["s"] = []session.Record{question, answer}
	s := newService(t, store)
	a, err := s.Open(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	bad := question
	bad.Cwd = "/other"
	store.files["s"] = append(store.files["s"], bad)
	if _, err := s.Open(t.Context(), "s"); !errors.Is(err, ErrCwdMismatch) || s.Current() != a || store.owned["s"] != 1 {
		t.Fatalf("%v, owned %v", err, store.owned)
	}
	if err := a.Check(t.Context()); !errors.Is(err, ErrStale) {
		t.Errorf("the old snapshot passes for the new file: %v", err)
	}
	delete(store.files, "s")
	if _, err := s.Open(t.Context(), "s"); !errors.Is(err, ErrMissing) || s.Current() != a {
		t.Errorf("deleted: %v", err)
	}
}

// TestTurn: the milestones of a run, seen from the attachment.
func TestTurn(t *testing.T) {
	s := newService(t, newFakeStore())
	a, err := s.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := a.handle.(*fakeHandle)
	old := a.Revision()
	h.append(t, question)
	id, revision, err := a.InputSnapshot(t.Context())
	if err != nil || id == "" || revision == "" || revision == old || a.Revision() != old || a.TerminalRecorded() || a.Prompts() != 1 {
		t.Fatalf("%q %q %v", id, revision, err)
	}
	h.append(t, answer)
	revision, err = a.Refresh(t.Context())
	if err != nil || revision != a.Revision() || !a.TerminalRecorded() || !a.Durable() {
		t.Fatalf("%q %v", revision, err)
	}
	raw, err := s.Page(t.Context(), nil, a.ID(), revision, "")
	if err != nil || !strings.Contains(string(raw), `"message_id":"`+id+`"`) {
		t.Errorf("the input's id is not in the history: %v %s", err, raw)
	}
	if _, err := s.Page(t.Context(), nil, a.ID(), old, ""); !errors.Is(err, ErrStale) {
		t.Errorf("the old revision: %v", err)
	}
}

// TestTurnOverTheLimits: a history that grew too large fails no append; it
// costs the revision.
func TestTurnOverTheLimits(t *testing.T) {
	store := newFakeStore()
	store.files["s"] = slices.Repeat([]session.Record{question, answer}, 5000)
	s := newService(t, store)
	a, err := s.Open(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	old := a.Revision()
	a.handle.(*fakeHandle).append(t, question)
	if _, _, err := a.InputSnapshot(t.Context()); !errors.Is(err, ErrLimit) {
		t.Errorf("input: %v", err)
	}
	a.handle.(*fakeHandle).append(t, answer, question)
	if _, err := a.Refresh(t.Context()); !errors.Is(err, ErrLimit) {
		t.Errorf("refresh: %v", err)
	}
	if _, err := s.Page(t.Context(), nil, "s", old, ""); !errors.Is(err, ErrStale) {
		t.Errorf("page: %v", err)
	}
}

func TestTornTail(t *testing.T) {
	store := newFakeStore()
	store.files["s"], store.torn["s"] = []session.Record{question, answer}, true
	s := newService(t, store)
	a, err := s.Open(t.Context(), "s")
	if err != nil || len(a.Notices()) != 0 {
		t.Fatalf("%v", err)
	}
	if got := texts(t, s); got[0] != "false" || len(got) != 4 {
		t.Errorf("%v", got)
	}
	if _, err := s.Open(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, s); got[0] != "false" || len(got) != 4 {
		t.Errorf("opened again: %v", got)
	}
	s.Current().handle.(*fakeHandle).append(t, record(session.KindDiagnostic, `{"message":"set aside"}`), question, answer)
	if _, err := s.Current().Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, s); got[0] != "true" || len(got) != 6 {
		t.Errorf("after the repair: %v", got)
	}
	if _, err := s.Open(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, s); got[0] != "true" || len(got) != 6 {
		t.Errorf("after the repair, opened again: %v", got)
	}
}

// TestCancelledBetweenSteps: the cause comes back and the handle is released.
func TestCancelledBetweenSteps(t *testing.T) {
	cause := errors.New("shutdown")
	ctx, cancel := context.WithCancelCause(t.Context())
	store := newFakeStore()
	store.files["s"] = []session.Record{question, answer}
	store.onEnd = func() { cancel(cause) }
	s := newService(t, store)
	if _, err := s.Open(ctx, "s"); !errors.Is(err, cause) || store.owned["s"] != 0 || s.Current() != nil {
		t.Errorf("%v, owned %v", err, store.owned)
	}
	if _, err := s.Create(ctx); !errors.Is(err, cause) {
		t.Errorf("create: %v", err)
	}
}

func TestSelect(t *testing.T) {
	s := newService(t, newFakeStore())
	a, err := s.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := provider.Selection{Provider: "p", Model: "m", Level: "high"}
	a.Select(other)
	if a.Selection() != other {
		t.Errorf("%+v", a.Selection())
	}
	if b, err := s.Create(t.Context()); err != nil || b.Selection() != startup {
		t.Errorf("the choice outlived its attachment: %+v, %v", b.Selection(), err)
	}
}
