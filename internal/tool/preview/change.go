package preview

import (
	"bytes"
	"unicode/utf8"

	"magicode/internal/tool"
)

// change is one file from before an edit to after it.
type change struct {
	from, path    string // canonical; equal unless the file was moved
	before, after tool.Version
}

// changes joins what edits tell one by one. hash_edit makes files by moving them
// only, and tells of the new name first.
func changes(edits []tool.Edit) []change {
	var out []change
	for i := 0; i < len(edits); i++ {
		e := edits[i]
		c := change{from: e.Path, path: e.Path, before: e.Before, after: e.After}
		if i+1 < len(edits) && e.Tool == "edit" && !e.Before.Exists && !edits[i+1].After.Exists {
			i++
			c.from, c.before = edits[i].Path, edits[i].Before
		}
		out = append(out, c)
	}
	return out
}

// same: nothing changed.
func (c change) same() bool {
	return c.from == c.path && c.known() && c.before.Exists == c.after.Exists && bytes.Equal(c.before.Data, c.after.Data)
}

// known: both contents are there, as text.
func (c change) known() bool { return text(c.before) && text(c.after) }

func text(v tool.Version) bool {
	return v.Kept() && utf8.Valid(v.Data) && bytes.IndexByte(v.Data, 0) < 0
}

// rows are the lines of the change's unified diff, at most limit. whole is false
// when there are more.
func (c change) rows(env tool.Env, limit int) (rows []string, whole bool) {
	old, now := split(c.before), split(c.after)
	script, ok := compare(old, now)
	if !ok {
		return nil, false
	}
	rows = []string{"--- " + name(env, c.from, c.before), "+++ " + name(env, c.path, c.after)}
	for _, h := range hunks(script) {
		if rows = append(rows, h.rows(old, now, limit-len(rows))...); len(rows) >= limit {
			return rows[:limit], false
		}
	}
	if len(rows) == 2 && c.from == c.path {
		return nil, true // line ends only
	}
	return rows, true
}

func name(env tool.Env, path string, v tool.Version) string {
	if !v.Exists {
		return "/dev/null"
	}
	return tool.ShowName(tool.Display(env, path))
}
