package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"magicode/internal/agenttest"
	"magicode/internal/mcp/mcptest"
)

// trace is a recorded conversation of the released program with a host.
type trace struct {
	Entries []struct {
		Direction string         `json:"direction"`
		Frame     map[string]any `json:"frame"`
	} `json:"frames"`
}

// TestRecordedTraces replays the seven recorded conversations against a real
// child, without telemetry and with it: the client's frames are sent as they are,
// with the child's own ids, and what comes back must say the same. Deltas are held
// against their reconciliation only, the blank line before later segments is
// dropped, and so is every reconciliation that repeats the last one (decision 23).
func TestRecordedTraces(t *testing.T) {
	for name, play := range map[string]recorded{
		"approval-allow": {script: "text:Before tool.  | tool:bash {\"command\":\"printf x >> effect.txt\",\"intent\":\"try\"}\ntext:After tool.", more: agenttest.Strictly},
		"approval-deny":  {script: "text:Before tool.  | tool:bash {\"command\":\"printf x >> effect.txt\",\"intent\":\"try\"}", more: agenttest.Strictly},
		"cancelled-turn": {script: "text:partial reply  | gate:never"},
		"degraded-turn":  {script: "text:visible reply  | gate:broken", during: loseSession},
		"resume-history": {before: storeToolSession},
		"tool-turn": {script: `text:Before tool.  | tool:code_mode {"code":"return tools.call('write', {path: 'effect.txt', content: 'x'}).success"}` +
			"\ntext:After tool. <redacted> done.\ntext:After tool. <redacted> done."},
		"mcp-turn": {script: "text:Before tool.  | tool:mcp__fixture__echo {}\ntext:After MCP.", before: fixtureServer},
	} {
		for _, telemetry := range []string{"off", "file"} { // it changes no frame
			t.Run(name+"/telemetry="+telemetry, func(t *testing.T) {
				t.Parallel()
				play.replay(t, name, "MC_TELEMETRY="+telemetry)
			})
		}
	}
}

// recorded is how a trace is played.
type recorded struct {
	script string
	more   string
	before func(t *testing.T, home, work string)
	during func(t *testing.T, home string, got []map[string]any) // after input.persisted
}

// replay plays a trace to a child with this variable.
func (play recorded) replay(t *testing.T, name, variable string) {
	t.Helper()
	var rec trace
	text, err := os.ReadFile("testdata/traces/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, &rec)
	}
	if err != nil || len(rec.Entries) == 0 {
		t.Fatal(err)
	}
	dir := t.TempDir()
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	p := agenttest.Start(t, play.script)
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := p.Settings(home, play.more); err != nil {
		t.Fatal(err)
	}
	if play.before != nil {
		play.before(t, home, work)
	}
	c, err := startChild(work, []string{"PATH=" + os.Getenv("PATH"), "MC_HOME=" + home, "HOME=" + dir, "NO_PROXY=127.0.0.1", variable})
	if err != nil {
		t.Fatal(err)
	}
	defer c.kill()
	r := &replayer{t: t, child: c, ids: map[string]string{}}
	if play.during != nil {
		r.during = func(got []map[string]any) {
			play.during(t, home, got)
			p.Release("broken")
		}
	}
	for _, e := range rec.Entries {
		if e.Direction != "client" {
			r.want = append(r.want, e.Frame)
			continue
		}
		r.settle()
		r.send(e.Frame)
	}
	r.settle()
	if got, _ := normalise(r.frames()); len(got) != r.settled {
		t.Errorf("%d frames, %d in the trace", len(got), r.settled)
	}
	if status, err := c.wait(); status != 0 || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
}

// replayer holds a child's frames against those of a trace.
type replayer struct {
	t       *testing.T
	child   *child
	want    []map[string]any
	ids     map[string]string // id of the trace -> id of this child
	settled int
	during  func(got []map[string]any)
}

