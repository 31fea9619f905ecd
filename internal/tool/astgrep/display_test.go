package astgrep

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/tool/tooltest"
)

func TestDisplay(t *testing.T) {
	env := tooltest.Workspace(t, map[string]string{"a.go": "package a\n\nfunc f() {\n\tg(1)\n\tg(2)\n}\n", "big.go": "package a\n\x00"})
	for _, tc := range []struct{ name, args, want string }{
		{"search", `{"pattern":"g($A)","path":"a.go"}`, "Search output lines returned: 2\nResult state: results returned\nScan complete: true\nOutline entries returned: ?\nTimed out: false\nResults limited: false\nPartial scan: false\nOutput truncated: false\nFiles skipped: 0\nWorkset limited: false\n"},
		{"nothing", `{"pattern":"h($A)","path":"a.go"}`, "Search output lines returned: 0\nResult state: no matches\nScan complete: true\nOutline entries returned: ?\nTimed out: false\nResults limited: false\nPartial scan: false\nOutput truncated: false\nFiles skipped: 0\nWorkset limited: false\n"},
		{"limit", `{"pattern":"g($A)","path":"a.go","limit":1}`, "Search output lines returned: 1\nResult state: incomplete\nScan complete: false\nOutline entries returned: ?\nTimed out: false\nResults limited: true\nPartial scan: false\nOutput truncated: false\nFiles skipped: 0\nWorkset limited: false\n"},
		{"a file left out", `{"pattern":"g($A)"}`, "Search output lines returned: 2\nResult state: incomplete\nScan complete: false\nOutline entries returned: ?\nTimed out: false\nResults limited: false\nPartial scan: true\nOutput truncated: false\nFiles skipped: 1\nWorkset limited: false\n"},
		{"outline", `{"operation":"outline","path":"a.go"}`, "Search output lines returned: ?\nResult state: results returned\nScan complete: true\nOutline entries returned: 1\nTimed out: false\nResults limited: false\nPartial scan: false\nOutput truncated: false\nFiles skipped: 0\nWorkset limited: false\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := run(t, env, tc.args)
			if res.Display == nil {
				t.Fatal(res.Content)
			}
			if d := cmp.Diff(tc.want, res.Display.String()); d != "" {
				t.Error(d)
			}
		})
	}
}
