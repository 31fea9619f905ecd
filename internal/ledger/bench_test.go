//go:build linux || darwin

package ledger

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"magicode/internal/lease"
	"magicode/internal/tool"
	"magicode/internal/vfs"
)

// BenchmarkRecord is what an edit of 10 KB costs beyond itself: one blob, since
// the other is that of the edit before, and one line, each synced.
func BenchmarkRecord(b *testing.B) {
	home, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, "checkpoints"), 0o755); err != nil {
		b.Fatal(err)
	}
	leases := lease.New(lease.Options{FS: vfs.OS()})
	defer leases.Close()
	r := New(Options{FS: vfs.OS(), Leases: leases, Root: home}).For(Run{Session: "s-1", Cwd: work,
		Turn: func(context.Context) (int, error) { return 1, nil }, Lost: func(_ context.Context, reason string) { b.Fatal(reason) }})
	text := func(i int) tool.Version { return file(fmt.Sprintf("%010000d", i)) }
	i := 0
	for b.Loop() {
		r.Record(b.Context(), tool.Edit{Tool: "edit", Path: work + "/a", Before: text(i), After: text(i + 1)})
		i++
	}
}
