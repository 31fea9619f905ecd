package history_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"magicode/internal/history"
	"magicode/internal/session"
	"magicode/pkg/localagent"
)

func TestPageBytes(t *testing.T) {
	s := snapshot(t, fold(t, script(`user_input {"text":"a\u2028b"}`+"\n"+`turn_status {"status":"cancelled"}`)...))
	want := `{"complete":true,"entries":[` +
		`{"kind":"user","last_part":true,"message_id":"m1","part":0,"partial":false,"text":"a\u2028b"},` +
		`{"kind":"diagnostic","last_part":true,"message_id":"m2","part":0,"partial":true,"text":"Turn Cancelled"}` +
		`],"next_cursor":null,"revision":"rev","session_id":"sid"}`
	if got := string(s.AppendPage([]byte("> "), "sid", 0)); got != "> "+want {
		t.Errorf("got  %s\nwant > %s", got, want)
	}
}

func TestEmptyHistory(t *testing.T) {
	s := snapshot(t, history.New(counter()))
	want := `{"complete":true,"entries":[],"next_cursor":null,"revision":"rev","session_id":"sid"}`
	if got := string(s.AppendPage(nil, "sid", 0)); got != want || s.Pages() != 1 || s.Parts() != 0 || !s.Complete() {
		t.Errorf("%s, %d pages", got, s.Pages())
	}
}

// turns is n answered questions with replies of the given size: 2n messages.
func turns(n, size int) []session.Record {
	var out []session.Record
	for i := range n {
		out = append(out, rec(session.KindUserInput, fmt.Sprintf(`{"text":"q%d"}`, i)),
			rec(session.KindAssistantOutput, `{"text":"`+strings.Repeat("a", size)+`"}`))
	}
	return out
}

func TestCursors(t *testing.T) {
	s := snapshot(t, fold(t, turns(120, 1)...))
	if s.Pages() != 3 {
		t.Fatalf("%d pages", s.Pages())
	}
	for _, c := range []struct {
		cursor string
		page   int
		err    error
	}{
		{"", 0, nil}, {"rev.0", 0, nil}, {"rev.00", 0, nil}, {"rev.1", 1, nil}, {"rev.02", 2, nil},
		{"rev." + strings.Repeat("0", 59) + "1", 1, nil},
		{"rev.3", 0, history.ErrStale}, {"rev.", 0, history.ErrStale}, {"rev", 0, history.ErrStale},
		{"other.0", 0, history.ErrStale}, {"bogus", 0, history.ErrStale}, {"rev.-1", 0, history.ErrStale},
		{"rev.1x", 0, history.ErrStale}, {"rev.1_0", 0, history.ErrStale}, {"rev.0x1", 0, history.ErrStale},
		{"rev.18446744073709551616", 0, history.ErrStale}, {"rev.4294967297", 0, history.ErrStale},
		{"rev.+1", 0, history.ErrCursor}, {"rev. 1", 0, history.ErrCursor}, {"é", 0, history.ErrCursor},
		{"rev.1\n", 0, history.ErrCursor}, {strings.Repeat("c", 64), 0, history.ErrStale}, {strings.Repeat("c", 65), 0, history.ErrCursor},
	} {
		page, err := s.Locate(c.cursor)
		if page != c.page || !errors.Is(err, c.err) {
			t.Errorf("%q: page %d, %v; want %d, %v", c.cursor, page, err, c.page, c.err)
		}
	}
}

// TestCompleteOnlyOnTheLastPage, and never in a projection that is not.
func TestCompleteOnlyOnTheLastPage(t *testing.T) {
	for _, cut := range []bool{false, true} {
		recs := turns(120, 1)
		if cut {
			recs = recs[:len(recs)-1]
		}
		s := snapshot(t, fold(t, recs...))
		for i := range s.Pages() {
			got := strings.HasPrefix(string(s.AppendPage(nil, "s", i)), `{"complete":true,`)
			if want := i == s.Pages()-1 && !cut; got != want {
				t.Errorf("cut %v: page %d: complete %v", cut, i, got)
			}
		}
	}
}

