package tracecmd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"magicode/telemetry"
	"magicode/telemetry/reader"
)

// outgrown leaves the capture of a child that did much more than fits, and that ended
// as it is told to.
func outgrown(t *testing.T, play func(ctx context.Context, tel telemetry.Tel, child telemetry.Span)) (dir, state string) {
	t.Helper()
	state = stateDir(t)
	tel := telemetry.New([]string{"MC_TELEMETRY=file", "MC_TELEMETRY_MAX_MB=4"}, time.Now())
	tel.Start(nil, telemetry.Identity{InstanceID: "6f1c5f0e-1", StateDir: state, Version: "1"})
	ctx, child := tel.Begin(context.Background(), telemetry.SpanChild)
	for i := range 16 { // as fast as the journal writes
		for range 1000 {
			_, s := tel.Begin(ctx, telemetry.SpanHistoryPage)
			s.End()
		}
		_, hook := tel.Begin(ctx, telemetry.SpanHook)
		if i == 0 { // one with a start record, and with an end that will be given up
			time.Sleep(150 * time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		hook.End()
	}
	play(ctx, tel, child)
	settled(t, state)
	return filepath.Join(state, "telemetry"), state
}

// TestOutgrown: a capture that outgrew its bound says what is missing from it and what
// does not follow then, and takes nothing for open whose end is missing (T-35).
func TestOutgrown(t *testing.T) {
	dir, state := outgrown(t, func(_ context.Context, tel telemetry.Tel, child telemetry.Span) {
		child.End()
		tel.Exit(0, telemetry.WordOf("shutdown"), false)
	})
	text, status := explain(t, Options{Dir: dir, FailOn: []string{"dropped"}, Look: reader.Look{All: true}})
	for _, want := range []string{"○ telemetry-loss  the capture outgrew its bound: the middle of the story is missing, its beginning and its end are kept",
		"given up: ", " spans", "how it started and how it ended stands", "exit 0 (shutdown)", "first line behind what is missing"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "unfinished") || status != exitFailOn {
		t.Errorf("status %d\n%s", status, text)
	}
	js, _ := explain(t, Options{Dir: dir, JSON: true})
	var a struct {
		Capture struct {
			Dropped int64
			Rotated bool
		}
	}
	var doc struct {
		Sinks struct{ File struct{ Dropped int64 } }
	}
	b := must(os.ReadFile(filepath.Join(state, "telemetry-status.json")))(t)
	if err := json.Unmarshal([]byte(js), &a); err != nil || json.Unmarshal(b, &doc) != nil || !a.Capture.Rotated || a.Capture.Dropped != doc.Sinks.File.Dropped || doc.Sinks.File.Dropped == 0 {
		t.Errorf("%v: the capture tells %+v, the status %s", err, a.Capture, b)
	}
}
