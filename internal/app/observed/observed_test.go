package observed

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/pkg/localagent"
	"magicode/telemetry/otlp/otlptest"
)

func TestWireIsTheSame(t *testing.T) {
	w := newWorld(t)
	plain := w.converse(t)
	if made := files(t, w.home); len(made) != 0 {
		t.Errorf("off, there are files: %v", made)
	}
	prom := filepath.Join(t.TempDir(), "m.prom")
	full := w.converse(t, "MC_TELEMETRY=file,prom", "MC_TELEMETRY_PROM="+prom)
	if diff := cmp.Diff(masked(plain.frames), masked(full.frames)); diff != "" {
		t.Errorf("frames differ (-off +on):\n%s", diff)
	}
	for _, x := range []talk{plain, full} {
		if x.stderr != "" || x.exit != 0 {
			t.Errorf("exit %d, stderr %q", x.exit, x.stderr)
		}
	}
}

// TestNoContentLeaks looks for every canary in every form in every file.
func TestNoContentLeaks(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	w.converse(t, "MC_TELEMETRY=file,prom", "MC_TELEMETRY_PROM="+filepath.Join(dir, "m.prom"))
	made := files(t, w.home)
	for name, text := range files(t, dir) {
		made[name] = text
	}
	if len(made) < 6 {
		t.Fatalf("only %d files were made", len(made))
	}
	holdNone(t, w, made)
}

// attribute is one of a span; its value has its type for a key.
type attribute struct {
	Key   string
	Value map[string]any
}

// span is a line of the traces file.
type span struct {
	Name, TraceID, SpanID, ParentSpanID string
	StartTimeUnixNano                   string
	Kind                                int
	Links                               []struct{ SpanID string }
	Attributes                          []attribute
	Events                              []struct{ Name string }
	Status                              struct{ Code int }
}

func (s span) get(key string) any {
	for _, a := range s.Attributes {
		if a.Key == key {
			for _, v := range a.Value {
				return v
			}
		}
	}
	return nil
}

func spans(t *testing.T, w *world) []span {
	t.Helper()
	var out []span
	for name, text := range files(t, w.home) {
		if !strings.Contains(name, ".traces.") {
			continue
		}
		for line := range strings.Lines(text) {
			var doc struct {
				ResourceSpans []struct{ ScopeSpans []struct{ Spans []span } }
			}
			if err := json.Unmarshal([]byte(line), &doc); err != nil {
				t.Fatalf("%s: %v in %s", name, err, line)
			}
			out = append(out, doc.ResourceSpans[0].ScopeSpans[0].Spans...)
		}
	}
	return out
}

// TestFilesArePrivate holds modes and the first and the last line of the log.
func TestFilesArePrivate(t *testing.T) {
	w := newWorld(t)
	w.during = w.told(t)
	w.converse(t, "MC_TELEMETRY=file")
	dir := filepath.Join(w.home, "state", "telemetry")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Fatalf("%v, %v", entries, err)
	}
	size := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", e.Name(), info.Mode(), err)
		}
		size += info.Size()
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v %v", info.Mode(), err)
	}
	for name, text := range files(t, w.home) {
		if strings.Contains(name, ".logs.") {
			lines := strings.Split(strings.TrimSpace(text), "\n")
			if first := lines[0]; !strings.Contains(first, `"magi.child"`) || !strings.Contains(first, `"magi.protocol.version"`) {
				t.Errorf("the log does not begin with the child and its protocol: %s", first)
			}
			if last := lines[len(lines)-1]; !strings.Contains(last, `"eventName":"magi.exit"`) {
				t.Errorf("last record: %s", last)
			}
		}
	}
	var status statusFile
	status.read(t, w)
	if status.State != "closed" || status.Version != 1 || status.PID == 0 || len(status.Problems) != 0 || status.Exit.Code != 0 || status.Exit.Reason != "shutdown" || status.Exit.Detached {
		t.Errorf("status %+v", status)
	}
	if !strings.HasPrefix(entries[0].Name(), status.Capture+".") || !strings.Contains(status.Capture, fmt.Sprint("-", status.PID, "-", status.InstanceID[:8])) {
		t.Errorf("capture %s of %s", status.Capture, entries[0].Name())
	}
	if file := status.Sinks["file"]; file.State != "on" || file.Bytes != size || file.Dropped != 0 || status.Sinks["otlp"].State != "off" || status.Sinks["prometheus"].State != "off" {
		t.Errorf("%d bytes, sinks %+v", size, status.Sinks)
	}
}

// statusFile is what telemetry.md 2.5 has in it.
type statusFile struct {
	Version    int
	PID        int
	InstanceID string `json:"instance_id"`
	State      string
	Capture    string
	Exit       struct {
		Code     int
		Reason   string
		Detached bool
	}
	Sinks map[string]struct {
		State   string
		Bytes   int64
		Dropped int
	}
	Problems []problem
}

