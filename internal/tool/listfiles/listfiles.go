package listfiles

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"magicode/internal/tool"
	"magicode/internal/vfs"
)

const maxNames = 1000 // tools.md 1.13

// Tool is the list_files tool. It is safe for concurrent use.
type Tool struct {
	fs     vfs.FS
	policy tool.Policy
}

// New returns the tool; absolute is its absolute_paths setting.
func New(fsys vfs.FS, absolute bool) *Tool {
	return &Tool{fs: fsys, policy: tool.Policy{Tool: "list_files", Absolute: absolute}}
}

type arguments struct {
	tool.Intent
	Path        *string `json:"path"`
	Directories *bool   `json:"include_directories"`
}

const parameters = `{"type":"object","properties":{"path":{"type":"string","description":"Directory, relative to the working directory or absolute"},"include_directories":{"type":"boolean","description":"List directories too"}},"required":["path"],"additionalProperties":false,"x-maxEntries":1000}`

const description = `list_files: names the files directly in a directory, sorted, one per line, at most 1,000.
Links are left out, and directories unless include_directories is true. Use find to search a whole tree.`

// Definition describes the tool.
func (t *Tool) Definition() tool.Definition {
	return tool.Definition{Name: "list_files", Description: description, Parameters: json.RawMessage(parameters)}
}

// Run lists one directory.
func (t *Tool) Run(_ context.Context, env tool.Env, args json.RawMessage) tool.Result {
	var a arguments
	if err := tool.Decode(args, &a); err != nil {
		return tool.Failed("%v", err)
	}
	arg, err := tool.Text("path", a.Path)
	if err != nil {
		return tool.Failed("%v", err)
	}
	at, err := t.policy.Existing(t.fs, env, arg)
	if err != nil {
		return tool.Failed("%v", err)
	}
	entries, err := t.fs.ReadDir(at.Canonical)
	if err != nil {
		return tool.Failed("%s: %s", why(err), arg)
	}
	list, files, dirs, cut := choose(entries, a.Directories != nil && *a.Directories)
	return tool.Result{
		Success: true,
		Content: list,
		Metadata: map[string]any{
			"path": arg, "files": files, "directories": dirs, "truncated": cut,
		},
		Touched: []tool.Touched{{Path: at.Canonical, Kind: "list", Success: true, InsideCwd: at.Inside, Directory: true}},
		Display: display(files, dirs, cut),
	}
}

func display(files, dirs int, cut bool) *tool.ResourceDisplay {
	n := files + dirs
	return tool.Describe("list_files", cut, map[string]any{
		"Files returned": files, "Directories returned": dirs, "Entries returned": n,
		"Result state":     tool.ResultState(!cut, n, n, "empty listing"),
		"Listing complete": !cut, "Results limited": cut,
	})
}

func why(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "permission denied"
	}
	return "not a directory"
}

// choose keeps regular files, and directories on request, in name order.
func choose(entries []fs.DirEntry, withDirs bool) (list string, files, dirs int, cut bool) {
	var b strings.Builder
	for _, e := range entries {
		dir := e.IsDir()
		if !e.Type().IsRegular() && !(dir && withDirs) {
			continue
		}
		if files+dirs == maxNames {
			return b.String(), files, dirs, true
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(tool.ShowName(e.Name()))
		if dir {
			dirs++
		} else {
			files++
		}
	}
	return b.String(), files, dirs, false
}
