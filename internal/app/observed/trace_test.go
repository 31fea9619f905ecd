package observed

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/mcp/mcptest"
)

// traceCall is one command line of trace, with what it ends with and says.
type traceCall struct {
	args   string // @DIR@, @STEM@: the captures' folder, and the capture in it
	status int
	says   []string // on stdout, or on stderr where the status is 1 or 2
	not    []string
}

// TestTraceCommandLine: every flag and every form of a capture that the help and the
// documentation name, with its exit status (telemetry.md 11.1).
func TestTraceCommandLine(t *testing.T) {
	w := newWorld(t)
	w.serveOne(t, "notes", mcptest.Stubborn)
	w.converse(t, "MC_TELEMETRY=file")
	dir := filepath.Join(w.home, "state", "telemetry")
	logs, err := filepath.Glob(filepath.Join(dir, "*.logs.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%v %v", logs, err)
	}
	stem := strings.TrimSuffix(filepath.Base(logs[0]), ".logs.jsonl")
	beside := t.TempDir()
	damage(t, dir, stem, beside)
	for _, c := range traceCalls(stem, beside) {
		args := strings.Fields(strings.NewReplacer("@DIR@", dir, "@STEM@", stem).Replace(c.args))
		out, errs, status := w.trace(t, w.home, args...)
		said, other := out, errs
		if c.status == 1 || c.status == 2 {
			said, other = errs, out
		}
		if status != c.status || c.status != 2 && other != "" && !strings.HasPrefix(c.args, "check ") {
			t.Errorf("trace %s: status %d, want %d\n%s%s", c.args, status, c.status, out, errs)
		}
		for _, want := range c.says {
			if !strings.Contains(said, want) {
				t.Errorf("trace %s: no %q in\n%s", c.args, want, said)
			}
		}
		for _, bad := range c.not {
			if strings.Contains(out+errs, bad) {
				t.Errorf("trace %s: %q in\n%s%s", c.args, bad, out, errs)
			}
		}
	}
	if made := files(t, dir); len(made) != 3 {
		t.Errorf("beside the capture: %v", made)
	}
	js, _, _ := w.trace(t, w.home, "--json")
	holdsFields(t, js)
}

// traceCalls are the command lines; beside is where damage was done.
func traceCalls(stem, beside string) []traceCall {
	whole := []string{stem, "○ slow-cleanup", "mcp.close mcp-1 (stdio)", "run 1   completed"}
	return []traceCall{
		{"", 0, whole, []string{"\x1b", " at traces.jsonl:", "notes"}},
		{"explain", 0, whole, nil},
		{"@DIR@", 0, whole, nil},
		{"@DIR@/@STEM@", 0, whole, nil},
		{"@STEM@", 0, whole, nil}, // its name alone, from any folder
		{"@DIR@/@STEM@.traces.jsonl", 0, whole, nil},
		{"@DIR@/@STEM@.metrics.jsonl", 0, whole, nil},
		{"@DIR@/@STEM@.logs.jsonl", 0, whole, nil},
		{beside + "/cut", 0, []string{"● vanished", "torn lines 1", "no exit"}, nil},
		{beside + "/rotated", 0, []string{"○ telemetry-loss", "the middle of the story is missing"}, nil},
		{beside + "/empty", 1, []string{"no capture in " + beside + "/empty"}, []string{"MC_TELEMETRY"}},
		{beside + "/nothing", 0, []string{"● vanished", "there is nothing in the capture"}, nil},
		{beside + "/foreign", 1, []string{"this is no capture"}, nil},
		{beside + "/foreign/notes.txt", 1, []string{"no capture: ", "notes.txt is no file of one"}, nil},
		{"check " + beside + "/foreign/notes.txt", 1, []string{"notes.txt is no file of one"}, nil},
		{beside + "/missing", 1, []string{"no capture"}, nil},
		{beside + "/c.zip", 1, []string{"c.zip is an archive; unpack it and name the folder"}, nil},
		{"/dev/null", 1, []string{"no capture"}, nil},
		{"--run 1", 0, whole, nil},
		{"--run 9", 1, []string{"has no run 9; it has 1"}, nil},
		{"--run x", 2, []string{"--run"}, nil},
		{"--run 0", 2, []string{"--run: must be a whole number of 1 or more"}, nil},
		{"--all", 0, append([]string{" at traces.jsonl:", "  magi.cleanup.mcp.close "}, whole...), nil},
		{"--width 80", 0, whole, nil},
		{"--width x", 2, []string{"--width"}, nil},
		{"--width 10", 2, []string{"--width: must be a whole number of 60 or more"}, nil},
		{"diff @STEM@ @DIR@ --width 0", 2, []string{"--width: must be a whole number of 60 or more"}, nil},
		{"lst", 1, []string{"no capture: lst; if a command was meant"}, nil},
		{"mc-1", 1, []string{"no capture: mc-1"}, []string{"command"}},
		{"--color always", 0, []string{"\x1b["}, nil},
		{"--color never", 0, whole, []string{"\x1b["}},
		{"--color pink", 2, []string{"auto", "always", "never"}, nil},
		{"--resolve", 0, []string{"mcp-1=notes"}, nil},
		{"--fail-on slow-cleanup", 3, whole, nil},
		{"--fail-on stuck,dropped", 0, whole, nil},
		{"--fail-on vanished --fail-on slow-cleanup", 3, whole, nil},
		{"--fail-on odd", 2, []string{"unknown --fail-on", "stuck-cleanup", "failed-run", "dropped"}, nil},
		{"--json --fail-on slow-cleanup", 3, []string{`"version": 1`}, nil},
		{"--html " + beside + "/p.html", 0, []string{"p.html is written"}, nil},
		{"--html " + beside + "/p.html", 1, []string{"is there already"}, nil},
		{"--html " + beside + "/no/p.html", 1, []string{"no/p.html"}, nil},
		{"--odd", 2, []string{"--odd"}, nil},
		{"a b", 2, []string{"b"}, nil},
		{"list", 0, []string{stem, "exit 0 (shutdown)", "slow-cleanup"}, nil},
		{"list x", 2, []string{"x"}, nil},
		{"check", 0, []string{"3 files, nothing foreign"}, nil},
		{"check @STEM@", 0, []string{"3 files, nothing foreign"}, nil},
		{"check " + beside + "/foreign", 1, []string{"mc-x.logs.jsonl:1: is no line of a capture"}, []string{"CANARY"}},
		{"check " + beside + "/empty", 1, []string{"no capture in "}, []string{"MC_TELEMETRY"}},
		{"pack -o " + beside + "/c2.zip", 0, []string{"c2.zip holds 3 files"}, nil},
		{"pack -o " + beside + "/c2.zip", 1, []string{"is there already"}, nil},
		{"pack " + beside + "/foreign -o " + beside + "/c3.zip", 1, []string{"it is not packed"}, []string{"CANARY"}},
		{"pack", 2, []string{"--output"}, nil},
		{"check-config", 0, []string{"file         off"}, nil},
		{"diff @STEM@ @DIR@", 0, []string{"median of a phase"}, nil},
		{"diff @STEM@ @DIR@ --over 10", 0, []string{"no phase of B is slower"}, nil},
		{"diff @STEM@ @DIR@ --json", 0, []string{`"slower": []`}, nil},
		{"diff @STEM@ " + beside + "/missing", 1, []string{"no capture"}, nil},
		{"diff @STEM@", 2, []string{"<b>"}, nil},
		{"diff @STEM@ @DIR@ --over -1", 2, []string{"--over"}, nil},
	}
}

