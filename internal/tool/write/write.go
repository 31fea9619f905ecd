package write

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"magicode/internal/tool"
)

const maxContent = 1 << 20 // bytes: tools.md 1.10

// Tool is the write tool. It is safe for concurrent use.
type Tool struct {
	files  tool.Files
	policy tool.Policy
}

// New returns the tool; absolute is its absolute_paths setting.
func New(files tool.Files, absolute bool) *Tool {
	return &Tool{files: files, policy: tool.Policy{Tool: "write", Absolute: absolute}}
}

type arguments struct {
	tool.Intent
	Path    *string `json:"path"`
	Content *string `json:"content"`
}

const parameters = `{"type":"object","properties":{"path":{"type":"string","description":"File to create or replace"},"content":{"type":"string","description":"The whole new content"}},"required":["path","content"],"additionalProperties":false,"x-maxContentBytes":1048576}`

const description = `write: creates a file, or replaces its whole content.
Missing directories are made. At most 1 MiB. Links are refused. To change a part of an existing file use hash_edit.`

// Definition describes the tool.
func (t *Tool) Definition() tool.Definition {
	return tool.Definition{Name: "write", Description: description, Parameters: json.RawMessage(parameters)}
}

// Run writes one file.
func (t *Tool) Run(ctx context.Context, env tool.Env, args json.RawMessage) tool.Result {
	path, content, err := decode(args)
	if err != nil {
		return tool.Failed("%v", err)
	}
	if len(content) > maxContent {
		return tool.Failed("content is too large: %d bytes, limit %d bytes", len(content), maxContent)
	}
	target, err := t.policy.New(t.files.FS, env, path)
	if err != nil {
		return tool.Failed("%v", err)
	}
	done, err := t.files.Write(ctx, target, []byte(content))
	undurable := errors.Is(err, tool.ErrUndurable)
	if err != nil && !undurable {
		if ctx.Err() != nil {
			return tool.Failed(tool.CancelledText)
		}
		return tool.Failed("%v", err)
	}
	res := tool.Result{
		Success:  !undurable,
		Metadata: map[string]any{"path": done, "bytes": len(content)},
		Touched:  []tool.Touched{{Path: done, Kind: "write", Success: !undurable, InsideCwd: target.Inside}},
		Changed:  []string{done},
	}
	res.Content = fmt.Sprintf("wrote %d bytes", len(content))
	if undurable {
		res.Metadata["outcome"] = "committed_but_undurable"
		res.Content += ", but the write may not survive a crash: the directory could not be synced"
	}
	return res
}

func decode(raw json.RawMessage) (path, content string, err error) {
	var a arguments
	if err := tool.Decode(raw, &a); err != nil {
		return "", "", err
	}
	if path, err = tool.Text("path", a.Path); err != nil {
		return "", "", err
	}
	content, err = tool.Text("content", a.Content)
	return path, content, err
}
