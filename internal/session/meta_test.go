package session

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/vfs/faultfs"
)

func metaOf(lines ...string) Meta {
	p := pass{id: sid, stop: 1 << 30}
	for _, l := range lines {
		if p.line([]byte(strings.TrimSpace(l)), 0) != nil {
			panic(l)
		}
	}
	p.deliver(&batch{records: p.found})
	p.meta.latest = instant{}
	return p.meta
}

func TestMeta(t *testing.T) {
	input := func(s string) string { return line("user_input", `{"text":"`+s+`"}`) }
	title := line("session_title", `{"title":" \"A\u201c  b\u0007title "}`)
	const at = "2026-01-02T03:04:05.000000001Z"
	for _, c := range []struct {
		name  string
		lines []string
		want  Meta
	}{
		{"none", nil, Meta{}},
		{"prompts", []string{input("  "), input("one"), input("two")}, Meta{LatestActivity: at, SessionPath: cwd, FirstInput: "one", UserInputs: 3}},
		{"title clears the text", []string{input("one"), title}, Meta{LatestActivity: at, SessionPath: cwd, Title: "A b title", UserInputs: 1}},
		{"the next prompt appears", []string{input("one"), title, input("two"), input("three")}, Meta{LatestActivity: at, SessionPath: cwd, Title: "A b title", FirstInput: "two", UserInputs: 3}},
		{"blank title", []string{input("one"), line("session_title", `{"title":"''"}`)}, Meta{LatestActivity: at, SessionPath: cwd, FirstInput: "one", UserInputs: 1}},
		{"checkpoint", []string{line("compaction", `{"aggregate":{"latest_title":"T","user_input_count":7,"first_user_input_text":null,"session_path":"/other","latest_activity_timestamp":"2030-01-01T00:00:00Z"}}`), input("x")},
			Meta{LatestActivity: "2030-01-01T00:00:00Z", SessionPath: "/other", Title: "T", FirstInput: "x", UserInputs: 8}},
	} {
		if diff := cmp.Diff(c.want, metaOf(c.lines...), cmp.AllowUnexported(Meta{}, instant{})); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if got := CleanTitle(strings.Repeat("é", 60)); got != strings.Repeat("é", 50) {
		t.Errorf("%q", got)
	}
	if got := metaOf(input(strings.Repeat("é ", 3000))); len([]rune(got.FirstInput)) != maxFirstText {
		t.Errorf("%d characters", len([]rune(got.FirstInput)))
	}
}

func TestSidecar(t *testing.T) {
	m := newMem(t)
	ff := faultfs.New(m)
	h, err := NewStore(options(t, ff, 100, procs{})).Create(t.Context())
	must(t, err)
	path := dir + "/" + sid + ".metadata.json"
	write := func() {
		t.Helper()
		if o, err := h.WriteSidecar(t.Context()); o != Durable || err != nil {
			t.Errorf("%v %v", o, err)
		}
	}
	write()
	if content(t, m, path) != "" {
		t.Error("a sidecar without a log")
	}
	appendOK(t, h, Required, user("hello <b>"))
	syncs := ff.Count(faultfs.Sync) + ff.Count(faultfs.SyncDir)
	write()
	if ff.Count(faultfs.Sync)+ff.Count(faultfs.SyncDir) != syncs {
		t.Error("the sidecar was synced")
	}
	log, err := m.Lstat(file)
	must(t, err)
	want := `{
  "schema_version": 3,
  "session_id": "s-1",
  "latest_activity_timestamp": "2027-01-15T08:00:00.000000001Z",
  "latest_title": null,
  "session_path": "/srv/project",
  "first_user_input_text": "hello <b>",
  "user_input_count": 1,
  "jsonl_len": ` + jsonOf(log.Size) + `,
  "jsonl_modified_ns": ` + jsonOf(log.Mtime.UnixNano()) + `,
  "complete": true
}`
	if diff := cmp.Diff(want, content(t, m, path)); diff != "" {
		t.Error(diff)
	}
	if info, _ := m.Lstat(path); info.Mode != 0o600 {
		t.Errorf("mode %v", info.Mode)
	}
	mine, err := h.Meta(context.Background())
	got, ok := ReadSidecar(m, dir, sid)
	if diff := cmp.Diff(mine, got, cmp.AllowUnexported(Meta{}, instant{})); !ok || err != nil || diff != "" {
		t.Errorf("%v %v %s", ok, err, diff)
	}
	appendOK(t, h, Ordered, chunk("quiet"))
	if _, ok := ReadSidecar(m, dir, sid); ok {
		t.Error("a stale sidecar counts")
	}
	before := ff.Count(faultfs.Rename)
	write()
	appendOK(t, h, Ordered, chunk("quiet"))
	appendOK(t, h, Ordered, Event{Kind: KindTurnStatus, Payload: map[string]any{"status": "failed"}})
	write()
	if n := ff.Count(faultfs.Rename) - before; n != 1 {
		t.Errorf("written %d times", n)
	}
	if _, ok := ReadSidecar(m, dir, sid); !ok {
		t.Error("not brought up to date")
	}
	appendOK(t, h, Ordered, user("x"))
	ff.Inject(faultfs.Fault{Op: faultfs.Rename})
	if o, err := h.WriteSidecar(t.Context()); o != MetadataFailed || err == nil {
		t.Errorf("%v %v", o, err)
	}
	write()
	must(t, h.Close())
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
