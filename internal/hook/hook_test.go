//go:build linux || darwin

package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"magicode/internal/config"
	"magicode/internal/session"
	"magicode/internal/tool"
	"magicode/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a set in a folder of its own, and the records that it made.
type rig struct {
	dir     string
	set     *Set
	records []session.Event
}

func defaults() config.HookOptions {
	return config.HookOptions{Payload: config.PayloadRedacted, Policy: config.PolicyWarn, TimeoutSeconds: 5, StdoutMaxBytes: 8192, StderrMaxBytes: 8192, ContextMaxBytes: 64}
}

func one(command string, change ...func(*config.Hook)) config.Hook {
	h := config.Hook{HookOptions: defaults(), Label: "look", Command: command}
	for _, c := range change {
		c(&h)
	}
	return h
}

func policy(p config.HookPolicy) func(*config.Hook) { return func(h *config.Hook) { h.Policy = p } }
func full(h *config.Hook)                           { h.Payload = config.PayloadFull }
func injecting(h *config.Hook)                      { h.ContextInjection = true }

func newRig(t *testing.T, s config.Hooks) *rig {
	t.Helper()
	dir := t.TempDir()
	sessions := filepath.Join(dir, "sessions")
	if err := os.Mkdir(sessions, 0o700); err != nil {
		t.Fatal(err)
	}
	s.Enabled = true
	n := 0
	r := &rig{dir: dir}
	r.set = New(Options{
		Settings: s, Shell: tool.ShellPolicy{AbsolutePaths: true, ShellExpansion: true}, FS: vfs.OS(), Payloads: sessions, Temp: dir,
		Environ: append(os.Environ(), "SECRET_TOKEN=hunter2", "LC_TIME=C", "OTHER=1"),
		NewID:   func() string { n++; return fmt.Sprintf("id-%d", n) },
		Context: Context{Cwd: dir, SessionID: "s1", SessionPath: "/s/s1.jsonl", ProviderID: "prov", ModelID: "mod", InvocationMode: "local_agent", Turn: 3},
	})
	return r
}

func (r *rig) run(t *testing.T, ctx context.Context, sub Subject) (Outcome, error) {
	t.Helper()
	return r.set.Run(ctx, sub, func(ev session.Event) { r.records = append(r.records, ev) })
}

// shown is a record without what depends on time.
func (r *rig) shown() []string {
	var out []string
	for _, ev := range r.records {
		p := ev.Payload.(map[string]any)
		switch ev.Kind {
		case session.KindHookLifecycle:
			out = append(out, fmt.Sprintf("lifecycle %v %v %v %v", p["phase"], p["label"], p["status"], p["category"]))
		case session.KindHookDiagnostic:
			out = append(out, fmt.Sprintf("diagnostic %v %v", p["category"], p["policy"]))
		case session.KindHookContextInjection:
			out = append(out, fmt.Sprintf("injection %v %v %v", p["status"], p["item_count"], p["byte_count"]))
		}
	}
	return out
}

func before(args string) Subject {
	return Subject{Phase: BeforeTool, Tool: "bash", CallID: "c1", ActivityID: "c1", Request: json.RawMessage(args)}
}

func after(args string, res tool.Result) Subject {
	s := before(args)
	s.Phase, s.Result = AfterTool, &res
	return s
}

func TestNoHooks(t *testing.T) {
	if s := New(Options{}); s != nil {
		t.Error("hooks that are switched off")
	}
	var none *Set
	if out, err := none.Run(t.Context(), none.Assistant("x"), nil); err != nil || out.Stop != nil || none.Any(BeforeTool) {
		t.Error(out, err)
	}
}

