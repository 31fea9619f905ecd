package claude

import (
	"errors"
	"fmt"
	"path/filepath"

	"magicode/internal/jsonscan"
	"magicode/internal/vfs"
)

// workspace is the private folder of one generation (providers.md 15, step 3).
type workspace struct {
	fs  vfs.FS
	dir string
}

const (
	systemFile   = "system.md"
	toolsFile    = "tools.json"
	settingsFile = "settings.json"
)

// newWorkspace makes the folder below parent and writes its files. On an error
// nothing is left.
func newWorkspace(fsys vfs.FS, parent, id string, p *prompt) (*workspace, error) {
	w := &workspace{fs: fsys, dir: filepath.Join(parent, "magi-code-claude-"+id)}
	if err := fsys.Mkdir(w.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the claude command: %v", err)
	}
	for name, data := range map[string][]byte{systemFile: []byte(p.system), toolsFile: p.inventory, settingsFile: settings(p.tools)} {
		if err := w.write(name, data); err != nil {
			return nil, errors.Join(fmt.Errorf("write a file for the claude command: %v", err), w.remove())
		}
	}
	return w, nil
}

// settings makes the command's request carry our tools: it lists them to the
// model by itself only when it finds the time to ask its MCP servers.
func settings(tools []byte) []byte {
	extra := append(append([]byte(`{"tools":`), tools...), '}')
	out := jsonscan.AppendString([]byte(`{"env":{"CLAUDE_CODE_EXTRA_BODY":`), string(extra))
	return append(out, `}}`...)
}

func (w *workspace) path(name string) string { return filepath.Join(w.dir, name) }

func (w *workspace) write(name string, data []byte) error {
	f, err := w.fs.Open(w.path(name), vfs.Write|vfs.Create|vfs.Exclusive|vfs.NoFollow, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(vfs.WriteAll(f, data), f.Close())
}

// remove removes the folder with all that is in it; the command makes no
// folders there.
func (w *workspace) remove() error {
	entries, err := w.fs.ReadDir(w.dir)
	for _, e := range entries {
		err = errors.Join(err, w.fs.Remove(w.path(e.Name())))
	}
	return errors.Join(err, w.fs.Remove(w.dir))
}
