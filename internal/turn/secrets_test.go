package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"magicode/internal/approval"
	"magicode/internal/attach"
	"magicode/internal/event"
	"magicode/internal/lease"
	"magicode/internal/protect"
	"magicode/internal/provider"
	"magicode/internal/runner"
	"magicode/internal/session"
	"magicode/internal/tool"
	"magicode/internal/turn"
	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// leakLength is how many characters of a value in a row make a leak.
const leakLength = 8

// secret is one drawn secret: where it stands, and the value that nobody may see.
type secret struct {
	kind, context string
	text          string // with what is around it
	value         string
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func chars(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

var keyNames = []string{"authorization", "bearer", "credential", "credentials", "secret_access_key", "aws_secret_access_key", "session_token", "secret_key", "api_key", "apiKey", "exa_api_key",
	"password", "passwd", "secret", "token", "access_token", "refresh-token", "auth_token", "id_token", "client_secret", "account_id", "accountId", "chatgpt-account-id", "Password", "API_KEY"}

// drawSecret draws one of the seven kinds of storage.md 11.1 in one of five contexts.
func drawSecret(r *rand.Rand) secret {
	n := 8 + r.IntN(193)
	s := secret{context: pick(r, "prose", "json", "fence", "header", "ansi")}
	construct := ""
	switch r.IntN(7) {
	case 0:
		s.kind, s.value = "private key", chars(r, letters+digits+"+/", n)
		name := pick(r, "RSA ", "EC ", "", "OPENSSH ")
		nl := "\n"
		if s.context == "json" {
			nl = `\n`
		}
		construct = "-----BEGIN " + name + "PRIVATE KEY-----" + nl
		for i := 0; i < n; i += 64 {
			construct += s.value[i:min(n, i+64)] + nl
		}
		if r.IntN(3) > 0 {
			construct += "-----END " + name + "PRIVATE KEY-----"
		}
	case 1:
		s.kind, s.value = "data URL", chars(r, letters+digits+"+/", n)
		construct = "data:" + pick(r, "image/png", "application/octet-stream", "image/svg+xml") + ";base64," + s.value
	case 2:
		s.kind, s.value = "github", chars(r, letters+digits, max(n, 20))
		construct = pick(r, "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_") + s.value
	case 3:
		s.kind, s.value = "aws id", pick(r, "AKIA", "ASIA")+chars(r, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"+digits, 16)
		construct = s.value
	case 4:
		s.kind, s.value = "sk or JWT", chars(r, letters+digits+"_.-", n-1)+"x"
		construct = pick(r, "sk-", "eyJ") + s.value
	case 5:
		s.kind, s.value = "bearer", chars(r, letters+digits+"._~+/=-", n)
		construct = pick(r, "Bearer ", "bearer ", "BEARER  ") + s.value
	case 6:
		s.kind, s.value = "assignment", chars(r, letters+digits+"._-+/!@#$%^&*()", n)
		key := pick(r, keyNames...)
		switch q := pick(r, `"`, "'", ""); {
		case s.context == "json":
			construct = `"` + key + `": "` + s.value + `"`
		default:
			construct = key + pick(r, "=", ": ", " = ", ":") + q + s.value + q
		}
	}
	s.text = s.around(r, construct)
	return s
}

func (s *secret) around(r *rand.Rand, construct string) string {
	switch s.context {
	case "json":
		if s.kind != "assignment" {
			construct = `"note": "` + construct + `"`
		}
		return "{\"n\": 1, " + construct + ", \"m\": [2]}\n"
	case "fence":
		return "Here:\n```sh\n" + construct + "\n```\n"
	case "header":
		return "GET / HTTP/1.1\nX-Custom: " + construct + "\nAccept: */*\n"
	case "ansi":
		var b strings.Builder
		for _, c := range construct {
			if r.IntN(6) == 0 {
				b.WriteString(pick(r, "\x1b[31m", "\x1b[0m", "\x1b]0;t\x07", "\x1b[1;32m"))
			}
			b.WriteRune(c)
		}
		return "Output: " + b.String() + " \n"
	}
	return "Please use " + construct + " for that."
}

var words = strings.Fields("the quick build of a package reads files and then writes them again while tests run over all lines so nothing else changes here")

func filler(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(pick(r, words...))
		b.WriteString(pick(r, " ", " ", " ", ", ", ".\n"))
	}
	return b.String()
}

// scene is one draw: a secret, where it shows, and how the run ends.
type scene struct {
	secret
	where  string // text, text and tool, arguments, result, reasoning, error, prompt
	end    string // complete, cancelled, killed
	pieces []string
	pauses []time.Duration
}

func drawScene(seed uint64) scene {
	r := rand.New(rand.NewPCG(seed, 17))
	s := scene{secret: drawSecret(r), where: pick(r, "text", "text", "text", "text and tool", "arguments", "result", "reasoning", "error", "prompt")}
	s.end = pick(r, "complete", "complete", "cancelled", "killed")
	lead := pick(r, 0, 20, 200, 3900+r.IntN(400), 4096-r.IntN(30))
	before := filler(r, lead)
	start := len(before)
	whole := before + s.text + filler(r, pick(r, 0, 10, 300))
	cuts := 1 + r.IntN(12)
	for range cuts {
		n := 1 + r.IntN(max(1, len(whole)-1))
		if r.IntN(2) == 0 { // rather inside the secret
			n = start + r.IntN(len(s.text)+1) - sum(s.pieces)
		}
		if n <= 0 || n >= len(whole) {
			break
		}
		s.pieces = append(s.pieces, whole[:n])
		whole = whole[n:]
	}
	s.pieces = append(s.pieces, whole)
	for range s.pieces {
		s.pauses = append(s.pauses, time.Duration(r.IntN(3))*time.Duration(r.IntN(1200))*time.Millisecond)
	}
	return s
}

func sum(pieces []string) int {
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	return n
}

// stage is a session on a file system in memory, and what has come out of it.
type stage struct {
	fs      *memfs.FS
	service *attach.Service
	seen    map[string]*strings.Builder // by sink
	queue   *event.Queue
	broker  *approval.Broker
}

type noModels struct{}

func (noModels) Ready(context.Context, string) bool { return true }
func (noModels) Offers(string, string) bool         { return true }

const sessionsDir = "/home/.magi-code/sessions"

func openStage(fsys *memfs.FS) *stage {
	store := session.NewStore(session.Options{FS: fsys, Leases: lease.New(lease.Options{FS: fsys}), Dir: sessionsDir, RecoveredDir: "/home/.magi-code/state/recovered",
		Cwd: "/w", SessionPath: func() string { return "/w" }, NewID: uuid.NewString, Now: time.Now})
	return &stage{fs: fsys, seen: make(map[string]*strings.Builder), service: attach.New(attach.Options{Store: store, FS: fsys, Cwd: "/w",
		Startup: provider.Selection{Provider: "p", Model: "m"}, Models: noModels{}, NewID: uuid.NewString})}
}

func (s *stage) note(sink, text string) {
	if s.seen[sink] == nil {
		s.seen[sink] = new(strings.Builder)
	}
	s.seen[sink].WriteString(text)
}

// drain takes what the queue holds, as the wire shows it.
func (s *stage) drain() {
	for {
		it, ok := s.queue.Take()
		if !ok {
			return
		}
		var d map[string]any
		if err := json.Unmarshal(it.AppendData(nil, event.NewRef("s", "r")), &d); err != nil {
			panic(err)
		}
		if q, ok := it.Event().(event.ApprovalRequested); ok {
			q.Taken()
			_ = s.broker.Answer(q.ID, true)
		}
		sink := it.Name() + fmt.Sprint(" ", d["message_id"])
		if d["part"] == 0.0 && it.Name() == localagent.EventMessageReconcile {
			s.note(sink, "\x00") // each reconciliation for itself
		}
		for _, k := range []string{"text", "name", "summary"} {
			if v, ok := d[k].(string); ok {
				s.note(sink, v)
				if k != "text" {
					s.note(sink, "\x00")
				}
			}
		}
	}
}

// files notes every file that the sessions folder holds.
func (s *stage) files(fsys *memfs.FS, sink string) {
	entries, _ := fsys.ReadDir(sessionsDir)
	for _, e := range entries {
		if b, err := vfs.ReadFile(fsys, filepath.Join(sessionsDir, e.Name()), 64<<20); err == nil {
			s.note(sink+" "+filepath.Ext(e.Name()), string(b)+"\x00")
		}
	}
}

// history notes all pages of the attached session.
func (s *stage) history(ctx context.Context, service *attach.Service, sink string) error {
	a := service.Current()
	for cursor := ""; ; {
		b, err := service.Page(ctx, nil, a.ID(), a.Revision(), cursor)
		if err != nil {
			return err
		}
		var page struct {
			Entries []struct{ Text string }
			Next    *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(b, &page); err != nil {
			return err
		}
		for _, e := range page.Entries {
			s.note(sink, e.Text)
		}
		if page.Next == nil || *page.Next == "" {
			return nil
		}
		cursor = *page.Next
	}
}

// reopened is the file as another process finds it after this one was killed.
func (s *stage) reopened(ctx context.Context, id string) error {
	left := memfs.New()
	for _, dir := range []string{"/w", sessionsDir} {
		if err := left.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	name := filepath.Join(sessionsDir, id+".jsonl")
	raw, err := vfs.ReadFile(s.fs, name, 64<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := vfs.Replace(left, name, raw, 0o600); err != nil {
		return err
	}
	other := openStage(left)
	if _, err := other.service.Open(ctx, id); err != nil {
		return err
	}
	defer other.service.Close()
	s.files(left, "file after the kill")
	return s.history(ctx, other.service, "history after the kill")
}

type sceneTools struct{ scene *scene }

func (t sceneTools) Dispatch(_ context.Context, _ tool.Env, c tool.Call) tool.Result {
	content := "done"
	if t.scene.where == "result" {
		content = strings.Join(t.scene.pieces, "")
	}
	return tool.Result{ToolName: c.Name, Success: true, Content: content, Metadata: map[string]any{}}
}

var errKilled = errors.New("killed")

// Stream plays the model.
func (s *scene) Stream(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
	if req.RequestSequence > 0 {
		return emit(provider.Event{Kind: provider.EventText, Text: "All done."})
	}
	switch s.where {
	case "text", "text and tool":
		if err := s.speak(ctx, provider.EventText, emit); err != nil {
			return err
		}
		if s.where == "text" {
			return nil
		}
	case "reasoning":
		if err := s.speak(ctx, provider.EventRawReasoning, emit); err != nil {
			return err
		}
		return emit(provider.Event{Kind: provider.EventReasoningDone, Text: strings.Join(s.pieces, ""), ProviderSummary: true})
	case "error":
		return &provider.Error{Kind: provider.ErrPlain, Err: errors.New("refused: " + strings.Join(s.pieces, ""))}
	case "arguments":
		args, _ := json.Marshal(map[string]string{"command": "curl " + strings.Join(s.pieces, ""), "intent": "i"})
		return emit(provider.Event{Kind: provider.EventCall, Call: &provider.Call{ID: "c", Name: "bash", Arguments: string(args)}})
	case "prompt":
		return emit(provider.Event{Kind: provider.EventText, Text: "I see."})
	}
	return emit(provider.Event{Kind: provider.EventCall, Call: &provider.Call{ID: "c", Name: "bash", Arguments: `{"command":"ls","intent":"i"}`}})
}

func (s *scene) speak(ctx context.Context, kind provider.EventKind, emit func(provider.Event) error) error {
	for i, p := range s.pieces {
		if s.end != "complete" && i == len(s.pieces)-1 && i > 0 {
			<-ctx.Done() // cut before the last piece
			return context.Cause(ctx)
		}
		if err := emit(provider.Event{Kind: kind, Text: p}); err != nil {
			return err
		}
		time.Sleep(s.pauses[i])
	}
	return nil
}

// play runs the scene in a bubble and returns the stage with all that showed.
func (s *scene) play(t *testing.T) *stage {
	fsys := memfs.New()
	for _, dir := range []string{"/w", sessionsDir} {
		if err := fsys.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	st := openStage(fsys)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	att, err := st.service.Create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.service.Close(); err != nil {
			t.Error(err)
		}
	}()
	wake := make(chan struct{}, 1)
	st.queue = event.NewQueue(telemetry.Tel{}, func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}, func() { cancel(event.ErrUndeliverable) })
	done := make(chan event.Finished, 1)
	prompt := "the question"
	if s.where == "prompt" {
		prompt = strings.Join(s.pieces, "")
	}
	go func() { done <- turn.Run(ctx, s.deps(st, att), prompt) }()
	var over <-chan time.Time
	if s.end != "complete" {
		over = time.After(40 * time.Second) // longer than all pauses
	}
	for {
		select {
		case <-wake:
			st.drain()
		case <-over:
			over = nil
			if s.end == "killed" {
				if err := st.reopened(t.Context(), att.ID()); err != nil {
					t.Errorf("after the kill: %v", err)
				}
			}
			cancel(errKilled)
		case <-done:
			st.drain()
			st.files(fsys, "file")
			if err := st.history(t.Context(), st.service, "history"); err != nil {
				t.Error(err)
			}
			return st
		}
	}
}

func (s *scene) deps(st *stage, att *attach.Attachment) turn.Deps {
	st.broker = approval.NewBroker(func(_ context.Context, q approval.Request, started func()) error {
		return st.queue.Emit(event.ApprovalRequested{ID: q.ID, Summary: q.Summary, Expires: q.Expires, Taken: started})
	}, uuid.NewString, time.Minute)
	guard := &approval.Guard{Level: "strict", Assess: protect.Assess, Asker: st.broker, Place: protect.Place{Workspace: "/w", Home: "/home"}}
	return turn.Deps{Attachment: att, Queue: st.queue, NewID: uuid.NewString, Prepare: func(context.Context, func(string)) (runner.Config, error) {
		return runner.Config{Recorder: att.Handle(), Provider: s, Tools: sceneTools{s}, Guard: guard, RunID: uuid.NewString(), NewID: uuid.NewString,
			Limits: runner.Limits{ContentBytes: localagent.MaxContentBytes, Segments: localagent.MaxSegments, Activities: localagent.MaxActivities, ActivityIDBytes: localagent.MaxActivityIDBytes}}, nil
	}}
}

// leaks names the sinks that show too much of the value.
func (s *scene) leaks(st *stage) []string {
	if sent := strings.Join(s.pieces[:max(1, len(s.pieces)-1)], ""); s.end != "complete" && (s.kind == "aws id" || s.kind == "github") && !strings.Contains(sent, s.value) {
		return nil // these formats have a fixed or a least length: half of one is nothing that a rule can know
	}
	var out []string
	for sink, b := range st.seen {
		text := b.String()
		for i := 0; i+leakLength <= len(s.value); i++ {
			if at := strings.Index(text, s.value[i:i+leakLength]); at >= 0 {
				out = append(out, fmt.Sprintf("%s: %q", sink, text[max(0, at-60):min(len(text), at+60)]))
				break
			}
		}
	}
	return out
}

func draws(t *testing.T, usual int) int {
	if n, err := strconv.Atoi(os.Getenv("MAGI_SECRET_DRAWS")); err == nil {
		return n
	}
	return usual
}

// TestSecretsNeverShow: whatever the kind of a secret, its context, where it
// turns up, the cuts and their times, and how the run ends, no eight characters
// of its value in a row are in a delta, a reconciliation, the history, a
// diagnostic, a name, a summary or the session file. MAGI_SECRET_DRAWS sets the
// number of draws.
func TestSecretsNeverShow(t *testing.T) {
	failed := 0
	for seed := range uint64(draws(t, 10_000)) {
		s := drawScene(seed)
		var found []string
		synctest.Test(t, func(t *testing.T) {
			st := s.play(t)
			found = s.leaks(st)
			if len(st.seen) < 3 {
				t.Errorf("draw %d: nothing was shown: %v", seed, st.seen)
			}
		})
		if len(found) > 0 {
			failed++
			t.Errorf("draw %d: %s in %s, %s, %s:\n%s\nsent: %q", seed, s.kind, s.context, s.where, s.end, strings.Join(found, "\n"), s.pieces)
		}
		if failed > 20 && os.Getenv("MAGI_SECRET_ALL") == "" {
			t.Fatal("and so on")
		}
	}
}

// ordinary are texts that a model may well write: this repository's own
// sources and documents, whole and as a diff, in runs of some hundred bytes.
func ordinary(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"../*/*.go", "../../pkg/*/*.go", "../../docs/*.md", "../../*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil || strings.Contains(f, "redact") {
				continue
			}
			out = append(out, string(b))
		}
	}
	if len(out) < 100 {
		t.Fatalf("%d files", len(out))
	}
	return out
}

func drawOrdinary(seed uint64, files []string) scene {
	r := rand.New(rand.NewPCG(seed, 18))
	text := pick(r, files...)
	if n := 300 + r.IntN(3000); n < len(text) {
		at := r.IntN(len(text) - n)
		text = strings.ToValidUTF8(text[at:at+n], "")
	}
	if r.IntN(4) == 0 {
		text = "+" + strings.ReplaceAll(text, "\n", "\n+")
	}
	s := scene{where: "text", end: "complete"}
	for text != "" {
		n := min(len(text), 1+r.IntN(60))
		s.pieces, text = append(s.pieces, text[:n]), text[n:]
		s.pauses = append(s.pauses, time.Millisecond)
	}
	return s
}

// TestOrdinaryTextFlows: deltas carry nearly all of texts without secrets
// before the boundary comes.
func TestOrdinaryTextFlows(t *testing.T) {
	files := ordinary(t)
	sent, shown := 0, 0
	for seed := range uint64(draws(t, 10_000)) {
		s := drawOrdinary(seed, files)
		synctest.Test(t, func(t *testing.T) {
			st := s.play(t)
			for sink, b := range st.seen {
				if strings.HasPrefix(sink, localagent.EventMessageDelta) {
					shown += b.Len()
				}
			}
		})
		sent += sum(s.pieces)
	}
	share := float64(shown) / float64(sent)
	t.Logf("deltas carried %.2f %% of %d bytes", 100*share, sent)
	if share < 0.95 {
		t.Errorf("deltas carried %.2f %%", 100*share)
	}
}
