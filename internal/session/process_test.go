//go:build linux || darwin

package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"magicode/internal/lease"
	"magicode/internal/vfs"
)

const childEnv = "SESSION_TEST_CHILD"

// realOptions is a store on the disk.
func realOptions(t testing.TB, root string) Options {
	m := lease.New(lease.Options{FS: vfs.OS()})
	t.Cleanup(func() { _ = m.Close() })
	o := options(t, vfs.OS(), 0, nil)
	o.Leases, o.Dir, o.RecoveredDir = m, filepath.Join(root, "sessions"), filepath.Join(root, "state", "recovered")
	return o
}

func realHome(t testing.TB) (root string) {
	t.Helper()
	root = t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "sessions"), 0o700), os.Mkdir(filepath.Join(root, "state"), 0o755))
	return root
}

// startChild runs this test binary as another process that does one job.
func startChild(t *testing.T, job, root string) (out *bufio.Reader, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChildProcess$")
	cmd.Env = append(os.Environ(), childEnv+"="+job+" "+root)
	in, err := cmd.StdinPipe()
	must(t, err)
	pipe, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	done := false
	kill = func() {
		if !done {
			done = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			_ = in.Close()
		}
	}
	t.Cleanup(kill)
	return bufio.NewReader(pipe), kill
}

// TestChildProcess is what startChild runs.
func TestChildProcess(t *testing.T) {
	job, root, ok := strings.Cut(os.Getenv(childEnv), " ")
	if !ok {
		t.Skip("only run as a child")
	}
	s := NewStore(realOptions(t, root))
	h, err := s.CreateAs(t.Context(), sid)
	must(t, err)
	switch job {
	case "hold":
		appendOK(t, h, Required, user("from the child"))
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "loop":
		for i := 0; ; i++ {
			appendOK(t, h, Ordered, chunk("loose"))
			appendOK(t, h, Required, chunk(strconv.Itoa(i)))
			fmt.Println(i)
		}
	case "limit":
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 3000, Max: 3000}))
		appendOK(t, h, Required, user("fits"))
		o, err := h.Append(t.Context(), Required, chunk(strings.Repeat("too long ", 1000)))
		fmt.Println("outcome", o, errors.Is(err, syscall.EFBIG))
		appendOK(t, h, Required, chunk("fits too"))
		must(t, h.Close())
		fmt.Println("end")
	}
}

func readLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("child: %q %v", line, err)
	}
	return strings.TrimSpace(line)
}

func TestTwoProcesses(t *testing.T) {
	root := realHome(t)
	out, kill := startChild(t, "hold", root)
	if got := readLine(t, out); got != "ready" {
		t.Fatal(got)
	}
	s := NewStore(realOptions(t, root))
	if _, _, err := s.Open(t.Context(), sid); !errors.Is(err, ErrBusy) {
		t.Errorf("two owners: %v", err)
	}
	kill()
	f := &texts{}
	h, _, err := s.Open(t.Context(), sid, f)
	if err != nil || f.String() != "from the child" {
		t.Fatalf("after the owner was killed: %v %v", f, err)
	}
	appendOK(t, h, Required, chunk("mine"))
	must(t, h.Close())
	list, err := os.ReadDir(filepath.Join(root, "sessions"))
	if err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
}

// TestKilledWriter kills a process that appends, at moments of no choice.
func TestKilledWriter(t *testing.T) {
	for round := range 8 {
		root := realHome(t)
		out, kill := startChild(t, "loop", root)
		last := ""
		for range 1 + round*3 {
			last = readLine(t, out)
		}
		kill()
		f := &texts{}
		h, _, err := NewStore(realOptions(t, root)).Open(t.Context(), sid, f)
		must(t, err)
		appendOK(t, h, Required, chunk("after"))
		must(t, h.Close())
		if !slices.Contains(f.texts, last) {
			t.Errorf("%q was called durable: %v", last, f)
		}
		for i, s := range f.texts {
			if want := [...]string{"loose", strconv.Itoa(i / 2)}[i%2]; s != want {
				t.Errorf("record %d is %q", i, s)
			}
		}
	}
}

