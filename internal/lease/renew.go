package lease

import (
	"strconv"
	"time"
)

func guardText(pid int) string { return "pid=" + strconv.Itoa(pid) + "\n" }

// armLocked starts the one timer when the first lock is held. While a renewal
// runs, armed stays true and the renewal goes on by itself.
func (m *Manager) armLocked() {
	if m.armed {
		return
	}
	m.armed = true
	if m.timer == nil {
		m.timer = time.AfterFunc(renewEvery, m.renew)
		return
	}
	m.timer.Reset(renewEvery)
}

func (m *Manager) disarmLocked() {
	if len(m.held) == 0 && m.armed && m.timer.Stop() {
		m.armed = false
	}
}

// renew touches every lock file. A failure is ignored: contenders look at the
// pid first, the time only serves readers that cannot parse the file.
func (m *Manager) renew() {
	m.renewing.Lock()
	defer m.renewing.Unlock()
	now := time.Now()
	for _, path := range m.paths() {
		_ = m.fs.Chtimes(path, now)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.held) == 0 || m.closed {
		m.armed = false
		return
	}
	m.timer.Reset(renewEvery)
}

func (m *Manager) paths() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for path, l := range m.held {
		if l.users > 0 {
			out = append(out, path)
		}
	}
	return out
}
