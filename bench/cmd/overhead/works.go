package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"magicode/bench/host"
	"magicode/bench/model"
)

// work is something that every variant does.
type work struct {
	name     string
	stored   int // bytes of the session that is opened first; 0: a new one
	measures []quantity
	do       func(*side) (count int, err error)
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
		{"frames", 0, each("request", 0), frames},
		{"deltas", 0, each("delta", 3), func(s *side) (int, error) { return s.turn(deltaCount, 0) }},
		{"tools", 0, each("piece", 3), func(s *side) (int, error) { return s.turn(toolDeltas, toolCount) }},
		{"pages", storedBytes, each("page", 2), pages},
		{"child", 0, life(), func(s *side) (int, error) { return s.turn(toolDeltas, 1) }},
	}
}

// each are the measures of a work that is counted. capture is by how many percent
// it may be worse with a capture (telemetry.md 12); 0: no limit.
func each(thing string, capture float64) []quantity {
	percent := budget{off: 1, file: capture}
	return []quantity{
		{unit: "cpu-us/" + thing, of: func(c cost) float64 { return c.cpu }, percent: percent},
		{unit: "wall-us/" + thing, of: func(c cost) float64 { return c.wall }, percent: percent},
	}
}

// life are the measures of a child that has a short turn (telemetry.md 12). That
// telemetry which is off makes an exit no longer is held to half a millisecond.
func life() []quantity {
	return []quantity{
		{unit: "ready-ms", of: func(c cost) float64 { return c.ready }, room: budget{off: 0.3, file: 1}},
		{unit: "rss-MiB", of: func(c cost) float64 { return c.resident }, room: budget{off: 1, file: 16}},
		{unit: "exit-ms", of: func(c cost) float64 { return c.exit }, room: budget{off: 0.5, file: 50}},
	}
}

// side is one variant's child of a round.
type side struct {
	child    *host.Child
	model    *model.Server
	session  string
	revision string
	ready    float64 // milliseconds from the spawn to the initialize response
}

// begin starts a child and brings it to where the work begins.
func begin(ctx context.Context, v variant, w work, root string) (*side, error) {
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
	if err := firstStart(ctx, v, home); err != nil {
		return s, err
	}
	from := time.Now()
	if s.child, err = host.Start(ctx, v.program, home, v.env...); err != nil {
		return s, err
	}
	if err := s.child.Initialize(); err != nil {
		return s, err
	}
	s.ready = milliseconds(time.Since(from))
	at, err := s.attach(stored)
	s.session, s.revision = at.ID, at.Revision
	if err == nil {
		_, err = w.do(s) // warm
	}
	return s, err
}

// firstStart makes the files that only a first start makes.
func firstStart(ctx context.Context, v variant, home host.Home) error {
	c, err := host.Start(ctx, v.program, home, v.env...)
	if err != nil {
		return err
	}
	return errors.Join(c.Initialize(), c.Close())
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

// leave ends the child and says how many MiB were resident, and how many
// milliseconds passed from the request to shut down to the end of the process.
func (s *side) leave() (resident, exit float64, err error) {
	resident = float64(s.child.Resident()) / (1 << 20)
	from := time.Now()
	_, err = s.child.Ask("shutdown", `{}`)
	err = errors.Join(err, s.child.Close())
	return resident, milliseconds(time.Since(from)), err
}

// cost is what a piece of work took, for each thing counted, and what its child did.
type cost struct {
	wall, cpu             float64 // microseconds
	ready, resident, exit float64 // milliseconds, MiB, milliseconds
}

func (s *side) cost(w work) (cost, error) {
	used, from := s.child.CPU(), time.Now()
	n, err := w.do(s)
	if err != nil {
		return cost{}, err
	}
	wall, cpu := time.Since(from), s.child.CPU()-used
	return cost{wall: perThing(wall, n), cpu: perThing(cpu, n)}, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func perThing(d time.Duration, n int) float64 {
	return float64(d) / float64(time.Microsecond) / float64(n)
}
