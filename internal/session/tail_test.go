package session

import (
	"encoding/json"
	"strings"
	"testing"

	"magicode/internal/vfs/memfs"
)

// TestTornTails: decision 16 and storage.md 5.5.
func TestTornTails(t *testing.T) {
	a, b := textLine("a"), textLine("b")
	for _, c := range []struct {
		name, content string
		texts         string
		torn          string // what is set aside; "" for a whole file
	}{
		{"cut record", a + b[:len(b)/2], "a", b[:len(b)/2]},
		{"one byte", a + "{", "a", "{"},
		{"all but two bytes", a + b[:len(b)-2], "a", b[:len(b)-2]},
		{"NUL tail", a + strings.Repeat("\x00", 5000), "a", strings.Repeat("\x00", 5000)},
		{"record and NUL", a + b[:len(b)-1] + "\x00\x00", "a|b", "\x00\x00"},
		{"cut record and NUL", a + b[:len(b)-2] + "\x00\x00", "a", b[:len(b)-2] + "\x00\x00"},
		{"only torn", "{\"ev", "", "{\"ev"},
		{"only NUL", "\x00", "", "\x00"},
		{"white space", a + "  ", "a", "  "},
		{"longer than the first look", a + `{"payload":"` + strings.Repeat("y", 30_000), "a", `{"payload":"` + strings.Repeat("y", 30_000)},
		{"no line end", a + strings.TrimSpace(b), "a|b", ""},
		{"carriage return for a line end", a + strings.TrimSpace(b) + "\r", "a|b", ""},
		{"whole", a + b, "a|b", ""},
		{"empty", "", "", ""},
	} {
		for _, late := range []bool{false, true} { // torn when it is opened, or after
			t.Run(c.name, func(t *testing.T) { tornTail(t, c.content, c.texts, c.torn, late) })
		}
	}
}

func tornTail(t *testing.T, text, want, torn string, late bool) {
	m := newMem(t)
	put(t, m, file, text, 0o600)
	if late {
		put(t, m, file, "", 0o600)
	}
	f := &texts{}
	h, info, err := newStore(t, m).Open(t.Context(), sid, f)
	must(t, err)
	if late {
		put(t, m, file, text, 0o600)
	} else if f.String() != want || info.Torn != (torn != "") {
		t.Errorf("%v %+v", f, info)
	}
	if content(t, m, file) != text || len(names(t, m, "/mc/state/recovered")) != 0 {
		t.Error("opening wrote")
	}
	if !late {
		must(t, h.Unchanged(t.Context()))
	}
	appendOK(t, h, Required, chunk("next"))
	appendOK(t, h, Ordered, chunk("last"))
	if err := h.Unchanged(t.Context()); (err == nil) == (late && text != "") {
		t.Errorf("unchanged: %v", err)
	}
	must(t, h.Close())
	checkMended(t, m, text, want, torn)
}

func checkMended(t *testing.T, m *memfs.FS, text, want, torn string) {
	for line := range strings.Lines(content(t, m, file)) {
		if !json.Valid([]byte(line)) || !strings.HasSuffix(line, "\n") {
			t.Errorf("broken line %q", line)
		}
	}
	if !strings.HasPrefix(content(t, m, file), strings.TrimSuffix(text, torn)) {
		t.Error("what was whole has changed")
	}
	after, info, err := read(t, m)
	must(t, err)
	parts := []string{}
	for _, s := range []string{want, "next", "last"} {
		if s == "next" && torn != "" {
			parts = append(parts, "")
		}
		if s != "" {
			parts = append(parts, s)
		}
	}
	if after.String() != strings.Join(parts, "|") || info.Torn {
		t.Errorf("%q, want %q; %+v", after, parts, info)
	}
	aside := names(t, m, "/mc/state/recovered")
	if torn == "" {
		if len(aside) != 0 {
			t.Errorf("set aside %v", aside)
		}
		return
	}
	if len(aside) != 1 || aside[0] != "s-1-1.torn" || content(t, m, "/mc/state/recovered/s-1-1.torn") != torn {
		t.Errorf("set aside %v", aside)
	}
	for name, mode := range map[string]uint32{"/mc/state/recovered": 0o700, "/mc/state/recovered/s-1-1.torn": 0o600} {
		if info, err := m.Lstat(name); err != nil || uint32(info.Mode.Perm()) != mode {
			t.Errorf("%s: %v %v", name, info.Mode, err)
		}
	}
}

func TestRecoveredNamesCount(t *testing.T) {
	m := newMem(t)
	must(t, m.Mkdir("/mc/state/recovered", 0o700))
	for _, n := range []string{"s-1-7.torn", "s-1-x.torn", "s-10-99.torn", "s-1-3.torn"} {
		put(t, m, "/mc/state/recovered/"+n, "", 0o600)
	}
	put(t, m, file, "{", 0o600)
	h, _, err := newStore(t, m).Open(t.Context(), sid)
	must(t, err)
	appendOK(t, h, Required, chunk("x"))
	must(t, h.Close())
	if got := content(t, m, "/mc/state/recovered/s-1-8.torn"); got != "{" {
		t.Errorf("%q", got)
	}
}