// holdsFields holds the names of --json: programs read them.
func holdsFields(t *testing.T, js string) {
	t.Helper()
	var a map[string]any
	if err := json.Unmarshal([]byte(js), &a); err != nil {
		t.Fatal(err)
	}
	first := func(of string) map[string]any { m, _ := a[of].([]any)[0].(map[string]any); return m }
	verdict := first("verdicts")
	evidence, _ := verdict["evidence"].([]any)[0].(map[string]any)
	queues, _ := a["queues"].(map[string]any)
	for what, row := range map[string]struct {
		in     map[string]any
		fields string
	}{
		"all": {a, "version capture duration_ms exit verdicts cleanup runs queues unfinished requests phases"}, "verdict": {verdict, "code severe text details evidence"},
		"evidence": {evidence, "file line record span"}, "step": {first("cleanup"), "name from_ms took_ms open"}, "run": {first("runs"), "seq outcome persistence took_ms parts"},
		"queues": {queues, "output_peak oldest_ms worker_peak near_misses deltas deltas_dropped requests_rejected requests_rejected_by"}, "request": {first("requests"), "method count slowest_ms failed"},
	} {
		for field := range strings.FieldsSeq(row.fields) {
			if _, ok := row.in[field]; !ok {
				t.Errorf("%s: no %s", what, field)
			}
		}
	}
}

// damage makes copies of a capture that are not whole, and what is none.
func damage(t *testing.T, dir, stem, to string) {
	t.Helper()
	for _, name := range []string{"cut", "rotated", "empty", "nothing", "foreign"} {
		if err := os.Mkdir(filepath.Join(to, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files(t, dir) {
		name = filepath.Base(name)
		write(t, filepath.Join(to, "rotated", name), text)
		if strings.HasSuffix(name, ".logs.jsonl") {
			write(t, filepath.Join(to, "cut", name), text[:len(text)-40])
			write(t, filepath.Join(to, "rotated", stem+".logs.3.jsonl"), text)
		}
		write(t, filepath.Join(to, "nothing", name), "")
	}
	write(t, filepath.Join(to, "foreign", "mc-x.logs.jsonl"), `{"CANARY":1}`+"\n")
	write(t, filepath.Join(to, "foreign", "notes.txt"), "CANARY")
	write(t, filepath.Join(to, "c.zip"), "PK")
}
