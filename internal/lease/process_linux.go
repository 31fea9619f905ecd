package lease

import (
	"strconv"
	"strings"
	"sync"

	"magicode/internal/vfs"
)

// system asks /proc.
type system struct {
	boot func() string
}

func newSystem() *system {
	return &system{boot: sync.OnceValue(func() string {
		id, err := vfs.ReadFile(vfs.OS(), "/proc/sys/kernel/random/boot_id", 128)
		if err != nil || len(id) < 8 {
			return ""
		}
		return string(id[:8])
	})}
}

// Start reads field 22 of /proc/<pid>/stat, clock ticks since boot. Ticks
// repeat after a reboot, hence the first digits of the boot's id behind them.
func (s *system) Start(pid int) (string, bool) {
	data, err := vfs.ReadFile(vfs.OS(), "/proc/"+strconv.Itoa(pid)+"/stat", 4096)
	if err != nil {
		return "", true
	}
	ticks, state := parseStat(string(data))
	if state == "Z" || state == "X" {
		return "", false
	}
	if boot := s.boot(); ticks != "" && boot != "" {
		ticks += "@" + boot
	}
	return ticks, true
}

// parseStat starts behind the last ')': the name in front may hold anything.
func parseStat(stat string) (ticks, state string) {
	i := strings.LastIndexByte(stat, ')')
	if i < 0 {
		return "", ""
	}
	f := strings.Fields(stat[i+1:])
	if len(f) < 20 {
		return "", ""
	}
	return f[19], f[0]
}