// frames are those of the child so far.
func (r *replayer) frames() []map[string]any {
	var out []map[string]any
	for _, f := range r.child.all() {
		var m map[string]any
		if err := json.Unmarshal([]byte(f.Raw), &m); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

func (r *replayer) send(frame map[string]any) {
	b, err := json.Marshal(r.translate(frame))
	if err == nil {
		_, err = r.child.in.Write(append(b, '\n'))
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// translate replaces the trace's ids by the child's.
func (r *replayer) translate(v any) any {
	switch v := v.(type) {
	case string:
		if id, ok := r.ids[v]; ok {
			return id
		}
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = r.translate(e)
		}
		return out
	}
	return v
}

// settle waits until the child has said what the trace says up to here.
func (r *replayer) settle() {
	want, wantText := normalise(r.want)
	r.settled = len(want)
	late := time.After(agenttest.Patience)
	for {
		r.child.mu.Lock()
		fresh := r.child.fresh
		r.child.mu.Unlock()
		got, gotText := normalise(r.frames())
		if len(got) > 0 && r.during != nil && got[len(got)-1]["event"] == "input.persisted" && gotText > 0 {
			r.during(got)
			r.during = nil
		}
		if len(got) >= len(want) && gotText >= wantText && r.agree(want, got) {
			return
		}
		select {
		case <-fresh:
		case <-late:
			r.t.Fatalf("the child has said %d of %d", len(got), len(want))
		}
	}
}

// agree compares responses and events, each in their order; events may run
// ahead of a response, and so may more of either.
func (r *replayer) agree(want, got []map[string]any) bool {
	for _, kind := range []string{"response", "event"} {
		w, g := only(want, kind), only(got, kind)
		if len(g) < len(w) {
			return false
		}
		for i := range w {
			if err := r.unify(w[i], g[i], ""); err != nil {
				r.t.Fatalf("%s %d: %v\nwant %v\ngot  %v", kind, i, err, w[i], g[i])
			}
		}
	}
	return true
}

func only(frames []map[string]any, kind string) []map[string]any {
	var out []map[string]any
	for _, f := range frames {
		if f["type"] == kind {
			out = append(out, f)
		}
	}
	return out
}

// normalise drops what may differ. texts is how many messages have begun.
func normalise(frames []map[string]any) (out []map[string]any, texts int) {
	deltas, said := map[any]string{}, map[any]string{}
	for _, f := range frames {
		g := map[string]any{}
		for k, v := range f {
			if k != "seq" && k != "instance_id" {
				g[k] = v
			}
		}
		data, _ := f["data"].(map[string]any)
		wordless(f)
		switch f["event"] {
		case "message.delta":
			if strings.TrimSpace(data["text"].(string)) != "" {
				deltas[data["message_id"]] += data["text"].(string)
			}
			continue
		case "message.reconcile":
			key := fmt.Sprint(data["part"], data["text"], data["partial"])
			if said[data["message_id"]] == key {
				continue
			}
			said[data["message_id"]] = key
			if d := deltas[data["message_id"]]; !strings.HasPrefix(data["text"].(string), d) {
				g["deltas"] = d // no prefix: it will not unify
			}
		case "approval.requested":
			// Ours says first why it asks (tools.md 7.3).
			g["data"] = withSummary(data, data["summary"].(string)[strings.Index(data["summary"].(string), "printf"):])
		case "diagnostic":
			g["data"] = map[string]any{"code": data["code"]} // its words are ours
		}
		out = append(out, g)
	}
	return out, len(deltas)
}

// wordless blanks the words of a history's diagnostics that say why: they are ours.
func wordless(f map[string]any) {
	result, _ := f["result"].(map[string]any)
	entries, _ := result["entries"].([]any)
	for _, e := range entries {
		if m := e.(map[string]any); m["kind"] == "diagnostic" && !strings.HasPrefix(m["text"].(string), "Turn ") {
			m["text"] = ""
		}
	}
}

func withSummary(data map[string]any, summary string) map[string]any {
	out := maps.Clone(data)
	out["summary"] = summary
	return out
}

var opaque = regexp.MustCompile(`^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64})$`)

// unify compares a value of the trace with the child's. Opaque ids bind, once
// and for all, in both directions.
func (r *replayer) unify(want, got any, at string) error {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return fmt.Errorf("%s: %v, want %v", at, got, want)
		}
		for k := range w {
			if err := r.unify(w[k], g[k], at+"."+k); err != nil {
				return err
			}
		}
		return nil
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Errorf("%s: %v, want %v", at, got, want)
		}
		for i := range w {
			if err := r.unify(w[i], g[i], fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		return nil
	case string:
		g, ok := got.(string)
		if !ok || !opaque.MatchString(w) || len(g) != len(w) || !opaque.MatchString(g) {
			break
		}
		if bound, ok := r.ids[w]; ok {
			if bound != g {
				return fmt.Errorf("%s: %s, but it was %s before", at, g, bound)
			}
			return nil
		}
		for other, bound := range r.ids {
			if bound == g && other != w && !strings.Contains(at, ".entries") { // a message may keep its id in later histories
				return fmt.Errorf("%s: %s stands for two ids", at, g)
			}
		}
		r.ids[w] = g
		return nil
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("%s: %v, want %v", at, got, want)
	}
	return nil
}

// loseSession puts a folder in the place of the session file: nothing more can
// be appended.
func loseSession(t *testing.T, home string, got []map[string]any) {
	id := got[len(got)-1]["data"].(map[string]any)["session_id"].(string)
	path := filepath.Join(home, "sessions", id+".jsonl")
	if err := os.Rename(path, path+".away"); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Error(err)
	}
}

// fixtureServer defines and approves the MCP server of the mcp-turn trace.
func fixtureServer(t *testing.T, home, _ string) {
	source, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	source = filepath.Join(source, ".mcp.json")
	definition := map[string]any{"mcpServers": map[string]any{"fixture": map[string]any{
		"command": os.Args[0], "env": map[string]string{mcptest.Mode: mcptest.Ready, mcptest.Tool: "echo"}}}}
	text, err := json.Marshal(definition)
	if err == nil {
		err = os.WriteFile(source, text, 0o600)
	}
	var settings map[string]any
	file := filepath.Join(home, "settings.json")
	if err == nil {
		text, err = os.ReadFile(file)
	}
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	if err != nil {
		t.Fatal(err)
	}
	settings["capabilities"] = map[string]any{"mcp_approvals": map[string]any{source: map[string]bool{"fixture": true}}}
	if text, err = json.Marshal(settings); err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// storeToolSession writes the session that the trace resumes, as the run of
// the tool-turn trace left it.
func storeToolSession(t *testing.T, home, work string) {
	const id = "8448499e-b6ee-48a7-b7ac-60893ddcfc42"
	canonical, err := filepath.EvalSymlinks(work)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/traces/resume-history.jsonl")
	if err == nil {
		err = os.MkdirAll(filepath.Join(home, "sessions"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "sessions", id+".jsonl"), []byte(strings.ReplaceAll(string(text), "@CWD@", canonical)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
