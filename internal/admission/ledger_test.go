package admission

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"magicode/pkg/localagent"
)

func TestLedger(t *testing.T) {
	var l Ledger
	for i := range localagent.MaxRequests {
		id := fmt.Sprintf("id.%d", i)
		if rej := l.Record(id); rej != nil {
			t.Fatalf("%s: %+v", id, rej)
		}
		if i%97 == 0 {
			want := &Rejection{Code: localagent.CodeDuplicateID, ID: id, HasID: true}
			if diff := cmp.Diff(want, l.Record(id)); diff != "" {
				t.Fatal(diff)
			}
		}
	}
	// Row 6 comes before row 7: an old id is a duplicate, also when all is full.
	if rej := l.Record("id.0"); rej == nil || rej.Code != localagent.CodeDuplicateID || rej.Closes {
		t.Errorf("an old id: %+v", rej)
	}
	want := &Rejection{Code: localagent.CodeRequestLimit, ID: "new", HasID: true, Closes: true}
	for range 2 { // and it was not recorded
		if diff := cmp.Diff(want, l.Record("new")); diff != "" {
			t.Error(diff)
		}
	}
	if l.Len() != localagent.MaxRequests {
		t.Errorf("%d ids", l.Len())
	}
}

func TestLedgerAgainstASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Ledger
		set := map[string]bool{}
		ids := rapid.SliceOfN(rapid.StringMatching(`[a-c.]{1,4}|[A-Za-z0-9._-]{60,64}`), 0, 400).Draw(t, "ids")
		for _, id := range ids {
			if rej := l.Record(id); (rej != nil) != set[id] {
				t.Fatalf("%q, seen %v: %+v", id, set[id], rej)
			}
			set[id] = true
		}
		if l.Len() != len(set) {
			t.Fatalf("%d ids, wanted %d", l.Len(), len(set))
		}
	})
}

// A status frame costs the id that is kept, and nothing else.
func TestStatusAllocatesItsID(t *testing.T) {
	var l Ledger
	for i := range 2100 { // behind the growth of table and list
		l.Record(fmt.Sprint(i))
	}
	i := 0
	frame := []byte(with("r1", "a.0000"))
	at := strings.Index(string(frame), "a.0000") + 2
	n := testing.AllocsPerRun(200, func() {
		frame[at+1], frame[at+2], frame[at+3] = byte('0'+i/100%10), byte('0'+i/10%10), byte('0'+i%10)
		i++
		req, rej := Parse(frame)
		if rej != nil || DecodeEmpty(req.Params) != nil {
			t.Fatal(rej)
		}
		if rej := l.Record(req.ID); rej != nil {
			t.Fatal(rej)
		}
	})
	if n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func TestMethodsAreConstants(t *testing.T) {
	for _, m := range []string{"initialize", "status", "shutdown", "session.create", "session.open", "history.page", "turn.start", "turn.cancel", "approval.answer"} {
		frame := []byte(with("status", m))
		if n := testing.AllocsPerRun(10, func() {
			if req, _ := Parse(frame); req.Method != m {
				t.Fatal(req.Method)
			}
		}); n > 1 {
			t.Errorf("%s: %v allocations", m, n)
		}
	}
}
