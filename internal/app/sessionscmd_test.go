package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sessionHome has sessions that were last used so many days ago.
func sessionHome(t *testing.T, days map[string]int) string {
	t.Helper()
	home := writeHome(t, nil)
	dir := filepath.Join(home, "sessions", "subagents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, n := range days {
		id := filepath.Base(name)
		at := time.Now().AddDate(0, 0, -n).UTC().Format(time.RFC3339)
		var b strings.Builder
		for _, r := range [][2]string{
			{"user_input", `{"origin":"user","text":"please use sk-abcdefghijklmnop"}`},
			{"tool_call", `{"id":"c","name":"bash","arguments":{"command":"cat ` + "`x`" + `"}}`},
			{"tool_result", `{"call_id":"c","result":{"tool_name":"bash","success":true,"content":"y","metadata":null}}`},
			{"tool_call", `{"id":"d","name":"bash","arguments":{"command":"ls y"}}`},
			{"tool_result", `{"call_id":"d","result":{"tool_name":"bash","success":false,"content":"stdout:\nstderr:\nno y for sk-abcdefghijklmnop\n[exit code 2]","metadata":null}}`},
			{"assistant_output", `{"text":"# Done\nwith a \u001b[31mcolour"}`},
			{"session_title", `{"title":"Title of ` + id + `","provider":"p","model":"m"}`},
		} {
			fmt.Fprintf(&b, `{"event_type":%q,"timestamp":%q,"session_id":%q,"cwd":"/srv/p","session_path":"/srv/p","payload":%s}`+"\n", r[0], at, id, r[1])
		}
		if err := os.WriteFile(filepath.Join(home, "sessions", name+".jsonl"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func sessions(t *testing.T, home string, want int, args ...string) string {
	t.Helper()
	out, status := command(t, home, nil, append([]string{"sessions"}, args...)...)
	if status != want {
		t.Fatalf("%q: status %d\n%s", args, status, out)
	}
	return out
}

func TestSessionsListCommand(t *testing.T) {
	home := sessionHome(t, map[string]int{"s-old": 50, "s-new": 1, "subagents/t-1": 1})
	lines := strings.Split(sessions(t, home, exitOK, "list"), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "s-new ") || !strings.HasSuffix(lines[0], "/srv/p  Title of s-new") || !strings.HasPrefix(lines[1], "s-old ") {
		t.Errorf("%q", lines)
	}
	var got struct {
		Sessions []sessionRow
		Total    int
	}
	out, status := command(t, home, nil, "sessions", "list", "--json", "-n", "1")
	if err := json.Unmarshal([]byte(out), &got); status != exitOK || err != nil {
		t.Fatal(err, out)
	}
	title, folder := "Title of s-new", "/srv/p"
	want := []sessionRow{{ID: "s-new", Title: &title, Workspace: &folder, Latest: got.Sessions[0].Latest, Modified: got.Sessions[0].Modified, Bytes: got.Sessions[0].Bytes, Prompts: 1}}
	if diff := cmp.Diff(want, got.Sessions); diff != "" || got.Total != 2 || got.Sessions[0].Bytes == 0 {
		t.Error(diff, got.Total)
	}
	if out := sessions(t, home, exitOK, "list", "--here"); out != "no session of this folder; without --here those of others are listed too\n" {
		t.Error(out)
	}
}

const shownSession = `Title of s-old
session s-old
folder /srv/p
latest activity TIME
prompts 1

USER
please use <redacted>

· bash cat ` + "`x`" + `: completed
· bash ls y: failed: no y for <redacted> [exit code 2]

ASSISTANT
# Done
with a colour
`

const markdownSession = `# Title of s-old

- session s-old
- folder /srv/p
- latest activity TIME
- prompts 1

## User

please use <redacted>

- ` + "``bash cat `x`: completed``" + `
- ` + "`bash ls y: failed: no y for <redacted> [exit code 2]`" + `

## Assistant

# Done
with a colour
`

func TestSessionsShowAndExport(t *testing.T) {
	home := sessionHome(t, map[string]int{"s-old": 50, "s-other": 3, "subagents/task-1": 1})
	at := time.Now().AddDate(0, 0, -50).UTC().Format(time.RFC3339)[:11]
	timeless := func(text string) string {
		before, rest, ok := strings.Cut(text, at)
		if !ok {
			return text
		}
		return before + "TIME" + rest[len("15:04:05Z"):]
	}
	for _, word := range []string{"s-old", "s-ol"} {
		if diff := cmp.Diff(shownSession, timeless(sessions(t, home, exitOK, "show", word))); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff(markdownSession, timeless(sessions(t, home, exitOK, "export", "s-old"))); diff != "" {
		t.Error(diff)
	}
	if out := sessions(t, home, exitOK, "show", "task-1"); !strings.Contains(out, "delegated task task-1\n") {
		t.Error(out)
	}
	asJSON := sessions(t, home, exitOK, "show", "s-old", "--json")
	var got struct {
		Complete bool
		Messages []struct{ Kind, Text string }
	}
	if err := json.Unmarshal([]byte(asJSON), &got); err != nil || !got.Complete || len(got.Messages) != 4 || got.Messages[0].Text != "please use <redacted>" {
		t.Error(err, asJSON)
	}
	file := filepath.Join(t.TempDir(), "out.json")
	if out := sessions(t, home, exitOK, "export", "s-old", "-o", file); out != "wrote "+file+"\n" {
		t.Error(out)
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != asJSON {
		t.Errorf("%v %s", err, text)
	}
	if info, err := os.Lstat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if out := sessions(t, home, exitError, "export", "s-other", "-o", file); !strings.Contains(out, "--force replaces it") {
		t.Error(out)
	}
	if again, _ := os.ReadFile(file); string(again) != asJSON {
		t.Error("the file that was there is gone")
	}
	sessions(t, home, exitOK, "export", "s-other", "-o", file, "--force", "--format", "markdown")
	if again, _ := os.ReadFile(file); !strings.HasPrefix(string(again), "# Title of s-other\n") {
		t.Errorf("%s", again)
	}
}

func TestSessionsThatAreNot(t *testing.T) {
	home := sessionHome(t, map[string]int{"s-old": 50, "s-other": 3, "bad-one": 3})
	if err := os.WriteFile(filepath.Join(home, "sessions", "bad-one.jsonl"), []byte("no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, c := range map[string]struct {
		status int
		want   string
	}{
		"show nope":                 {exitError, "there is no session nope"},
		"show ../auth":              {exitUsage, "is no session id"},
		"show s":                    {exitUsage, "at least 4 characters"},
		"show s-o":                  {exitUsage, "at least 4 characters"},
		"show bad-one":              {exitError, "line 1 is malformed"},
		"export s-old --format pdf": {exitUsage, "must be one of markdown, json"},
		"prune --days 0":            {exitUsage, "from 1 to"},
		"prune --days x":            {exitUsage, `--days: must be a whole number of 0 or more, not "x"`},
		"show":                      {exitUsage, "<id>"},
	} {
		if out := sessions(t, home, c.status, strings.Fields(args)...); !strings.Contains(out, c.want) {
			t.Errorf("%s: %s", args, out)
		}
	}
}

func sessionFiles(t *testing.T, home string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(home, "sessions", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		names[i] = strings.TrimSuffix(filepath.Base(names[i]), ".jsonl")
	}
	return names
}

// TestSessionsPrune: nothing goes without --yes, nothing that a child has open,
// and the project that is looked at has no say.
func TestSessionsPrune(t *testing.T) {
	home := sessionHome(t, map[string]int{"s-old": 50, "s-used": 60, "s-new": 10, "s-newest": 1})
	lock := fmt.Sprintf("pid=%d\ntoken=%d-1\n", os.Getpid(), os.Getpid())
	if err := os.WriteFile(filepath.Join(home, "sessions", ".s-used.active.lock"), []byte(lock), 0o600); err != nil {
		t.Fatal(err)
	}
	all := sessionFiles(t, home)
	out := sessions(t, home, exitOK, "prune")
	if !strings.Contains(out, "would go") || !strings.Contains(out, "nothing was deleted: 1 would go") || !slices.Equal(sessionFiles(t, home), all) {
		t.Errorf("%s %v", out, sessionFiles(t, home))
	}
	out = sessions(t, home, exitOK, "prune", "--yes")
	if want := []string{"s-new", "s-newest", "s-used"}; !slices.Equal(sessionFiles(t, home), want) || !strings.Contains(out, "stays     s-used  (in use)") || !strings.Contains(out, "1 deleted") {
		t.Errorf("%s %v", out, sessionFiles(t, home))
	}
	var got struct {
		Days, Deleted int
		Items         []pruned
	}
	if err := json.Unmarshal([]byte(sessions(t, home, exitOK, "prune", "--days", "5", "--yes", "--json")), &got); err != nil || got.Days != 5 || got.Deleted != 1 || len(got.Items) != 1 || !got.Items[0].Deleted {
		t.Errorf("%v %+v", err, got)
	}
	settings := func(text string) {
		if err := os.WriteFile(filepath.Join(home, "settings.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings(`{"sessions":{"retention_days":0}}`)
	if out := sessions(t, home, exitUsage, "prune", "--yes"); !strings.Contains(out, "retention_days is 0") {
		t.Error(out)
	}
	settings(`{"sessions":{"retention_days":2000}}`)
	if out := sessions(t, home, exitOK, "prune", "--yes"); out != "nothing is older than 2000 days\n" {
		t.Error(out)
	}
	if out := sessions(t, home, exitOK, "prune", "--json"); !strings.Contains(out, `"items": []`) || !strings.Contains(out, `"kept": []`) {
		t.Error(out)
	}
}

// TestRetentionIsTheHomes: a cloned project does not decide about the home's sessions.
func TestRetentionIsTheHomes(t *testing.T) {
	home := sessionHome(t, map[string]int{"s": 10})
	project := t.TempDir()
	if err := os.MkdirAll(filepath.Join(project, ".magi-code"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, ".magi-code", "settings.json"), []byte(`{"sessions":{"retention_days":1}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	t.Setenv("MC_HOME", home)
	env, err := settingsEnv()
	if err != nil {
		t.Fatal(err)
	}
	k := &keeper{env: env}
	k.paths.Root = home
	if days, err := k.days(nil); err != nil || days != 30 {
		t.Error(days, err)
	}
}

func TestSessionsRepairPermissions(t *testing.T) {
	home := sessionHome(t, map[string]int{"s-old": 50})
	dir := filepath.Join(home, "sessions")
	log := filepath.Join(dir, "s-old.jsonl")
	for path, mode := range map[string]os.FileMode{dir: 0o755, log: 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if out := sessions(t, home, exitError, "list"); !strings.Contains(out, "repair-permissions") {
		t.Error(out)
	}
	if out, _ := command(t, home, nil, "doctor"); !strings.Contains(out, "BAD   sessions     ") || !strings.Contains(out, "repair-permissions' sets it right") {
		t.Error(out)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "x.jsonl")); err != nil {
		t.Fatal(err)
	}
	if out := sessions(t, home, exitError, "repair-permissions"); !strings.Contains(out, `"sessions/x.jsonl": a link or special file`) {
		t.Error(out)
	}
	if err := os.Remove(filepath.Join(dir, "x.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, _ := command(t, home, nil, "doctor"); !strings.Contains(out, "note  sessions     files are open to others") {
		t.Error(out)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	want := "sessions: 0755, set to 0700\nsessions/s-old.jsonl: 0644, set to 0600\n"
	if out := sessions(t, home, exitOK, "repair-permissions"); out != want {
		t.Error(out)
	}
	if out := sessions(t, home, exitOK, "repair-permissions"); !strings.HasPrefix(out, "nothing to repair") {
		t.Error(out)
	}
	sessions(t, home, exitOK, "show", "s-old")
}
