package main

import (
	"fmt"
	"time"

	"magicode/bench/host"
	"magicode/bench/model"
)

// work is something that every variant does.
type work struct {
	name   string
	unit   string // of what is counted
	stored int    // bytes of the session that is opened first; 0: a new one
	// budget is how much worse it may be with a capture, in percent; 0: none.
	budget float64
	do     func(*side) (count int, err error)
}

// A child admits 4,096 requests in its life, and a round has every work done three
// times. Sizes are such that one piece of work takes a few tens of milliseconds of
// processor time: long against the clock, short against the machine's moods.
const (
	frameCount  = 1300
	deltaCount  = 6000
	toolCount   = 20
	toolDeltas  = 200
	pageCount   = 400
	storedBytes = 4 << 20
)

func works() []work {
	return []work{
		{"frames", "request", 0, 0, frames},
		{"deltas", "delta", 0, 3, func(s *side) (int, error) { return s.turn(deltaCount, 0) }},
		{"tools", "piece", 0, 3, func(s *side) (int, error) { return s.turn(toolDeltas, toolCount) }},
		{"pages", "page", storedBytes, 2, pages},
	}
}

// side is one variant's child of a round.
type side struct {
	child    *host.Child
	model    *model.Server
	session  string
	revision string
}

// begin starts a child and brings it to where the work begins.
func begin(v variant, w work, root string) (*side, error) {
	m, err := model.Start()
	if err != nil {
		return nil, err
	}
	s := &side{model: m}
	home, err := host.NewHome(root, m.BaseURL())
	if err != nil {
		return s, err
	}
	stored := ""
	if w.stored > 0 {
		if stored, err = home.Store(w.stored); err != nil {
			return s, err
		}
	}
	if s.child, err = host.Start(v.program, home, v.env...); err != nil {
		return s, err
	}
	if err := s.child.Initialize(); err != nil {
		return s, err
	}
	at, err := s.attach(stored)
	s.session, s.revision = at.ID, at.Revision
	if err == nil {
		_, err = w.do(s) // warm
	}
	return s, err
}

func (s *side) attach(stored string) (host.Session, error) {
	if stored == "" {
		return s.child.Create()
	}
	at, err := s.child.Open(stored)
	at.ID = stored
	return at, err
}

func (s *side) end() (err error) {
	if s.child != nil {
		err = s.child.Close()
	}
	if cerr := s.model.Close(); err == nil {
		err = cerr
	}
	return err
}

// frames asks for the status: a frame in, a frame out, and nothing else.
func frames(s *side) (int, error) {
	for range frameCount {
		if _, err := s.child.Ask("status", `{}`); err != nil {
			return 0, err
		}
	}
	return frameCount, nil
}

// turn has a turn of calls that list a folder, one a request, and then text.
// What is counted is what the model sent: how many deltas are merged on the way
// depends on the machine.
func (s *side) turn(deltas, calls int) (int, error) {
	var script [][]model.Step
	for i := range calls {
		script = append(script, []model.Step{{Tool: "list_files", Args: map[string]any{"path": []string{".", "./."}[i%2]}}})
	}
	s.model.Load(append(script, []model.Step{{Raw: model.Burst(deltas)}})...)
	_, err := s.child.Turn(s.session)
	return deltas + calls, err
}

// pages reads the first page of a stored session again and again.
func pages(s *side) (int, error) {
	for range pageCount {
		line, err := s.child.Ask("history.page", `{"session_id":"`+s.session+`","revision":"`+s.revision+`","cursor":null}`)
		if err != nil {
			return 0, err
		}
		if len(line) < 1000 {
			return 0, fmt.Errorf("no page: %s", line)
		}
	}
	return pageCount, nil
}

// cost is what a piece of work took, for each thing counted.
type cost struct{ wall, cpu float64 } // microseconds

func (s *side) cost(w work) (cost, error) {
	used, from := s.child.CPU(), time.Now()
	n, err := w.do(s)
	if err != nil {
		return cost{}, err
	}
	wall, cpu := time.Since(from), s.child.CPU()-used
	return cost{perThing(wall, n), perThing(cpu, n)}, nil
}

func perThing(d time.Duration, n int) float64 {
	return float64(d) / float64(time.Microsecond) / float64(n)
}