func TestMatching(t *testing.T) {
	for name, row := range map[string]struct {
		include, exclude []string
		tool             string
		want             bool
	}{
		"no lists":             {nil, nil, "bash", true},
		"included":             {[]string{"bash"}, nil, "bash", true},
		"not included":         {[]string{"read"}, nil, "bash", false},
		"excluded":             {nil, []string{"bash"}, "bash", false},
		"exclude wins":         {[]string{"bash"}, []string{"bash"}, "bash", false},
		"name as sent":         {[]string{"bash"}, nil, "shell", false},
		"alias listed":         {[]string{"shell"}, nil, "shell", true},
		"no part of a name":    {[]string{"ba"}, nil, "bash", false},
		"MCP tool":             {[]string{"mcp__a__b"}, nil, "mcp__a__b", true},
		"another one excluded": {nil, []string{"read"}, "bash", true},
	} {
		t.Run(name, func(t *testing.T) {
			h := one("true")
			h.IncludeTools, h.ExcludeTools = row.include, row.exclude
			if got := matches(h, Subject{Phase: AfterTool, Tool: row.tool}); got != row.want {
				t.Errorf("%v", got)
			}
			if !matches(h, Subject{Phase: AfterAssistant, Tool: "assistant"}) {
				t.Error("the lists count in a message phase")
			}
		})
	}
}

func TestFailures(t *testing.T) {
	sh := func(p tool.ShellPolicy) func(*rig) { return func(r *rig) { r.set.opt.Shell = p } }
	for name, row := range map[string]struct {
		command string
		change  func(*config.Hook)
		rig     func(*rig)
		want    string // category, "" for success
	}{
		"success":             {command: "cat >/dev/null"},
		"reads nothing":       {command: "true"},
		"closes stdin":        {command: "exec <&-; true"},
		"status":              {command: "exit 3", want: failExit},
		"signal":              {command: "kill -9 $$", want: failExit},
		"not found":           {command: "no-such-program-at-all", want: failExit},
		"hangs":               {command: "sleep 60", change: func(h *config.Hook) { h.TimeoutSeconds = 1 }, want: failTimeout},
		"ignores TERM":        {command: "trap '' TERM; while :; do sleep 60; done", change: func(h *config.Hook) { h.TimeoutSeconds = 1 }, want: failTimeout},
		"floods stdout":       {command: "yes", want: failOutput},
		"floods stderr":       {command: "yes >&2", want: failOutput},
		"at the limit":        {command: "printf 12345678", change: func(h *config.Hook) { h.StdoutMaxBytes = 8 }},
		"over the limit":      {command: "printf 123456789", change: func(h *config.Hook) { h.StdoutMaxBytes = 8 }, want: failOutput},
		"forks":               {command: "sleep 300 & sleep 300 & exit 0"},
		"leaves the group":    {command: "setsid sleep 300 >/dev/null 2>&1 </dev/null & exit 0"},
		"parent path":         {command: "cat ../x", want: failRunner},
		"absolute path":       {command: "cat /etc/hostname", rig: sh(tool.ShellPolicy{ShellExpansion: true}), want: failRunner},
		"expansion":           {command: "echo $HOME", rig: sh(tool.ShellPolicy{AbsolutePaths: true}), want: failRunner},
		"no working folder":   {command: "true", rig: func(r *rig) { r.set.opt.Context.Cwd = r.dir + "/gone" }, want: failRunner},
		"syntax":              {command: "if then", want: failExit},
		"no start-up files":   {command: `test -z "$BASH_ENV" && test "$-" = "${-/i/}"`},
		"works in the folder": {command: `test "$PWD" = "` + "$(pwd)" + `"`},
	} {
		t.Run(name, func(t *testing.T) {
			h := one(row.command)
			if row.change != nil {
				row.change(&h)
			}
			r := newRig(t, config.Hooks{BeforeTool: []config.Hook{h}})
			if row.rig != nil {
				row.rig(r)
			}
			began := time.Now()
			out, err := r.run(t, t.Context(), before(`{}`))
			if took := time.Since(began); err != nil || took > 4*time.Second {
				t.Fatalf("%v after %v", err, took)
			}
			want := []string{"lifecycle before_tool look started <nil>", "lifecycle before_tool look success <nil>"}
			if row.want != "" {
				want = []string{want[0], "lifecycle before_tool look failed " + row.want, "diagnostic " + row.want + " warn"}
			}
			if d := cmp.Diff(want, r.shown()); d != "" {
				t.Error(d)
			}
			if (len(out.Notices) == 1) != (row.want != "") || out.Stop != nil {
				t.Errorf("%+v", out)
			}
		})
	}
}

