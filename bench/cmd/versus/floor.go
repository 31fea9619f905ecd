package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"magicode/bench/fixtures"
	"magicode/bench/stats"
	"magicode/internal/jsonscan"
)

// floorRounds is how often a floor is measured at each end of a run.
const floorRounds = 9

// lonePeriods is how often the lone relay runs at each end, for 0.6 s each.
const lonePeriods = 3

// floors measures what no program of this kind gets below, on this machine and
// now (before the cases and after them, since a machine changes its mood): two hops through pipes, a piece that is passed on alone, copying, checking
// JSON, and a sync.
func (t *table) floors() error {
	pipe, err := pipeFloor()
	if err != nil {
		return err
	}
	sync, err := syncFloor()
	if err != nil {
		return err
	}
	lone, err := loneFloor()
	if err != nil {
		return err
	}
	data := fixtures.Stored(8 << 20)
	into := make([]byte, len(data))
	mibs := float64(len(data)) / (1 << 20)
	var memory, scan []float64
	for range floorRounds {
		from := time.Now()
		copy(into, data)
		memory = append(memory, mibs/time.Since(from).Seconds())
		from = time.Now()
		for line := range bytes.Lines(data) {
			if _, err := jsonscan.Parse(line, jsonscan.Options{}); err != nil {
				return err
			}
		}
		scan = append(scan, mibs/time.Since(from).Seconds())
	}
	for _, f := range []struct {
		name, unit string
		v          []float64
	}{{"pipe round trip", "us", pipe}, {"lone relay", "us", lone}, {"sync", "ms", sync}, {"memory copy", "MiB/s", memory}, {"JSON scan", "MiB/s", scan}} {
		if len(f.v) == 0 {
			continue // this system does not tell
		}
		i := slices.IndexFunc(t.floor, func(x stats.Value) bool { return x.Name == f.name })
		if i < 0 {
			i, t.floor = len(t.floor), append(t.floor, stats.Value{})
		}
		t.floor[i] = stats.Of(append(t.floor[i].Values, f.v...))
		t.floor[i].Name, t.floor[i].Unit = f.name, f.unit
	}
	return nil
}

// loneFloor is the processor time that a piece costs which comes alone and is
// only passed on.
func loneFloor() (times []float64, err error) {
	for range lonePeriods {
		us, err := relayFloor()
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		times = append(times, us)
	}
	return times, nil
}

// pipeFloor sends 200 bytes to a goroutine that sends them back.
func pipeFloor() (times []float64, err error) {
	r1, w1, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r2, w2, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, r1.Close(), w1.Close())
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := r1.Read(buf)
			if err != nil {
				return
			}
			if _, err := w2.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 4096)
	for range floorRounds {
		var round []float64
		for range 200 {
			from := time.Now()
			if _, err := w1.Write(buf[:200]); err != nil {
				return nil, err
			}
			if _, err := r2.Read(buf); err != nil {
				return nil, err
			}
			round = append(round, microseconds(time.Since(from)))
		}
		times = append(times, stats.Median(round))
	}
	err = w1.Close()
	<-done
	return times, errors.Join(err, r1.Close(), r2.Close(), w2.Close())
}

// syncFloor appends a short line and waits for it, where the homes are.
func syncFloor() (times []float64, err error) {
	dir, err := os.MkdirTemp("", "magi-code-versus-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	for range floorRounds {
		from := time.Now()
		if _, err := f.Write(bytes.Repeat([]byte{'x'}, 400)); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if err := f.Sync(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		times = append(times, milliseconds(time.Since(from)))
	}
	return times, f.Close()
}
