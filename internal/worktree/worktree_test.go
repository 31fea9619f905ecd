package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/vfs"
)

// byGit is the rule as git itself tells it (storage.md 6.1).
func byGit(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.Command("git", "-C", dir, "rev-parse", "--is-inside-work-tree").Output()
	if err != nil || strings.TrimSpace(string(out)) != "true" {
		return dir
	}
	out, err = exec.Command("git", "-C", dir, "worktree", "list", "--porcelain").Output()
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	path, err := filepath.EvalSymlinks(strings.TrimPrefix(first, "worktree "))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMainEqualsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	repo := filepath.Join(root, "repo")
	for _, d := range []string{"repo/a/b", "plain/x", "fake/.git", "fake/in"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(repo, "init", "-q")
	run(repo, "commit", "-q", "--allow-empty", "-m", "x")
	run(repo, "worktree", "add", "-q", filepath.Join(root, "linked"))
	if err := os.MkdirAll(filepath.Join(root, "linked", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"repo", "repo/a/b", "repo/.git", "repo/.git/refs", "plain/x", "linked", "linked/deep", "fake/in"} {
		dir = filepath.Join(root, dir)
		if got, want := Main(vfs.OS(), dir), byGit(t, dir); got != want {
			t.Errorf("%s: %s, git says %s", dir, got, want)
		}
	}
}
