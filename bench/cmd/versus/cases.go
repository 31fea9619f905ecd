package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"magicode/bench/host"
	"magicode/bench/model"
)

// figure is one thing that is measured.
type figure struct {
	name, unit string
	higher     bool    // more is better
	target     float64 // how many times as good ours has to be; 0: none
	most       float64 // what ours may take at most; 0: no limit
}

// measured is a figure's value of one round.
type measured map[string]float64

// scene is what a case has.
type scene struct {
	ctx     context.Context // ends what was started
	program string
	home    host.Home
	model   *model.Server
}

// testCase measures some figures with one program.
type testCase struct {
	name    string
	figures []figure
	run     func(scene) (measured, error)
	rounds  int // as many at most, of what takes minutes and varies little; 0: all
}

func cases() []testCase {
	return []testCase{
		{"start", []figure{{name: "start", unit: "ms"}, {name: "stop", unit: "ms"}}, start, 0},
		{"status", []figure{{name: "status", unit: "us"}}, status, 0},
		{"page", []figure{{name: "open", unit: "ms", target: 8}, {name: "open_cpu", unit: "ms"}, {name: "page", unit: "us", target: 300}, {name: "open_rss", unit: "MiB", target: 5}}, pages, 0},
		{"turn", []figure{{name: "turn", unit: "ms", target: 4}, {name: "first_delta_p99", unit: "ms", most: 5}}, turns, 0},
		{"tool", []figure{{name: "tool_call", unit: "ms", target: 3}}, tools, 0},
		{"burst", []figure{{name: "deltas", unit: "/s", higher: true, target: 5}, {name: "burst_cpu", unit: "us/delta", target: 10}}, burst, 0},
		{"single", []figure{{name: "single_cpu", unit: "us/delta", target: 5}, {name: "single_short_cpu", unit: "us/delta", target: 5}}, single, 0},
		{"load", []figure{{name: "status_load", unit: "us"}, {name: "status_load_p99", unit: "us"}}, load, 0},
		{"cancel", []figure{{name: "cancel", unit: "ms"}}, cancel, 0},
		{"memory", []figure{{name: "rss_300", unit: "MiB"}, {name: "rss_growth", unit: "KiB/turn"}}, memory, 2},
		{"dead", []figure{{name: "stop_refused", unit: "ms"}, {name: "stop_hanging", unit: "ms"}}, dead, 0},
	}
}

// times is how often a case is taken in a run of so many rounds.
func (c testCase) times(rounds int) int {
	if c.rounds > 0 {
		return min(rounds, c.rounds)
	}
	return rounds
}

func caseNames() []string {
	var out []string
	for _, c := range cases() {
		out = append(out, c.name)
	}
	return out
}

func pick(only string) ([]testCase, error) {
	all := cases()
	if only == "" {
		return all, nil
	}
	var out []testCase
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(c testCase) bool { return c.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no case %q", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// with runs a case in a home and with a model of its own.
func with(ctx context.Context, program string, c testCase) (m measured, err error) {
	root, err := os.MkdirTemp("", "magi-code-versus-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	srv, err := model.Start()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	home, err := host.NewHome(root, srv.BaseURL())
	if err != nil {
		return nil, err
	}
	return c.run(scene{ctx, program, home, srv})
}

// child runs f with an initialized child.
func (s scene) child(f func(*host.Child) error, env ...string) error {
	c, err := host.Start(s.ctx, s.program, s.home, env...)
	if err != nil {
		return err
	}
	err = c.Initialize()
	if err == nil {
		err = f(c)
	}
	return errors.Join(err, c.Close())
}

// session runs f with a new session that has had one turn.
func (s scene) session(f func(*host.Child, string) error, env ...string) error {
	return s.child(func(c *host.Child) error {
		at, err := c.Create()
		if err != nil {
			return err
		}
		s.model.Load([]model.Step{{Text: "An answer."}})
		if _, err := c.Turn(at.ID); err != nil {
			return err
		}
		return f(c, at.ID)
	}, env...)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
