package telemetry

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"magicode/internal/racetest"
	"magicode/telemetry/otlpjson"
)

// TestStartWaitsForNothing: to start takes less than 200 µs and touches no file,
// whatever was asked for, in vain or not (telemetry.md 3.1). With one processor
// nothing else runs until the start is over, unless the machine takes it away.
func TestStartWaitsForNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	most := 200 * time.Microsecond
	if racetest.On {
		most *= 5 // 0.3 to 0.45 ms were measured
	}
	for _, sinks := range []string{"file", "prom", "otlp", "fil"} {
		untouched, soonest := false, time.Hour
		for range 50 {
			dir := stateDir(t)
			tel := New([]string{"MC_TELEMETRY=" + sinks, "MC_TELEMETRY_PROM=" + filepath.Join(dir, "m.prom")}, time.Now())
			began := time.Now()
			tel.Start(nil, Identity{InstanceID: instance, StateDir: dir})
			soonest = min(soonest, time.Since(began))
			made, err := os.ReadDir(dir)
			untouched = untouched || err == nil && len(made) == 0
			var d *decision
			if c := tel.core(); c != nil {
				d = c.decided.Load()
			}
			tel.Exit(0, WordOf("shutdown"), false)
			if d != nil {
				<-d.stopped
			}
			if _, err := os.Stat(filepath.Join(dir, statusName)); err != nil {
				t.Errorf("%s: after the exit there is no status: %v", sinks, err)
			}
		}
		if !untouched {
			t.Errorf("%s: there are files when the start is over", sinks)
		}
		if soonest > most {
			t.Errorf("%s: it takes %v", sinks, soonest)
		}
	}
}

// TestStatusOfAnUnsafeFolder: where a folder is not safe enough for a salt, the
// status says so, and nothing secret is in it.
func TestStatusOfAnUnsafeFolder(t *testing.T) {
	for _, mode := range []os.FileMode{0o770, 0o777} {
		tel, dir := startedIn(t, mode)
		stop(t, tel, dir)
		status := readStatus(t, dir)
		if len(status.Problems) != 1 || status.Problems[0].Code != "salt_unavailable" || status.Sinks["file"].State != sinkOn {
			t.Errorf("%o: %+v", mode, status)
		}
		if info, err := os.Stat(filepath.Join(dir, statusName)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%o: %v, %v", mode, info, err)
		}
	}
}

func startedIn(t *testing.T, mode os.FileMode) (Tel, string) {
	t.Helper()
	dir := stateDir(t)
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	tel := New([]string{"MC_TELEMETRY=file"}, time.Now())
	tel.Start(nil, Identity{InstanceID: instance, StateDir: dir})
	return tel, dir
}

// TestOffDoesNotAllocate: a handle that is off costs no allocation, in whatever
// way it came to be off; one that is not decided yet only counts.
func TestOffDoesNotAllocate(t *testing.T) {
	decided := New(nil, time.Now())
	decided.Start(nil, Identity{})
	for state, tel := range map[string]Tel{"killed": New([]string{"MC_TELEMETRY=off"}, time.Now()), "decided": decided, "dormant": New(nil, time.Now())} {
		for name, hook := range hotHooks(tel) {
			if n := testing.AllocsPerRun(100, hook); n != 0 {
				t.Errorf("%s, %s: %v allocations", name, state, n)
			}
		}
		if state == "dormant" {
			continue
		}
		if n := testing.AllocsPerRun(100, func() { exercise(tel); tel.Detach() }); n != 0 {
			t.Errorf("everything, %s: %v allocations", state, n)
		}
		if ctx, s := tel.Begin(t.Context(), SpanRun); ctx != t.Context() || s.On() {
			t.Errorf("%s: there is a span", state)
		}
	}
}

// FuzzAllowlist: text that is in no list of ours is written under no key but those
// of names, and of a resource's (T-29).
func FuzzAllowlist(f *testing.F) {
	keys := []string{"", "http.url", "user", "magi.prompt", keySpanName, keySpanParent, keyErrorType}
	for k := range keyForms() {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		for _, text := range []string{"free text", "/home/someone/x", "mcp-1 ", "chat", "ok\n", "0123456789ab/", "s-0123456789ab0", strings.Repeat("a", maxText+1)} {
			f.Add(k, text, int64(1))
		}
	}
	f.Fuzz(func(t *testing.T, key, text string, n int64) {
		line := otlpjson.New(nil, scopeName, "1", allowed).AppendLog(nil, otlpjson.Log{Name: recordOpen, Attributes: []attribute.KeyValue{
			attribute.String(key, text), attribute.StringSlice(key, []string{text}), attribute.Int64(key, n), attribute.Bool(key, n > 0),
			attribute.Float64(key, 0.5), attribute.Int64Slice(key, []int64{n})}})
		for _, kv := range writtenAttributes(t, line) {
			texts := append(kv.Value.ArrayValue.texts(), kv.Value.StringValue)
			for _, s := range texts {
				if s != "" && WordOf(s) == 0 && CodeOf(s) == 0 && s != other && !freeKey(kv.Key, s) {
					t.Errorf("%s: %q", kv.Key, s)
				}
			}
			if keyForms()[kv.Key].form == 0 && kv.Key != keyOpenNames && kv.Key != keyOpenAges {
				t.Errorf("the key %q is none of ours", kv.Key)
			}
		}
	})
}

// freeKey reports a text that is no word and may stand there: a printable name,
// a hash, the name of a span, and the few words that belong to one key.
func freeKey(key, s string) bool {
	hash := len(s) <= 16 && strings.Trim(strings.TrimPrefix(s, sessionPrefix), "0123456789abcdef") == ""
	switch key {
	case nameKeys[KeyModel], nameKeys[KeyResponseModel], nameKeys[KeyMCPName], nameKeys[KeyMCPTool], nameKeys[KeyAgent], nameKeys[KeyProviderID]:
		return len(s) <= maxText && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
	case keySpanName, keyOpenNames:
		return knownSpanName(s)
	}
	if fits := keyForms()[key].fits; fits != nil {
		return fits(s) && !strings.ContainsAny(s, "/\n")
	}
	return hash
}

type writtenList struct {
	Values []struct{ StringValue string }
}

func (l *writtenList) texts() (out []string) {
	if l != nil {
		for _, v := range l.Values {
			out = append(out, v.StringValue)
		}
	}
	return out
}

type writtenAttribute struct {
	Key   string
	Value struct {
		StringValue string
		ArrayValue  *writtenList
	}
}

func writtenAttributes(t *testing.T, line []byte) []writtenAttribute {
	t.Helper()
	var doc struct {
		ResourceLogs []struct {
			ScopeLogs []struct {
				LogRecords []struct{ Attributes []writtenAttribute }
			}
		}
	}
	if err := json.Unmarshal(line, &doc); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return doc.ResourceLogs[0].ScopeLogs[0].LogRecords[0].Attributes
}
