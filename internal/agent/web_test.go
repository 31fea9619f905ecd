package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"magicode/internal/agenttest"
	"magicode/internal/vfs"
)

// TestWebInATurn: the tool is offered in its place, to scripts and to tasks that
// act, not to those that only look; and nothing on this machine is opened.
func TestWebInATurn(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	local := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer local.Close()
	m := agenttest.Start(t, "")
	c := serveOn(t, vfs.OS(), dir, m)
	open := fmt.Sprintf(`{"operation":"open","url":%q}`, local.URL)
	m.Load("tool:web "+open, fmt.Sprintf(`tool:code_mode {"code":"return JSON.stringify(tools.call('web', %s))"}`, strings.ReplaceAll(open, `"`, `\"`)),
		`tool:subagents {"tasks":[{"intent":"look","mode":"inspect"}]}`, "tool:web "+open, "text:looked",
		`tool:web {"operation":"search","query":"x"}`, "text:done")
	if got := c.turn(); got != "completed durable <nil>" {
		t.Fatal(got)
	}
	seen := m.Seen()
	if len(seen) != 7 {
		t.Fatalf("%d requests: %s", len(seen), seen[len(seen)-1])
	}
	for i, want := range map[int]string{1: "not public", 2: "not public", 4: "scope limitation", 6: "EXA_API_KEY"} {
		if !strings.Contains(seen[i], want) {
			t.Errorf("request %d lacks %q: %.3000s", i, want, seen[i])
		}
	}
	if asked.Load() != 0 {
		t.Errorf("a server of this machine was asked %d times", asked.Load())
	}
	all := slices.DeleteFunc(offered(t, seen[0]), func(n string) bool { return n == "ast_grep" })
	if got := strings.Join(all, " "); got != "read view_image bash hash_edit write grep find list_files subagents web magi_control code_mode" {
		t.Errorf("offered %s", got)
	}
	if got := offered(t, seen[3]); slices.Contains(got, "web") || slices.Contains(got, "view_image") {
		t.Errorf("offered to a task that only looks: %v", got)
	}
}

// offered are the names of a request's tools.
func offered(t *testing.T, request string) (names []string) {
	t.Helper()
	var body struct {
		Tools []struct {
			Function struct{ Name string } `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal([]byte(request), &body); err != nil {
		t.Fatal(err)
	}
	for _, tl := range body.Tools {
		names = append(names, tl.Function.Name)
	}
	return names
}