// TestSnapshotsDoNotChange: what was taken stays, byte for byte, while the fold
// goes on and others read.
func TestSnapshotsDoNotChange(t *testing.T) {
	type taken struct {
		s     *history.Snapshot
		pages []string
	}
	f := history.New(counter())
	var all []taken
	for i, r := range turns(300, 700) {
		if err := f.Apply(r); err != nil {
			t.Fatal(err)
		}
		if i%17 != 0 {
			continue
		}
		k := taken{s: snapshot(t, f)}
		for p := range k.s.Pages() {
			k.pages = append(k.pages, string(k.s.AppendPage(nil, "s", p)))
		}
		all = append(all, k)
	}
	var wg sync.WaitGroup
	for _, k := range all {
		wg.Go(func() {
			for p, want := range k.pages {
				if got := string(k.s.AppendPage(nil, "s", p)); got != want {
					t.Errorf("page %d of a snapshot with %d parts changed", p, k.s.Parts())
				}
			}
		})
	}
	for _, r := range turns(50, 700) { // at the same time: -race would see a shared write
		if err := f.Apply(r); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

// TestIDsStay: a message keeps its id in every snapshot of one fold, the
// synthetic ones too, and no two share one.
func TestIDsStay(t *testing.T) {
	f := history.New(counter())
	ids := map[string]string{}
	for _, r := range script(q + "assistant_chunk {\"text\":\"a\"}\ntool_call {\"id\":\"1\",\"name\":\"x\"}\n" + q + `assistant_output {"text":"b"}` + "\n" + q) {
		if err := f.Apply(r); err != nil {
			t.Fatal(err)
		}
		all, _ := entries(t, snapshot(t, f))
		seen := map[string]bool{}
		for i, e := range all {
			if seen[e.MessageID] {
				t.Fatalf("id %s twice", e.MessageID)
			}
			seen[e.MessageID] = true
			at := fmt.Sprint(e.Kind, i)
			if old, ok := ids[at]; ok && old != e.MessageID && e.Text != interrupt {
				t.Errorf("%s had id %s, now %s", at, old, e.MessageID)
			}
			ids[at] = e.MessageID
		}
	}
}

func TestPartLimit(t *testing.T) {
	exact := turns(5000, 1)
	f := fold(t, exact...)
	s := snapshot(t, f)
	if s.Parts() != 10_000 || s.Pages() != 100 || !s.Complete() {
		t.Errorf("%d parts on %d pages", s.Parts(), s.Pages())
	}
	err := f.Apply(rec(session.KindUserInput, `{"text":"one more"}`))
	if err == nil {
		_, err = f.Snapshot("r")
	}
	if !errors.Is(err, history.ErrLimit) {
		t.Errorf("10,001 parts: %v", err)
	}

	// Parts, not messages: 4,999 turns and one reply of three parts.
	f = fold(t, append(turns(4998, 1), turns(1, 24_001)...)...)
	if got := snapshot(t, f).Parts(); got != 10_000 {
		t.Errorf("%d parts", got)
	}
	f = fold(t, append(turns(4998, 1), turns(1, 36_001)...)...)
	if _, err := f.Snapshot("r"); !errors.Is(err, history.ErrLimit) {
		t.Errorf("10,001 parts of 9,998 messages: %v", err)
	}
	// The diagnostic of an interrupted turn counts.
	f = fold(t, exact[:len(exact)-1]...)
	if s := snapshot(t, f); s.Parts() != 10_000 || s.Complete() {
		t.Errorf("%d parts, complete %v", s.Parts(), s.Complete())
	}
}

func TestByteLimit(t *testing.T) {
	// One turn is reckoned exactly; then the last reply is sized to the byte.
	base := snapshot(t, fold(t, turns(1, 11_000)...)).Bytes() - 2
	n := (8<<20-2)/base - 1
	recs := turns(n, 11_000)
	for i := range recs {
		if recs[i].Kind == session.KindUserInput {
			recs[i].Payload = []byte(`{"text":"q0"}`)
		}
	}
	newID := func() string { return "m" }
	used := func(recs []session.Record) int {
		f := history.New(newID)
		for _, r := range recs {
			if err := f.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
		s, err := f.Snapshot("r")
		if err != nil {
			return -1
		}
		return s.Bytes()
	}
	left := 8<<20 - used(recs)
	last := turns(1, 1)
	spare := left - (used(append(recs[:len(recs):len(recs)], last...)) - used(recs)) + 1
	overhead := used(turns(1, 12_001)) - used(turns(1, 12_000)) - 1 // of one more part
	for spare > 12_000 {
		spare -= overhead
		if used(append(recs[:len(recs):len(recs)], turns(1, spare)...)) == 8<<20 {
			break
		}
	}
	if got := used(append(recs[:len(recs):len(recs)], turns(1, spare)...)); got != 8<<20 {
		t.Fatalf("a projection of %d bytes, wanted 8 MiB to the byte", got)
	}
	if got := used(append(recs[:len(recs):len(recs)], turns(1, spare+1)...)); got != -1 {
		t.Errorf("one byte more: a projection of %d bytes", got)
	}
}

// TestOpenTurnIsBounded: chunks without an end are refused at 8 MiB of text,
// not collected.
func TestOpenTurnIsBounded(t *testing.T) {
	f := fold(t, script(q)...)
	chunk := rec(session.KindAssistantChunk, `{"text":"`+strings.Repeat("x", 1<<20)+`"}`)
	for i := range 9 {
		if err := f.Apply(chunk); err != nil {
			if !errors.Is(err, history.ErrLimit) || i < 7 {
				t.Fatalf("chunk %d: %v", i, err)
			}
			return
		}
	}
	t.Error("9 MiB of open text were taken")
}

// TestReplacedTextDoesNotCount: only what is shown counts against the limit.
func TestReplacedTextDoesNotCount(t *testing.T) {
	f := fold(t, script(q)...)
	big := strings.Repeat("x", 1<<20)
	for i := range 12 {
		for _, r := range []session.Record{
			rec(session.KindReasoningSummary, `{"item_id":"i","provider_summary":true,"text":"`+big+`"}`),
			rec(session.KindAssistantChunk, `{"text":"`+big+`"}`),
			rec(session.KindAssistantOutput, `{"text":"short"}`),
		} {
			if err := f.Apply(r); err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
		}
	}
	if got := snapshot(t, f); got.Bytes() < 1<<20 || got.Bytes() > 3<<19 {
		t.Errorf("%d bytes", got.Bytes())
	}
}

func TestHeavyEscapesFitPages(t *testing.T) {
	text := strings.Repeat(`\"\\\n\u2028\u0001`, 9000)
	all, complete := entries(t, snapshot(t, fold(t, rec(session.KindUserInput, `{"text":"`+text+`"}`), rec(session.KindAssistantOutput, `{"text":"`+text+`"}`))))
	got := joined(t, all)
	want := strings.Repeat("\"\\\n\u2028\u0001", 9000)
	if len(got) != 2 || !complete || len(got[1].Text) == 0 || strings.ReplaceAll(want, "\u0001", "") != strings.ReplaceAll(got[1].Text, "\u0001", "") {
		t.Errorf("%d messages", len(got))
	}
}

// TestActivitySummariesAreBounded: what a call is called keeps the protocol's
// bound with its state, so that scripts in commands do not fill the snapshot.
func TestActivitySummariesAreBounded(t *testing.T) {
	f := fold(t, script(q)...)
	for i := range 12 {
		id := strconv.Itoa(i)
		for _, r := range []session.Record{
			rec(session.KindToolCall, `{"id":"`+id+`","name":"bash","arguments":{"command":"`+strings.Repeat("ü", 1<<19)+`"}}`),
			rec(session.KindToolResult, result(id, "bash", "true")),
		} {
			if err := f.Apply(r); err != nil {
				t.Fatalf("call %d: %v", i, err)
			}
		}
	}
	all, _ := entries(t, snapshot(t, f))
	for _, e := range all[1:] {
		if n := len(e.Text); n > localagent.MaxSummaryBytes || n < localagent.MaxSummaryBytes-1 && !strings.HasPrefix(e.Text, "Interrupted") {
			t.Errorf("%d bytes: %.40q", n, e.Text)
		}
		if e.Kind == "activity" && !strings.HasSuffix(e.Text, ": completed") {
			t.Errorf("the state is gone: %q", e.Text[len(e.Text)-20:])
		}
	}
}
