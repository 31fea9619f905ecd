package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"magicode/internal/agenttest"
	"magicode/internal/racetest"
)

const (
	taskCount = 4
	taskCalls = 50
)

// taskModel delegates four tasks at once; each of them makes fifty calls, and
// then says that it is done or starts a command that does not end.
func taskModel(t *testing.T, then string) *agenttest.Model {
	t.Helper()
	var requests atomic.Int64
	p := &agenttest.Model{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := requests.Add(1)
		step := ""
		switch done := strings.Count(string(body), `"role":"tool"`); {
		case !strings.Contains(string(body), "original_task"):
			step = "All done."
			if done == 0 {
				step = `subagents {"concurrency":4,"tasks":[{"intent":"a"},{"intent":"b"},{"intent":"c"},{"intent":"d"}]}`
			}
		case done < taskCalls:
			step = fmt.Sprintf(`read {"path":"%d.txt"}`, done)
		default:
			step = then
		}
		speak(w, n, step)
	}))
	t.Cleanup(p.Close)
	return p
}

// speak answers with a call, `NAME {…}`, or with words.
func speak(w io.Writer, n int64, step string) {
	content, _ := json.Marshal(step)
	delta, finish := `{"content":`+string(content)+`}`, "stop"
	if name, args, ok := strings.Cut(step, " {"); ok {
		quoted, _ := json.Marshal("{" + args)
		delta = fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%s}}]}`, n, name, quoted)
		finish = "tool_calls"
	}
	fmt.Fprintf(w, `data: {"id":"r%d","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%q}]}`+"\n\n", n, delta, finish)
	fmt.Fprintf(w, `data: {"id":"r%d","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`+"\n\ndata: [DONE]\n\n", n)
}

// delegated is a child whose turn with four tasks has been started.
type delegated struct {
	*child
	t                  *testing.T
	home, session, run string
}

