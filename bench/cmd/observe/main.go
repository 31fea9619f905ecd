// Command observe has one child do a little of everything with telemetry on, for
// checks of what it leaves behind: a start, a session, a turn with a tool call,
// a page of the history, a cancelled turn, an end.
//
//	go run ./bench/cmd/observe -program bin/magi-code -dir DIR MC_TELEMETRY=file,prom MC_TELEMETRY_PROM=/abs/magi.prom
//
// DIR gets the child's home (DIR/home) and is kept.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"magicode/bench/host"
	"magicode/bench/model"
)

func main() {
	program := flag.String("program", "bin/magi-code", "the program")
	dir := flag.String("dir", "", "an empty folder")
	stay := flag.Duration("stay", 0, "how long the child stays idle before it ends")
	flag.Parse()
	if err := run(*program, *dir, *stay, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "observe:", err)
		os.Exit(1)
	}
}

func run(program, dir string, stay time.Duration, env []string) (err error) {
	m, err := model.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	home, err := host.NewHome(dir, m.BaseURL())
	if err != nil {
		return err
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	c, err := host.Start(context.Background(), program, home, env...)
	if err != nil {
		return err
	}
	err = work(c, m)
	if err == nil {
		time.Sleep(stay)
		_, err = c.Ask("shutdown", `{}`)
	}
	return errors.Join(err, c.Close())
}

func work(c *host.Child, m *model.Server) error {
	if err := c.Initialize(); err != nil {
		return err
	}
	at, err := c.Create()
	if err != nil {
		return err
	}
	m.Load([]model.Step{{Tool: "list_files", Args: map[string]any{"path": "."}}}, []model.Step{{Text: "An answer. "}, {Text: "The rest of it."}})
	if _, err := c.Turn(at.ID); err != nil {
		return err
	}
	if _, err := c.Ask("history.page", `{"session_id":"`+at.ID+`","revision":"`+at.Revision+`","cursor":null}`); err != nil && !errors.Is(err, host.ErrRefused) {
		return err // the revision is of before the turn, and may be refused
	}
	m.Load([]model.Step{{Text: "It begins "}, {Hang: true}})
	_, err = c.CancelledTurn(at.ID)
	return err
}
