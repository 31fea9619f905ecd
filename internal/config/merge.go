package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
)

// layered merges trees, the later ones over the earlier ones: objects key by
// key, anything else replaces (storage.md 2.2). Every tree must be free of keys
// that hold the delimiter, and is loaded as it is, never split into paths
// (decision 26). Defaults come from the table below all layers.
func layered(layers ...map[string]any) (map[string]any, error) {
	k := koanf.New(delimiter)
	for _, layer := range layers {
		if err := k.Load(confmap.Provider(layer, ""), nil); err != nil {
			return nil, fmt.Errorf("merge settings: %w", err)
		}
	}
	return k.Raw(), nil
}

// unsafeKeys are what a project may not say in safe mode (decision 32): what
// names commands, endpoints and variables that hold keys.
var unsafeKeys = [...][]string{
	{"automation", "hooks"},
	{"capabilities", "lsp"}, // also "enabled": a language server runs the code of what it looks at
	{"providers", "custom"},
}

// projectLayer is a project's tree without what it may not say. ignored names
// what safe mode took out.
func projectLayer(tree map[string]any, mode ProjectMode) (layer map[string]any, ignored []string) {
	for _, path := range settingsShape().globalPaths() {
		tree, _ = without(tree, path)
	}
	if mode != ProjectSafe {
		return tree, nil
	}
	for _, path := range unsafeKeys {
		var found bool
		if tree, found = without(tree, path); found {
			ignored = append(ignored, strings.Join(path, "."))
		}
	}
	slices.Sort(ignored)
	return tree, ignored
}

// without copies the objects on the way to a key and leaves the key out.
func without(tree map[string]any, path []string) (map[string]any, bool) {
	member, ok := tree[path[0]]
	if !ok {
		return tree, false
	}
	if len(path) == 1 {
		out := maps.Clone(tree)
		delete(out, path[0])
		return out, true
	}
	inner, ok := member.(map[string]any)
	if !ok {
		return tree, false
	}
	inner, found := without(inner, path[1:])
	if !found {
		return tree, false
	}
	out := maps.Clone(tree)
	out[path[0]] = inner
	return out, true
}

// environment is the layer that MC_PROVIDER and MC_MODEL make; nil when neither
// is set. An empty value is a value.
func environment(lookup Lookup) map[string]any {
	model := map[string]any{}
	if v, ok := lookup("MC_PROVIDER"); ok {
		model["provider"] = v
	}
	if v, ok := lookup("MC_MODEL"); ok {
		model["model"] = v
	}
	if len(model) == 0 {
		return nil
	}
	return map[string]any{"agent": map[string]any{"model": model}}
}

// applyEnvironment puts the environment over a validated tree. It comes after
// the validation, or it would hide a wrong type in a file.
func applyEnvironment(s *Settings, tree map[string]any, lookup Lookup) *problem {
	layer := environment(lookup)
	if layer == nil {
		return nil
	}
	merged, err := layered(modelOf(tree), layer)
	if err != nil {
		return wrong(err.Error())
	}
	agent := merged["agent"].(map[string]any)
	p := settingsShape().at("agent.model").decode(s, agent["model"], true)
	if p != nil {
		return wrong(p.reason, "MC_PROVIDER")
	}
	return nil
}

// modelOf is the part of a validated tree that the environment concerns.
func modelOf(tree map[string]any) map[string]any {
	agent, _ := tree["agent"].(map[string]any)
	model, ok := agent["model"]
	if !ok {
		return map[string]any{}
	}
	return map[string]any{"agent": map[string]any{"model": model}}
}