// TestReusedPid: our own pid is surely alive, and surely not that owner.
func TestReusedPid(t *testing.T) {
	root := realHome(t)
	pid := strconv.Itoa(os.Getpid())
	lock := filepath.Join(root, "sessions", ".s-1.writer.lock")
	for _, c := range []struct {
		third string
		want  error
	}{{"start=1@00000000\n", nil}, {"", ErrBusy}} {
		must(t, os.WriteFile(lock, []byte("pid="+pid+"\ntoken="+pid+"-1\n"+c.third), 0o644))
		h, err := NewStore(realOptions(t, root)).Create(t.Context())
		if !errors.Is(err, c.want) {
			t.Errorf("%q: %v", c.third, err)
		}
		if err == nil {
			must(t, h.Close())
		}
	}
}

// TestFileSizeLimit: the limit's signal does not kill, the write just fails.
func TestFileSizeLimit(t *testing.T) {
	root := realHome(t)
	out, _ := startChild(t, "limit", root)
	if got, want := readLine(t, out), fmt.Sprintf("outcome %d true", RolledBack); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := readLine(t, out); got != "end" {
		t.Error(got)
	}
	f := &texts{}
	h, _, err := NewStore(realOptions(t, root)).Open(t.Context(), sid, f)
	if err != nil || f.String() != "fits|fits too" {
		t.Fatalf("%v %v", f, err)
	}
	must(t, h.Close())
}

func TestRealFiles(t *testing.T) {
	root := realHome(t)
	path := filepath.Join(root, "sessions", sid+".jsonl")
	s := NewStore(realOptions(t, root))
	open := func() error {
		h, _, err := s.Open(t.Context(), sid)
		if err == nil {
			err = h.Close()
		}
		return err
	}
	for _, c := range []struct {
		name string
		make func() error
		want error
	}{
		{"FIFO", func() error { return syscall.Mkfifo(path, 0o600) }, ErrInvalid},
		{"link", func() error { return os.Symlink("/etc/hostname", path) }, ErrInvalid},
		{"directory", func() error { return os.Mkdir(path, 0o700) }, ErrInvalid},
		{"0644", func() error { return os.WriteFile(path, []byte(textLine("a")), 0o644) }, ErrInvalid},
		{"0400", func() error { return os.WriteFile(path, []byte(textLine("a")), 0o400) }, nil},
		{"hard link", func() error {
			return errors.Join(os.WriteFile(path, []byte(textLine("a")), 0o600), os.Link(path, filepath.Join(root, "second")))
		}, ErrInvalid},
	} {
		must(t, os.RemoveAll(path), c.make())
		if err := open(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	must(t, os.Remove(filepath.Join(root, "second")), open(), os.Remove(path))
	if err := open(); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
}

// TestRealTurn: the whole way on a disk, and the modes under any umask.
func TestRealTurn(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	root := realHome(t)
	s := NewStore(realOptions(t, root))
	h, err := s.Create(t.Context())
	must(t, err)
	f := &texts{}
	h.Follow(f)
	appendOK(t, h, Required, user("a"))
	appendOK(t, h, Ordered, chunk("b"))
	must(t, h.Unchanged(t.Context()))
	r, err := h.BeginRotation(context.Background(), 1)
	must(t, err)
	if o, err := r.Commit(t.Context(), checkpoint); o != Durable || err != nil {
		t.Fatal(o, err)
	}
	appendOK(t, h, Required, chunk("c"))
	if o, err := h.WriteSidecar(t.Context()); o != Durable || err != nil {
		t.Error(o, err)
	}
	must(t, h.Unchanged(t.Context()), h.Close())
	if m, ok := ReadSidecar(vfs.OS(), s.o.Dir, sid); !ok || m.SessionPath != cwd {
		t.Errorf("%+v %v", m, ok)
	}
	got := &texts{}
	h, info, err := s.Open(t.Context(), sid, got)
	if err != nil || got.String() != "SUMMARY|b|c" || info.Records != 3 || f.String() != "a|b|c" {
		t.Errorf("%v %v %+v %v", got, f, info, err)
	}
	must(t, h.Close())
	for _, n := range []string{".jsonl", ".metadata.json"} {
		if fi, err := os.Stat(filepath.Join(s.o.Dir, sid+n)); err != nil || fi.Mode() != 0o600 {
			t.Errorf("%s: %v %v", n, fi.Mode(), err)
		}
	}
}
