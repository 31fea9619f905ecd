package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"magicode/internal/agent"
	"magicode/internal/auth"
	"magicode/internal/catalog"
	"magicode/internal/config"
	"magicode/internal/httpx"
	"magicode/internal/jsonscan"
	"magicode/internal/models"
	"magicode/internal/provider"
	"magicode/internal/provider/anthropic"
	"magicode/internal/provider/claude"
	"magicode/internal/provider/codex"
	"magicode/internal/startup"
	"magicode/internal/vfs"
	"magicode/telemetry"
)

// modelsCmd is the model catalogs and the selection without a terminal user
// interface. serve only ever reads the catalogs.
type modelsCmd struct {
	List struct {
		Provider string `arg:"" optional:"" help:"Only this provider."`
	} `cmd:"" help:"List the models of the cached catalogs, with context window and thinking levels."`
	Refresh struct {
		Provider string `arg:"" optional:"" help:"The provider; default: the one that is selected."`
		Bare     bool   `help:"Take only what the provider tells, and do not ask models.dev for context windows, prices and thinking levels."`
	} `cmd:"" help:"Fetch a provider's list of models into the cache."`
	Use struct {
		Provider string        `arg:"" help:"The provider."`
		Model    string        `arg:"" help:"The model."`
		Level    thinkingLevel `help:"Thinking level: default, low, medium, high, x_high or max." placeholder:"LEVEL"`
		Project  bool          `help:"Select it in the project's settings instead of the global ones."`
	} `cmd:"" help:"Select a provider and a model in the settings."`
}

var (
	errNoProvider = errors.New("there is no such provider")
	errNoModel    = errors.New("the provider's catalog does not list this model; 'magi-code models refresh' fetches it anew")
	errNoLevel    = errors.New("the model does not offer this thinking level")
	errNotReady   = errors.New("the provider has no usable credential; 'magi-code auth status' says more")
)

func runModels(c modelsCmd, what string, stdout, stderr *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	open := openDesk
	if what == "list" {
		open = lookDesk
	}
	d, err := open(ctx)
	if err == nil {
		switch what {
		case "list":
			err = d.list(stdout, c.List.Provider)
		case "refresh":
			err = d.refresh(ctx, stdout, stderr, c.Refresh.Provider, c.Refresh.Bare)
		case "use":
			err = d.use(ctx, stdout, c.Use.Provider, c.Use.Model, string(c.Use.Level), c.Use.Project)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "magi-code: %v\n", err)
		return statusOf(err)
	}
	return exitOK
}

// desk is what the commands about models and credentials work with: a snapshot
// of settings, without a started child.
type desk struct {
	env    config.Env
	snap   *startup.Snapshot
	models *models.Models
	http   *httpx.Client
}

// openDesk loads the settings as a child would.
func openDesk(ctx context.Context) (*desk, error) {
	env, err := settingsEnv()
	if err != nil {
		return nil, err
	}
	loaded, err := config.Load(ctx, env)
	if err != nil {
		return nil, err
	}
	return newDesk(env, loaded), nil
}

// lookDesk is openDesk for what only shows: no home is made.
func lookDesk(context.Context) (*desk, error) {
	env, err := settingsEnv()
	if err != nil {
		return nil, err
	}
	loaded, err := config.Look(env)
	if err != nil {
		return nil, err
	}
	return newDesk(env, loaded), nil
}

func newDesk(env config.Env, loaded *config.Loaded) *desk {
	a := agent.New(env.FS, env.CWD, os.Environ(), telemetry.Tel{})
	snap := &startup.Snapshot{Paths: loaded.Paths, Settings: loaded.Settings, Selection: startup.Selected(loaded.Settings.Agent.Model),
		Custom: startup.Customs(loaded.Settings.Providers.Custom, auth.Lookup(env.Lookup)), Auth: auth.NewStore(env.FS, loaded.Paths.Auth(), auth.Acquire(env.Lock), time.Now)}
	return &desk{env: env, snap: snap, models: a.Models(snap), http: httpx.New(httpx.Options{Environ: os.Environ()})}
}

func (d *desk) providers() []string { return providerNames(d.snap.Custom) }

// providerNames are all that can be selected: the built-in ones, then the user's own.
func providerNames[V any](custom map[string]V) []string {
	return append([]string{codex.ID, "anthropic", claude.ID}, slices.Sorted(maps.Keys(custom))...)
}

func (d *desk) known(id string) error {
	if !slices.Contains(d.providers(), id) {
		return noProvider(id, d.providers())
	}
	return nil
}

// noProvider says what can be named instead of an id that no provider has.
func noProvider(id string, instead []string) error {
	return fmt.Errorf("%w: %s; choose one of: %s", errNoProvider, agent.ShownName(id), strings.Join(instead, ", "))
}

func (d *desk) list(w io.Writer, only string) error {
	ids := d.providers()
	if only != "" {
		if err := d.known(only); err != nil {
			return err
		}
		ids = []string{only}
	}
	sel := d.snap.Selection
	fmt.Fprintf(w, "selected: %s %s (thinking level %s)\n", sel.Provider, sel.Model, sel.Level)
	if err := d.known(sel.Provider); err != nil {
		fmt.Fprintf(w, "%v\n", err)
	}
	for _, id := range ids {
		c := d.models.Catalog(id)
		if c == nil {
			fmt.Fprintf(w, "\n%s: no catalog; 'magi-code models refresh %s' fetches one\n", id, id)
			continue
		}
		fmt.Fprintf(w, "\n%s: %d models, fetched %s\n", id, len(c.Entries), c.FetchedAt)
		for i := range c.Entries {
			d.row(w, id, &c.Entries[i])
		}
	}
	return nil
}

