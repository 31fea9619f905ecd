package observed

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/telemetry/otlp/otlptest"
)

// completeGated lets each piece of text through only when the one before it has
// become a frame: then even the deltas are cut alike in every conversation.
func (w *world) completeGated(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "text/event-stream")
	for i := range 4 {
		fmt.Fprintf(rw, `data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"piece %d of the answer\n"},"finish_reason":null}]}`+"\n\n", i)
		_ = http.NewResponseController(rw).Flush() // the child notices
		select {
		case <-w.gate:
		case <-r.Context().Done():
			return
		}
	}
	fmt.Fprint(rw, `data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// fault is a way in which a sink can go wrong.
type fault struct {
	env    []string
	during func(*child)
	// problem is the code that the status file shows; "" where the child ends
	// before it can know.
	problem string
	maybe   bool // the child may end before it can know
}

// faults are all of them; each call makes its own files and endpoints.
func faults(t *testing.T, w *world) map[string]fault {
	t.Helper()
	export := func(url, protocol string) []string {
		return []string{"MC_TELEMETRY=file,otlp", "MC_TELEMETRY_OTLP_ENDPOINT=" + url, "MC_TELEMETRY_OTLP_PROTOCOL=" + protocol}
	}
	hanging, _ := otlptest.Hanging(t)
	busy, _ := otlptest.Answering(t, http.StatusTooManyRequests, "Retry-After", "3600")
	_, secure := otlptest.HTTPS(t)
	root := t.TempDir()
	made := func(name string) string {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	fifo := func(path string) string {
		if err := exec.Command("mkfifo", "-m", "600", path).Run(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	removed, removedProm, fifos := made("removed"), made("removedprom"), made("fifos")
	fifo(filepath.Join(fifos, "m.prom.lock"))
	out := map[string]fault{
		"refusing http": {env: export(otlptest.Refusing(t), "http/protobuf"), problem: "otlp_unreachable"},
		"refusing grpc": {env: export(otlptest.Refusing(t), "grpc"), problem: "otlp_unreachable"},
		"hanging http":  {env: export(hanging, "http/protobuf")},
		"hanging grpc":  {env: export(hanging, "grpc")},
		"hanging TLS":   {env: export(strings.Replace(hanging, "http", "https", 1), "grpc")},
		"429":           {env: export(busy, "http/protobuf"), problem: "otlp_rejected"},
		"certificate":   {env: export(secure.URL, "http/protobuf"), problem: "otlp_tls", maybe: true}, // the system's authorities take a while
		"certificate is a FIFO": {env: append(export(secure.URL, "http/protobuf"), "OTEL_EXPORTER_OTLP_CERTIFICATE="+fifo(filepath.Join(fifos, "ca"))),
			problem: "otlp_tls"},
		"bad endpoint": {env: export("http://example.org/"+canaryEnv, "grpc"), problem: "otlp_insecure"},
		"malformed standard variables": {env: append(export(busy, "http/protobuf"), "OTEL_EXPORTER_OTLP_HEADERS=%zz="+canaryKey, "OTEL_EXPORTER_OTLP_TIMEOUT="+canaryEnv,
			"OTEL_BSP_MAX_QUEUE_SIZE="+canaryEnv, "GRPC_GO_LOG_SEVERITY_LEVEL=info", "GRPC_GO_LOG_VERBOSITY_LEVEL=99", "GODEBUG=http2debug=2"), problem: "otlp_rejected"},
		"folder is a FIFO":    {env: []string{"MC_TELEMETRY=file", "MC_TELEMETRY_DIR=" + fifo(filepath.Join(fifos, "capture"))}, problem: "dir_unsafe"},
		"lock is a FIFO":      {env: []string{"MC_TELEMETRY=prom", "MC_TELEMETRY_PROM=" + filepath.Join(fifos, "m.prom")}, problem: "prom_io"},
		"folder is not there": {env: []string{"MC_TELEMETRY=file", "MC_TELEMETRY_DIR=" + filepath.Join(root, "no")}, problem: "dir_missing"},
		"folder is taken away": {env: []string{"MC_TELEMETRY=file", "MC_TELEMETRY_DIR=" + removed}, during: func(*child) { _ = os.RemoveAll(removed) },
			problem: "dir_missing", maybe: true},
		"text file's folder is taken away": {env: []string{"MC_TELEMETRY=prom", "MC_TELEMETRY_PROM=" + filepath.Join(removedProm, "m.prom")},
			during: func(*child) { _ = os.RemoveAll(removedProm) }, problem: "prom_io"},
	}
	if dir := smallDisk(t); dir != "" {
		out["disk fills up"] = fault{env: []string{"MC_TELEMETRY=file,prom", "MC_TELEMETRY_DIR=" + dir, "MC_TELEMETRY_PROM=" + filepath.Join(dir, "m.prom")},
			during: func(*child) { fill(dir) }, problem: "disk_full"}
	}
	return out
}

// fill writes until there is no room left.
func fill(dir string) {
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // the disk is full
	for block := make([]byte, 1<<20); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
}

// joined masks frames and puts the deltas of each message together.
func joined(t *testing.T, frames []string) []string {
	t.Helper()
	var order []string
	texts := map[string]string{}
	for _, f := range frames {
		if !strings.Contains(f, deltas) {
			continue
		}
		var e struct {
			Data struct {
				MessageID string `json:"message_id"`
				Text      string
			}
		}
		if err := json.Unmarshal([]byte(f), &e); err != nil || e.Data.Text == "" {
			t.Fatalf("%s: %v", f, err)
		}
		if _, ok := texts[e.Data.MessageID]; !ok {
			order = append(order, e.Data.MessageID)
		}
		texts[e.Data.MessageID] += e.Data.Text
	}
	out := masked(frames)
	for _, id := range order {
		out = append(out, "deltas: "+texts[id])
	}
	return out
}

// renamed gives ids the order in which they appear, and changes nothing else.
func renamed(frames []string) []string {
	seen := map[string]string{}
	out := make([]string, len(frames))
	for i, f := range frames {
		out[i] = uuids.ReplaceAllStringFunc(f, func(id string) string {
			if seen[id] == "" {
				seen[id] = fmt.Sprint("id-", len(seen))
			}
			return seen[id]
		})
	}
	return out
}

// slack is how much later than without telemetry an exit may be.
const slack = 100 * time.Millisecond

// TestFaultsHurtNobody: whatever a sink meets, the frames are the same, stderr is
// empty, and the child ends with the same status and about as soon.
func TestFaultsHurtNobody(t *testing.T) {
	w, gated := newWorld(t), newWorld(t)
	gated.gate = make(chan struct{}, 64)
	plain, exact := w.converse(t), gated.converse(t)
	if got := joined(t, plain.frames); len(got) < 15 || !strings.HasPrefix(got[len(got)-1], "deltas: ") {
		t.Fatalf("the conversation is too small: %v", got)
	}
	soonest := min(plain.took, w.soonest(t, 0))
	for name, f := range faults(t, w) {
		t.Run(name, func(t *testing.T) {
			w.during, gated.during = f.during, nil
			got := w.converse(t, f.env...)
			if diff := cmp.Diff(joined(t, plain.frames), joined(t, got.frames)); diff != "" {
				t.Errorf("frames (-off +on)\n%s", diff)
			}
			problems := takeStatus(t, w)
			for range 8 { // the 50 ms of an exit can be too short to learn it
				if f.problem == "" || slices.Contains(problems, f.problem) || f.maybe {
					break
				}
				w.converse(t, f.env...)
				problems = takeStatus(t, w)
			}
			if !f.maybe && f.problem != "" && !slices.Contains(problems, f.problem) || f.problem == "" && len(problems) > 0 {
				t.Errorf("problems %v, want %q", problems, f.problem)
			}
			same := gated.converse(t, f.env...)
			if diff := cmp.Diff(renamed(exact.frames), renamed(same.frames)); diff != "" {
				t.Errorf("frames of the gated provider (-off +on)\n%s", diff)
			}
			for _, x := range []talk{got, same} {
				if x.exit != plain.exit || x.stderr != "" {
					t.Errorf("exit %d, stderr %q", x.exit, x.stderr)
				}
			}
			took := min(got.took, same.took)
			if took > soonest+slack {
				took = w.soonest(t, soonest+slack, f.env...)
			}
			for _, w := range []*world{w, gated} {
				made := files(t, w.home)
				for _, place := range f.env {
					for _, folder := range []string{"MC_TELEMETRY_DIR=", "MC_TELEMETRY_PROM="} {
						if path, ok := strings.CutPrefix(place, folder); ok && filepath.Dir(path) != "/" {
							maps.Copy(made, files(t, filepath.Dir(path)))
						}
					}
				}
				holdNone(t, w, made)
			}
			t.Logf("exit after %v, without telemetry %v", took, soonest)
			if took > soonest+slack {
				t.Errorf("the exit takes %v, without telemetry %v", took, soonest)
			}
		})
	}
}

// soonest is how soon a child ends, of up to eight: a machine has something else
// to do. It tries no more once one was soon enough.
func (w *world) soonest(t *testing.T, enough time.Duration, env ...string) time.Duration {
	t.Helper()
	took := time.Hour
	for range 8 {
		if took = min(took, w.converse(t, env...).took); took <= enough {
			break
		}
	}
	return took
}

// TestExitIsBounded: whatever the endpoint does, a child ends at most shutdown_ms
// and 50 ms later than one without telemetry (T-41).
func TestExitIsBounded(t *testing.T) {
	w := newWorld(t)
	hanging, _ := otlptest.Hanging(t)
	busy, _ := otlptest.Answering(t, http.StatusServiceUnavailable, "Retry-After", "3600")
	slow := otlptest.SlowTLS(t, 200*time.Millisecond)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	write(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: slow.Certificate().Raw})))
	off := w.soonest(t, 0)
	for name, url := range map[string]string{"refusing": otlptest.Refusing(t), "hanging": hanging, "503": busy, "slow TLS": slow.URL} {
		for _, protocol := range []string{"http/protobuf", "grpc"} {
			for _, given := range []time.Duration{0, 50 * time.Millisecond, 300 * time.Millisecond} {
				bound := off + given + 50*time.Millisecond
				took := w.soonest(t, bound, "MC_TELEMETRY=otlp", "MC_TELEMETRY_OTLP_ENDPOINT="+url, "MC_TELEMETRY_OTLP_PROTOCOL="+protocol,
					"OTEL_EXPORTER_OTLP_CERTIFICATE="+authority, fmt.Sprint("MC_TELEMETRY_SHUTDOWN_MS=", given.Milliseconds()))
				if took > bound {
					t.Errorf("%s, %s: with %v it takes %v, without telemetry %v", name, protocol, given, took, off)
				}
			}
		}
	}
}

// takeStatus returns the problems in a home's status file, and takes it away.
func takeStatus(t *testing.T, w *world) (codes []string) {
	t.Helper()
	file := filepath.Join(w.home, "state", "telemetry-status.json")
	b, err := os.ReadFile(file)
	var doc struct{ Problems []struct{ Code string } }
	if err != nil || json.Unmarshal(b, &doc) != nil {
		t.Errorf("status: %v %s", err, b)
	}
	for _, p := range doc.Problems {
		codes = append(codes, p.Code)
	}
	if err := os.Remove(file); err != nil {
		t.Error(err)
	}
	return codes
}
