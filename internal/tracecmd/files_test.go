package tracecmd

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"magicode/telemetry"
)

// ended leaves the capture of a child that ended in order, after a cleanup that
// took this long.
func ended(t *testing.T, cleanup time.Duration) string {
	t.Helper()
	return record(t, func(ctx context.Context, tel telemetry.Tel, child telemetry.Span) {
		ctx, span := tel.Begin(ctx, telemetry.SpanCleanup)
		_, closing := tel.Begin(ctx, telemetry.SpanCleanupMCPClose)
		closing.Str(telemetry.KeyMCPServer, telemetry.WordOf("mcp-1"))
		tel.FrameQueued(3)
		_, hook := tel.Begin(ctx, telemetry.SpanHook)
		hook.Fail(telemetry.CodeOf("execution_failed"))
		hook.End()
		tel.Snapshot()
		time.Sleep(cleanup)
		closing.End()
		span.End()
		child.End()
		tel.Exit(0, telemetry.WordOf("shutdown"), false)
	})
}

// settled waits until the journal of this process has done its last work: a
// child would be gone by then.
func settled(t *testing.T, state string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(filepath.Join(state, "telemetry-status.json")); err == nil && bytes.Contains(b, []byte(`"closed"`)) {
			return
		}
	}
	t.Fatal("the capture has no end")
}

