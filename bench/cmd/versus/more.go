package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"time"

	"magicode/bench/host"
	"magicode/bench/model"
	"magicode/bench/stats"
)

const (
	loadDeltas = 2000
	loadWait   = time.Millisecond
)

// load asks for the status again and again while a reply streams, a piece every
// millisecond: what a host sees that asks during work.
func load(s scene) (measured, error) {
	var times []float64
	err := s.session(func(c *host.Child, id string) error {
		var steps []model.Step
		for i := range loadDeltas {
			steps = append(steps, model.Step{Text: model.Piece(i)}, model.Step{Wait: loadWait})
		}
		s.model.Load(steps)
		if _, err := c.Send("turn.start", `{"session_id":"`+id+`","prompt":"go on"}`); err != nil {
			return err
		}
		if _, err := c.Await(`"message.delta"`); err != nil {
			return err
		}
		for asked := 0; asked < statusRequests; asked++ { // a child has 4,096 requests
			from := time.Now()
			ask, err := c.Send("status", `{}`)
			if err != nil {
				return err
			}
			over, err := answered(c, ask)
			if err != nil {
				return err
			}
			if over {
				return nil
			}
			times = append(times, microseconds(time.Since(from)))
		}
		_, err := c.Await(`"run.finished"`)
		return err
	})
	if err == nil && len(times) < 100 {
		err = fmt.Errorf("only %d answers before the turn was over", len(times))
	}
	return measured{"status_load": stats.Median(times), "status_load_p99": stats.Quantile(times, 0.99)}, err
}

// answered waits for an answer; over is whether the turn ended before it.
func answered(c *host.Child, id string) (over bool, err error) {
	want := []byte(`"` + id + `"`)
	for {
		line, err := c.Line()
		if err != nil {
			return over, err
		}
		over = over || bytes.Contains(line, []byte(`"run.finished"`))
		if bytes.Contains(line, want) {
			return over, nil
		}
	}
}

const cancelCount = 15

// cancel is from the request to the end of the run, of a turn that streams.
func cancel(s scene) (measured, error) {
	var times []float64
	err := s.session(func(c *host.Child, id string) error {
		s.model.Load([]model.Step{{Text: "It begins "}, {Hang: true}})
		for range cancelCount {
			took, err := c.CancelledTurn(id)
			if err != nil {
				return err
			}
			times = append(times, milliseconds(took))
		}
		return nil
	})
	return measured{"cancel": stats.Median(times)}, err
}

const (
	memoryTurns = 300
	memoryWarm  = 50
)

// memory is what is resident after 300 turns of one session, and how much more
// than after the first 50 that is, for each turn.
func memory(s scene) (measured, error) {
	out := measured{}
	err := s.session(func(c *host.Child, id string) error {
		s.model.Load([]model.Step{{Text: "An answer of a usual length, with a few words more than one would need to say it."}})
		warm := int64(0)
		for i := range memoryTurns {
			if i == memoryWarm {
				warm = c.Resident()
			}
			if _, err := c.Turn(id); err != nil {
				return err
			}
		}
		now := c.Resident()
		out["rss_300"] = float64(now) / (1 << 20)
		out["rss_growth"] = float64(now-warm) / (1 << 10) / (memoryTurns - memoryWarm)
		return nil
	})
	return out, err
}

// dead is from the request to shut down to the end of the process, after a turn,
// while telemetry was told to send to an endpoint that refuses, and to one that
// takes everything and never answers. A program that knows no such telemetry
// shows its plain exit.
func dead(s scene) (measured, error) {
	hanging, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes connections; nobody reads
	if err != nil {
		return nil, err
	}
	defer hanging.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if err := closed.Close(); err != nil {
		return nil, err
	}
	out := measured{}
	for name, at := range map[string]net.Addr{"stop_refused": closed.Addr(), "stop_hanging": hanging.Addr()} {
		took := time.Duration(0)
		err := s.session(func(c *host.Child, _ string) (err error) {
			took, err = stop(c)
			return err
		}, "MC_TELEMETRY=otlp", "MC_TELEMETRY_OTLP_ENDPOINT=http://"+at.String())
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err))
		}
		out[name] = milliseconds(took)
	}
	return out, nil
}
