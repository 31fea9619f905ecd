package demo

import (
	"context"

	"magicode/pkg/client"
)

// RunKilling is Run with a model whose server dies when the first event of this
// name has arrived.
func RunKilling(ctx context.Context, o Options, event string) error {
	m, err := startModel()
	if err != nil {
		return err
	}
	defer m.Close()
	return runWith(ctx, o, m.baseURL(), func(ev client.Event) {
		if ev.Name == event {
			_ = m.Close()
		}
	})
}
