//go:build linux || darwin

package viewimage_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"magicode/internal/auth"
	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/factory"
	"magicode/internal/tool"
	"magicode/internal/tool/tooltest"
	"magicode/internal/tool/viewimage"
	"magicode/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func encoded(kind string, w, h int) []byte {
	var b bytes.Buffer
	if kind != "webp" && w*h > 100 {
		panic("a test's own bomb")
	}
	img := image.NewGray(image.Rect(0, 0, min(w, 10), min(h, 10)))
	switch kind {
	case "png":
		_ = png.Encode(&b, img)
	case "jpg", "jpeg":
		_ = jpeg.Encode(&b, img, nil)
	case "gif":
		_ = gif.Encode(&b, img, nil)
	case "webp": // VP8X, the header alone
		b.WriteString("RIFF\x1a\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00")
		b.Write([]byte{byte(w - 1), byte((w - 1) >> 8), byte((w - 1) >> 16), byte(h - 1), byte((h - 1) >> 8), byte((h - 1) >> 16)})
	}
	return b.Bytes()
}

// server answers each request with what answer gives and notes what was asked.
type server struct {
	answer func(path string) (status int, body io.Reader)
	path   []string
	header []http.Header
	bodies []map[string]any
}

func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	var body map[string]any
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		return nil, err
	}
	s.path, s.header, s.bodies = append(s.path, req.URL.Path), append(s.header, req.Header), append(s.bodies, body)
	status, r := s.answer(req.URL.Path)
	if err := req.Context().Err(); err != nil {
		return nil, context.Cause(req.Context())
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(r)}, nil
}

// plain is what each API answers in one piece.
func plain(path string) (int, io.Reader) {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return 200, strings.NewReader(`{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"A red "},{"type":"text","text":"square."}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":3}}`)
	case strings.HasSuffix(path, "/completions"):
		return 200, strings.NewReader(`{"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"A red square."}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`)
	case strings.Contains(path, "/codex/"):
		return 200, strings.NewReader("data: {\"type\":\"response.output_text.delta\",\"delta\":\"A red square.\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n")
	}
	return 200, strings.NewReader(`{"object":"response","status":"completed","output":[{"type":"message","id":"x","role":"assistant","content":[{"type":"output_text","text":"A red square."}]}]}`)
}

type store struct{}

func (store) Refresh(context.Context, string, bool, auth.Exchange) (auth.Record, error) {
	account := "acct"
	return auth.Record{Kind: auth.KindOAuth, Access: "tok", AccountID: &account}, nil
}

func providers(s http.RoundTripper) provider.Factory {
	custom := map[string]factory.Custom{
		"responses": {BaseURL: "http://r.test/v1", Ready: true, Key: "custom-secret"}, "chat": {BaseURL: "http://c.test/v1", Ready: true, Chat: true},
		"like": {BaseURL: "http://l.test/v1", Ready: true, Chat: true, AnthropicLike: true}, "keyless": {BaseURL: "http://k.test"},
	}
	return factory.New(factory.Config{
		Engine: &exchange.Engine{HTTP: s, Limits: exchange.NewLimits()}, UserAgent: "magi-code/9", NewID: func() string { return "id" },
		Custom:       func(id string) (factory.Custom, bool) { c, ok := custom[id]; return c, ok },
		AnthropicKey: func(context.Context) (string, bool, error) { return "sk-ant", true, nil },
		CodexStore:   store{}, MaxOutput: func(string, string) int { return 99_999 },
	})
}

// place is a workspace with one image.
type place struct {
	env  tool.Env
	opt  viewimage.Options
	path string
}

func newPlace(t *testing.T, s http.RoundTripper) *place {
	t.Helper()
	env := tooltest.Workspace(t, nil)
	p := &place{env: env, path: filepath.Join(env.Cwd, "a.png")}
	p.opt = viewimage.Options{Files: tool.Files{FS: vfs.OS()}, Absolute: true, MaxBytes: 5 << 20, Model: &provider.Selection{Provider: "chat", Model: "m"}, Providers: providers(s)}
	p.put(t, "a.png", encoded("png", 3, 2))
	return p
}

