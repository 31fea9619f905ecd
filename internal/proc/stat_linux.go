package proc

import (
	"strconv"
	"strings"
)

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
