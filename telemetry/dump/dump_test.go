package dump

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCleanDump(t *testing.T) {
	raw := `goroutine 21 [chan receive, 2 minutes]:
magicode/internal/mcp.(*Manager).Close(0xc000123456, {0x1, 0x2})
	/home/someone/src/mcp/manager.go:142 +0x1f
sync.(*Mutex).Lock(...)
	/usr/local/go/src/sync/mutex.go:48
created by magicode/internal/server.Serve in goroutine 1
	/home/someone/src/server/serve.go:60 +0x55

goroutine 22 [select]:
main.main.func1()
	/tmp/x/main.go:5 +0x1

goroutine 23 [select]:
main.main.func1()
	/tmp/x/main.go:5 +0x2
`
	want := `goroutine 21 [chan receive, 2 minutes]
  mcp.(*Manager).Close manager.go:142
  sync.(*Mutex).Lock mutex.go:48
  created by server.Serve serve.go:60

goroutine 22 [select] ×2
  main.main.func1 main.go:5

`
	if diff := cmp.Diff(want, clean(raw)); diff != "" {
		t.Error(diff)
	}
}

func TestOwnDumpIsClean(t *testing.T) {
	dump := Goroutines()
	if !strings.Contains(dump, "dump.Goroutines dump.go:") {
		t.Errorf("where is this test in %s", dump)
	}
	for line := range strings.Lines(dump) {
		if strings.Contains(line, "0x") || strings.Contains(line, "/") {
			t.Errorf("not clean: %s", line)
		}
	}
}
