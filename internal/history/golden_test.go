package history_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type golden struct {
	Complete bool
	Entries  []shown
}

// TestRecordedSessions: sessions that the released program wrote show what it
// showed.
func TestRecordedSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/sessions/*.expected.json")
	if err != nil || len(files) != 19 {
		t.Fatalf("%d recorded sessions, %v", len(files), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".expected.json")
		t.Run(name, func(t *testing.T) {
			var want golden
			read(t, f, &want)
			check(t, "testdata/sessions/"+name+".jsonl", want)
		})
	}
}

// TestSyntheticHome: one line or more of every kind, as the released program
// showed it.
func TestSyntheticHome(t *testing.T) {
	var all map[string]json.RawMessage
	read(t, "testdata/synthetic/history.json", &all)
	delete(all, "_note")
	if len(all) != 4 {
		t.Fatalf("%d sessions", len(all))
	}
	for id, raw := range all {
		t.Run(id, func(t *testing.T) {
			var want golden
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			check(t, "testdata/synthetic/"+id+".jsonl", want)
		})
	}
}

func check(t *testing.T, file string, want golden) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, complete := project(t, lines(t, string(data))...)
	if complete != want.Complete {
		t.Errorf("complete %v, want %v", complete, want.Complete)
	}
	if d := cmp.Diff(want.Entries, got); d != "" {
		t.Errorf("entries (-want +got):\n%s", d)
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
