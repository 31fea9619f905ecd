package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/tool"
	"magicode/internal/tool/hashedit"
	"magicode/internal/vfs"
)

type noLocks struct{}

func (noLocks) Lock(context.Context, string) (func(), error) { return func() {}, nil }

// noSync leaves out what the disk would be waited for.
type noSync struct{ vfs.FS }

func (f noSync) Open(name string, flags vfs.Flag, perm os.FileMode) (vfs.File, error) {
	file, err := f.FS.Open(name, flags, perm)
	if err != nil {
		return nil, err
	}
	return noSyncFile{file}, nil
}

func (noSync) SyncDir(string) error { return nil }

type noSyncFile struct{ vfs.File }

func (noSyncFile) Sync() error { return nil }

// BenchmarkHashEdit applies a patch of three operations to a file, again and
// again: each result's tag is that of the next patch.
func BenchmarkHashEdit(b *testing.B) {
	for _, lines := range []int{200, 20000} {
		for _, fs := range []struct {
			name string
			fs   vfs.FS
		}{{"none", noSync{vfs.OS()}}, {"real", vfs.OS()}} {
			b.Run(fmt.Sprintf("lines=%d/sync=%s", lines, fs.name), func(b *testing.B) {
				env := shared.get(b, fmt.Sprintf("edit-%d-%s", lines, fs.name), func(string) error { return nil })
				path := filepath.Join(env.Cwd, "f.txt")
				text := strings.Repeat("some line of source text, not too short\n", lines)
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					b.Fatal(err)
				}
				snaps := &tool.Snapshots{}
				tag := tool.Tag(text)
				snaps.Record(path, tag, text, 1, lines)
				t := hashedit.New(tool.Files{FS: fs.fs, Locks: noLocks{}}, snaps, true)
				b.ReportAllocs()
				b.SetBytes(int64(len(text)))
				for i := 0; b.Loop(); i++ {
					patch := fmt.Sprintf("[f.txt#%s]\nSWAP 5:\n+number %d\nINS.PRE 100:\n+x\nDEL 150", tag, i)
					args, _ := json.Marshal(map[string]string{"input": patch})
					res := mustRun(b, t, env, string(args))
					_, rest, _ := strings.Cut(res.Content, "f.txt#")
					tag = rest[:4]
				}
			})
		}
	}
}
