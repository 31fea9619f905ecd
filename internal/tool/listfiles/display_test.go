//go:build linux || darwin

package listfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDisplay(t *testing.T) {
	env := workspace(t)
	os.Mkdir(filepath.Join(env.Cwd, "none"), 0o755)
	os.Mkdir(filepath.Join(env.Cwd, "full"), 0o755)
	for i := range maxNames + 1 {
		os.WriteFile(filepath.Join(env.Cwd, "full", fmt.Sprint(i)), nil, 0o644)
	}
	for _, tc := range []struct{ name, args, want string }{
		{"both", `{"path":".","include_directories":true}`, "Files returned: 4\nDirectories returned: 3\nResult state: results returned\nEntries returned: 7\nListing complete: true\nResults limited: false\n"},
		{"empty", `{"path":"none"}`, "Files returned: 0\nDirectories returned: 0\nResult state: empty listing\nEntries returned: 0\nListing complete: true\nResults limited: false\n"},
		{"cut", `{"path":"full"}`, "Files returned: 1000\nDirectories returned: 0\nResult state: incomplete\nEntries returned: 1000\nListing complete: false\nResults limited: true\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := run(env, false, tc.args)
			if d := cmp.Diff(tc.want, res.Display.String()); d != "" || res.Display.Limited != (tc.name == "cut") {
				t.Error(res.Display.Limited, d)
			}
		})
	}
	if res := run(env, false, `{"path":"missing"}`); res.Display != nil {
		t.Errorf("a failure tells %v", res.Display)
	}
}
