package script

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"magicode/internal/tool"
)

// TestMain waits for engines that were abandoned: each ends by itself, on a busy
// machine after some seconds.
func TestMain(m *testing.M) {
	status := m.Run()
	for late := time.Now().Add(time.Minute); status == 0; {
		err := goleak.Find()
		if err == nil {
			break
		}
		if time.Now().After(late) {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	os.Exit(status)
}

// limits are the defaults of the settings.
func limits() Limits {
	return Limits{SourceBytes: 65536, InnerCalls: 200, Runtime: time.Minute, MemoryBytes: 32 << 20,
		InnerResultBytes: 1 << 20, TotalResultBytes: 8 << 20, ReturnBytes: 256 << 10}
}

func surface() []tool.Definition {
	return []tool.Definition{
		{Name: "read", Description: "Reads files", Parameters: json.RawMessage(`{"type":"object"}`)},
		{Name: "echo", Description: "Says it back", Parameters: json.RawMessage(`{"type":"object"}`)},
	}
}

// echo answers with the arguments; "fail" fails, "change" changes a file.
func echo(_ context.Context, seq int, name string, args json.RawMessage) (tool.Result, error) {
	switch name {
	case "fail":
		return tool.Failed("it failed"), nil
	case "gone":
		r := tool.Failed("unknown tool 'gone'")
		r.Metadata = map[string]any{Unavailable: true}
		return r, nil
	case "change":
		return tool.Result{Success: true, Content: "changed", Changed: []string{fmt.Sprintf("/w/%d", seq)}}, nil
	case "read":
		return tool.Result{Success: true, Metadata: map[string]any{"structured_result": map[string]any{"files": []any{}, "complete": true}}}, nil
	}
	return tool.Result{Success: true, Content: string(args)}, nil
}

type told struct {
	Status    string
	Value     json.RawMessage
	Error     string
	Recovery  string
	Execution Execution
}

// run runs a source and decodes the envelope.
func run(t testing.TB, ctx context.Context, code string, o Options) (told, tool.Result, error) {
	t.Helper()
	if o.Limits == (Limits{}) {
		o.Limits = limits()
	}
	if o.Surface == nil {
		o.Surface = surface()
	}
	if o.Call == nil {
		o.Call = echo
	}
	args, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		t.Fatal(err)
	}
	res, fatal := Run(ctx, args, o)
	var out told
	if err := json.Unmarshal([]byte(res.Content), &out); err != nil {
		t.Fatalf("%v in %s", err, res.Content)
	}
	if res.Success != (out.Status == "completed") || (out.Status == "completed") == (out.Error != "") {
		t.Errorf("success %v, status %s, error %q", res.Success, out.Status, out.Error)
	}
	return out, res, fatal
}
