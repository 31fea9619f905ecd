package app

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"magicode/internal/config"
	"magicode/internal/protect/judge"
	"magicode/internal/redact"
	"magicode/internal/vfs"
)

// lastStartup shows the note that a failed start has left (decision 35). Nobody
// takes it away: a later start may have gone well.
func (d *doctor) lastStartup(p config.Paths) {
	n, ok := readNote(d.fs, p)
	if !ok {
		return
	}
	text := redact.Display(n.Code) + " in the stage " + redact.Display(string(n.Stage))
	if place := placeOf(n); place != "" {
		text += ": " + place
	}
	d.say(noted, "last failure", "from an earlier start, %s: %s", redact.Display(n.Time), text)
	if at, err := time.Parse(time.RFC3339, n.Time); err == nil {
		if used := d.lastUse(p); used.After(at.Add(time.Second)) {
			d.more("a session was written after it, " + used.UTC().Format(time.RFC3339) + ": a later start went well")
		}
	}
}

// lastUse is when a session was written last: what only a good start can do.
func (d *doctor) lastUse(p config.Paths) (last time.Time) {
	entries, err := d.fs.ReadDir(p.Sessions())
	if err != nil {
		return last
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		if info, err := d.fs.Lstat(filepath.Join(p.Sessions(), e.Name())); err == nil && info.Mtime.After(last) {
			last = info.Mtime
		}
	}
	return last
}

// telemetry shows what was wrong with what a child was asked to record.
func (d *doctor) telemetry(p config.Paths) {
	file := filepath.Join(p.State(), "telemetry-status.json")
	data, err := vfs.ReadFile(d.fs, file, 64<<10)
	if err != nil {
		return
	}
	var status struct {
		Started  string
		Problems []struct{ Code, Key string }
		Sinks    map[string]struct {
			State   string
			Dropped uint64
		}
	}
	if json.Unmarshal(data, &status) != nil {
		d.say(noted, "telemetry", "%s cannot be read", file)
		return
	}
	for _, problem := range status.Problems {
		text := problem.Code
		if problem.Key != "" {
			text += ": " + problem.Key
		}
		d.say(noted, "telemetry", "of the child started %s: %s", redact.Display(status.Started), redact.Display(text))
	}
	for _, sink := range []string{"file", "otlp", "prometheus"} {
		if s := status.Sinks[sink]; s.Dropped > 0 || s.State == "suspended" {
			d.say(noted, "telemetry", "of the child started %s: the sink %s is %s and has dropped %d records", redact.Display(status.Started), sink, redact.Display(s.State), s.Dropped)
		}
	}
}

// telemetrySettings names what of them cannot be used: no start fails for it.
func (d *doctor) telemetrySettings(p config.Paths, l *config.Loaded) {
	c := telemetryOf(p, l.Telemetry, l.ProjectTelemetry)
	for _, problem := range c.Problems {
		text := strings.TrimSpace(problem.Code + " " + problem.Key)
		if hint := c.Hints[problem]; hint != "" {
			text += ": " + hint
		}
		d.say(noted, "telemetry", "of the next child: %s; see 'magi-code trace check-config'", redact.Display(text))
	}
}

// maxUnknown is how many settings without effect are named.
const maxUnknown = 8

// unknown names what stands in the settings and has no effect here.
func (d *doctor) unknown(l *config.Loaded) {
	keys := l.Unknown()
	more := ""
	if len(keys) > maxUnknown {
		more = fmt.Sprintf(" and %d more", len(keys)-maxUnknown)
		keys = keys[:maxUnknown]
	}
	if len(keys) > 0 {
		d.say(noted, "settings", "this version knows no setting %s%s: without effect (a typing error, or another version's)", redact.Display(strings.Join(keys, ", ")), more)
	}
}

// judgement says who judges commands and results where the settings name a service.
func (d *doctor) judgement(s *config.Settings) {
	jev := s.Jev
	switch {
	case s.Capabilities.Approvals.Remote:
		d.say(good, "judgement", "commands are sent to %s to be judged; when it fails: %s", judge.Endpoint, s.Capabilities.Approvals.FailurePolicy)
	case jev.Enabled && jev.BashProtection.Enabled:
		d.say(noted, "judgement", "internal_tooling.jev is enabled, but TYPESAFE_API_KEY is not set: commands are judged on this machine")
	}
	if !jev.Injection.Active {
		return
	}
	where, how := "on this machine, by known wordings", "shown as they are (enforcement_enabled is false)"
	if jev.Injection.Remote {
		where = "by " + judge.Endpoint
	}
	if jev.Injection.Enforcement {
		how = "marked or withheld"
	}
	d.say(good, "judgement", "results of %s are judged %s; suspicious ones are %s", strings.Join(jev.Injection.Tools, ", "), where, how)
}