func startTasks(t *testing.T, then string) *delegated {
	t.Helper()
	d := &delegated{t: t, home: filepath.Join(t.TempDir(), "home")}
	if err := taskModel(t, then).Settings(d.home, ""); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	for i := range taskCalls {
		if err := os.WriteFile(filepath.Join(work, fmt.Sprint(i, ".txt")), []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := startChild(work, []string{"PATH=" + os.Getenv("PATH"), "MC_HOME=" + d.home, "HOME=" + d.home, "NO_PROXY=127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	d.child = c
	d.ask("r1", "initialize", `{"required_capabilities":[]}`)
	d.session, _ = d.ask("r2", "session.create", "{}").Res["session_id"].(string)
	d.run, _ = d.ask("r3", "turn.start", `{"session_id":"`+d.session+`","prompt":"Delegate."}`).Res["run_id"].(string)
	return d
}

// ask returns the response to a request.
func (d *delegated) ask(id, method, params string) agenttest.Frame {
	d.t.Helper()
	if err := d.send(id, method, params); err != nil {
		d.t.Fatal(err)
	}
	return d.until(func(f agenttest.Frame) bool { return f.ID != nil && *f.ID == id })
}

// until passes frames over.
func (d *delegated) until(found func(agenttest.Frame) bool) agenttest.Frame {
	d.t.Helper()
	for {
		f, err := d.next()
		if err != nil {
			d.t.Fatal(err)
		}
		if found(f) {
			return f
		}
	}
}

func finished(f agenttest.Frame) bool { return f.Event == "run.finished" }

// TestTasksUsage: four tasks at once with fifty calls each, in a real child.
// Every call shows, and what the tasks cost is in the session once.
func TestTasksUsage(t *testing.T) {
	d := startTasks(t, "done")
	if f := d.until(finished); f.Data["outcome"] != "completed" || f.Data["persistence"] != "durable" {
		t.Fatal(f.Raw)
	}
	started, ended := 0, 0
	for _, f := range d.all() {
		if name, _ := f.Data["name"].(string); f.Event == "activity" && strings.HasPrefix(name, "read ") {
			switch f.Data["state"] {
			case "started":
				started++
			case "completed":
				ended++
			}
		}
	}
	if started != taskCount*taskCalls || ended != started {
		t.Errorf("%d calls shown, %d completed", started, ended)
	}
	tasks, primary := usage(t, filepath.Join(d.home, "sessions", d.session+".jsonl"))
	// A task asks once more than it calls; the primary asks twice.
	if want := int64(taskCount * (taskCalls + 1)); tasks != [2]int64{11 * want, 7 * want} || primary != [2]int64{22, 14} {
		t.Errorf("tasks %v, primary %v", tasks, primary)
	}
	checkTaskFacts(t, filepath.Join(d.home, "sessions", d.session+".jsonl"))
}

// checkTaskFacts reads what the session keeps of the tasks (extensions.md 13.12).
func checkTaskFacts(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var e struct {
		Payload struct {
			Result struct {
				Metadata struct {
					Facts struct {
						Tasks []map[string]any `json:"tasks"`
					} `json:"subagent_telemetry"`
				} `json:"metadata"`
			} `json:"result"`
		} `json:"payload"`
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, `{"event_type":"tool_result"`) {
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
		}
	}
	tasks := e.Payload.Result.Metadata.Facts.Tasks
	if len(tasks) != taskCount {
		t.Fatalf("%d tasks", len(tasks))
	}
	for i, f := range tasks {
		rows, _ := f["activity"].([]any)
		omitted, _ := f["activity_omitted"].(float64)
		usage, _ := f["usage"].(map[string]any)
		whole, _ := usage["whole_run"].(map[string]any)
		if f["index"] != float64(i) || f["outcome"] != "success" || f["provider"] != "fixture" || f["model"] != "fixture-model" ||
			len(rows)+int(omitted) != taskCalls || rows[0] != "read: success" || whole["effective_input"] != float64(11*(taskCalls+1)) {
			t.Errorf("%v", f)
		}
	}
}

// usage sums the last usage records of a session, input and output.
func usage(t *testing.T, file string) (tasks, primary [2]int64) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type record struct {
		ID    string `json:"id"`
		Final bool   `json:"final_usage"`
		Usage struct {
			Input  int64 `json:"effective_input"`
			Output int64 `json:"output"`
		} `json:"usage"`
	}
	last := map[string]record{}
	for line := range strings.Lines(string(data)) {
		var e struct {
			Kind    string `json:"event_type"`
			Payload record `json:"payload"`
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Kind == "session_usage" {
			last[e.Payload.ID] = e.Payload
		}
	}
	for id, r := range last {
		sum := &primary
		if strings.Contains(id, "/activity/") {
			sum = &tasks
		}
		if !r.Final {
			t.Errorf("%s is not final", id)
		}
		sum[0], sum[1] = sum[0]+r.Usage.Input, sum[1]+r.Usage.Output
	}
	return tasks, primary
}

// maxCancel is how long a cancelled turn may take to its terminal event.
const maxCancel = 300 * time.Millisecond * racetest.Slowdown

// TestTasksCancel: the same four, in a command each when the host cancels. The
// best of three counts, since the machine may have other things to do; that
// nothing survives counts each time.
func TestTasksCancel(t *testing.T) {
	best := time.Hour
	for range 3 {
		pids := t.TempDir()
		d := startTasks(t, `bash {"command":"touch '`+pids+`'/$$; sleep 60","intent":"wait"}`)
		for range taskCount {
			d.until(func(f agenttest.Frame) bool {
				name, _ := f.Data["name"].(string)
				return f.Event == "activity" && f.Data["state"] == "started" && strings.HasPrefix(name, "bash ")
			})
		}
		waitFor(t, func() bool { entries, _ := os.ReadDir(pids); return len(entries) == taskCount })
		began := time.Now()
		if err := d.send("r4", "turn.cancel", `{"session_id":"`+d.session+`","run_id":"`+d.run+`"}`); err != nil {
			t.Fatal(err)
		}
		f := d.until(finished)
		took := time.Since(began)
		if f.Data["outcome"] != "cancelled" || f.Data["persistence"] != "durable" {
			t.Fatal(f.Raw)
		}
		if _, alive := survivors(t, pids); len(alive) > 0 {
			t.Errorf("alive: %v", alive)
		}
		t.Logf("cancelled in %v", took)
		if best = min(best, took); best <= maxCancel {
			return
		}
	}
	t.Errorf("cancelled in %v at best", best)
}

// waitFor looks until something of another process is there.
func waitFor(t *testing.T, there func() bool) {
	t.Helper()
	for late := time.Now().Add(agenttest.Patience); !there(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal(errSilent)
		}
	}
}