func (p *place) put(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(p.env.Cwd, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *place) run(ctx context.Context, path string) tool.Result {
	args, _ := json.Marshal(map[string]string{"path": path, "prompt": "What is it?"})
	return viewimage.New(p.opt).Run(ctx, p.env, args)
}

// TestWires: how the image reaches each API, and that the answer comes back.
func TestWires(t *testing.T) {
	data := encoded("png", 3, 2)
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(data)
	input := []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "input_text", "text": "What is it?"}, map[string]any{"type": "input_image", "image_url": url}}}}
	messages := []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "What is it?"}, map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}}}}}
	for _, c := range []struct {
		provider string
		path     string
		want     map[string]any // members of the body; nil: must not be there
	}{
		{"responses", "/v1/responses", map[string]any{"input": input, "stream": false, "model": "m", "tools": nil, "prompt_cache_key": nil}},
		{"chat", "/v1/chat/completions", map[string]any{"messages": messages, "stream": false, "stream_options": nil, "max_tokens": nil, "tools": nil}},
		{"like", "/v1/chat/completions", map[string]any{"messages": messages, "stream": false, "max_tokens": 4096.0}},
		{"anthropic", "/v1/messages", map[string]any{"stream": false, "max_tokens": 4096.0, "thinking": nil, "messages": []any{map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": base64.StdEncoding.EncodeToString(data)}},
			map[string]any{"type": "text", "text": "What is it?"}}}}}},
		{"openai-codex", "/backend-api/codex/responses", map[string]any{"input": input, "stream": true, "service_tier": nil}},
	} {
		t.Run(c.provider, func(t *testing.T) {
			s := &server{answer: plain}
			p := newPlace(t, s)
			p.opt.Model = &provider.Selection{Provider: c.provider, Model: "m"}
			res := p.run(t.Context(), p.path)
			if !res.Success || res.Content != "A red square." {
				t.Fatalf("%v %s", res.Success, res.Content)
			}
			want := map[string]any{"path": p.path, "provider": c.provider, "model": "m", "media_type": "image/png", "image_bytes": len(data), "prompt_chars": 11, "truncated": false}
			if diff := cmp.Diff(want, res.Metadata); diff != "" {
				t.Error(diff)
			}
			if len(res.Touched) != 1 || res.Touched[0] != (tool.Touched{Path: p.path, Kind: "read", Success: true, InsideCwd: true}) || len(res.Changed) != 0 {
				t.Errorf("%v %v", res.Touched, res.Changed)
			}
			if len(s.path) != 1 || s.path[0] != c.path {
				t.Errorf("asked %v", s.path)
			}
			for key, want := range c.want {
				if diff := cmp.Diff(want, s.bodies[0][key]); diff != "" {
					t.Errorf("%s: %s", key, diff)
				}
			}
		})
	}
}

