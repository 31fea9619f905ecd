package grep

import (
	"fmt"
	"strings"
	"testing"

	"magicode/internal/tool/tooltest"
)

func TestDisplay(t *testing.T) {
	env := tooltest.Workspace(t, map[string]string{"a.txt": "hit\nx\nhit\n", "b.txt": "x\n", "many.txt": strings.Repeat("many\n", 9)})
	base := map[string]string{
		"Matching lines returned": "2", "Result state": "results returned", "Total matching lines": "2", "Context lines returned": "0", "Output lines returned": "3",
		"Matching lines seen": "2", "Seen count exact": "true", "Files returned": "1", "Scan complete": "true", "Timed out": "false", "Results limited": "false",
		"Next offset": "?", "Has more": "false", "Context lines omitted": "0", "Read errors skipped": "0", "Walk errors": "0", "Walk entries omitted": "0",
		"File byte limit reached": "false", "Scan byte limit reached": "false", "File limit reached": "false", "Match limit reached": "false",
		"Per-file limit reached": "false", "Output byte limit reached": "false", "Raw lookahead reached": "false",
	}
	for _, tc := range []struct {
		name, args string
		other      map[string]string
	}{
		{"ranked", `{"patterns":["hit"]}`, nil},
		{"nothing", `{"patterns":["none"]}`, map[string]string{"Matching lines returned": "0", "Result state": "no matches", "Total matching lines": "0", "Output lines returned": "0", "Matching lines seen": "0", "Files returned": "0"}},
		{"behind the end", `{"patterns":["hit"],"offset":5}`, map[string]string{"Matching lines returned": "0", "Result state": "no entries returned", "Output lines returned": "0", "Files returned": "0"}},
		{"context", `{"patterns":["hit"],"mode":"raw","context":1}`, map[string]string{"Context lines returned": "1"}},
		{"a page", `{"patterns":["hit"],"limit":1}`, map[string]string{"Matching lines returned": "1", "Result state": "incomplete", "Output lines returned": "2", "Results limited": "true", "Next offset": "1", "Has more": "true", "Match limit reached": "true"}},
		{"a raw page", `{"patterns":["hit"],"mode":"raw","limit":1}`, map[string]string{"Matching lines returned": "1", "Result state": "incomplete", "Total matching lines": "?", "Output lines returned": "1", "Seen count exact": "false", "Scan complete": "false", "Results limited": "true", "Next offset": "1", "Has more": "true", "Match limit reached": "true", "Raw lookahead reached": "true"}},
		{"per file", `{"patterns":["many"]}`, map[string]string{"Matching lines returned": "5", "Result state": "incomplete", "Total matching lines": "9", "Output lines returned": "6", "Matching lines seen": "9", "Results limited": "true", "Per-file limit reached": "true"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := run(t, env, tc.args).Display
			if len(d.Facts) != len(base) {
				t.Fatalf("%d facts", len(d.Facts))
			}
			for line := range strings.Lines(d.String()) {
				label, got, _ := strings.Cut(strings.TrimSpace(line), ": ")
				want := base[label]
				if v, ok := tc.other[label]; ok {
					want = v
				}
				if got != want {
					t.Errorf("%s: %s, wanted %s", label, got, want)
				}
			}
			if limited := tc.other["Results limited"] == "true"; d.Limited != limited {
				t.Error("limited", d.Limited)
			}
		})
	}
}

// What a scan did not reach is not known.
func TestDisplayOfACutScan(t *testing.T) {
	d := display(request{limit: 5}, &outcome{seen: 3, deadline: true, unreadable: 2}, &page{}, "", 0)
	got := fmt.Sprint(d)
	for _, want := range []string{"Result state: incomplete", "Total matching lines: ?", "Matching lines seen: 3", "Has more: ?", "Timed out: true", "Read errors skipped: 2", "Results limited: true"} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no %q in %s", want, got)
		}
	}
}
