package hashedit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"magicode/internal/tool"
)

// Bounds: tools.md 1.9.
const (
	maxInput  = 256 << 10
	maxFile   = 1 << 20
	maxOutput = 64 << 10
	maxNotes  = 20 // warnings, and resolutions
)

// Tool is the hash_edit tool. It is safe for concurrent use.
type Tool struct {
	files     tool.Files
	policy    tool.Policy
	snapshots *tool.Snapshots
}

// New returns the tool. snapshots is the store that read fills; absolute is the
// tool's absolute_paths setting.
func New(files tool.Files, snapshots *tool.Snapshots, absolute bool) *Tool {
	return &Tool{files: files, snapshots: snapshots, policy: tool.Policy{Tool: "hash_edit", Absolute: absolute}}
}

type arguments struct {
	tool.Intent
	Input *string `json:"input"`
}

const parameters = `{"type":"object","properties":{"input":{"type":"string","description":"The patch"}},"required":["input"],"additionalProperties":false,"x-maxInputBytes":262144}`

const description = `hash_edit: changes lines of files that read has shown.
The input is one or more sections: a header [PATH#TAG] with the tag from read, then operations. All line numbers are those that read showed; earlier operations do not shift them.
SWAP 3.=5: replaces lines 3 to 5 by the rows below it (without rows: deletes them). DEL 3.=5 deletes. INS.PRE 3: and INS.POST 3: insert rows before and after line 3, INS.HEAD: and INS.TAIL: at the start and the end. ` +
	`SWAP.BLK 3:, DEL.BLK 3 and INS.BLK.POST 3: mean the whole block that starts on line 3 (Go, Python, JavaScript, TypeScript, Rust). MV NEW/PATH moves the file, REM removes it.
Each row of text starts with one + that is not part of it:
[src/a.go#3F0A]
SWAP 2.=2:
+	return a + b
The result names the new tag, with which a next edit can follow at once.`

// Definition describes the tool.
func (t *Tool) Definition() tool.Definition {
	return tool.Definition{Name: "hash_edit", Description: description, Parameters: json.RawMessage(parameters)}
}

// Run applies one patch.
func (t *Tool) Run(ctx context.Context, env tool.Env, args json.RawMessage) tool.Result {
	input, err := decode(args)
	if err != nil {
		return tool.Failed("%v", err)
	}
	sections, err := parse(input, env)
	if err != nil {
		return tool.Failed("%v", err)
	}
	jobs, err := t.targets(env, sections)
	if err != nil {
		return tool.Failed("%v", err)
	}
	release, err := t.files.LockAll(ctx, lockPaths(jobs))
	if err != nil {
		return failed(ctx, err)
	}
	defer release()
	for _, j := range jobs {
		if err := t.prepare(ctx, j); err != nil {
			if ctx.Err() != nil {
				break
			}
			return stale(err, len(jobs))
		}
	}
	if ctx.Err() != nil {
		return tool.Failed(tool.CancelledText)
	}
	return t.report(jobs, t.commit(ctx, env.Edits, jobs), len(input))
}

func failed(ctx context.Context, err error) tool.Result {
	if ctx.Err() != nil {
		return tool.Failed(tool.CancelledText)
	}
	return tool.Failed("%v", err)
}

func decode(raw json.RawMessage) (string, error) {
	var a arguments
	if err := tool.Decode(raw, &a); err != nil {
		return "", err
	}
	input, err := tool.Text("input", a.Input)
	if err != nil {
		return "", err
	}
	input = strings.TrimSpace(input)
	switch {
	case input == "":
		return "", errors.New(`invalid arguments: field "input" must not be empty`)
	case len(input) > maxInput:
		return "", fmt.Errorf("the patch is too large: %d bytes, limit %d bytes", len(input), maxInput)
	}
	return input, nil
}

// stale words a failure before anything was written.
func stale(err error, sections int) tool.Result {
	res := tool.Result{Content: clipOutput(err.Error())}
	if e, ok := errors.AsType[*tagError](err); ok {
		res.Metadata = map[string]any{
			"outcome": "stale_tag", "error_kind": e.kind, "path": e.path,
			"expected_tag": e.expected, "current_tag": e.current, "sections": sections,
			"committed": 0, "added": 0, "removed": 0,
		}
	}
	return res
}

const truncatedLine = "\n[truncated: hash_edit output exceeded 65536 bytes]"

func clipOutput(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	return strings.ToValidUTF8(s[:maxOutput-len(truncatedLine)], "") + truncatedLine
}
