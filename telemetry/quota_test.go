package telemetry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestQuota: a capture that outgrew its bound has its beginning and its end, and
// tells how much of what lay between them was given up: in its own metrics, in the
// last status, and as a problem (T-35).
func TestQuota(t *testing.T) {
	dir := stateDir(t)
	tel := New([]string{"MC_TELEMETRY=file", "MC_TELEMETRY_MAX_MB=4"}, time.Now())
	tel.Start(nil, Identity{InstanceID: instance, StateDir: dir, Version: "1"})
	ctx, child := tel.Begin(context.Background(), SpanChild)
	c := tel.core()
	d := c.decided.Load()
	const spans = 20_000
	for i := range spans {
		_, s := tel.Begin(ctx, SpanHistoryPage)
		s.Int(KeyCount, int64(i))
		for len(d.lo) >= loQueue/2 {
			time.Sleep(time.Millisecond)
		}
		s.End()
	}
	child.End()
	tel.Exit(0, WordOf("shutdown"), false)
	<-d.stopped
	names, err := filepath.Glob(filepath.Join(dir, "telemetry", "mc-*.traces*.jsonl"))
	if err != nil || len(names) < 3 {
		t.Fatalf("%v %v", names, err)
	}
	var all strings.Builder
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	there := strings.Count(all.String(), `"key":"magi.count"`)
	for _, want := range []string{`"intValue":"0"`, fmt.Sprintf(`"intValue":"%d"`, spans-1), `"name":"magi.child"`} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %s", want)
		}
	}
	losses := &c.losses
	if n := losses.drops[sinkFile][signalSpan][dropQuota].Load(); n != uint64(spans-there) || n == 0 {
		t.Errorf("%d spans are counted, %d are missing", n, spans-there)
	}
	status := readStatus(t, dir)
	if s := status.Sinks["file"]; s.State != sinkOn || s.Dropped != losses.dropped(sinkFile) {
		t.Errorf("%+v, %d are missing", s, losses.dropped(sinkFile))
	}
	if len(status.Problems) != 1 || status.Problems[0].Code != "quota" || status.Problems[0].Key != "telemetry.file" {
		t.Errorf("%+v", status.Problems)
	}
}