func (d *desk) row(w io.Writer, id string, e *catalog.Entry) {
	window := "-"
	if e.ContextWindow > 0 {
		window = fmt.Sprint(e.ContextWindow)
	}
	var levels []string
	for _, l := range d.models.Levels(id, e.Model) {
		levels = append(levels, string(l))
	}
	note := ""
	if d.models.Disabled(id, e.Model) {
		note = "  (disabled)"
	}
	fmt.Fprintf(w, "  %-40s %9s  %s%s\n", e.Model, window, strings.Join(levels, " "), note)
}

func (d *desk) refresh(ctx context.Context, w, warnings io.Writer, id string, bare bool) error {
	id = cmp.Or(id, d.snap.Selection.Provider)
	if err := d.known(id); err != nil {
		return err
	}
	source, err := d.source(ctx, id)
	if err != nil {
		return err
	}
	f := &catalog.Fetcher{HTTP: d.http, FS: d.env.FS, Root: d.snap.Paths.Root, Now: time.Now, Facts: catalog.FactsURL}
	if bare {
		f.Facts = ""
	}
	f.FactsFailed = func(err error) {
		fmt.Fprintf(warnings, "magi-code: models.dev: %v: no context windows and prices; --bare does not ask models.dev\n", err)
	}
	c, err := f.Refresh(ctx, source)
	if err != nil {
		stays := ""
		if d.models.Catalog(id) != nil {
			stays = "; the old catalog stays"
		}
		return fmt.Errorf("refresh %s: %w%s", id, err, stays)
	}
	fmt.Fprintf(w, "%s: %d models\n", id, len(c.Entries))
	return nil
}

// source is where a provider's list is, with its credential.
func (d *desk) source(ctx context.Context, id string) (catalog.Source, error) {
	s := catalog.Source{Provider: d.models.Known(id), Header: http.Header{}}
	s.Header.Set("User-Agent", "magi-code/"+agent.Version)
	p := d.snap.Settings.Providers
	switch id {
	case claude.ID:
		return s, nil
	case "anthropic":
		file, err := d.snap.Auth.Read(ctx)
		if err != nil {
			return s, err
		}
		key, ok := auth.AnthropicKey(auth.Lookup(d.env.Lookup), file)
		if !ok {
			return s, errNotReady
		}
		s.URL = anthropic.ListURL(p.AnthropicBaseURL)
		anthropic.SetCredential(s.Header, string(key))
		return s, nil
	case codex.ID:
		header, err := codex.ListHeader(ctx, codex.Config{Store: d.snap.Auth, Exchange: (&codex.TokenClient{HTTP: d.http}).Exchange})
		s.URL, s.Header = codex.ListURL(p.CodexBaseURL), header
		return s, err
	}
	def := d.snap.Custom[id]
	if !def.Ready {
		return s, errNotReady
	}
	s.URL = def.BaseURL + "/models"
	if def.Key != "" {
		s.Header.Set("Authorization", "Bearer "+string(def.Key))
	}
	return s, nil
}

// use selects a model. A catalog that is there must list it; without one
// anything goes, as in the settings.
func (d *desk) use(ctx context.Context, w io.Writer, id, model, level string, project bool) error {
	if err := d.known(id); err != nil {
		return err
	}
	checked := d.models.Catalog(id) != nil
	if checked {
		if d.models.Entry(id, model) == nil {
			return errNoModel
		}
		if level != "" && !slices.Contains(d.models.Levels(id, model), provider.Level(level)) {
			return errNoLevel
		}
	}
	scope, file := config.ScopeGlobal, d.snap.Paths.Settings()
	if project {
		scope, file = config.ScopeProject, d.snap.Paths.ProjectSettings()
	}
	value, err := d.selection(file, id, model, cmp.Or(level, string(provider.LevelDefault)))
	if err != nil {
		return err
	}
	if err := config.Save(ctx, d.env, d.snap.Paths, scope, []string{"agent", "model"}, value); err != nil {
		return err
	}
	fmt.Fprintf(w, "selected: %s %s\n", id, printable(model))
	if !checked {
		fmt.Fprintf(w, "the model was not checked: there is no catalog; 'magi-code models refresh %s' fetches one\n", id)
	}
	return nil
}

// selection is the new value of agent.model: the three keys together, so that
// no reader sees a provider with another one's model; what else stands there stays.
func (d *desk) selection(file, id, model, level string) ([]byte, error) {
	value := jsonscan.Value("{}")
	if raw, err := vfs.ReadFile(d.env.FS, file, maxSettingsBytes); err == nil {
		if v, err := jsonscan.Parse(raw, jsonscan.Options{AnyNumber: true}); err == nil {
			if old := v.Get("agent").Get("model"); old.Kind() == jsonscan.Object {
				value = old
			}
		}
	}
	// Edit takes its document for a whole file and gives it a schema_version.
	doc := append(append([]byte(`{"model":`), value...), '}')
	for _, kv := range [][2]string{{"provider", id}, {"model", model}, {"thinking_level", level}} {
		var err error
		if doc, err = config.Edit(doc, []string{"model", kv[0]}, jsonscan.AppendString(nil, kv[1])); err != nil {
			return nil, err
		}
	}
	v, err := jsonscan.Parse(doc, jsonscan.Options{AnyNumber: true})
	return v.Get("model"), err
}
