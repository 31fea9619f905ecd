package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"magicode/internal/agenttest"
	"magicode/internal/mcp/mcptest"
)

// asProgram makes the test binary the program itself.
const asProgram = "MAGI_CODE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	mcptest.Main(haveKin)
	if os.Getenv(asProgram) != "" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// TestScripts plays testdata/script: a home, a scripted model in this process,
// and a real child on two pipes.
//
//	model [-strict] FILE      start the model with a script and write the home's settings
//	model release NAME        open a gate
//	model requests N          exactly N requests came
//	model saw N TEXT          request N (from 0) holds TEXT
//	model lacks N TEXT        it does not
//	agent start
//	agent send ID METHOD [PARAMS]
//	agent expect FRAME...     the next frame; deltas are passed over
//	agent await FRAME...      the next frame that matches; others are passed over
//	agent delta TEXT          wait for a delta that begins with TEXT
//	agent close               end its input
//	agent signal NAME
//	agent exit STATUS         no frame is left unread, no stderr, this status (-1: a signal)
//
// A FRAME is "response ID", "error ID CODE" or "event NAME", and name=value
// pairs of its result or data. SESSION, RUN, REV and APPROVAL are set from frames.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			ts := &script{t: t, dir: dir, env: map[string]string{"MC_HOME": filepath.Join(dir, "home"), "WORK": dir}}
			s := &theatre{ts: ts}
			ts.verbs = map[string]func([]string){"model": s.model, "agent": s.agent}
			defer s.end()
			ts.Check(os.Mkdir(filepath.Join(dir, "work"), 0o755))
			ts.run(file, string(text))
		})
	}
}

// theatre is what one script plays with.
type theatre struct {
	ts       *script
	provider *agenttest.Model
	child    *child
}

func (s *theatre) end() {
	if s.child != nil {
		s.child.kill()
	}
	if s.provider != nil {
		s.provider.Close()
	}
}

func (s *theatre) model(args []string) {
	switch args[0] {
	case "release":
		s.provider.Release(args[1])
	case "requests":
		if got := len(s.provider.Seen()); strconv.Itoa(got) != args[1] {
			s.ts.Fatalf("%d requests came", got)
		}
	case "saw", "lacks":
		n, err := strconv.Atoi(args[1])
		s.ts.Check(err)
		if seen := s.provider.Seen(); n >= len(seen) || strings.Contains(seen[n], args[2]) != (args[0] == "saw") {
			s.ts.Fatalf("request %d of %d: %s", n, len(seen), strings.Join(seen, "\n"))
		}
	default:
		more := ""
		if args[0] == "-strict" {
			more, args = agenttest.Strictly, args[1:]
		}
		s.provider = agenttest.New(s.ts.readFile(args[0]))
		s.ts.Check(s.provider.Settings(s.ts.env["MC_HOME"], more))
	}
}

func (s *theatre) agent(args []string) {
	verb, args := args[0], args[1:]
	switch verb {
	case "start":
		env := []string{"PATH=" + os.Getenv("PATH"), "MC_HOME=" + s.ts.env["MC_HOME"], "HOME=" + s.ts.dir, "NO_PROXY=127.0.0.1"}
		c, err := startChild(s.ts.path("work"), env)
		s.ts.Check(err)
		s.child = c
	case "send":
		params := "{}"
		if len(args) > 2 {
			params = args[2]
		}
		s.ts.Check(s.child.send(args[0], args[1], params))
	case "expect":
		s.expect(args, false)
	case "await":
		s.expect(args, true)
	case "delta":
		s.delta(args[0])
	case "close":
		s.ts.Check(s.child.in.Close())
	case "signal":
		s.ts.Check(s.child.cmd.Process.Signal(map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL}[args[0]]))
	case "exit":
		s.exit(args[0])
	default:
		s.ts.Fatalf("agent %s?", verb)
	}
}

func (s *theatre) delta(text string) {
	for {
		f, err := s.child.next()
		s.ts.Check(err)
		if f.Event != "message.delta" {
			s.ts.Fatalf("no delta but %s", f.Raw)
		}
		if got := f.Data["text"].(string); strings.HasPrefix(got, text) {
			return
		}
	}
}

func (s *theatre) expect(args []string, skip bool) {
	for {
		f, err := s.child.next()
		if err != nil {
			s.ts.Fatalf("waiting for %v: %v", args, err)
		}
		s.remember(f)
		if f.Event == "message.delta" {
			continue
		}
		miss := mismatch(f, args)
		if miss == nil {
			return
		}
		if !skip {
			s.ts.Fatalf("%v in %s", miss, f.Raw)
		}
	}
}

// remember sets the variables that later frames need.
func (s *theatre) remember(f agenttest.Frame) {
	for from, m := range map[string]map[string]any{"result": f.Res, "data": f.Data} {
		for key, name := range map[string]string{"session_id": "SESSION", "run_id": "RUN", "revision": "REV", "approval_id": "APPROVAL"} {
			if v, ok := m[key].(string); ok && (from == "result" || key != "session_id") {
				s.ts.env[name] = v
			}
		}
	}
}

// mismatch says what of a frame is not as wanted.
func mismatch(f agenttest.Frame, args []string) error {
	id := "null"
	if f.ID != nil {
		id = *f.ID
	}
	var fields map[string]any
	switch kind, name := args[0], args[1]; {
	case kind == "error":
		if f.Error == nil || id != name || f.Error.Code != args[2] {
			return fmt.Errorf("not error %s %s", name, args[2])
		}
		return nil
	case kind == "response" && f.Type == "response" && f.Error == nil && id == name:
		fields = f.Res
	case kind == "event" && f.Event == name:
		fields = f.Data
	default:
		return fmt.Errorf("not %s %s", kind, name)
	}
	for _, pair := range args[2:] {
		key, want, _ := strings.Cut(pair, "=")
		if got := show(lookup(fields, key)); got != want {
			return fmt.Errorf("%s is %q, not %q", key, got, want)
		}
	}
	return nil
}

// lookup follows a dotted path; a list's "texts" are the kind and text of its entries.
func lookup(v any, path string) any {
	for _, key := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

func show(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var out []string
		for _, e := range v {
			m, ok := e.(map[string]any)
			if !ok {
				out = append(out, fmt.Sprint(e))
				continue
			}
			line := fmt.Sprintf("%v:%v", m["kind"], m["text"])
			if m["partial"] == true {
				line += "(partial)"
			}
			out = append(out, line)
		}
		return strings.Join(out, "; ")
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func (s *theatre) exit(want string) {
	if _, err := s.child.next(); err == nil || errors.Is(err, errSilent) {
		all := s.child.all()
		s.ts.Fatalf("%v; last frame %s", err, all[len(all)-1].Raw)
	}
	began := time.Now()
	status, err := s.child.wait()
	s.ts.Check(err)
	if strconv.Itoa(status) != want {
		s.ts.Fatalf("exit %d", status)
	}
	if took := time.Since(began); took > 3*time.Second {
		s.ts.Fatalf("the end took %v", took)
	}
	s.checkSequence()
}

// checkSequence: seq counts from one without a hole, and nothing follows a run's end.
func (s *theatre) checkSequence() {
	finished := map[any]bool{}
	for i, f := range s.child.all() {
		if f.Seq != i+1 {
			s.ts.Fatalf("frame %d has seq %d", i+1, f.Seq)
		}
		if f.Type == "event" && finished[f.Data["run_id"]] {
			s.ts.Fatalf("after the end of its run: %s", f.Raw)
		}
		if f.Event == "run.finished" {
			finished[f.Data["run_id"]] = true
		}
	}
}
