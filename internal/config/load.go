package config

import (
	"bytes"
	"context"

	"magicode/internal/jsonscan"
)

// Loaded is the outcome of Load. Beside an error it holds what was known by then.
type Loaded struct {
	Paths    Paths
	Settings *Settings // nil beside an error
	MCP      MCP
	// Telemetry is the global file's raw "telemetry" value; nil when absent or
	// when the file is no JSON object. It is there even if other keys are invalid.
	Telemetry []byte
	// ProjectTelemetry tells that a project tried to say something about telemetry.
	ProjectTelemetry bool
	// Project tells that there is a project settings file.
	Project bool
	// Ignored names what safe mode left out of the project file (decision 32), sorted.
	Ignored []string
	// Migrated tells that a folder of an old release was renamed.
	Migrated bool

	global, project *document
}

// Load prepares the home and reads settings and MCP definitions, each file
// once (storage.md 1, 2 and 4). It never returns nil. The error is an *Error
// or the cause of the context's end.
func Load(ctx context.Context, env Env) (*Loaded, error) {
	l := new(Loaded)
	var err error
	if l.Paths, l.Migrated, err = Prepare(env); err != nil {
		return l, err
	}
	if err := makeSchema(env.FS, l.Paths); err != nil {
		return l, err
	}
	data, err := readGlobal(ctx, env, l.Paths.Settings())
	if err != nil {
		return l, err
	}
	return l, l.read(env, data)
}

// Look is Load that makes and locks nothing: a home that is not there yet
// counts as one with a new settings file. What a start would still rename, the
// home of an old release, it does not see.
func Look(env Env) (*Loaded, error) {
	l := new(Loaded)
	var err error
	if l.Paths, _, err = ResolveRoot(env); err != nil {
		return l, err
	}
	l.Paths.CanonicalRoot = l.Paths.Root
	if exists(env.FS, l.Paths.Root) {
		if l.Paths.CanonicalRoot, err = env.FS.EvalSymlinks(l.Paths.Root); err != nil {
			return l, &Error{File: l.Paths.Root, Reason: "not accessible", Err: err}
		}
	}
	data, err := readOr(env.FS, l.Paths.Settings(), emptySettings)
	if err != nil {
		return l, err
	}
	return l, l.read(env, data)
}

// read goes on from the text of the global settings file.
func (l *Loaded) read(env Env, data []byte) (err error) {
	if l.global, err = parseDocument(l.Paths.Settings(), data); err != nil {
		return err
	}
	l.Telemetry = bytes.Clone(l.global.root.Get("telemetry")) // not to hold the whole file
	if data, err = readProject(env.FS, l.Paths); err != nil {
		return err
	}
	if data != nil {
		l.Project = true
		if l.project, err = parseDocument(l.Paths.ProjectSettings(), data); err != nil {
			return err
		}
		l.ProjectTelemetry = l.project.root.Get("telemetry").Kind() != jsonscan.Invalid
	}
	s, err := l.resolve(env)
	if err != nil {
		return err
	}
	if l.MCP, err = loadMCP(env, l.Paths, s.Capabilities.MCPApprovals); err != nil {
		return err
	}
	l.Settings = s
	return nil
}

// resolve validates the global file alone, then the whole (storage.md 2.1, 2.2).
func (l *Loaded) resolve(env Env) (*Settings, error) {
	global, p := decodeSettings(l.global.tree)
	if p != nil {
		return nil, errorIn(p, l.global)
	}
	merged, tree := global, l.global.tree
	if l.project != nil {
		if p := schemaVersion(l.project.tree); p != nil {
			return nil, errorIn(p, l.project)
		}
		var layer map[string]any
		layer, l.Ignored = projectLayer(l.project.tree, global.Capabilities.ProjectSettings)
		var err error
		if tree, err = layered(l.global.tree, layer); err != nil {
			return nil, &Error{File: l.project.file, Reason: "cannot be merged", Err: err}
		}
		if merged, p = decodeSettings(tree); p != nil {
			return nil, errorIn(p, l.project, l.global)
		}
	}
	settleApprovals(global, merged, env.Lookup)
	if p := applyEnvironment(merged, tree, env.Lookup); p != nil {
		return nil, &Error{Key: p.path[0], Reason: p.reason}
	}
	return merged, nil
}

// schemaVersion judges a layer's own version before anything merges.
func schemaVersion(tree map[string]any) *problem {
	if v, ok := tree["schema_version"]; ok && v != number("2") {
		return wrong("must be the integer 2", "schema_version")
	}
	return nil
}
