package viewimage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"magicode/internal/provider"
	"magicode/internal/redact"
	"magicode/internal/tool"
)

// Bounds: tools.md 0 and 1.15.
const (
	maxImageBytes   = 20 << 20 // the setting's own limit
	maxAnswer       = 64 << 10
	maxErrorText    = 4 << 10
	maxOutputTokens = 4096
)

// Options are the tool's settings and what it works with.
type Options struct {
	Files    tool.Files
	Absolute bool // capabilities.tools.view_image.absolute_paths
	MaxBytes int  // max_image_bytes, checked when the tool runs
	// Model is vision_model; nil: the user has named none.
	Model     *provider.Selection
	Providers provider.Factory
}

// Tool is the view_image tool. It is safe for concurrent use.
type Tool struct {
	o      Options
	policy tool.Policy
}

// New returns the tool.
func New(o Options) *Tool {
	return &Tool{o: o, policy: tool.Policy{Tool: "view_image", Absolute: o.Absolute}}
}

type arguments struct {
	tool.Intent
	Path   *string `json:"path"`
	Prompt *string `json:"prompt"`
}

const parameters = `{"type":"object","properties":{"path":{"type":"string","description":"Absolute path of the image"},"prompt":{"type":"string","description":"What you want to know about it"}},"required":["path","prompt"],"additionalProperties":false}`

const description = `view_image: asks a model that can see about an image file, and gives its answer as text.
PNG, JPEG, GIF and WebP, by an absolute path. Ask for all that you need: the image itself is not shown to you.`

// Definition describes the tool.
func (t *Tool) Definition() tool.Definition {
	return tool.Definition{Name: "view_image", Description: description, Parameters: json.RawMessage(parameters)}
}

// picture is an image that was let through.
type picture struct {
	at        tool.Path
	data      []byte
	mediaType string
	prompt    string
}

// Run asks about one image.
func (t *Tool) Run(ctx context.Context, env tool.Env, args json.RawMessage) tool.Result {
	p, err := t.picture(env, args)
	if err != nil {
		return tool.Failed("%v", err)
	}
	answer, err := t.ask(ctx, p)
	switch {
	case ctx.Err() != nil:
		return tool.Failed(tool.CancelledText)
	case err != nil:
		return tool.Failed("the image could not be looked at: %s", t.explain(err))
	case strings.TrimSpace(answer) == "":
		return tool.Failed("the vision model gave no answer")
	}
	answer, cut := bounded(redact.Display(answer))
	return tool.Result{
		Success: true,
		Content: answer,
		Metadata: map[string]any{
			"path": p.at.Canonical, "provider": t.o.Model.Provider, "model": t.o.Model.Model, "media_type": p.mediaType,
			"image_bytes": len(p.data), "prompt_chars": utf8.RuneCountInString(p.prompt), "truncated": cut,
		},
		Touched: []tool.Touched{{Path: p.at.Canonical, Kind: "read", Success: true, InsideCwd: p.at.Inside}},
	}
}

// picture makes the checks in the order of tools.md 1.15.
func (t *Tool) picture(env tool.Env, args json.RawMessage) (*picture, error) {
	path, prompt, err := decode(args)
	if err != nil {
		return nil, err
	}
	p := &picture{prompt: prompt}
	if p.at, err = t.policy.Existing(t.o.Files.FS, env, path); err != nil {
		return nil, err
	}
	if err := t.configured(); err != nil {
		return nil, err
	}
	f, ok := formatOf(p.at.Canonical)
	if !ok {
		return nil, fmt.Errorf("only images can be viewed (png, jpg, jpeg, gif, webp): %s", path)
	}
	limit := t.o.MaxBytes
	if limit < 1 || limit > maxImageBytes {
		return nil, fmt.Errorf("the setting capabilities.tools.view_image.max_image_bytes must be from 1 to %d", maxImageBytes)
	}
	if p.data, err = t.o.Files.ReadBytes(p.at.Canonical, int64(limit)); err != nil {
		return nil, err
	}
	if err := f.check(p.data); err != nil {
		return nil, fmt.Errorf("%s is no image that can be viewed: %w", path, err)
	}
	p.mediaType = f.mediaType
	return p, nil
}

func decode(raw json.RawMessage) (path, prompt string, err error) {
	var a arguments
	if err := tool.Decode(raw, &a); err != nil {
		return "", "", err
	}
	if path, err = tool.Text("path", a.Path); err != nil {
		return "", "", err
	}
	if prompt, err = tool.Text("prompt", a.Prompt); err != nil {
		return "", "", err
	}
	switch {
	case !filepath.IsAbs(path):
		return "", "", errors.New(`invalid arguments: field "path" must be an absolute path`)
	case strings.TrimSpace(prompt) == "":
		return "", "", errors.New(`invalid arguments: field "prompt" must not be blank`)
	}
	return path, prompt, nil
}

const setting = "capabilities.tools.view_image.vision_model"

// configured reports whether the setting names a model that can be used.
func (t *Tool) configured() error {
	m := t.o.Model
	if m == nil {
		return errors.New("no vision model is configured; the user can name one in the setting " + setting + ` ({"provider": …, "model": …})`)
	}
	for _, id := range [...]string{m.Provider, m.Model} {
		if !identifier(id) {
			return errors.New("the setting " + setting + " does not name a provider and a model")
		}
	}
	return nil
}

// identifier is the rule of storage.md 2.4.
func identifier(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) < 0 && !redact.SecretLike(s)
}

// ask sends the one request. An answer that has no end is cut off.
func (t *Tool) ask(ctx context.Context, p *picture) (string, error) {
	prov, err := t.o.Providers.Make(ctx, *t.o.Model, provider.PurposeImage)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	enough := errors.New("enough")
	req := provider.Request{Model: t.o.Model.Model, Level: t.o.Model.Level, Whole: true, MaxOutputTokens: maxOutputTokens, Items: []provider.Item{
		{Kind: provider.ItemMessage, Role: "user", Text: p.prompt, Image: &provider.Image{MediaType: p.mediaType, Data: p.data}},
	}}
	err = prov.Stream(ctx, req, func(ev provider.Event) error {
		if ev.Kind == provider.EventText {
			b.WriteString(ev.Text)
		}
		if b.Len() > 2*maxAnswer {
			return enough
		}
		return nil
	})
	if err != nil && !errors.Is(err, enough) {
		return "", err
	}
	return b.String(), nil
}

// explain words a failure for the model. It holds what a provider's server said,
// so it is redacted and bounded again.
func (t *Tool) explain(err error) string {
	switch {
	case errors.Is(err, provider.ErrNoImages):
		return fmt.Sprintf("the provider %s takes no images; the user can choose another in the setting %s", t.o.Model.Provider, setting)
	case errors.Is(err, provider.ErrUnsupported):
		return fmt.Sprintf("there is no provider %s, which the setting %s names", t.o.Model.Provider, setting)
	case errors.Is(err, provider.ErrNotReady):
		return fmt.Sprintf("the provider %s has no credential", t.o.Model.Provider)
	}
	return redact.Cut(redact.Display(err.Error()), maxErrorText)
}

const truncatedLine = "\n[truncated: the answer exceeded 65536 bytes]"

func bounded(s string) (text string, cut bool) {
	if len(s) <= maxAnswer {
		return s, false
	}
	return redact.Cut(s, maxAnswer-len(truncatedLine)) + truncatedLine, true
}
