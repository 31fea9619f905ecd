package replay

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"magicode/internal/provider"
	"magicode/internal/session"
)

// wellFormed says what of a conversation an API would refuse.
func wellFormed(items []provider.Item) error {
	calls := map[string]bool{} // id -> answered
	for i, it := range items {
		switch it.Kind {
		case provider.ItemCall:
			if _, used := calls[it.CallID]; used || it.CallID == "" {
				return fmt.Errorf("item %d: call id %q is blank or used", i, it.CallID)
			}
			calls[it.CallID] = false
		case provider.ItemResult:
			if answered, known := calls[it.CallID]; !known || answered {
				return fmt.Errorf("item %d: result of %q, known %v, answered %v", i, it.CallID, known, answered)
			}
			calls[it.CallID] = true
		}
	}
	for id, answered := range calls {
		if !answered {
			return fmt.Errorf("call %q has no result", id)
		}
	}
	return nil
}

func records() *rapid.Generator[[]rec] {
	ids := rapid.SampledFrom([]string{"", "a", "b", "a-2", "c"})
	texts := rapid.SampledFrom([]string{"", " ", "one", "one two", "Continue", "provider stream ended", steeringHeader + " x"})
	one := rapid.Custom(func(t *rapid.T) rec {
		id, text := ids.Draw(t, "id"), texts.Draw(t, "text")
		switch rapid.IntRange(0, 15).Draw(t, "kind") {
		case 0:
			return user(text)
		case 1:
			return chunk(text)
		case 2:
			return output(text)
		case 3, 4:
			return call(id)
		case 5:
			return item(id)
		case 6, 7, 8:
			return result(id, text)
		case 9:
			return status(rapid.SampledFrom([]string{"complete", "incomplete", "cancelled", "failed", "compaction_required"}).Draw(t, "status"), text)
		case 10:
			return auto("dangling_tool_intent", text)
		case 11:
			return diagnostic(text)
		case 12:
			return checkpoint("S", fmt.Sprintf(`,"cutoff_event_count":%d`, rapid.IntRange(0, 9).Draw(t, "cutoff")))
		case 14:
			return linked("task-" + id)
		case 13:
			return rec{session.KindProviderResponseItem, `{"item":{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}},{"id":"` + id + `","function":{"name":"x","arguments":"{}"}}]}}`}
		default:
			return rec{session.Kind(rapid.StringMatching(`[a-z_]{1,12}`).Draw(t, "unknown")), `{"text":` + quoted(text) + `}`}
		}
	})
	return rapid.SliceOfN(one, 0, 40)
}

// TestAnyRecords: whatever a file holds, an API takes the conversation: every
// call has exactly one result behind it and ids are unique, at every point of
// the file; and looking at the conversation does not change it.
func TestAnyRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		recs := records().Draw(t, "records")
		f := new(Fold)
		for i, r := range recs {
			_ = f.Apply(session.Record{Kind: r.kind, Payload: []byte(r.payload), Index: i})
			got := f.Items()
			if err := wellFormed(got); err != nil {
				t.Fatalf("after %d records: %v\n%s", i+1, err, strings.Join(lines(got), "\n"))
			}
			if err := wellFormed(f.Earlier()); err != nil {
				t.Fatalf("earlier, after %d records: %v", i+1, err)
			}
			for _, it := range got {
				if it.Kind == provider.ItemCall && !f.HasCallID(it.CallID) {
					t.Fatalf("HasCallID does not know %q", it.CallID)
				}
			}
		}
		if diff := cmp.Diff(lines(fold(recs...).Items()), lines(f.Items())); diff != "" {
			t.Fatalf("looking changes the conversation: %s", diff)
		}
	})
}

// TestChunksDoNotMatter: where the text of a segment is cut makes no difference.
func TestChunksDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 40, -1).Draw(t, "text")
		recs := []rec{user("hi")}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len([]rune(rest))).Draw(t, "cut")
			piece := string([]rune(rest)[:n])
			recs, rest = append(recs, chunk(piece)), rest[len(piece):]
		}
		for _, end := range []rec{output(text), status("cancelled", text), status("complete", "")} {
			whole := lines(fold(user("hi"), chunk(text), end).Items())
			if diff := cmp.Diff(whole, lines(fold(append(recs[:len(recs):len(recs)], end)...).Items())); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// recorded reads a session file as the store hands it over.
func recorded(t *testing.T, path string) []rec {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var recs []rec
	for sc := bufio.NewScanner(file); sc.Scan(); {
		var l struct {
			Kind    session.Kind    `json:"event_type"`
			Payload json.RawMessage `json:"payload"`
		}
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec{l.Kind, string(l.Payload)})
	}
	return recs
}

// TestRecordedSessions: sessions that the released program wrote. Each line of
// a golden file is one item, cut after 200 characters.
func TestRecordedSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/sessions/*.jsonl")
	if err != nil || len(files) < 18 {
		t.Fatal(len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			got := fold(recorded(t, path)...).Items()
			if err := wellFormed(got); err != nil {
				t.Error(err)
			}
			var b strings.Builder
			for _, l := range lines(got) {
				if len(l) > 200 {
					l = fmt.Sprintf("%s ... (%d bytes)", cutRunes(l, 200), len(l))
				}
				fmt.Fprintf(&b, "%s\n", strings.ReplaceAll(l, "\n", `\n`))
			}
			golden := strings.TrimSuffix(path, ".jsonl") + ".items"
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFollower: a rotation changes the conversation under a handle that goes on feeding it.
func TestFollower(t *testing.T) {
	f := NewFollower(fold(user("old"), call("x"), result("x", "out"), output("x")))
	feed := func(i int, r rec) { _ = f.Apply(session.Record{Kind: r.kind, Payload: []byte(r.payload), Index: i}) }
	if !f.HasCallID("x") || len(f.Items()) != 4 {
		t.Errorf("%v", lines(f.Items()))
	}
	f.Swap(fold(checkpoint("S", "")))
	feed(1, user("new"))
	if got := f.Items(); len(got) != 2 || got[1].Text != "new" || len(f.Earlier()) != 1 || f.HasCallID("x") {
		t.Errorf("%v", lines(got))
	}
}

func BenchmarkFold(b *testing.B) {
	var recs []session.Record
	size := 0
	for i := range 1000 {
		for _, r := range []rec{user("question"), item("c"), call("c"), result("c", strings.Repeat("output line\n", 50)), chunk("answer"), output("answer")} {
			recs = append(recs, session.Record{Kind: r.kind, Payload: []byte(r.payload), Index: i})
			size += len(r.payload)
		}
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		var f Fold
		for _, r := range recs {
			_ = f.Apply(r)
		}
		if len(f.Items()) != 4000 {
			b.Fatal(len(f.Items()))
		}
	}
}
