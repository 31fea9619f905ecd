package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"magicode/internal/tool"
)

// resource is one loaded entry.
type resource struct {
	requested string
	sel       selector
	path      string // canonical path; the source for a skill
	source    string
	kind      string // file, skill, reference
	inside    bool
	data      []byte
	text      string // normalised; "" for raw
}

// load finds and reads one entry of paths.
func (t *Tool) load(ctx context.Context, env tool.Env, entry string) (*resource, error) {
	if strings.TrimSpace(entry) == "" {
		return nil, errors.New("a path must not be blank")
	}
	if scheme, _, ok := strings.Cut(entry, "://"); ok && isScheme(scheme) {
		switch strings.ToLower(scheme) {
		case "http", "https":
			return nil, errors.New("read does not open web pages: use the web tool")
		case "skill":
			return t.loadSkill(ctx, entry)
		}
		return nil, fmt.Errorf("unsupported scheme %q: only files and skill:// can be read", scheme)
	}
	return t.loadFile(env, entry)
}

func isScheme(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.')
	}) < 0
}

func (t *Tool) loadFile(env tool.Env, entry string) (*resource, error) {
	r := &resource{requested: entry, kind: "file"}
	path, sel, err := splitSelectors(entry, func(path string) bool {
		_, err := t.policy.Existing(t.files.FS, env, path)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	r.sel = sel
	at, err := t.policy.Existing(t.files.FS, env, path)
	if err != nil {
		return nil, err
	}
	data, _, err := t.files.Read(at.Canonical, maxBytes)
	if err != nil {
		return nil, err
	}
	r.path, r.source, r.inside, r.data = at.Canonical, at.Canonical, at.Inside, data
	if !r.sel.raw {
		r.text = tool.Normalize(data)
	}
	return r, nil
}

func (t *Tool) loadSkill(ctx context.Context, entry string) (*resource, error) {
	source, sel, err := splitSelectors(entry, func(string) bool { return false })
	if err != nil {
		return nil, err
	}
	if sel.kind != all {
		return nil, errors.New("line selectors do not apply to skills")
	}
	name, reference, _ := strings.Cut(source[len("skill://"):], "/")
	if t.skills == nil || name == "" {
		return nil, fmt.Errorf("no such skill: %s", source)
	}
	data, err := t.skills.ReadSkill(ctx, name, reference, maxBytes)
	if err != nil {
		return nil, err
	}
	r := &resource{requested: entry, sel: sel, path: source, source: source, kind: "skill", data: data}
	if reference != "" {
		r.kind = "reference"
	}
	if !sel.raw {
		r.text = tool.Normalize(data)
	}
	return r, nil
}

// shown is what of a resource fits.
type shown struct {
	body        string
	plain       string // the same lines without numbers
	first, last int    // lines; last 0: none
	total       int
	truncated   bool // lines were left out that the selector asked for
	capped      bool // because of the byte limit
	tag         string
}

// render makes a resource's body within room bytes.
func (r *resource) render(room int) (shown, error) {
	if r.sel.raw {
		return r.renderRaw(room)
	}
	s := shown{tag: tool.Tag(r.text), total: tool.LineCount(r.text)}
	first, last, err := r.sel.span(s.total)
	if err != nil {
		return shown{}, err
	}
	if r.sel.kind == all && r.kind == "file" && last > defaultLines {
		last, s.truncated = defaultLines, true
	}
	start := len(r.text) - len(skipLines(r.text, first-1))
	pos, end := start, start
	b := make([]byte, 0, min(len(r.path)+8+len(r.text)-start+(last-first+1)*8, room+64))
	b = append(b, "["+r.path+"#"+s.tag+"]"...)
	for n := first; n <= last; n++ {
		line, _, _ := strings.Cut(r.text[pos:], "\n")
		if len(b)+len(line)+9 > room {
			s.truncated, s.capped = true, true
			break
		}
		b = append(b, '\n')
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, ':')
		b = append(b, line...)
		s.first, s.last = first, n
		end = pos + len(line)
		pos = min(end+1, len(r.text))
	}
	if s.last == s.total {
		end = len(r.text)
	}
	s.body, s.plain = string(b), r.text[start:end]
	return s, nil
}

func skipLines(text string, n int) string {
	for ; n > 0; n-- {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return ""
		}
		text = text[i+1:]
	}
	return text
}

// renderRaw gives the whole text untouched, or the selected lines.
func (r *resource) renderRaw(room int) (shown, error) {
	s := shown{tag: tool.Tag(tool.Normalize(r.data)), total: tool.LineCount(string(r.data))}
	if r.sel.kind == all {
		s.body = string(r.data)
	} else {
		first, last, err := r.sel.span(s.total)
		if err != nil {
			return shown{}, err
		}
		lines := bytes.Split(r.data, []byte("\n"))[first-1 : last]
		for i, l := range lines {
			lines[i] = bytes.TrimSuffix(l, []byte("\r"))
		}
		s.body = string(bytes.Join(lines, []byte("\n")))
		s.first, s.last = first, last
	}
	if len(s.body) > room {
		s.body = cut(s.body, room)
		s.truncated, s.capped = true, true
	}
	s.plain = s.body
	return s, nil
}
