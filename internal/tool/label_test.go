package tool_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"

	"magicode/internal/tool"
)

// TestLabelVectors holds Label against labels that the released program gave.
func TestLabelVectors(t *testing.T) {
	raw, err := os.ReadFile("testdata/tool-label-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name      string
		Arguments json.RawMessage
		Success   bool
		Text      string
	}
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) != 40 {
		t.Fatalf("%d vectors, want 40", len(vectors))
	}
	for _, v := range vectors {
		state := ": failed"
		if v.Success {
			state = ": completed"
		}
		if got := tool.Label(v.Name, v.Arguments) + state; got != v.Text {
			t.Errorf("Label(%q, %s) = %q, want %q", v.Name, v.Arguments, got, v.Text)
		}
	}
}

func TestLabel(t *testing.T) {
	for _, c := range []struct{ what, name, args, want string }{
		{"text that is no JSON", "bash", `{"command":`, "bash"},
		{"no arguments at all", "bash", ``, "bash"},
		{"lone surrogate", "bash", `{"command":"a\ud800b"}`, "bash a\ufffdb"},
		{"null", "bash", `null`, "bash"},
		{"command that is no string", "bash", `{"command":1,"cmd":"ls"}`, "bash ls"},
		{"command wins over cmd", "bash", `{"cmd":"b","command":"a"}`, "bash a"},
		{"alias keeps its spelling", "shell", `{"command":"ls"}`, "shell ls"},
		{"path wins over paths", "read", `{"path":"a","paths":["b","c"]}`, "read a"},
		{"paths that is no array", "read", `{"paths":"a"}`, "read"},
		{"members of paths are only counted", "view_image", `{"paths":[1,null,"c"]}`, "view_image 3 files"},
		{"other members of patterns are left out", "grep", `{"patterns":[1,"a",null,"b"]}`, "grep a, b"},
		{"patterns without a string", "grep", `{"patterns":[1],"pattern":"p"}`, "grep p"},
		{"tasks that is no array", "subagents", `{"tasks":{}}`, "subagents"},
		{"read loses tabs and C1", "read", `{"path":"a\tb\u0085c\u007fd"}`, "read abcd"},
		{"others keep control characters", "write", `{"path":"a\tb"}`, "write a\tb"},
		{"mcp arguments stay hidden", "mcp__s__t", `{"path":"p","command":"c"}`, "mcp__s__t"},
	} {
		if got := tool.Label(c.name, []byte(c.args)); got != c.want {
			t.Errorf("%s: Label(%q, %s) = %q, want %q", c.what, c.name, c.args, got, c.want)
		}
	}
}

func FuzzLabel(f *testing.F) {
	f.Add("read", []byte(`{"path":"a\u0007b"}`))
	f.Add("subagents", []byte(`{"tasks":[1]}`))
	f.Add("grep", []byte(`{"patterns":["a",1]}`))
	f.Fuzz(func(t *testing.T, name string, args []byte) {
		got := tool.Label(name, args)
		if name == "read" && strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("a read label holds a control character: %q", got)
		}
		if !json.Valid(args) && got != tool.Label(name, nil) {
			t.Errorf("Label(%q, %q) = %q from text that is no JSON", name, args, got)
		}
	})
}