// written leaves a capture of a child whose spans took these milliseconds.
func written(t *testing.T, took map[string]int) string {
	t.Helper()
	var b strings.Builder
	id := 0
	for name, n := range took {
		id++
		fmt.Fprintf(&b, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":%q,"spanId":"%d","startTimeUnixNano":"1000000000","endTimeUnixNano":"%d","attributes":[`, name, id, 1000000000+n*1000000)
		if name == "magi.cleanup.mcp.close" {
			b.WriteString(`{"key":"magi.mcp.server","value":{"stringValue":"mcp-1"}}`)
		}
		b.WriteString("]}]}]}]}\n")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mc-20261130T234007Z-1-6f1c5f0e.traces.jsonl"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDiff(t *testing.T) {
	quick := written(t, map[string]int{"magi.cleanup": 40, "magi.cleanup.mcp.close": 20, "magi.child": 100, "magi.startup": 3, "magi.hook": 7})
	slow := written(t, map[string]int{"magi.cleanup": 100, "magi.cleanup.mcp.close": 80, "magi.child": 900, "magi.startup": 7, "magi.compaction": 9})
	over := 50.0
	for name, row := range map[string]struct {
		o    DiffOptions
		code int
		want []string
	}{
		"not asked": {DiffOptions{A: quick, B: slow}, exitOK, []string{"mcp.close mcp-1            A", "median of a phase", "magi.cleanup.mcp.close"}},
		"slower":    {DiffOptions{A: quick, B: slow, Over: &over}, exitFailOn, []string{"B is slower by more than 50 %: magi.cleanup, magi.cleanup.mcp.close"}},
		"faster":    {DiffOptions{A: slow, B: quick, Over: &over}, exitOK, []string{"no phase of B is slower by more than 50 %"}},
		"missing":   {DiffOptions{A: slow, B: filepath.Join(quick, "none")}, exitError, []string{"no capture"}},
		"negative":  {DiffOptions{A: slow, B: quick, Over: new(-1.0)}, exitUsage, []string{"--over"}},
	} {
		var out bytes.Buffer
		if code := Diff(row.o, &out, &out); code != row.code {
			t.Errorf("%s: status %d\n%s", name, code, out.String())
		}
		for _, want := range row.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, out.String())
			}
		}
	}
	var out bytes.Buffer
	Diff(DiffOptions{A: quick, B: slow, Over: &over, JSON: true}, &out, &out)
	var d struct {
		Version int
		Cleanup [2][]struct{ Name string }
		Slower  []string
	}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil || d.Version != 1 || len(d.Cleanup[0]) != 2 || len(d.Cleanup[1]) != 2 || len(d.Slower) != 2 {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestCheckAndPack: what this program writes passes, anything else in a capture
// is found and keeps it from being packed.
func TestCheckAndPack(t *testing.T) {
	dir := ended(t, 0)
	var out, errs bytes.Buffer
	if code := Check("", dir, &out, &errs); code != exitOK || errs.Len() > 0 {
		t.Fatalf("status %d: %s%s", code, out.String(), errs.String())
	}
	archive := filepath.Join(t.TempDir(), "c.zip")
	if code := Pack("", dir, archive, &out, &errs); code != exitOK {
		t.Fatal(errs.String())
	}
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for i, f := range z.File {
		if last := i == len(z.File)-1; last != (f.Name == "manifest.json") || !last && !strings.HasPrefix(f.Name, "mc-") {
			t.Errorf("file %d is %s", i, f.Name)
		}
	}
	if info, err := os.Stat(archive); err != nil || info.Mode().Perm() != 0o600 || len(z.File) != 4 {
		t.Errorf("%v %v, %d files", info.Mode(), err, len(z.File))
	}
	if code := Pack("", dir, archive, &out, &errs); code != exitError {
		t.Error("an archive that was there is overwritten")
	}
	for name, change := range map[string][2]string{
		"a name": {`"stringValue":"mcp-1"`, `"stringValue":"my secret server"`}, "a key": {`"key":"magi.mcp.server"`, `"key":"prompt"`},
		"a member": {`"kind":1`, `"kind":1,"note":"secret"`}, "twice": {`"kind":1`, `"kind":2,"kind":1`}, "a message": {`"status":{"code":2}`, `"status":{"code":2,"message":"secret"}`},
		"a span": {`"name":"magi.child"`, `"name":"secret"`}, "a hash": {`"magi.request.hash","value":{"stringValue":"`, `"magi.request.hash","value":{"stringValue":"s`},
		"a metric": {`"name":"magi.output.pending.peak"`, `"name":"magi.secret"`}, "a path in the dump": {` dump.go:`, ` /home/secret/dump.go:`}, "no line": {`{"resourceLogs"`, `secret {"resourceLogs"`},
	} {
		altered := t.TempDir()
		changed := false
		for _, path := range must(filepath.Glob(filepath.Join(dir, "mc-*.jsonl")))(t) {
			b := must(os.ReadFile(path))(t)
			if n := bytes.Replace(b, []byte(change[0]), []byte(change[1]), 1); !bytes.Equal(n, b) && !changed {
				b, changed = n, true
			}
			if err := os.WriteFile(filepath.Join(altered, filepath.Base(path)), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if !changed {
			t.Errorf("%s: nothing was changed", name)
			continue
		}
		var errs bytes.Buffer
		archive := filepath.Join(altered, "c.zip")
		if code := Check(altered, "", &out, &errs); code != exitError || strings.Contains(errs.String(), "secret") {
			t.Errorf("%s: status %d, %s", name, code, errs.String())
		}
		if code := Pack(altered, "", archive, &out, &errs); code != exitError {
			t.Errorf("%s: it was packed", name)
		}
		if _, err := os.Stat(archive); err == nil {
			t.Errorf("%s: there is an archive", name)
		}
	}
}

// TestFileGone: whoever explains, checks or packs a capture is told which of its files is
// not there; a compressed one is not there either.
func TestFileGone(t *testing.T) {
	dir := ended(t, 0)
	path := must(filepath.Glob(filepath.Join(dir, "mc-*.traces.jsonl")))(t)[0]
	if err := os.Rename(path, path+".gz"); err != nil {
		t.Fatal(err)
	}
	if text, code := explain(t, Options{Dir: dir}); code != exitOK || !strings.Contains(text, "○ telemetry-loss  the traces file is missing") || strings.Contains(text, "healthy") {
		t.Errorf("status %d\n%s", code, text)
	}
	archive := filepath.Join(t.TempDir(), "c.zip")
	for name, call := range map[string]func(out, errs *bytes.Buffer) int{
		"check": func(out, errs *bytes.Buffer) int { return Check("", dir, out, errs) },
		"pack":  func(out, errs *bytes.Buffer) int { return Pack("", dir, archive, out, errs) },
	} {
		var out, errs bytes.Buffer
		if code := call(&out, &errs); code != exitOK || !strings.Contains(errs.String(), "the traces file is missing") || !strings.Contains(out.String(), "2 files") {
			t.Errorf("%s: status %d\n%s%s", name, code, out.String(), errs.String())
		}
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestHTML: the page is whole, private and new, has no script and refers to
// nothing, and text of a capture cannot leave its place.
func TestHTML(t *testing.T) {
	dir := ended(t, 0)
	path := filepath.Join(t.TempDir(), "p.html")
	if text, code := explain(t, Options{Dir: dir, HTML: path}); code != exitOK {
		t.Fatal(text)
	}
	if _, code := explain(t, Options{Dir: dir, HTML: path}); code != exitError {
		t.Error("a file that was there is overwritten")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	page := string(must(os.ReadFile(path))(t))
	for _, want := range []string{"default-src 'none'", "<svg", "Cleanup", "mcp.close mcp-1", "Run 1", "</html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, bad := range []string{"<script", "http:", "https:", "src=", "href=", "url(", "@import", "%!"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

func TestList(t *testing.T) {
	dir := ended(t, 0)
	var out, errs bytes.Buffer
	if code := List(dir, &out, &errs); code != exitOK || !strings.Contains(out.String(), "exit 0 (shutdown)") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("status %d: %s%s", code, out.String(), errs.String())
	}
	if code := List(t.TempDir(), &out, &errs); code != exitError || !strings.Contains(errs.String(), "MC_TELEMETRY=file") {
		t.Errorf("status %d: %s", code, errs.String())
	}
}

// TestRotated: segments that are gone from the middle are noticed.
func TestRotated(t *testing.T) {
	dir := ended(t, 0)
	for _, path := range must(filepath.Glob(filepath.Join(dir, "*.traces.jsonl")))(t) {
		b := must(os.ReadFile(path))(t)
		later := strings.TrimSuffix(path, ".jsonl") + ".7.jsonl"
		if err := os.WriteFile(later, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ := explain(t, Options{Dir: dir}); !strings.Contains(text, "telemetry-loss") || !strings.Contains(text, "the middle of the story is missing") {
		t.Errorf("not noticed:\n%s", text)
	}
}
