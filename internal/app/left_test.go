//go:build linux || darwin

package app

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"magicode/internal/agenttest"
)

// program is this test's executable as the program, in a process group of its
// own as a shell's job is, with its own home and temporary folder.
func program(t *testing.T, home, temp string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MC_HOME=" + home, "HOME=" + home, "TMPDIR=" + temp, "NO_PROXY=127.0.0.1", asProgram + "=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// TestAskInterrupted: what is typed at a terminal goes to the whole group. The
// child is not of it, so the turn is cancelled and its end is stored.
func TestAskInterrupted(t *testing.T) {
	t.Parallel()
	p, home := agenttest.Start(t, "text:Going on | gate:never"), t.TempDir()
	if err := p.Settings(home, ""); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, home, t.TempDir(), "ask", "hi")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("Going"))); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitError || !strings.HasPrefix(errs.String(), "magi-code: the turn was cancelled (session ") {
		t.Errorf("%v: %s", err, errs.String())
	}
}

// TestDemoReaderGone: a reader that goes early, as head does, does not keep the
// demo from taking its folder away.
func TestDemoReaderGone(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	cmd := program(t, t.TempDir(), temp, "demo")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Error(err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // either status will do
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 || cmd.ProcessState.ExitCode() < 0 {
		t.Errorf("%v, %v, left behind: %v", cmd.ProcessState, err, left)
	}
}