func TestFormats(t *testing.T) {
	bomb := encoded("png", 1, 1)
	binary.BigEndian.PutUint32(bomb[16:], 1<<30) // width
	broken := bytes.Clone(bomb)                  // its checksum is that of another width
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	lossless := []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0a\x00\x00\x00\x2f\x02\x40\x00\x00\x00\x00\x00\x00\x00")
	lossy := []byte("RIFF\x1a\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x10\x00\x00\x9d\x01\x2a\x03\x00\x02\x00")
	for _, c := range []struct {
		name string
		data []byte
		want string // of the error; "" is success
	}{
		{"a.png", encoded("png", 3, 2), ""}, {"a.PNG", encoded("png", 3, 2), ""}, {"a.jpg", encoded("jpg", 3, 2), ""}, {"a.jpeg", encoded("jpeg", 3, 2), ""},
		{"a.gif", encoded("gif", 3, 2), ""}, {"a.webp", encoded("webp", 3, 2), ""}, {"b.webp", lossless, ""}, {"c.webp", lossy, ""},
		{"a.bmp", encoded("png", 3, 2), "only images can be viewed"}, {"png", encoded("png", 3, 2), "only images can be viewed"}, {"a.svg", []byte("<svg/>"), "only images can be viewed"},
		{"x.png", encoded("gif", 3, 2), "its content is not image/png"}, {"x.jpg", encoded("png", 3, 2), "its content is not image/jpeg"}, {"x.gif", []byte("GIF88a"), "its content is not image/gif"},
		{"x.webp", []byte("RIFF\x1a\x00\x00\x00WAVEfmt "), "its content is not image/webp"}, {"e.png", nil, "its content is not image/png"},
		{"cut.png", encoded("png", 3, 2)[:20], "its header is not that"}, {"cut.jpg", encoded("jpg", 3, 2)[:10], "its header is not that"}, {"cut.gif", encoded("gif", 3, 2)[:9], "its header is not that"}, {"cut.webp", lossy[:25], "its header is not that"},
		{"key.webp", append(append([]byte(nil), lossy[:20]...), make([]byte, 10)...), "its header is not that"},
		{"broken.png", broken, "its header is not that"}, {"bomb.png", bomb, "limit 100 million pixels"}, {"bomb.webp", encoded("webp", 1<<24, 1<<24), "limit 100 million pixels"}, {"wide.webp", encoded("webp", 1<<24, 5), ""},
		{"zero.gif", append([]byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"), 0x3b), "an empty picture"},
		{"bomb.gif", append([]byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"), 0x3b), "limit 100 million pixels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &server{answer: plain}
			p := newPlace(t, s)
			res := p.run(t.Context(), p.put(t, c.name, c.data))
			if res.Success != (c.want == "") || !strings.Contains(res.Content, c.want) || (len(s.path) > 0) != (c.want == "") {
				t.Errorf("%v %q, asked %v", res.Success, res.Content, s.path)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	fine := func(*place) {}
	for _, c := range []struct {
		name    string
		args    func(p *place) string
		prepare func(p *place)
		want    string
	}{
		{"no path", func(*place) string { return `{"prompt":"x"}` }, fine, `"path" is required`},
		{"no prompt", func(p *place) string { return `{"path":"` + p.path + `"}` }, fine, `"prompt" is required`},
		{"blank prompt", func(p *place) string { return `{"path":"` + p.path + `","prompt":" \n"}` }, fine, "must not be blank"},
		{"relative", func(*place) string { return `{"path":"a.png","prompt":"x"}` }, fine, "must be an absolute path"},
		{"unknown", func(p *place) string { return `{"path":"` + p.path + `","prompt":"x","detail":"high"}` }, fine, `unknown field "detail"`},
		{"missing", func(p *place) string { return `{"path":"` + p.path + `x","prompt":"x"}` }, fine, "no such file"},
		{"outside", func(*place) string { return `{"path":"/etc/hosts.png","prompt":"x"}` }, func(p *place) { p.opt.Absolute = false }, "capabilities.tools.view_image.absolute_paths"},
		{"link outside", func(p *place) string { return `{"path":"` + p.env.Cwd + `/link.png","prompt":"x"}` }, func(p *place) {
			p.opt.Absolute = false
			_ = os.Symlink("/etc/hosts", p.env.Cwd+"/link.png")
		}, "path escapes cwd"},
		{"directory", func(p *place) string { return `{"path":"` + p.env.Cwd + `/d.png","prompt":"x"}` }, func(p *place) { _ = os.Mkdir(p.env.Cwd+"/d.png", 0o700) }, "not a regular file"},
		{"fifo", func(p *place) string { return `{"path":"` + p.env.Cwd + `/f.png","prompt":"x"}` }, func(p *place) { _ = syscall.Mkfifo(p.env.Cwd+"/f.png", 0o600) }, "not a regular file"},
		{"large", nil, func(p *place) { p.opt.MaxBytes = 10 }, "file too large: more than 10 bytes"},
		{"limit 0", nil, func(p *place) { p.opt.MaxBytes = 0 }, "max_image_bytes must be from 1 to 20971520"},
		{"limit too large", nil, func(p *place) { p.opt.MaxBytes = 20<<20 + 1 }, "max_image_bytes must be from 1 to 20971520"},
		{"no model", nil, func(p *place) { p.opt.Model = nil }, "no vision model is configured"},
		{"model before name", func(p *place) string { return `{"path":"` + p.env.Cwd + `/t.txt","prompt":"x"}` }, func(p *place) {
			p.opt.Model = nil
			_ = os.WriteFile(p.env.Cwd+"/t.txt", nil, 0o600)
		}, "no vision model is configured"},
		{"blank model", nil, func(p *place) { p.opt.Model = &provider.Selection{Provider: "chat", Model: " "} }, "does not name a provider and a model"},
		{"unknown provider", nil, func(p *place) { p.opt.Model = &provider.Selection{Provider: "nobody", Model: "m"} }, "there is no provider nobody"},
		{"no key", nil, func(p *place) { p.opt.Model = &provider.Selection{Provider: "keyless", Model: "m"} }, "has no credential"},
		{"takes no images", nil, func(p *place) { p.opt.Model = &provider.Selection{Provider: "claude-subscription", Model: "m"} }, "takes no images"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &server{answer: plain}
			p := newPlace(t, s)
			c.prepare(p)
			args := `{"path":"` + p.path + `","prompt":"x"}`
			if c.args != nil {
				args = c.args(p)
			}
			res := viewimage.New(p.opt).Run(t.Context(), p.env, json.RawMessage(args))
			if res.Success || !strings.Contains(res.Content, c.want) || len(s.path) != 0 {
				t.Errorf("%v %q, asked %v", res.Success, res.Content, s.path)
			}
		})
	}
}

// endless never ends; silent says nothing.
type endless struct{ text string }

func (e endless) Read(p []byte) (int, error) { return copy(p, e.text), nil }

type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, context.Cause(s.ctx)
}

func TestAnswers(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	say := func(text string) func(string) (int, io.Reader) {
		quoted, _ := json.Marshal(text)
		return func(string) (int, io.Reader) {
			return 200, strings.NewReader(`{"choices":[{"finish_reason":"stop","message":{"content":` + string(quoted) + `}}]}`)
		}
	}
	status := func(n int, body io.Reader) func(string) (int, io.Reader) {
		return func(string) (int, io.Reader) { return n, body }
	}
	for _, c := range []struct {
		name   string
		answer func(string) (int, io.Reader)
		ok     bool
		want   string
	}{
		{"secret", say("the key is " + secret + "\x1b[31m!"), true, "the key is <redacted>!"},
		{"long", say(strings.Repeat("ä", 40_000)), true, "[truncated: the answer exceeded 65536 bytes]"},
		{"blank", say(" \n"), false, "no answer"},
		{"one try only", status(503, strings.NewReader("busy "+secret)), false, "busy <redacted>"},
		{"long error", status(400, endless{"no "}), false, "no no"},
		{"redirect", status(302, strings.NewReader("")), false, "302"},
		{"no JSON", status(200, strings.NewReader("{nonsense")), false, "could not be looked at"},
		{"error object", status(200, strings.NewReader(`{"error":{"message":"bad picture"}}`)), false, "bad picture"},
		{"huge body", status(200, endless{`{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaa`}), false, "larger than 1 MiB"},
		{"stream all the same", status(200, strings.NewReader("data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")), true, "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &server{answer: c.answer}
			p := newPlace(t, s)
			res := p.run(t.Context(), p.path)
			if res.Success != c.ok || !strings.Contains(res.Content, c.want) || len(res.Content) > 64<<10 || strings.Contains(res.Content, secret) {
				t.Errorf("%v %.200q (%d bytes)", res.Success, res.Content, len(res.Content))
			}
			if !c.ok && len(res.Content) > 5<<10 {
				t.Errorf("an error of %d bytes", len(res.Content))
			}
			if len(s.path) != 1 {
				t.Errorf("%d requests", len(s.path))
			}
			if c.name == "long" && res.Metadata["truncated"] != true {
				t.Error("not told as truncated")
			}
		})
	}
}

// transport hands requests to a function.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestSilence: ninety seconds without a byte, before the headers or in the body,
// end the request; a slow answer that keeps coming is waited for.
func TestSilence(t *testing.T) {
	answer := func(r *http.Request, body io.Reader) *http.Response {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body), Request: r}
	}
	for name, rt := range map[string]transport{
		"no headers": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		},
		"no body": func(r *http.Request) (*http.Response, error) { return answer(r, silent{r.Context()}), nil },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, rt)
			synctest.Test(t, func(t *testing.T) {
				from := time.Now()
				res := p.run(t.Context(), p.path)
				if res.Success || !strings.Contains(res.Content, "nothing for 90 seconds") || time.Since(from) != 90*time.Second {
					t.Errorf("after %v: %v %s", time.Since(from), res.Success, res.Content)
				}
			})
		})
	}
	t.Run("slow", func(t *testing.T) {
		p := newPlace(t, transport(func(r *http.Request) (*http.Response, error) {
			time.Sleep(80 * time.Second)
			return answer(r, &slow{text: `{"choices":[{"finish_reason":"stop","message":{"content":"x"}}]}`, step: 30}), nil
		}))
		synctest.Test(t, func(t *testing.T) {
			if res := p.run(t.Context(), p.path); !res.Success || res.Content != "x" {
				t.Errorf("%v %s", res.Success, res.Content)
			}
		})
	})
	t.Run("cancelled", func(t *testing.T) {
		p := newPlace(t, transport(func(r *http.Request) (*http.Response, error) { return answer(r, silent{r.Context()}), nil }))
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(errors.New("enough")) })
			if res := p.run(ctx, p.path); res.Success || res.Content != tool.CancelledText {
				t.Errorf("%v %s", res.Success, res.Content)
			}
		})
	})
}

// slow gives some bytes every 80 seconds.
type slow struct {
	text string
	step int
}

func (s *slow) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	time.Sleep(80 * time.Second)
	n := copy(p, s.text[:min(s.step, len(s.text))])
	s.text = s.text[n:]
	return n, nil
}
