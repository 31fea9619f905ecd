package proc

import (
	"context"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// prepare keeps descriptors that this process inherited itself from its
// children.
func prepare() error {
	live.prepared.Do(func() { cloexecDir("/dev/fd") })
	return nil
}

// waitExited waits for the end of pid and leaves its status to be taken.
func waitExited(pid int) {
	const pPid = 1
	var info [128]byte
	for {
		_, _, e := syscall.Syscall6(syscall.SYS_WAITID, pPid, uintptr(pid), uintptr(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, 0, 0)
		if e != syscall.EINTR {
			return
		}
	}
}

type entry struct{ pid, ppid, pgrp int }

func processes() []entry {
	ks, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	const zombie = 5 // SZOMB
	out := make([]entry, 0, len(ks))
	for i := range ks {
		if ks[i].Proc.P_stat != zombie {
			out = append(out, entry{int(ks[i].Proc.P_pid), int(ks[i].Eproc.Ppid), int(ks[i].Eproc.Pgid)})
		}
	}
	return out
}

// snapshot lists the descendants outside of the group while the tree still
// stands: afterwards they belong to launchd.
func (p *Process) snapshot() []int {
	procs := processes()
	in := map[int]bool{p.pid: true}
	var out []int
	for grew := true; grew; {
		grew = false
		for _, e := range procs {
			if !in[e.pid] && in[e.ppid] {
				in[e.pid], grew = true, true
				if e.pgrp != p.pid {
					out = append(out, e.pid)
				}
			}
		}
	}
	return out
}

// endRest ends the rest of the group and the known outsiders, then reaps the
// leader, whose unreaped id keeps the group's from being reused.
func (p *Process) endRest(outside []int, term, kill time.Time) bool {
	left := false
	sig := unix.SIGTERM
	if !time.Now().Before(term) {
		sig = unix.SIGKILL
	}
	for {
		rest := p.rest(outside)
		if left = len(rest) > 0; !left {
			break
		}
		unix.Kill(-p.pid, sig)
		for _, pid := range outside {
			unix.Kill(pid, sig)
		}
		now := time.Now()
		if now.After(kill) {
			break
		}
		if now.After(term) {
			sig = unix.SIGKILL
		}
		time.Sleep(2 * time.Millisecond) // only while leftovers are dying
	}
	ok := p.reap()
	live.mu.Lock()
	live.removeLocked(p)
	live.mu.Unlock()
	return left || !ok
}

func (p *Process) rest(outside []int) []int {
	var out []int
	for _, e := range processes() {
		if e.pgrp == p.pid && e.pid != p.pid {
			out = append(out, e.pid)
			continue
		}
		for _, pid := range outside {
			if pid == e.pid {
				out = append(out, pid)
			}
		}
	}
	return out
}

func sweepOrphans(context.Context) {}
