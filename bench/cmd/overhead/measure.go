package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"magicode/bench/host"
	"magicode/bench/stats"
)

// passes is how often a child does its work in a round: the way there and back.
const passes = 2

// values are of one work: variant -> rounds.
type values map[string][]cost

func measure(ctx context.Context, all []variant, rounds int, only string) (report, error) {
	rep := report{Run: stats.NewRun(rounds), Pass: true}
	picked := slices.DeleteFunc(works(), func(w work) bool { return only != "" && w.name != only })
	if len(picked) == 0 {
		return rep, fmt.Errorf("no work %q", only)
	}
	progress := host.Progress(len(picked) * rounds)
	for _, w := range picked {
		v := values{}
		for r := range rounds {
			progress("%s, round %d of %d", w.name, r+1, rounds)
			if err := round(ctx, all, w, r, v); err != nil {
				return rep, fmt.Errorf("%s, round %d: %w", w.name, r+1, err)
			}
		}
		rep.add(w, all, v)
	}
	return rep, nil
}

// round has every variant do the work, in an order that rotates and returns.
func round(ctx context.Context, all []variant, w work, r int, v values) (err error) {
	root, err := os.MkdirTemp("", "magi-code-overhead-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	sides := make([]*side, len(all))
	defer func() {
		for _, s := range sides {
			if s != nil {
				err = errors.Join(err, s.end())
			}
		}
	}()
	order := make([]int, 0, passes*len(all))
	for i := range all {
		order = append(order, (i+r)%len(all))
	}
	for i := len(all) - 1; i >= 0; i-- {
		order = append(order, order[i])
	}
	for _, i := range order[:len(all)] {
		dir := filepath.Join(root, strconv.Itoa(i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		if sides[i], err = begin(ctx, all[i], w, dir); err != nil {
			return fmt.Errorf("%s: %w", all[i].name, err)
		}
	}
	sums := make([]cost, len(all))
	for _, i := range order {
		c, err := sides[i].cost(w)
		if err != nil {
			return fmt.Errorf("%s: %w", all[i].name, err)
		}
		sums[i].wall += c.wall / passes
		sums[i].cpu += c.cpu / passes
	}
	for i, x := range sums {
		x.ready = sides[i].ready
		if x.resident, x.exit, err = sides[i].leave(); err != nil {
			return fmt.Errorf("%s: %w", all[i].name, err)
		}
		v[all[i].name] = append(v[all[i].name], x)
	}
	return nil
}

// column takes one measure of a variant out of the rounds.
func (v values) column(name string, of func(cost) float64) []float64 {
	var out []float64
	for _, c := range v[name] {
		out = append(out, of(c))
	}
	return out
}
