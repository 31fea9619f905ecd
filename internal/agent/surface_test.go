package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/config"
	"magicode/internal/startup"
	"magicode/internal/tool"
)

// named is a tool that is only a name.
type named string

func (n named) Definition() tool.Definition { return tool.Definition{Name: string(n)} }
func (n named) Run(context.Context, tool.Env, json.RawMessage) tool.Result {
	return tool.Result{Success: true}
}

// TestSurfaces: what the model and what a script may call (tools.md 3.1).
func TestSurfaces(t *testing.T) {
	for name, row := range map[string]struct {
		mode          config.CodeMode
		opt           tool.Options
		inner         []string
		direct, nests string // "" for nests: no Code Mode
	}{
		"full":       {mode: config.CodeMode{Enabled: true}, direct: "read bash write list_files magi_control mcp__a__b code_mode", nests: "read bash write list_files mcp__a__b"},
		"off":        {direct: "read bash write list_files magi_control mcp__a__b"},
		"compact":    {mode: config.CodeMode{Enabled: true, CompactDirectTools: true}, direct: "read bash magi_control code_mode", nests: "read bash write list_files mcp__a__b"},
		"direct off": {mode: config.CodeMode{Enabled: true}, opt: tool.Options{Disabled: []string{"write", "mcp__a__b"}}, direct: "read bash list_files magi_control code_mode", nests: "read bash write list_files mcp__a__b"},
		"inner off":  {mode: config.CodeMode{Enabled: true, Disabled: []string{"shell", "bash_job"}}, inner: []string{"read"}, direct: "read bash write list_files magi_control mcp__a__b code_mode", nests: "write list_files mcp__a__b"},
		"allowance": {mode: config.CodeMode{Enabled: true}, opt: tool.Options{Allow: func(n string) bool { return n == "read" || n == "code_mode" }},
			direct: "read code_mode", nests: "read"},
		"compact and allowance": {mode: config.CodeMode{Enabled: true, CompactDirectTools: true}, opt: tool.Options{Allow: func(n string) bool { return n != "bash" }},
			direct: "read magi_control code_mode", nests: "read write list_files mcp__a__b"},
		"inspection": {mode: config.CodeMode{Enabled: true}, opt: tool.Options{Inspect: true}, direct: "read list_files"},
	} {
		t.Run(name, func(t *testing.T) {
			set := &toolset{snap: &startup.Snapshot{Settings: &config.Settings{}}}
			set.snap.Settings.Capabilities.Tools.CodeMode = row.mode
			for _, n := range []string{"list_files", "magi_control", "mcp__a__b", "bash", "write", "read"} {
				set.tools = append(set.tools, named(n))
			}
			o := set.offer(row.opt, row.inner...)
			if d := cmp.Diff(row.direct, names(o.registry)); d != "" {
				t.Error(d)
			}
			nests := ""
			if o.inner != nil {
				nests = names(o.inner)
			}
			if d := cmp.Diff(row.nests, nests); d != "" {
				t.Error(d)
			}
		})
	}
}

func names(r *tool.Registry) string {
	var out []string
	for _, d := range r.Definitions() {
		out = append(out, d.Name)
	}
	return strings.Join(out, " ")
}
