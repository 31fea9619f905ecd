//go:build linux || darwin

package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/config"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// seen runs one hook and returns what it read on stdin.
func seen(t *testing.T, r *rig, sub Subject) map[string]any {
	t.Helper()
	if out, err := r.run(t, t.Context(), sub); err != nil || len(out.Notices) > 0 {
		t.Fatal(out, err)
	}
	raw, err := os.ReadFile(filepath.Join(r.dir, "in"))
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > maxInline {
		t.Errorf("%d bytes on stdin", len(raw))
	}
	var p map[string]any
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

const secret = "sk-proj-A1b2C3d4A1b2C3d4A1b2C3d4A1b2C3d4A1b2C3d4"

func hashEdit() (Subject, tool.Result) {
	res := tool.Result{Success: true, Content: "edited the text", Metadata: map[string]any{"stdout": "the output", "exit_code": 0, "note": "api_key=" + secret},
		Touched: []tool.Touched{{Path: "/w/a.go", Kind: "edit", Success: true}}}
	return Subject{Phase: AfterTool, Tool: "hash_edit", CallID: "c1", ActivityID: "c1",
		Request: json.RawMessage(`{"path":"a.go","input":"the patch","intent":"key ` + secret + `","n":1}`), Result: &res}, res
}

func TestRedactedPayload(t *testing.T) {
	r := newRig(t, config.Hooks{AfterTool: []config.Hook{one("cat >in")}})
	sub, _ := hashEdit()
	p := seen(t, r, sub)
	ctx := p["context"].(map[string]any)
	if _, err := time.Parse(time.RFC3339, ctx["timestamp"].(string)); err != nil {
		t.Error(err)
	}
	delete(ctx, "timestamp")
	data := p["payload"].(map[string]any)["data"]
	if d := cmp.Diff(map[string]any{"request": p["request"], "result": p["result"]}, data); d != "" {
		t.Error(d)
	}
	delete(p["payload"].(map[string]any), "data")
	want := map[string]any{
		"schema": "magi-code.tool_hook", "schema_version": 1.0, "phase": "after_tool", "cwd": r.dir, "payload_mode": "redacted",
		"hook": map[string]any{"label": "look", "index": 0.0, "failure_policy": "warn", "payload_mode": "redacted"},
		"tool": map[string]any{"name": "hash_edit", "call_id": "c1"},
		"context": map[string]any{"cwd": r.dir, "session_id": "s1", "session_path": "/s/s1.jsonl", "provider_id": "prov", "model_id": "mod", "agent_id": nil,
			"invocation_mode": "local_agent", "turn_id": "turn-3", "message_id": "tool-c1", "subagent": nil},
		"affected_paths": []any{map[string]any{"path": "a.go", "kind": "argument", "source": "request"}, map[string]any{"path": "/w/a.go", "kind": "edit", "source": "result"}},
		"payload":        map[string]any{"inline": true, "status": "inline"},
		"payload_ref":    nil,
		"request":        map[string]any{"path": "a.go", "input": map[string]any{"redacted": true, "kind": "content", "bytes": 9.0}, "intent": "key <redacted>", "n": 1.0},
		"result": map[string]any{"success": true, "content": "<redacted:tool-output>", "metadata": map[string]any{
			"stdout": map[string]any{"redacted": true, "kind": "output", "bytes": 10.0}, "exit_code": 0.0, "note": "api_key=<redacted>"}},
	}
	if d := cmp.Diff(want, p); d != "" {
		t.Error(d)
	}
}

func TestFullPayload(t *testing.T) {
	r := newRig(t, config.Hooks{AfterTool: []config.Hook{one("cat >in", full)}})
	sub, res := hashEdit()
	p := seen(t, r, sub)
	var request any
	if err := json.Unmarshal(sub.Request, &request); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(request, p["request"]); d != "" {
		t.Error(d)
	}
	got := p["result"].(map[string]any)
	if got["content"] != res.Content || got["metadata"].(map[string]any)["stdout"] != "the output" {
		t.Error(got)
	}
}

func TestHiding(t *testing.T) {
	for in, want := range map[string]string{
		`{"command":"ls","cmd":"ls"}`:                 `{"cmd":{"bytes":2,"kind":"command","redacted":true},"command":{"bytes":2,"kind":"command","redacted":true}}`,
		`{"content":7,"text":null,"input":true}`:      `{"content":7,"input":true,"text":null}`,
		`{"content":["a",{"text":"b"}]}`:              `{"content":{"bytes":18,"kind":"content","redacted":true}}`,
		`{"tasks":[{"intent":"i","context":"c"}]}`:    `{"tasks":[{"context":{"bytes":1,"kind":"content","redacted":true},"intent":"i"}]}`,
		`{"n":12345678901234567890,"f":1.50,"s":"x"}`: `{"f":1.50,"n":12345678901234567890,"s":"x"}`,
		`"a string"`: `"a string"`,
		`[1]`:        `[1]`,
	} {
		got, err := summarised(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", in, err, got, want)
		}
	}
}

func TestLargePayloads(t *testing.T) {
	body := func(n int) Subject {
		return after(`{"path":"a"}`, tool.Result{Success: true, Content: strings.Repeat("x", n), Metadata: map[string]any{}})
	}
	// The hook copies what it is pointed at, so that the test sees it.
	const command = `cat >in; p=$(sed -n 's/.*"payload_ref":{"path":"\([^"]*\)".*/\1/p' in); if test -n "$p"; then cp "$p" copy; stat -c '%a' "$p" $(dirname "$p") >modes 2>/dev/null || stat -f '%Lp' "$p" $(dirname "$p") >modes; fi`
	for name, row := range map[string]struct {
		size   int
		status string
	}{
		"inline":     {300_000, "inline"},
		"just over":  {530_000, "referenced"},
		"referenced": {8 << 20, "referenced"},
		"too large":  {17 << 20, "omitted_too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, config.Hooks{AfterTool: []config.Hook{one(command, full)}})
			p := seen(t, r, body(row.size))
			carrier := p["payload"].(map[string]any)
			if carrier["status"] != row.status || carrier["inline"] != (row.status == "inline") || (p["request"] != nil) != (row.status == "inline") {
				t.Errorf("%v", carrier["status"])
			}
			ref, referenced := p["payload_ref"].(map[string]any)
			if referenced != (row.status == "referenced") {
				t.Fatalf("reference %v", ref)
			}
			if referenced {
				checkReference(t, r, ref, row.size)
			}
			left, err := os.ReadDir(filepath.Join(r.dir, "sessions"))
			if err != nil || len(left) != 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

func checkReference(t *testing.T, r *rig, ref map[string]any, size int) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.dir, "copy"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	want := map[string]any{"path": filepath.Join(r.dir, "sessions", "hook-payloads", "s1", "id-1", "payload.json"), "bytes": float64(len(raw)),
		"payload_mode": "full", "media_type": "application/json", "digest_sha256": "sha256:" + hex.EncodeToString(sum[:])}
	if d := cmp.Diff(want, ref); d != "" {
		t.Error(d)
	}
	var b struct{ Result struct{ Content string } }
	if err := json.Unmarshal(raw, &b); err != nil || len(b.Result.Content) != size {
		t.Errorf("%v, %d bytes", err, len(b.Result.Content))
	}
	if modes, _ := os.ReadFile(filepath.Join(r.dir, "modes")); string(modes) != "600\n700\n" {
		t.Errorf("modes %q", modes)
	}
}

// TestReferenceFallback: a sessions folder that takes no folder, or holds a
// link in its place, is passed by.
func TestReferenceFallback(t *testing.T) {
	for name, spoil := range map[string]func(*testing.T, *rig){
		"a file": func(t *testing.T, r *rig) {
			if err := os.WriteFile(filepath.Join(r.dir, "sessions", "hook-payloads"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a link": func(t *testing.T, r *rig) {
			if err := os.Symlink(t.TempDir(), filepath.Join(r.dir, "sessions", "hook-payloads")); err != nil {
				t.Fatal(err)
			}
		},
		"nothing": func(_ *testing.T, r *rig) { r.set.opt.Payloads = "" },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, config.Hooks{AfterTool: []config.Hook{one("cat >in", full)}})
			spoil(t, r)
			p := seen(t, r, after(`{}`, tool.Result{Content: strings.Repeat("x", 2<<20)}))
			path := p["payload_ref"].(map[string]any)["path"].(string)
			if !strings.HasPrefix(path, filepath.Join(r.dir, "magi-code-hook-")) {
				t.Error(path)
			}
			if _, err := os.Stat(filepath.Dir(path)); err == nil {
				t.Error("it was left behind")
			}
		})
	}
	t.Run("nowhere", func(t *testing.T) {
		r := newRig(t, config.Hooks{AfterTool: []config.Hook{one("cat >in", full)}})
		r.set.opt.Payloads, r.set.opt.Temp = "", filepath.Join(r.dir, "gone")
		p := seen(t, r, after(`{}`, tool.Result{Content: strings.Repeat("x", 2<<20)}))
		if p["payload"].(map[string]any)["status"] != "omitted_too_large" {
			t.Error(p["payload"])
		}
	})
}

func TestMessages(t *testing.T) {
	h := []config.Hook{one("cat >in", full)}
	r := newRig(t, config.Hooks{AfterText: h, AfterThink: h})
	for want, sub := range map[string]Subject{"assistant": r.set.Assistant("<the text>"), "reasoning": r.set.Reasoning("<the text>")} {
		p := seen(t, r, sub)
		ctx := p["context"].(map[string]any)
		if d := cmp.Diff(map[string]any{"name": want, "call_id": want + "-turn-3"}, p["tool"]); d != "" {
			t.Error(d)
		}
		if p["phase"] != "after_"+want || p["request"].(map[string]any)["text"] != "<the text>" || p["result"] != nil || ctx["message_id"] != want+"-turn-3" || len(p["affected_paths"].([]any)) != 0 {
			t.Errorf("%v", p)
		}
	}
	for _, ev := range r.records {
		if p := ev.Payload.(map[string]any); ev.Kind != session.KindHookLifecycle || p["activity_id"] != nil || p["target_ran"] != true {
			t.Errorf("%v", p)
		}
	}
}

func TestAffectedPathsAreBounded(t *testing.T) {
	args := `{"paths":["` + strings.Repeat(`p","`, 30) + strings.Repeat("é", 2000) + `"]}`
	got := affectedPaths(before(args), true)
	if len(got) != maxAffected {
		t.Error(len(got))
	}
	long := affectedPaths(before(`{"path":"`+strings.Repeat("é", 2000)+`"}`), true)
	if n := len([]rune(long[0].Path)); n != maxAffectedChars {
		t.Error(n)
	}
	if got := affectedPaths(before(`{"path":"api_key=`+secret+`"}`), false); strings.Contains(got[0].Path, "A1b2") {
		t.Error(got)
	}
}

func TestMessageIsBounded(t *testing.T) {
	if got := bounded(strings.Repeat("é", 1025)); len([]rune(got)) != maxMessage+1 || !strings.HasSuffix(got, "…") {
		t.Error(len(got))
	}
	if s := strings.Repeat("é", 1024); bounded(s) != s {
		t.Error("cut too early")
	}
}