type problem struct{ Code, Key string }

// read reads that of a world, which must be private and hold no path.
func (s *statusFile) read(t *testing.T, w *world) {
	t.Helper()
	path := filepath.Join(w.home, "state", "telemetry-status.json")
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	b, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(b, s) != nil {
		t.Fatalf("status %s: %v", b, err)
	}
	for _, own := range []string{w.home, w.work} {
		if strings.Contains(string(b), own) {
			t.Errorf("a path is in %s", b)
		}
	}
}

// TestBrokenSettingsChangeNothing: no value of telemetry fails a start.
func TestBrokenSettingsChangeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many children")
	}
	w := newWorld(t)
	want := w.greet(t)
	for _, v := range brokenValues() {
		w.settings["telemetry"] = v
		if diff := cmp.Diff(want, w.greet(t)); diff != "" {
			t.Errorf("%v: %s", v, diff)
		}
	}
}

func brokenValues() []any {
	object := func(kv ...any) map[string]any {
		m := map[string]any{"enabled": true}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1]
		}
		return m
	}
	out := []any{nil, true, 5, 1.5, "on", []any{}, []any{1}, map[string]any{}, map[string]any{"enabled": "yes"}, map[string]any{"enabled": 1},
		map[string]any{"unknown": 1}, map[string]any{"enabled\x1ffile": true}, object(), object("names", "loud"), object("names", 5),
		object("metrics_interval_s", 1), object("metrics_interval_s", "10"), object("shutdown_ms", -1), object("shutdown_ms", 1e9),
		object("link_parent", "1")}
	for _, sink := range []string{"file", "otlp", "prometheus"} {
		out = append(out, object(sink, 5), object(sink, nil), object(sink, map[string]any{"enabled": "x"}), object(sink, map[string]any{"enabled": true, "x": 1}))
	}
	return append(out,
		object("file", map[string]any{"enabled": true, "dir": "relative"}), object("file", map[string]any{"enabled": true, "dir": "/does/not/exist"}),
		object("file", map[string]any{"enabled": true, "max_mb": 1}), object("file", map[string]any{"enabled": true, "total_mb": 4}),
		object("file", map[string]any{"enabled": true, "runtime_trace": "maybe"}), object("otlp", map[string]any{"enabled": true, "endpoint": "ftp://x"}),
		object("prometheus", map[string]any{"enabled": true, "path": "x.prom"}), object("prometheus", map[string]any{"enabled": true, "path": "/dev/null"}),
		object("prometheus", map[string]any{"enabled": true, "path": "/no/such/folder/x.prom", "mode": "0777"}))
}

// greet only starts and stops.
func (w *world) greet(t *testing.T, env ...string) []string {
	t.Helper()
	c := w.start(t, env...)
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Errorf("initialize: %v", err)
	}
	_ = c.Shutdown(t.Context())
	said := c.end(t)
	if said.stderr != "" || said.exit != 0 {
		t.Errorf("exit %d, stderr %q", said.exit, said.stderr)
	}
	return masked(said.frames)
}

