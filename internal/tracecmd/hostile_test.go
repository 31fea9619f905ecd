package tracecmd

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// packed is everything in an archive, names and contents.
func packed(t *testing.T, archive string) string {
	t.Helper()
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var out strings.Builder
	for _, f := range z.File {
		r := must(f.Open())(t)
		out.WriteString(f.Name + "\n")
		if _, err := io.Copy(&out, r); err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
	}
	return out.String()
}

// TestPackLeavesOut: what is beside a capture, and what cannot be checked because
// its line was cut off, is not in an archive.
func TestPackLeavesOut(t *testing.T) {
	dir := ended(t, 0)
	logs := must(filepath.Glob(filepath.Join(dir, "mc-*.logs.jsonl")))(t)[0]
	whole := must(os.ReadFile(logs))(t)
	f := must(os.OpenFile(logs, os.O_APPEND|os.O_WRONLY, 0))(t)
	if _, err := f.WriteString(`{"resourceLogs":[{"note":"secret`); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	stem := strings.TrimSuffix(logs, ".logs.jsonl")
	for _, beside := range []string{".secret.jsonl", ".logs.secret.jsonl", ".logs.1.secret.jsonl"} {
		if err := os.WriteFile(stem+beside, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive := filepath.Join(t.TempDir(), "c.zip")
	var out, errs bytes.Buffer
	if code := Pack("", dir, archive, &out, &errs); code != exitOK {
		t.Fatal(errs.String())
	}
	got := packed(t, archive)
	if strings.Contains(got, "secret") || !strings.Contains(got, string(whole)) {
		t.Errorf("packed:\n%s", got)
	}
	if !strings.Contains(out.String(), "cut off") {
		t.Errorf("said: %s", out.String())
	}
}

// TestCheckFindsNames: behind the name of a span stands a word of the catalogue,
// or a model.
func TestCheckFindsNames(t *testing.T) {
	line := func(name string) string {
		return `{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"scope":{"name":"magi-code","version":"1"},"spans":[{"traceId":"00","spanId":"00","name":"` + name + `"}]}]}]}` + "\n"
	}
	for name, want := range map[string]int{"execute_tool bash": exitOK, "chat gpt-5": exitOK, "execute_tool my secret file": exitError, "execute_tool bash secret": exitError} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "mc-x.traces.jsonl"), []byte(line(name)), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		if code := Check(dir, "", &out, &errs); code != want {
			t.Errorf("%s: status %d %s", name, code, errs.String())
		}
	}
}

// TestJSONIsSafe: no form of the explanation brings a terminal control characters,
// and --json is the same value as before.
func TestJSONIsSafe(t *testing.T) {
	dir := t.TempDir()
	name := "magi.x\u009b31m\u202e\u007f\u0085\u2028é"
	text := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"` + name + `","startTimeUnixNano":"1","endTimeUnixNano":"9"}]}]}]}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "mc-x.traces.jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code := explain(t, Options{Dir: dir, JSON: true})
	if code != exitOK || strings.ContainsAny(out, "\u009b\u202e\u007f\u0085\u2028") {
		t.Errorf("status %d, %q", code, out)
	}
	var got struct{ Phases []struct{ Name string } }
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Phases) != 1 || got.Phases[0].Name != name {
		t.Errorf("%v %q", err, got)
	}
}
