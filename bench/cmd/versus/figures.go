package main

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"magicode/bench/host"
	"magicode/bench/model"
	"magicode/bench/stats"
)

// start is from the spawn to the initialize response, and from the shutdown
// request to the exit.
func start(s scene) (measured, error) {
	if err := s.child(func(*host.Child) error { return nil }); err != nil { // the files of a first start
		return nil, err
	}
	from := time.Now()
	c, err := host.Start(s.ctx, s.program, s.home)
	if err != nil {
		return nil, err
	}
	if err := c.Initialize(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	started := time.Since(from)
	stopped, err := stop(c)
	return measured{"start": milliseconds(started), "stop": milliseconds(stopped)}, errors.Join(err, c.Close())
}

// stop is from the request to shut down to the end of the process.
func stop(c *host.Child) (time.Duration, error) {
	from := time.Now()
	_, err := c.Ask("shutdown", `{}`)
	err = errors.Join(err, c.Close())
	return time.Since(from), err
}

const statusRequests = 3000

func status(s scene) (measured, error) {
	var times []float64
	err := s.child(func(c *host.Child) error {
		for range statusRequests {
			from := time.Now()
			if _, err := c.Ask("status", `{}`); err != nil {
				return err
			}
			times = append(times, microseconds(time.Since(from)))
		}
		return nil
	})
	return measured{"status": stats.Median(times)}, err
}

const (
	storedBytes = 51 << 20
	pageCount   = 40
	fullPage    = 24 << 10 // the smallest response that counts as a page of 32 KiB
)

// pages opens a stored session of 51 MiB and reads its first pages, each from
// the request to its last byte.
func pages(s scene) (measured, error) {
	id, err := s.home.Store(storedBytes)
	if err != nil {
		return nil, err
	}
	out := measured{}
	err = s.child(func(c *host.Child) error {
		used, from := c.CPU(), time.Now()
		at, err := c.Open(id)
		if err != nil {
			return err
		}
		out["open"] = milliseconds(time.Since(from))
		out["open_cpu"] = milliseconds(c.CPU() - used)
		out["open_rss"] = float64(c.Peak()) / (1 << 20)
		time.Sleep(150 * time.Millisecond) // the file's times have settled by now: decision 28
		var times []float64
		cursor := "null"
		for range pageCount {
			from := time.Now()
			line, err := c.Ask("history.page", `{"session_id":"`+id+`","revision":"`+at.Revision+`","cursor":`+cursor+`}`)
			if err != nil {
				return err
			}
			if len(line) > fullPage {
				times = append(times, microseconds(time.Since(from)))
			}
			next := host.Field(line, "next_cursor")
			if next == "" {
				break
			}
			cursor = `"` + next + `"`
		}
		if len(times) < pageCount/2 {
			return fmt.Errorf("only %d full pages", len(times))
		}
		out["page"] = stats.Median(times[1:])
		return nil
	})
	return out, err
}

const turnCount = 40

// turns runs short text turns; the first delta is timed from the moment when
// the model is about to write its first byte of text.
func turns(s scene) (measured, error) {
	var whole, first []float64
	err := s.session(func(c *host.Child, id string) error {
		for range turnCount {
			from := time.Now()
			if _, err := c.Send("turn.start", `{"session_id":"`+id+`","prompt":"go on"}`); err != nil {
				return err
			}
			if _, err := c.Await(`"message.delta"`); err != nil {
				return err
			}
			seen := time.Now()
			line, err := c.Await(`"run.finished"`)
			if err != nil {
				return err
			}
			if !bytes.Contains(line, []byte(`"completed"`)) {
				return fmt.Errorf("the turn ended otherwise: %s", line)
			}
			whole = append(whole, milliseconds(time.Since(from)))
			first = append(first, milliseconds(seen.Sub(s.model.FirstText())))
		}
		return nil
	})
	return measured{"turn": stats.Median(whole), "first_delta_p99": stats.Quantile(first, 0.99)}, err
}

const callCount = 60

// tools runs one turn of many calls that list a folder.
func tools(s scene) (measured, error) {
	var took time.Duration
	err := s.session(func(c *host.Child, id string) error {
		var script [][]model.Step
		for i := range callCount {
			path := []string{".", "./."}[i%2]
			script = append(script, []model.Step{{Tool: "list_files", Args: map[string]any{"path": path}}})
		}
		s.model.Load(append(script, []model.Step{{Text: "Done."}})...)
		from := time.Now()
		_, err := c.Turn(id)
		took = time.Since(from)
		return err
	})
	return measured{"tool_call": milliseconds(took) / callCount}, err
}

const burstDeltas = 20_000

// burst sends a long reply in one write.
func burst(s scene) (measured, error) {
	out := measured{}
	err := s.session(func(c *host.Child, id string) error {
		s.model.Load([]model.Step{{Raw: model.Burst(burstDeltas)}})
		used, from := c.CPU(), time.Now()
		_, err := c.Turn(id)
		out["deltas"] = burstDeltas / time.Since(from).Seconds()
		out["burst_cpu"] = microseconds(c.CPU()-used) / burstDeltas
		return err
	})
	return out, err
}

const (
	singleDeltas = 300
	shortDeltas  = 30 // a reply of some sentences: the turn around it counts
	singleWait   = 2 * time.Millisecond
)

// single sends deltas one by one, each in a packet of its own: a long reply and
// a short one.
func single(s scene) (measured, error) {
	out := measured{}
	err := s.session(func(c *host.Child, id string) error {
		for name, pieces := range map[string]int{"single_cpu": singleDeltas, "single_short_cpu": shortDeltas} {
			used, err := s.oneByOne(c, id, pieces)
			if err != nil {
				return err
			}
			out[name] = microseconds(used) / float64(pieces)
		}
		return nil
	})
	return out, err
}

// oneByOne is the processor time of a turn whose reply comes in single pieces.
func (s scene) oneByOne(c *host.Child, id string, pieces int) (time.Duration, error) {
	var steps []model.Step
	for i := range pieces {
		steps = append(steps, model.Step{Text: model.Piece(i)}, model.Step{Wait: singleWait})
	}
	s.model.Load(steps)
	used := c.CPU()
	_, err := c.Turn(id)
	return c.CPU() - used, err
}
