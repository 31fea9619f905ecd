package client_test

import (
	"context"
	"fmt"

	"magicode/pkg/client"
	"magicode/pkg/localagent"
)

// A host runs one turn: it asks nobody, so it denies what would need an approval.
func Example() {
	_ = turn(context.Background(), "/path/to/magi-code", "/path/to/project", "What is in this folder?")
}

func turn(ctx context.Context, program, project, prompt string) error {
	child, err := client.Start(client.Options{Path: program, Dir: project})
	if err != nil {
		return err
	}
	defer child.Close()
	if _, err := child.Initialize(ctx, client.AllCapabilities()...); err != nil {
		return err
	}
	session, err := child.CreateSession(ctx)
	if err != nil {
		return err
	}
	run, err := child.StartTurn(ctx, session.SessionID, prompt)
	if err != nil {
		return err
	}
	for run.Finished == nil {
		ev, ok := <-child.Events()
		if !ok {
			return child.Err()
		}
		if err := run.Apply(ev); err != nil {
			return err
		}
		if ev.Name == localagent.EventApprovalRequested {
			_ = child.AnswerApproval(ctx, run.SessionID, run.ID, ev.ApprovalID, false)
		}
	}
	for _, m := range run.Messages {
		text, _ := m.Text()
		fmt.Println(text)
	}
	return nil
}
