package attach

import (
	"strings"
	"testing"

	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/internal/vfs/memfs"
)

// newHome is a file system with a workspace /w, a link /alias to it, and a
// folder /other.
func newHome(t *testing.T) *memfs.FS {
	t.Helper()
	m := memfs.New()
	for _, d := range []string{"/w", "/other"} {
		if err := m.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Symlink("/w", "/alias"); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		what     string
		cwds     []string
		any, bad bool
	}{
		{"none", nil, false, false},
		{"empty ones", []string{"", ""}, false, false},
		{"the folder", []string{"/w", "", "/w"}, true, false},
		{"a link to it", []string{"/alias"}, true, false},
		{"a roundabout way", []string{"/other/../w"}, true, false},
		{"a roundabout way through a missing folder", []string{"/gone/../w"}, true, true},
		{"relative", []string{"w"}, true, true},
		{"missing", []string{"/w", "/gone"}, true, true},
		{"elsewhere, then here", []string{"/other", "/w"}, true, true},
	} {
		p := places{fs: newHome(t), home: "/w"}
		for _, cwd := range c.cwds {
			p.see(cwd)
		}
		if p.any != c.any || p.mismatch != c.bad {
			t.Errorf("%s: any %v, mismatch %v", c.what, p.any, p.mismatch)
		}
	}
}

// TestPlacesAreBounded: what is remembered does not grow with the file.
func TestPlacesAreBounded(t *testing.T) {
	p := places{fs: newHome(t), home: "/w"}
	for i := range 10_000 {
		p.see("/other/" + strings.Repeat("../other/", i%200) + "../w")
	}
	if len(p.known) > maxPlaces || p.mismatch {
		t.Errorf("%d remembered, mismatch %v", len(p.known), p.mismatch)
	}
}

func TestPlacesRecheck(t *testing.T) {
	m := newHome(t)
	p := places{fs: m, home: "/w"}
	p.see("/alias")
	if err := m.Remove("/alias"); err != nil {
		t.Fatal(err)
	}
	if p.recheck(); !p.mismatch {
		t.Error("a recorded folder that went away was not noticed")
	}
	if err := m.Symlink("/w", "/alias"); err != nil {
		t.Fatal(err)
	}
	if p.recheck(); p.mismatch {
		t.Error("a recorded folder that came back was not noticed")
	}
}

type apply struct{ kind, payload string }

func factsOf(t *testing.T, in []apply) *facts {
	t.Helper()
	f := new(facts)
	for i, r := range in {
		if err := f.Apply(session.Record{Kind: session.Kind(r.kind), Payload: []byte(r.payload), Index: i}); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestPreferences(t *testing.T) {
	good := apply{"session_preferences", `{"provider":"p","model":"m","requested_thinking":"x_high"}`}
	want := provider.Selection{Provider: "p", Model: "m", Level: "x_high"}
	for _, c := range []struct {
		what string
		in   []apply
		want provider.Selection
		ok   bool
	}{
		{"none", nil, provider.Selection{}, false},
		{"one", []apply{good}, want, true},
		{"the last valid one", []apply{good, {"session_preferences", `{"provider":"q","model":" ","requested_thinking":"low"}`}, {"session_preferences", `[]`}}, want, true},
		{"another spelling of a level", []apply{{"session_preferences", `{"provider":"q","model":"m","requested_thinking":"xhigh"}`}}, provider.Selection{}, false},
		{"no level", []apply{{"session_preferences", `{"provider":"q","model":"m"}`}}, provider.Selection{}, false},
		{"of a checkpoint", []apply{{"compaction", `{"session_preferences":{"provider":"p","model":"m","requested_thinking":"x_high"}}`}}, want, true},
	} {
		f := factsOf(t, c.in)
		if f.hasSaved != c.ok || f.hasSaved && f.saved != c.want {
			t.Errorf("%s: %+v %v", c.what, f.saved, f.hasSaved)
		}
	}
}

func TestTitlesAndCounts(t *testing.T) {
	f := factsOf(t, []apply{
		{"compaction", `{"aggregate":{"latest_title":"Old","user_input_count":7}}`}, {"user_input", `{"text":"q"}`},
		{"session_title", `{"title":" A \n title ` + strings.Repeat("é", 60) + `"}`}, {"session_title", `{"title":" "}`}, {"session_title", `{}`},
	})
	if f.prompts != 8 || len([]rune(f.title)) != 50 || !strings.HasPrefix(f.title, "A title é") {
		t.Errorf("%d prompts, title %q", f.prompts, f.title)
	}
}

func TestTerminalRecords(t *testing.T) {
	in := apply{"user_input", `{"text":"q"}`}
	status := func(s string) apply { return apply{"turn_status", `{"status":"` + s + `"}`} }
	out := apply{"assistant_output", `{"text":""}`}
	for _, c := range []struct {
		what string
		in   []apply
		owed bool
	}{
		{"nothing", nil, false},
		{"a prompt", []apply{in}, true},
		{"answered", []apply{in, out}, false},
		{"failed", []apply{in, status("failed")}, false},
		{"cancelled", []apply{in, status("cancelled")}, false},
		{"complete", []apply{in, status("complete")}, false},
		{"incomplete is no end", []apply{in, status("incomplete")}, true},
		{"nor is a stop to compact", []apply{in, status("compaction_required")}, true},
		{"the next prompt", []apply{in, out, in}, true},
		{"compacted after the answer", []apply{in, out, {"compaction", `{}`}}, false},
		{"compacted between batches", []apply{in, {"compaction", `{}`}}, true},
	} {
		if f := factsOf(t, c.in); f.owed != c.owed {
			t.Errorf("%s: owed %v", c.what, f.owed)
		}
	}
}
