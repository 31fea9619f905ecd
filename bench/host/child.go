package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Child is a serving process.
type Child struct {
	*Conn
	cmd     *exec.Cmd
	in, out *os.File
	closed  bool
}

// Start starts a program in a home. Close must be called. The child is killed
// when ctx ends.
func Start(ctx context.Context, program string, h Home, env ...string) (*Child, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), in.Close())
	}
	cmd := exec.CommandContext(ctx, program, "serve", "--stdio")
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = h.Work, h.Env(env...), childIn, childOut
	err = errors.Join(cmd.Start(), childIn.Close(), childOut.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", program, err), in.Close(), out.Close())
	}
	return &Child{Conn: NewConn(in, out), cmd: cmd, in: in, out: out}, nil
}

// CPU is the processor time that the child has used so far, 0 where the system
// does not tell.
func (c *Child) CPU() time.Duration { return processTime(c.cmd.Process.Pid) }

// Peak is the most memory that was resident, in bytes; 0 where unknown.
func (c *Child) Peak() int64 { return peakMemory(c.cmd.Process.Pid) }

// Resident is the memory that is resident now, in bytes; 0 where unknown.
func (c *Child) Resident() int64 { return residentMemory(c.cmd.Process.Pid) }

// patience is how long a child may take to end after its input was closed.
const patience = 10 * time.Second

// Close ends the child and waits for it. A second call does nothing.
func (c *Child) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	err := c.in.Close()
	timer := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	werr := c.cmd.Wait()
	return errors.Join(err, werr, c.out.Close())
}
