package demo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"magicode/internal/app"
	"magicode/internal/demo"
	"magicode/pkg/localagent"
)

// asProgram makes the test binary the program itself: the demo's child is real.
const asProgram = "MAGI_CODE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

func options(t *testing.T, out *bytes.Buffer) demo.Options {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asProgram, "1")
	t.Setenv("TMPDIR", t.TempDir())
	return demo.Options{Executable: exe, Out: out}
}

// left lists what a demo has left in the temporary folder.
func left(t *testing.T) []string {
	t.Helper()
	entries, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestTranscript(t *testing.T) {
	var out bytes.Buffer
	if err := demo.Run(t.Context(), options(t, &out)); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	at := 0
	for _, want := range []string{
		"ready: provider offline", "user      " + demo.Prompt, "the prompt is stored", "I will look at the folder first.", "list_files .: completed",
		"approval", "greeting.txt", "allowed it", ": completed", "Done: greeting.txt", "the run completed, durable", "entries, complete", "user       " + demo.Prompt, "ended with status 0",
	} {
		i := strings.Index(out.String()[at:], want)
		if i < 0 {
			t.Fatalf("%q does not follow in\n%s", want, out.String())
		}
		at += i
	}
	if l := left(t); len(l) != 0 {
		t.Errorf("left behind: %v", l)
	}
}

// TestFrames: every line is a direction and one frame as it stood on the wire.
func TestFrames(t *testing.T) {
	var out bytes.Buffer
	o := options(t, &out)
	o.Frames = true
	if err := demo.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		direction, frame, ok := strings.Cut(line, "  ")
		var f struct {
			Protocol string `json:"protocol"`
			Method   string `json:"method"`
			Event    string `json:"event"`
		}
		if !ok || json.Unmarshal([]byte(frame), &f) != nil || f.Protocol != localagent.Name {
			t.Fatalf("not a frame: %q", line)
		}
		seen[direction+" "+f.Method+f.Event]++
	}
	for _, want := range []string{"host -> agent initialize", "host -> agent turn.start", "host -> agent approval.answer", "host -> agent shutdown",
		"agent -> host input.persisted", "agent -> host message.delta", "agent -> host message.reconcile", "agent -> host activity", "agent -> host approval.requested", "agent -> host run.finished"} {
		if seen[want] == 0 {
			t.Errorf("no %s", want)
		}
	}
}

// TestKilledModel: the transcript is made from what happened, so a model that
// dies in the middle makes a failed demo that says so.
func TestKilledModel(t *testing.T) {
	for _, event := range []string{localagent.EventInputPersisted, localagent.EventMessageDelta, localagent.EventActivity} {
		t.Run(event, func(t *testing.T) {
			var out bytes.Buffer
			err := demo.RunKilling(t.Context(), options(t, &out), event)
			if !errors.Is(err, demo.ErrTurn) || !strings.Contains(out.String(), "the run failed (execution_failed)") {
				t.Errorf("%v\n%s", err, out.String())
			}
			if strings.Contains(out.String(), "the run completed") || len(left(t)) != 0 {
				t.Errorf("left %v\n%s", left(t), out.String())
			}
		})
	}
}

func TestNoExecutable(t *testing.T) {
	var out bytes.Buffer
	o := options(t, &out)
	o.Executable = filepath.Join(t.TempDir(), "missing")
	if err := demo.Run(t.Context(), o); err == nil || errors.Is(err, demo.ErrTurn) {
		t.Errorf("%v", err)
	}
	if l := left(t); len(l) != 0 {
		t.Errorf("left behind: %v", l)
	}
}
