package find

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/ignore"
)

func TestDisplay(t *testing.T) {
	env := workspace(t, "a1.go", "a2.go", "d/a3.go")
	for _, tc := range []struct{ name, args, want string }{
		{"all", `{"query":"go"}`, "Entries returned: 3\nResult state: results returned\nTotal matching entries: 3\nMatching entries seen: 3\nSeen count exact: true\nScan complete: true\nTimed out: false\nResults limited: false\nHas more: false\nNext offset: ?\nEntries scanned: 4\nEntry limit reached: false\nWalk errors: 0\nWalk entries omitted: 0\n"},
		{"a page", `{"query":"go","limit":2}`, "Entries returned: 2\nResult state: incomplete\nTotal matching entries: 3\nMatching entries seen: 3\nSeen count exact: true\nScan complete: true\nTimed out: false\nResults limited: true\nHas more: true\nNext offset: 2\nEntries scanned: 4\nEntry limit reached: false\nWalk errors: 0\nWalk entries omitted: 0\n"},
		{"behind the end", `{"query":"go","offset":3}`, "Entries returned: 0\nResult state: no entries returned\nTotal matching entries: 3\nMatching entries seen: 3\nSeen count exact: true\nScan complete: true\nTimed out: false\nResults limited: false\nHas more: false\nNext offset: ?\nEntries scanned: 4\nEntry limit reached: false\nWalk errors: 0\nWalk entries omitted: 0\n"},
		{"nothing", `{"query":"zz"}`, "Entries returned: 0\nResult state: no matches\nTotal matching entries: 0\nMatching entries seen: 0\nSeen count exact: true\nScan complete: true\nTimed out: false\nResults limited: false\nHas more: false\nNext offset: ?\nEntries scanned: 4\nEntry limit reached: false\nWalk errors: 0\nWalk entries omitted: 0\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, run(t, env, false, tc.args).Display.String()); d != "" {
				t.Error(d)
			}
		})
	}
}

// What a walk did not reach is not known: neither the total nor whether there is more.
func TestDisplayOfACutWalk(t *testing.T) {
	want := "Entries returned: 2\nResult state: incomplete\nTotal matching entries: ?\nMatching entries seen: 2\nSeen count exact: false\nScan complete: false\nTimed out: true\nResults limited: true\nHas more: ?\nNext offset: ?\nEntries scanned: 9\nEntry limit reached: true\nWalk errors: 1\nWalk entries omitted: 4\n"
	d := display(2, 2, nil, false, ignore.Stats{Entries: 9, Omitted: 4, Errors: 1, Limited: true, Stopped: true})
	if diff := cmp.Diff(want, d.String()); diff != "" || !d.Limited {
		t.Error(diff)
	}
}
