package subagent

import (
	"context"
	"strings"

	"magicode/internal/runner"
)

// sink maps the events of a task's run into those of the run around it. Text
// stays here. It implements runner.Sink.
type sink struct {
	nest  *runner.Nest
	base  runner.Path
	id    string
	watch *watch

	segments  []string // of the run in progress
	tools     int      // that were called in all runs
	compacted bool
	fatal     error // what the parent could not take
}

// begin forgets the text of the run before.
func (s *sink) begin() { s.segments = nil }

// Try implements runner.Sink.
func (s *sink) Try(runner.Delta) bool {
	s.watch.touch()
	return true
}

// Emit implements runner.Sink.
func (s *sink) Emit(ctx context.Context, ev runner.Event) error {
	s.watch.touch()
	switch e := ev.(type) {
	case runner.InputPersisted:
		return nil
	case runner.SegmentDone:
		for len(s.segments) <= e.Segment {
			s.segments = append(s.segments, "")
		}
		s.segments[e.Segment] = e.Text
		return nil
	case runner.ActivityStarted:
		if e.Kind == runner.ActivityTool {
			s.tools++
		}
		e.Path = s.below(e.Path)
		ev = e
	case runner.ActivityFinished:
		s.compacted = s.compacted || e.OK && strings.HasPrefix(string(e.Path), "compaction/")
		e.Path = s.below(e.Path)
		ev = e
	case runner.Spent:
		e.Path = s.below(e.Path)
		ev = e
	case runner.Notice:
		e.Summary = s.id + ": " + e.Summary
		ev = e
	}
	err := s.nest.Emit(ctx, ev)
	if err != nil && s.fatal == nil {
		s.fatal = err
	}
	return err
}

func (s *sink) below(p runner.Path) runner.Path { return s.base + "/" + p }

// answer is the text of the last segment.
func (s *sink) answer() string {
	if len(s.segments) == 0 {
		return ""
	}
	return s.segments[len(s.segments)-1]
}

// partial is what a run that failed has said.
func (s *sink) partial() string {
	return strings.TrimSpace(strings.Join(s.segments, "\n\n"))
}
