package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"magicode/internal/tool"
	"magicode/internal/tool/find"
	"magicode/internal/tool/grep"
	"magicode/internal/tool/listfiles"
	"magicode/internal/tool/read"
	"magicode/internal/vfs"
)

func mustRun(b *testing.B, t tool.Tool, env tool.Env, args string) tool.Result {
	res := t.Run(context.Background(), env, json.RawMessage(args))
	if !res.Success {
		b.Fatal(res.Content)
	}
	return res
}

// BenchmarkGrep searches 9,000 files, 100 MB. x/grep is the time relative to
// `grep -rnE` over the same files, the shorter of two runs each time.
func BenchmarkGrep(b *testing.B) {
	const size = 11650
	files := few(9000)
	for _, tc := range []struct{ name, pattern string }{
		{"literal", "rare_needle_42"},
		{"absent", "absent_needle"},
		{"alternation", "rare_needle|other_needle|third_thing"},
		{"noliteral", "[a-z]+_[a-z]+_[0-9]+"},
		{"noliteral_dense", "[0-9]{2,}x?"},
		{"frequent", "return"},
		{"anycase", "(?i)rare_needle"},
	} {
		b.Run("pattern="+tc.name, func(b *testing.B) {
			env := shared.get(b, "grep", func(root string) error { return makeTree(root, files, size) })
			t := grep.New(vfs.OS(), noSources(b), true)
			args, _ := json.Marshal(map[string]any{"patterns": []string{tc.pattern}})
			mustRun(b, t, env, string(args))
			theirs := grepTime(b, env.Cwd, tc.pattern)
			b.SetBytes(int64(files * size))
			b.ReportAllocs()
			for b.Loop() {
				if m := mustRun(b, t, env, string(args)).Metadata; m["scan_complete"] != true || m["files_scanned"] != files {
					b.Fatal("incomplete")
				}
			}
			if theirs > 0 {
				theirs = min(theirs, grepTime(b, env.Cwd, tc.pattern))
				ours := b.Elapsed() / time.Duration(b.N)
				b.ReportMetric(float64(ours)/float64(theirs), "x/grep")
				b.ReportMetric(float64(theirs.Nanoseconds())/1e6, "grep-ms")
			}
		})
	}
}

// grepTime runs the system's grep; 0 without one.
func grepTime(b *testing.B, root, pattern string) time.Duration {
	b.StopTimer()
	defer b.StartTimer()
	args := []string{"-rnE", pattern, root}
	if rest, ok := cutPrefix(pattern, "(?i)"); ok {
		args = []string{"-rniE", rest, root}
	}
	if _, err := exec.LookPath("grep"); err != nil {
		return 0
	}
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("grep", args...)
	// grep stops at the first hit when it sees the null device itself.
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 1<<20)
	for {
		if _, err := pipe.Read(buf); err != nil {
			break
		}
	}
	cmd.Wait()
	return time.Since(begin)
}

func cutPrefix(s, p string) (string, bool) {
	if len(s) >= len(p) && s[:len(p)] == p {
		return s[len(p):], true
	}
	return s, false
}

// BenchmarkFind searches 20,000 entries.
func BenchmarkFind(b *testing.B) {
	folders := few(800)
	fill := func(root string) error {
		for d := range folders {
			dir := filepath.Join(root, fmt.Sprintf("group%02d", d/40), fmt.Sprintf("Package%03d", d))
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			for f := range 24 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("sourceFile%02d.go", f)), nil, 0o644); err != nil {
					return err
				}
			}
		}
		return os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.o\n*.tmp\nnode_modules/\n/build/\n*.log\ndist/\n**/generated/*.go\n"), 0o644)
	}
	for _, tc := range []struct{ name, query string }{{"few", "package123 file07"}, {"all", "go"}, {"subsequence", "pkgfl"}, {"none", "zzz"}} {
		b.Run("query="+tc.name, func(b *testing.B) {
			env := shared.get(b, "find", fill)
			t := find.New(vfs.OS(), noSources(b), true)
			args := fmt.Sprintf(`{"query":%q}`, tc.query)
			b.ReportAllocs()
			for b.Loop() {
				if m := mustRun(b, t, env, args).Metadata; m["entries_scanned"] != folders*25+(folders+39)/40 {
					b.Fatal(m["entries_scanned"])
				}
			}
		})
	}
}

// BenchmarkRead reads a source file of 16 KiB, one of 1 MB, and eight at once.
func BenchmarkRead(b *testing.B) {
	fill := func(root string) error {
		if err := makeTree(root, 8, 16<<10); err != nil {
			return err
		}
		return makeTree(filepath.Join(root, "large"), 1, 1<<19)
	}
	var eight []string
	for i := range 8 {
		eight = append(eight, fmt.Sprintf("pkg00/part00/file%04d.txt", i))
	}
	for _, tc := range []struct {
		name  string
		paths []string
	}{
		{"16KiB", eight[:1]}, {"8x16KiB", eight}, {"512KiB", []string{"large/pkg00/part00/file0000.txt:1+"}}, {"lines", []string{eight[0] + ":100+20"}},
	} {
		b.Run("file="+tc.name, func(b *testing.B) {
			env := shared.get(b, "read", fill)
			t := read.New(tool.Files{FS: vfs.OS()}, &tool.Snapshots{}, nil, true)
			args, _ := json.Marshal(map[string]any{"paths": tc.paths})
			b.ReportAllocs()
			b.SetBytes(int64(len(mustRun(b, t, env, string(args)).Content)))
			for b.Loop() {
				mustRun(b, t, env, string(args))
			}
		})
	}
}

// BenchmarkListFiles lists directories of 10 and 1,000 files through the
// registry, as a run does.
func BenchmarkListFiles(b *testing.B) {
	sizes := []int{10, 1000}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			env := shared.get(b, fmt.Sprintf("list%d", n), func(root string) error {
				for i := range n {
					if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("file%04d.go", i)), nil, 0o644); err != nil {
						return err
					}
				}
				return nil
			})
			reg := tool.New([]tool.Tool{listfiles.New(vfs.OS(), true)}, tool.Options{})
			call := tool.Call{ID: "c", Name: "list_files", Arguments: json.RawMessage(`{"path":"."}`)}
			b.ReportAllocs()
			for b.Loop() {
				if !reg.Dispatch(context.Background(), env, call).Success {
					b.Fatal("failed")
				}
			}
		})
	}
}