// TestUnadmittedChildLeavesNothing: without an admitted initialize there is no effect.
func TestUnadmittedChildLeavesNothing(t *testing.T) {
	for name, play := range map[string]func(c *child){
		"unsupported capability": func(c *child) {
			if _, err := c.Initialize(t.Context(), "no.such.capability"); err == nil {
				t.Error("an unknown capability was admitted")
			}
			_ = c.CloseInput()
		},
		"end of input": func(c *child) { _ = c.CloseInput() },
		"another protocol version": func(c *child) {
			c.says(`{"protocol":"magi-code.local-agent","version":7,"id":"i","method":"initialize","params":{"required_capabilities":[]}}`)
		},
		"another request first": func(c *child) {
			c.says(`{"protocol":"magi-code.local-agent","version":1,"id":"s","method":"status","params":{}}`)
			_ = c.CloseInput()
		},
		"no frame": func(c *child) {
			c.says(strings.Repeat("x", localagent.MaxFrameBytes+1))
		},
		"a signal": func(c *child) {
			c.says(`{"protocol":"magi-code.local-agent","version":1,"id":"s","method":"status","params":{}}`)
			waitUntil(t, "the answer of a child that lives", func() bool { return len(c.heard()) > 0 })
			_ = c.cmd.Process.Signal(syscall.SIGTERM)
		},
	} {
		w := newWorld(t)
		c := w.start(t, "MC_TELEMETRY=file,prom", "MC_TELEMETRY_PROM="+filepath.Join(w.home, "m.prom"))
		play(c)
		if said := c.end(t); said.stderr != "" {
			t.Errorf("%s: stderr %q", name, said.stderr)
		}
		entries, err := os.ReadDir(w.home)
		if err != nil || len(entries) != 1 || entries[0].Name() != "settings.json" {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
	}
}

// TestProjectMovesNothing: where the user wants a capture, a project cannot turn
// it off, put it elsewhere, have names in it or add a sink, in whatever way its
// settings came to be there.
func TestProjectMovesNothing(t *testing.T) {
	elsewhere := t.TempDir()
	collector := otlptest.HTTP(t)
	said := map[string]any{"enabled": false, "names": "plain", "file": map[string]any{"enabled": false, "dir": elsewhere, "max_mb": 4},
		"otlp": map[string]any{"enabled": true, "endpoint": collector.URL}, "prometheus": map[string]any{"enabled": true, "path": filepath.Join(elsewhere, "m.prom")}}
	text, err := json.Marshal(map[string]any{"schema_version": 2, "telemetry": said})
	if err != nil {
		t.Fatal(err)
	}
	put := func(dir string) string {
		folder := filepath.Join(dir, ".magi-code")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "settings.json"), string(text))
		return folder
	}
	const linked = "linked" // settings behind a link are refused, and still say nothing
	for name, plant := range map[string]func(w *world) error{
		"folder":            func(w *world) error { put(w.work); return nil },
		"above":             func(w *world) error { put(filepath.Dir(w.work)); return nil },
		"below":             func(w *world) error { put(filepath.Join(w.work, "sub")); return nil },
		linked + " folder":  func(w *world) error { return os.Symlink(put(t.TempDir()), filepath.Join(w.work, ".magi-code")) },
		linked + " file":    func(w *world) error { return linkFile(put(t.TempDir()), w.work) },
		linked + " to home": func(w *world) error { return os.Symlink(w.home, filepath.Join(w.work, ".magi-code")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.settings["telemetry"] = map[string]any{"enabled": true, "file": map[string]any{"enabled": true}}
			if err := plant(w); err != nil {
				t.Fatal(err)
			}
			c := w.start(t)
			_, err := c.Initialize(t.Context())
			if refused := err != nil; refused != strings.HasPrefix(name, linked) {
				t.Errorf("initialize: %v", err)
			}
			_ = c.Shutdown(t.Context()) // refused where the start was
			_ = c.CloseInput()
			c.end(t)
			captures, err := filepath.Glob(filepath.Join(w.home, "state", "telemetry", "mc-*.jsonl"))
			if err != nil || len(captures) != 3 {
				t.Errorf("captures: %v, %v", captures, err)
			}
			var status statusFile
			status.read(t, w)
			for sink, want := range map[string]string{"file": "on", "otlp": "off", "prometheus": "off"} {
				if got := status.Sinks[sink].State; got != want {
					t.Errorf("%s is %s", sink, got)
				}
			}
			ignored := slices.ContainsFunc(status.Problems, func(p problem) bool { return p.Code == "project_ignored" })
			if wanted := name == "folder"; ignored != wanted && !strings.HasPrefix(name, linked) {
				t.Errorf("the project is told to be ignored: %v", ignored)
			}
			if made := files(t, elsewhere); len(made) != 0 || len(collector.Spans()) != 0 {
				t.Errorf("files elsewhere: %v, spans: %d", made, len(collector.Spans()))
			}
		})
	}
}

// linkFile has work's project settings be a link to those in another folder.
func linkFile(folder, work string) error {
	mine := filepath.Join(work, ".magi-code")
	return errors.Join(os.Mkdir(mine, 0o700), os.Symlink(filepath.Join(folder, "settings.json"), filepath.Join(mine, "settings.json")))
}

// TestProjectAndOTELAloneStartNothing: neither a cloned repository nor the
// standard variables turn anything on.
func TestProjectAndOTELAloneStartNothing(t *testing.T) {
	w := newWorld(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	called := make(chan struct{}, 1)
	go func() {
		if conn, err := l.Accept(); err == nil {
			called <- struct{}{}
			_ = conn.Close()
		}
	}()
	folder := filepath.Join(w.work, ".magi-code")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "settings.json"), `{"schema_version":2,"telemetry":{"enabled":true,"file":{"enabled":true}}}`)
	url := "http://" + l.Addr().String()
	w.converse(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+url, "OTEL_TRACES_EXPORTER=console", "OTEL_EXPORTER_OTLP_HEADERS=%zz="+canaryKey)
	if made := files(t, w.home); len(made) != 0 {
		t.Errorf("files: %v", made)
	}
	select {
	case <-called:
		t.Error("the endpoint was called")
	default:
	}
	// A kill switch beats everything.
	w.settings["telemetry"] = map[string]any{"enabled": true, "file": map[string]any{"enabled": true}}
	for _, env := range []string{"MC_TELEMETRY=off", "MC_TELEMETRY=0", "OTEL_SDK_DISABLED=true"} {
		w.greet(t, env)
		if made := files(t, w.home); len(made) != 0 {
			t.Errorf("%s: files: %v", env, made)
		}
	}
}
