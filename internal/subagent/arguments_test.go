package subagent

import (
	"strings"
	"testing"

	"magicode/internal/tool"
	"magicode/internal/vfs/memfs"
)

func TestParse(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	task := func(members string) string { return `{"tasks":[{` + members + `}]}` }
	for _, c := range []struct {
		args  string
		holds string // "" for good ones
	}{
		{task(`"intent":"a"`), ""},
		{task(`"intent":"a","mode":"inspect","agent":"b","identity":"c","context":"d","cwd":"e"`), ""},
		{task(`"intent":"a","mode":null,"agent":null`), ""},
		{`{"tasks":[{"intent":"a"}],"concurrency":4,"intent":"why"}`, ""},
		{`{"tasks":[` + strings.TrimSuffix(strings.Repeat(`{"intent":"a"},`, 10), ",") + `]}`, ""},
		{task(`"intent":"` + long(maxTextBytes) + `"`), ""},
		{task(`"intent":"a","context":"` + long(maxContextBytes) + `"`), ""},
		{`{}`, "1 to 10 tasks"},
		{`{"tasks":[]}`, "1 to 10 tasks"},
		{`{"tasks":null}`, "1 to 10 tasks"},
		{`{"tasks":[` + strings.TrimSuffix(strings.Repeat(`{"intent":"a"},`, 11), ",") + `]}`, "1 to 10 tasks"},
		{`{"tasks":[{"intent":"a"}],"concurrency":0}`, "from 1 to 4"},
		{`{"tasks":[{"intent":"a"}],"concurrency":5}`, "from 1 to 4"},
		{`{"tasks":[{"intent":"a"}],"more":1}`, "more"},
		{task(`"intent":"a","more":1`), "more"},
		{`{"tasks":[{"intent":"a"},{"intent":" \n"}]}`, "task 2"},
		{task(`"mode":"inspect"`), "intent"},
		{task(`"intent":"a","mode":"write"`), "mode"},
		{task(`"intent":"` + long(maxTextBytes+1) + `"`), "intent"},
		{task(`"intent":"a","agent":"` + long(maxTextBytes+1) + `"`), "agent"},
		{task(`"intent":"a","cwd":"` + long(maxTextBytes+1) + `"`), "cwd"},
		{task(`"intent":"a","context":"` + long(maxContextBytes+1) + `"`), "context"},
		{task(`"intent":1`), "intent"},
		{`[]`, "object"},
	} {
		tasks, concurrency, err := parse([]byte(c.args))
		switch {
		case c.holds == "" && (err != nil || len(tasks) == 0 || tasks[0].Mode == "" || concurrency != 4):
			t.Errorf("%.60s: %v %d", c.args, err, concurrency)
		case c.holds != "" && (err == nil || !strings.Contains(err.Error(), c.holds)):
			t.Errorf("%.60s: %v", c.args, err)
		}
	}
}

func TestPlace(t *testing.T) {
	fs := memfs.New()
	for _, d := range []string{"/w/sub", "/out"} {
		if err := fs.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := tool.Env{Cwd: "/w", CanonicalCwd: "/w"}
	for _, c := range []struct {
		cwd      string
		absolute bool
		want     string // "" for refused
	}{{"sub", false, "/w/sub"}, {"/w/sub", false, "/w/sub"}, {"/out", true, "/out"}, {"/out", false, ""}, {"../out", true, ""}, {"none", true, ""}} {
		given, canonical, err := place(fs, env, c.absolute, &c.cwd)
		if canonical != c.want || given != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q %q %v", c, given, canonical, err)
		}
	}
	if given, canonical, err := place(fs, env, false, nil); given != "/w" || canonical != "/w" || err != nil {
		t.Errorf("%q %q %v", given, canonical, err)
	}
}
