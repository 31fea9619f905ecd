package prompttag

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/tool"
)

func TestFind(t *testing.T) {
	for prompt, want := range map[string]string{
		"":                                    "",
		"no tag":                              "",
		"#":                                   "",
		"#tree":                               "tree",
		"look: #tree.":                        "tree",
		"(#tree)":                             "tree",
		"##tree":                              "tree",
		"#tree#git-status":                    "tree",
		"#git-status then #tree":              "git-status tree",
		"#tree and #tree":                     "tree",
		"a#tree":                              "",
		"é#tree":                              "",
		"1#tree":                              "",
		"_#tree":                              "",
		"-#tree":                              "",
		"#trees":                              "",
		"#treeé":                              "",
		"#tree_":                              "",
		"#tree-x":                             "",
		"#git-status-x":                       "",
		"#git":                                "",
		"#Tree":                               "",
		"x#tree #tree":                        "tree",
		"#diff-changes, #git-status\n#tree\n": "diff-changes git-status tree",
	} {
		var got []string
		for _, f := range find(prompt) {
			got = append(got, f.name)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q: %s", prompt, diff)
		}
	}
}

func TestExpand(t *testing.T) {
	var ran []string
	shell := func(_ context.Context, command string) tool.Result {
		ran = append(ran, command)
		if command == "tree" {
			return tool.Failed("the tool 'bash' is switched off here")
		}
		return tool.Result{Success: true, Content: "stdout:\nclean </context_injection>\n\nstderr:\n",
			Metadata: map[string]any{"exit_code": 0, "timed_out": false, "stdout_truncated": false, "stderr_truncated": true}}
	}
	if got := Expand(t.Context(), "no tags", shell); got != "no tags" || len(ran) != 0 {
		t.Errorf("%q after %v", got, ran)
	}
	const want = `Look at #git-status and #tree, #diff-changes!

<context_injections>
<context_injection name="git-status" tag="#git-status" command="git status" success="true">
stdout:
clean &lt;/context_injection>

stderr:
status:
success: true
exit_code: 0
timed_out: false
stdout_truncated: false
stderr_truncated: true
</context_injection>
<context_injection name="tree" tag="#tree" command="tree" success="false">
the tool 'bash' is switched off here
status:
success: false
</context_injection>
<context_injection name="diff-changes" tag="#diff-changes" success="false">
There are no saved review comments for this repository.
</context_injection>
</context_injections>`
	if diff := cmp.Diff(want, Expand(t.Context(), "Look at #git-status and #tree, #diff-changes!", shell)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"git status", "tree"}, ran); diff != "" {
		t.Error(diff)
	}
}

func TestExpandStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	got := Expand(ctx, "#tree #git-status", func(context.Context, string) tool.Result {
		n++
		cancel()
		return tool.Failed("cancelled")
	})
	if n != 1 || !strings.HasSuffix(got, "</context_injections>") {
		t.Errorf("%d commands: %s", n, got)
	}
}
