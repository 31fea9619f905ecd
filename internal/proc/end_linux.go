package proc

import (
	"context"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// prepare makes this process the reaper of its descendants and keeps
// descriptors that it inherited itself from its children.
func prepare() error {
	live.prepared.Do(func() {
		// Both are best effort: an older kernel lacks them, and the sweep by
		// group still works.
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
		if unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC) != nil {
			cloexecDir("/proc/self/fd")
		}
	})
	return nil
}

func waitExited(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != syscall.EINTR {
			return
		}
	}
}

// snapshot is not needed here: whoever leaves the group comes to us.
func (p *Process) snapshot() []int { return nil }

// endRest reaps the leader and ends what it left. It reports whether something
// is left even so.
func (p *Process) endRest(_ []int, term, kill time.Time) bool {
	if !p.reap() {
		sweep(p, term, kill)
		return true
	}
	live.mu.Lock()
	live.removeLocked(p)
	alone := len(live.byPid) == 0
	live.mu.Unlock()
	if alone && noChildren(unix.P_ALL, 0) {
		return false
	}
	return sweep(p, term, kill)
}

// noChildren reports that we have no child, dead or alive, in the given set.
func noChildren(kind, id int) bool {
	err := unix.Waitid(kind, id, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == syscall.ECHILD
}

const maxLooks = 8

// sweep ends the leftovers of p, or, for nil, everything that nobody owns.
func sweep(p *Process, term, kill time.Time) (left bool) {
	sig := unix.SIGTERM
	if !time.Now().Before(term) {
		sig = unix.SIGKILL
	}
	doomed := map[identity]bool{} // SIGKILL was sent: they run no more code of their own
	for looks := 0; ; {
		found, sure := signalLeftovers(p, sig)
		if len(found) == 0 {
			// Processes of others end all the time on a busy machine: some
			// looks in a row that found nothing are enough.
			if looks++; sure || looks == maxLooks {
				return false
			}
			continue
		}
		looks = 0
		survivors := false
		for _, t := range found {
			survivors = survivors || !doomed[t.identity]
			doomed[t.identity] = t.killed
		}
		until := kill
		if sig == unix.SIGTERM {
			until = term
		}
		waitGone(found, until)
		if sig == unix.SIGKILL && !time.Now().Before(kill) {
			// Time is up. Those that only wait for the processor to end are
			// no leftovers.
			return survivors
		}
		sig = unix.SIGKILL
	}
}

// identity tells processes apart even when an id is used again.
type identity struct {
	pid   int
	start uint64
}

// target is one leftover: a pidfd where the kernel has them, else -1.
type target struct {
	identity
	fd     int
	killed bool // SIGKILL was delivered
}

// signalLeftovers looks once, takes the status of dead ones, and sends sig to
// the others. The caller owns the descriptors (waitGone closes them). Nothing
// found is sure only if nobody died while it looked: a process that was seen
// in the listing and is gone now may have forked one that was not.
func signalLeftovers(p *Process, sig unix.Signal) (found []target, sure bool) {
	live.mu.Lock()
	defer live.mu.Unlock()
	if p != nil && !noChildren(unix.P_PGID, p.pid) {
		// Our unreaped children hold the group's id, and nobody reaps without
		// this lock: it cannot be another's.
		_ = unix.Kill(-p.pid, sig)
	}
	if len(live.byPid) == 0 && noChildren(unix.P_ALL, 0) {
		return nil, true
	}
	rest, sure := leftoversLocked(p)
	for _, q := range rest {
		fd, err := unix.PidfdOpen(q.pid, 0)
		if err != nil {
			if err == unix.ESRCH {
				sure = false
				continue
			}
			fd = -1
		}
		if again, err := readStat(q.pid); err != nil || again.start != q.start || again.state == 'Z' {
			sure = false
			if fd >= 0 {
				unix.Close(fd)
			}
			continue
		}
		if fd >= 0 {
			err = unix.PidfdSendSignal(fd, sig, nil, 0)
		} else {
			err = unix.Kill(q.pid, sig)
		}
		found = append(found, target{identity{q.pid, q.start}, fd, sig == unix.SIGKILL && err == nil})
	}
	return found, sure
}

// leftoversLocked finds the living leftovers and reaps the dead ones. sure is
// false if a process ended meanwhile.
func leftoversLocked(p *Process) (rest []stat, sure bool) {
	procs, sure := readTable()
	self, ownGroup := os.Getpid(), unix.Getpgrp()
	in := make(map[int]bool)
	for _, s := range procs {
		if s.ppid != self || live.byPid[s.pid] != nil {
			continue
		}
		ours := p != nil && s.pgrp == p.pid
		switch {
		case !ours && s.pgrp == ownGroup:
			// Not of this package: started by a library, in our own group.
		case s.state == 'Z':
			reapAdopted(s.pid)
			sure = false
		case ours || adoptedBy(s.pid, p):
			in[s.pid] = true
		}
	}
	for grew := len(in) > 0; grew; {
		grew = false
		for _, s := range procs {
			if !in[s.pid] && in[s.ppid] && live.byPid[s.pid] == nil {
				in[s.pid], grew = true, true
			}
		}
	}
	for _, s := range procs {
		if in[s.pid] && s.state != 'Z' {
			rest = append(rest, s)
		}
	}
	return rest, sure
}

// adoptedBy decides whose leftover an adopted process is. With a marker it is
// sure. Without one it is taken when nobody else can own it.
func adoptedBy(pid int, p *Process) bool {
	environ, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	tokens := markerTokens(string(environ))
	if p != nil {
		for _, t := range tokens {
			if t == p.token {
				return true
			}
		}
	}
	if len(tokens) > 0 {
		return !live.ownedByOtherLocked(tokens, p)
	}
	return len(live.byPid) == 0
}

func reapAdopted(pid int) {
	var ws unix.WaitStatus
	_, _ = unix.Wait4(pid, &ws, unix.WNOHANG, nil)
}

// waitGone waits until all targets are dead or the time is up, and closes
// their descriptors.
func waitGone(ts []target, until time.Time) {
	fds := make([]unix.PollFd, 0, len(ts))
	for _, t := range ts {
		if t.fd >= 0 {
			fds = append(fds, unix.PollFd{Fd: int32(t.fd), Events: unix.POLLIN})
		}
	}
	defer func() {
		for _, t := range ts {
			if t.fd >= 0 {
				unix.Close(t.fd)
			}
		}
	}()
	if len(fds) < len(ts) { // no pidfds: look again soon
		time.Sleep(min(time.Until(until), 5*time.Millisecond))
		return
	}
	for len(fds) > 0 {
		ms := int(time.Until(until).Milliseconds()) + 1
		if ms <= 1 && !time.Now().Before(until) {
			return
		}
		if _, err := unix.Poll(fds, ms); err != nil && err != unix.EINTR {
			return
		}
		rest := fds[:0]
		for _, f := range fds {
			if f.Revents == 0 {
				rest = append(rest, f)
			}
		}
		fds = rest
	}
}

// sweepOrphans ends what nobody owns.
func sweepOrphans(ctx context.Context) {
	if noChildren(unix.P_ALL, 0) {
		return
	}
	term := time.Now().Add(termWait)
	kill := term.Add(killWait)
	if d, ok := ctx.Deadline(); ok && d.Before(kill) {
		kill = d
	}
	sweep(nil, term, kill)
}