func TestPolicies(t *testing.T) {
	for name, row := range map[string]struct {
		policy        config.HookPolicy
		notices, runs int
		stops         bool
	}{
		"ignore": {config.PolicyIgnore, 0, 2, false},
		"warn":   {config.PolicyWarn, 1, 2, false},
		"block":  {config.PolicyBlock, 1, 1, true},
		"fail":   {config.PolicyFail, 1, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, config.Hooks{BeforeTool: []config.Hook{
				one("echo x >>runs; echo hunter2; echo hunter2 >&2; exit 3", policy(row.policy)), one("echo x >>runs")}})
			out, err := r.run(t, t.Context(), before(`{"command":"hunter2"}`))
			if err != nil {
				t.Fatal(err)
			}
			ran, _ := os.ReadFile(filepath.Join(r.dir, "runs"))
			if len(out.Notices) != row.notices || strings.Count(string(ran), "x") != row.runs || (out.Stop != nil) != row.stops {
				t.Errorf("%+v, %q", out, ran)
			}
			if row.stops && *out.Stop != (Failure{Label: "look", Category: failExit, Policy: row.policy}) {
				t.Errorf("%+v", out.Stop)
			}
			for _, ev := range r.records {
				if b, _ := json.Marshal(ev.Payload); strings.Contains(string(b), "hunter2") || strings.Contains(string(b), "runs") {
					t.Errorf("a record tells a command or its output: %s", b)
				}
			}
			if strings.Contains(strings.Join(out.Notices, ""), "hunter2") {
				t.Error(out.Notices)
			}
		})
	}
}

func TestLifecycleFields(t *testing.T) {
	r := newRig(t, config.Hooks{AfterTool: []config.Hook{one("true", func(h *config.Hook) { h.ExcludeTools = []string{"bash"} }), one("exit 1")}})
	if _, err := r.run(t, t.Context(), after(`{}`, tool.Result{})); err != nil {
		t.Fatal(err)
	}
	p := r.records[1].Payload.(map[string]any)
	took, ok := p["elapsed_ms"].(int64)
	if !ok || took < 0 {
		t.Errorf("elapsed %v", p["elapsed_ms"])
	}
	delete(p, "elapsed_ms")
	want := map[string]any{"phase": AfterTool, "label": "look", "target_tool": "bash", "status": "failed", "policy": config.PolicyWarn, "category": "exit",
		"target_ran": true, "tool_call_id": "c1", "activity_id": "c1", "hook_index": 1, "message": "it ended with status 1"}
	if d := cmp.Diff(want, p); d != "" {
		t.Error(d)
	}
}

func TestCancellationEndsTheHook(t *testing.T) {
	cause := errors.New("user")
	ctx, cancel := context.WithCancelCause(t.Context())
	r := newRig(t, config.Hooks{BeforeTool: []config.Hook{one("trap '' TERM; : >started; sleep 60"), one(": >second")}})
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(r.dir, "started")); err == nil || ctx.Err() != nil {
				cancel(cause)
				return
			}
		}
	}()
	began := time.Now()
	if _, err := r.run(t, ctx, before(`{}`)); !errors.Is(err, cause) || time.Since(began) > 4*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if _, err := os.Stat(filepath.Join(r.dir, "second")); err == nil {
		t.Error("a hook ran after the cancellation")
	}
	if got := r.shown(); len(got) != 2 || !strings.Contains(got[1], "failed") {
		t.Error(got)
	}
}

func TestEnvironment(t *testing.T) {
	got := profile([]string{"PATH=/bin", "HOME=/h", "LC_ALL=C", "LC_FOO=1", "AWS_SECRET_ACCESS_KEY=x", "=odd", "TMPDIR", "LANG=C", "BASH_ENV=/x", "path=/y"})
	if d := cmp.Diff([]string{"PATH=/bin", "HOME=/h", "LC_ALL=C", "LANG=C"}, got); d != "" {
		t.Error(d)
	}
	if got := profile(nil); got == nil {
		t.Error("an empty profile stands for the whole environment")
	}
	if len(kept) != 13 {
		t.Error(len(kept))
	}
	r := newRig(t, config.Hooks{BeforeTool: []config.Hook{one("env >seen")}})
	if _, err := r.run(t, t.Context(), before(`{}`)); err != nil {
		t.Fatal(err)
	}
	seen, err := os.ReadFile(filepath.Join(r.dir, "seen"))
	if err != nil || strings.Contains(string(seen), "hunter2") || strings.Contains(string(seen), "OTHER=") || !strings.Contains(string(seen), "PATH=") {
		t.Errorf("%v %s", err, seen)
	}
}

