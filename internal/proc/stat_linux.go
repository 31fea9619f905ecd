package proc

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// stat is what a sweep needs of /proc/PID/stat.
type stat struct {
	pid, ppid, pgrp int
	state           byte
	start           uint64 // clock ticks since boot: tells a reused id
}

// readTable reads all processes; whole is false if one ended meanwhile.
func readTable() (procs []stat, whole bool) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, true
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	procs = make([]stat, 0, len(names))
	whole = true
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		s, err := readStat(pid)
		if err == nil {
			procs = append(procs, s)
		} else if err == unix.ENOENT || err == unix.ESRCH {
			whole = false // others are processes that we may not look at
		}
	}
	return procs, whole
}

func readStat(pid int) (stat, error) {
	var buf [1024]byte
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return stat{}, err
	}
	n, err := unix.Read(fd, buf[:])
	unix.Close(fd)
	if err != nil {
		return stat{}, err
	}
	s, ok := parseStat(pid, string(buf[:max(n, 0)]))
	if !ok {
		return stat{}, unix.EINVAL
	}
	return s, nil
}

// parseStat reads one line of /proc/PID/stat. The name in parentheses may hold
// anything, so the fields are counted from the last parenthesis.
func parseStat(pid int, line string) (stat, bool) {
	i := strings.LastIndexByte(line, ')')
	if i < 0 {
		return stat{}, false
	}
	f := strings.Fields(line[i+1:])
	if len(f) < 20 {
		return stat{}, false
	}
	s := stat{pid: pid, state: f[0][0]}
	var err1, err2, err3 error
	s.ppid, err1 = strconv.Atoi(f[1])
	s.pgrp, err2 = strconv.Atoi(f[2])
	s.start, err3 = strconv.ParseUint(f[19], 10, 64)
	return s, err1 == nil && err2 == nil && err3 == nil
}
