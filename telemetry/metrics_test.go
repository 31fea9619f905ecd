package telemetry

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/telemetry/config"
	"magicode/telemetry/point"
)

// produced collects the metrics that had a value at some time, with their labels.
type produced map[string]map[string]bool

func (p produced) look(j *journal) {
	for _, m := range j.metrics(&j.file.peaks) {
		for _, at := range m.Points {
			if at.Value == 0 && at.Count == 0 {
				continue
			}
			if p[m.Name] == nil {
				p[m.Name] = map[string]bool{}
			}
			for _, l := range at.Labels {
				p[m.Name][l.Key] = true
			}
		}
	}
}

// live has a child do one of everything that is counted.
func live(tel Tel, look func()) {
	exercise(tel)
	for _, hook := range hotHooks(tel) {
		hook()
		look()
	}
	code := CodeOf("timeout")
	tel.FrameIn(time.Now(), time.Millisecond, 9, FrameInvalid)
	tel.StageTook(WordOf("settings"), time.Second, true, code)
	tel.MCPSession(WordOf("pipe"), time.Second, true, code)
	tel.Synced(WordOf("data"), time.Second)
	tel.LockWaited(time.Second)
	tel.ApprovalsQueued(1)
	look()
	for k := range kindCount {
		ctx, around := tel.Begin(context.Background(), SpanRun)
		_, s := tel.Begin(ctx, k)
		for _, e := range []EventName{EventInputPersisted, EventFirstDelta} {
			around.Event(e)
		}
		for n := range intKeyCount {
			_, one := tel.Begin(ctx, k)
			for _, w := range []EnumKey{KeyProviderName, KeyChatPurpose, KeyTool, KeyCodeModeLimit, KeyAppendClass} {
				one.Str(w, WordOf("other"))
			}
			one.Name(KeyModel, Model("m", true, false))
			one.Name(KeyResponseModel, Model("m", true, false))
			one.Int(n, 1)
			one.End()
		}
		for w := range enumKeyCount {
			_, one := tel.Begin(ctx, k)
			one.Str(w, WordOf("other"))
			one.Fail(code)
			one.End()
		}
		look()
		s.End()
		around.End()
	}
	stall := tel.BeginInChild(SpanOutputStall)
	stall.Str(KeyOutputOutcome, WordOf("drained"))
	time.Sleep(2 * realStall) // a shorter one is none
	stall.End()
	tel.Begin(context.Background(), SpanCleanupMCPClose)
	tel.Detach()
	look()
}

// TestEveryMetricIsProduced holds names, types, units, labels and bounds against
// testdata/metrics.txt. go test ./telemetry -run TestEveryMetricIsProduced -update
// writes it anew: what changes there changes for everyone who reads a metric.
func TestEveryMetricIsProduced(t *testing.T) {
	tel, dir := started(t)
	c := tel.core()
	c.losses.drop(sinkFile, signalLog, dropQueue, 1)
	c.losses.problem(sinkFile, config.CodeRejected)
	j := newJournal(c, &decision{config: config.Config{File: config.File{On: true}}})
	got := produced{}
	live(tel, func() { got.look(j) })
	files := stop(t, tel, dir)
	got.look(j) // now all spans are counted
	if !strings.Contains(files["metrics"], `{"name":"`+nameFileSize+`","unit":"By","gauge":`) {
		t.Errorf("%s is not in %s", nameFileSize, files["metrics"])
	}
	var lines []string
	for _, m := range Catalogue() {
		if !ofTheChild(m) {
			continue // what a runtime has depends on the system
		}
		if got[m.Name] == nil {
			t.Errorf("%s is never counted", m.Name)
		}
		kind := map[point.Type]string{point.Counter: "counter", point.Gauge: "gauge", point.Histogram: "histogram"}[m.Type]
		labels := slices.Sorted(maps.Keys(got[m.Name]))
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s (%s) %s", m.Name, kind, m.Unit, strings.Join(labels, " "), strings.Trim(fmt.Sprint(m.Bounds), "[]"))))
	}
	slices.Sort(lines)
	const file = "testdata/metrics.txt"
	now := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), now); diff != "" {
		t.Error(diff)
	}
}