func TestInjection(t *testing.T) {
	say := func(s string) string { return "cat <<'END'\n" + s + "\nEND" }
	for name, row := range map[string]struct {
		command, status string
		want            []string
	}{
		"one":             {say(`{"context_items":[{"role":"user","content":"mind the gap"}]}`), injected, []string{"mind the gap"}},
		"two":             {say(`{"context_items":[{"role":"user","content":"a"},{"content":"b","role":"user"}]}`), injected, []string{"a", "b"}},
		"none":            {say(`{"context_items":[]}`), injected, nil},
		"nothing":         {"true", invalidJSON, nil},
		"text":            {say(`hello`), invalidJSON, nil},
		"two values":      {say(`{} {}`), invalidJSON, nil},
		"a repeated key":  {say(`{"context_items":[],"context_items":[]}`), invalidShape, nil},
		"an array":        {say(`[]`), invalidShape, nil},
		"no items":        {say(`{}`), invalidShape, nil},
		"more keys":       {say(`{"context_items":[],"x":1}`), invalidShape, nil},
		"items an object": {say(`{"context_items":{}}`), invalidShape, nil},
		"item a string":   {say(`{"context_items":["x"]}`), invalidShape, nil},
		"item with more":  {say(`{"context_items":[{"role":"user","content":"x","y":1}]}`), invalidShape, nil},
		"content a list":  {say(`{"context_items":[{"role":"user","content":[]}]}`), invalidShape, nil},
		"system":          {say(`{"context_items":[{"role":"system","content":"x"}]}`), unsupportedRole, nil},
		"one bad of two":  {say(`{"context_items":[{"role":"user","content":"x"},{"role":"tool","content":"x"}]}`), unsupportedRole, nil},
		"blank":           {say(`{"context_items":[{"role":"user","content":" "}]}`), emptyContent, nil},
		"too much":        {say(`{"context_items":[{"role":"user","content":"` + strings.Repeat("x", 65) + `"}]}`), overLimit, nil},
		"just enough":     {say(`{"context_items":[{"role":"user","content":"` + strings.Repeat("x", 64) + `"}]}`), injected, []string{strings.Repeat("x", 64)}},
		"a failed hook":   {say(`{"context_items":[{"role":"user","content":"x"}]}`) + "\nexit 1", hookFailed, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, config.Hooks{AfterTool: []config.Hook{one(row.command, injecting, policy(config.PolicyIgnore))}})
			out, err := r.run(t, t.Context(), after(`{}`, tool.Result{}))
			if d := cmp.Diff(row.want, out.Contexts); d != "" || err != nil {
				t.Error(d, err)
			}
			last := r.records[len(r.records)-1]
			p := last.Payload.(map[string]any)
			if last.Kind != session.KindHookContextInjection || p["status"] != row.status || p["item_count"] != len(row.want) ||
				p["injection_id"] != "after_tool:c1:0" || p["max_bytes"] != 64 {
				t.Errorf("%v %v", last.Kind, p)
			}
		})
	}
	t.Run("not before a tool", func(t *testing.T) {
		r := newRig(t, config.Hooks{BeforeTool: []config.Hook{one(say(`{"context_items":[{"role":"user","content":"x"}]}`), injecting)}})
		if out, err := r.run(t, t.Context(), before(`{}`)); err != nil || len(out.Contexts) > 0 || len(r.records) != 2 {
			t.Error(out, err, r.shown())
		}
	})
	t.Run("without the option", func(t *testing.T) {
		r := newRig(t, config.Hooks{AfterTool: []config.Hook{one(say(`{"context_items":[{"role":"user","content":"x"}]}`))}})
		if out, err := r.run(t, t.Context(), after(`{}`, tool.Result{})); err != nil || len(out.Contexts) > 0 || len(r.records) != 2 {
			t.Error(out, err, r.shown())
		}
	})
}
