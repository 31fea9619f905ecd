package observed

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/mcp/mcptest"
)

const serverName = "ledgerqx12"

// trace runs magi-code trace in the world's folder, with this home.
func (w *world) trace(t *testing.T, home string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"trace"}, args...)...)
	cmd.Dir = w.work
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "MC_HOME=" + home, asProgram + "=1"}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the status is looked at
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestResolve: the names of a home come back on its own machine, in every form
// of the explanation, and nowhere else.
func TestResolve(t *testing.T) {
	w := newWorld(t)
	w.serveOne(t, serverName, mcptest.Stubborn)
	w.converse(t, "MC_TELEMETRY=file")
	logs, err := filepath.Glob(filepath.Join(w.home, "sessions", "*.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%v, %v", logs, err)
	}
	session := strings.TrimSuffix(filepath.Base(logs[0]), ".jsonl")
	before := files(t, w.home)

	hashed, _, _ := w.trace(t, w.home)
	shown, notes, status := w.trace(t, w.home, "--resolve")
	if status != 0 || notes != "" {
		t.Errorf("status %d, %s", status, notes)
	}
	js, _, _ := w.trace(t, w.home, "--resolve", "--json")
	page := filepath.Join(t.TempDir(), "p.html")
	w.trace(t, w.home, "--resolve", "--html", page)
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"mcp-1=" + serverName, "chat " + canaryModel, canaryProvider, session} {
		for form, got := range map[string]string{"text": shown, "--json": js, "--html": string(html)} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", form, want, got)
			}
		}
		if strings.Contains(hashed, want) {
			t.Errorf("without --resolve there is %q", want)
		}
	}
	archive := filepath.Join(t.TempDir(), "c.zip")
	if _, notes, status := w.trace(t, w.home, "pack", "-o", archive); status != 0 {
		t.Errorf("pack: %s", notes)
	}
	if _, _, status := w.trace(t, w.home, "pack", "--resolve", "-o", archive, filepath.Join(w.home, "state", "telemetry")); status != 2 {
		t.Errorf("pack --resolve: status %d", status)
	}
	for name, text := range files(t, w.home) {
		if text != before[name] {
			t.Errorf("%s has changed", name)
		}
	}
	w.elsewhere(t)
}

// elsewhere explains the capture where its names cannot be known.
func (w *world) elsewhere(t *testing.T) {
	t.Helper()
	captures := filepath.Join(w.home, "state", "telemetry")
	other := newWorld(t)
	out, notes, status := other.trace(t, other.home, "--resolve", captures)
	if status != 0 || !strings.Contains(notes, "no salt") || strings.Contains(out, "names ") {
		t.Errorf("no salt: status %d, %s\n%s", status, notes, out)
	}
	if made := files(t, other.home); len(made) > 0 {
		t.Errorf("files were made: %v", made)
	}
	other.settings = w.settings // the same names, and a salt of its own
	other.converse(t, "MC_TELEMETRY=file")
	out, notes, status = w.trace(t, other.home, "--resolve", captures)
	if status != 0 || !strings.Contains(notes, "another home") || !strings.Contains(out, "not known here") || strings.Contains(out, serverName) {
		t.Errorf("another salt: status %d, %s\n%s", status, notes, out)
	}
}

// TestPlainNames: what the documentation says leaves as it is does, and no more
// than that; trace check takes both forms.
func TestPlainNames(t *testing.T) {
	for names, shown := range map[string]bool{"hashed": false, "plain": true} {
		w := newWorld(t)
		w.serveOne(t, serverName, mcptest.Stubborn)
		w.converse(t, "MC_TELEMETRY=file", "MC_TELEMETRY_NAMES="+names)
		found := map[string]string{}
		for _, s := range spans(t, w) {
			for _, a := range s.Attributes {
				if v, ok := s.get(a.Key).(string); ok && (v == serverName || v == canaryModel || v == canaryAnswering || v == canaryProvider) {
					found[a.Key] = v
				}
			}
		}
		want := map[string]string{}
		if shown {
			want = map[string]string{"magi.mcp.name": serverName, "gen_ai.request.model": canaryModel, "gen_ai.response.model": canaryAnswering, "gen_ai.provider.name": canaryProvider}
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", names, diff)
		}
		if _, notes, status := w.trace(t, w.home, "check"); status != 0 {
			t.Errorf("%s: check: %s", names, notes)
		}
	}
}
