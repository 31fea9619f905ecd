package app

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"magicode/internal/agent"
	"magicode/internal/auth"
	"magicode/internal/config"
	"magicode/internal/provider/claude"
	"magicode/internal/startup"
)

// ownServer is how a user without any of the logins begins.
const ownServer = `{
  "schema_version": 2,
  "agent": { "model": { "provider": "local", "model": "my-model" } },
  "providers": { "custom": { "local": {
    "label": "My server", "base_url": "http://127.0.0.1:8080/v1",
    "api_key_env_var": "MY_SERVER_KEY", "use_responses_endpoint": false
  } } }
}
`

func (d *doctor) provider(p config.Paths, s *config.Settings) {
	selected := startup.Selected(s.Agent.Model)
	id, model := selected.Provider, selected.Model
	d.chosen()
	if def, ok := s.Providers.Custom[id]; ok {
		if _, ready := auth.CustomKey(d.lookup, def.KeyVariable); !ready {
			d.say(bad, "provider", "%s needs the variable %s, which is not set", id, def.KeyVariable)
			return
		}
		d.say(good, "provider", "%s at %s, model %s", id, def.BaseURL, agent.ShownName(model))
		return
	}
	names := providerNames(s.Providers.Custom)
	switch {
	case !slices.Contains(names, id):
		d.say(bad, "provider", "there is no provider %q; there are: %s", agent.ShownName(id), strings.Join(names, ", "))
	case id == claude.ID:
		d.claude(p, model)
	default:
		d.stored(p, id, model)
	}
}

// chosen tells which variables override the settings' selection.
func (d *doctor) chosen() {
	var set []string
	for _, name := range []string{"MC_PROVIDER", "MC_MODEL"} {
		if value, ok := d.lookup(name); ok {
			set = append(set, name+"="+agent.ShownName(value))
		}
	}
	if len(set) > 0 {
		d.say(noted, "selection", "%s counts here, whatever the settings select", strings.Join(set, " "))
	}
}

// stored checks a provider whose credential auth.json or a variable holds.
func (d *doctor) stored(p config.Paths, id, model string) {
	store := auth.NewStore(d.fs, p.Auth(), unlocked, time.Now)
	file, err := store.Read(context.Background())
	if err != nil {
		d.say(bad, "credentials", "%v", err)
		return
	}
	if file.Ready(id, d.lookup, time.Now()) != auth.Missing {
		d.say(good, "provider", "%s has a credential, model %s", id, agent.ShownName(model))
		return
	}
	d.say(bad, "provider", "%s has no usable credential", id)
	if id == "anthropic" {
		d.more("set the variable ANTHROPIC_API_KEY, or store a key: magi-code auth login anthropic < FILE\n")
	} else {
		d.more("log in with a ChatGPT account: magi-code auth login\n")
	}
	d.more("a server with an OpenAI-compatible API is selected by these lines in " + p.Settings() + ":\n" + ownServer)
}

// claude asks the claude command for its login, as a start does.
func (d *doctor) claude(p config.Paths, model string) {
	c := &claude.Command{FS: d.fs, Lookup: d.lookup, Environ: os.Environ(), Home: p.Home}
	path, found := c.Path()
	switch {
	case auth.ClaudeConflict(d.lookup) != "":
		d.say(bad, "provider", "the variable %s would override the login of the claude command; unset it", auth.ClaudeConflict(d.lookup))
	case !found:
		d.say(bad, "provider", "claude-subscription needs the claude command, which is not installed")
	case !c.Ready(context.Background()):
		d.say(bad, "provider", "%s is not logged in to a subscription: run 'claude auth login'", path)
	default:
		d.say(good, "provider", "claude-subscription through %s, model %s", path, agent.ShownName(model))
	}
}
