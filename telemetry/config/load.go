package config

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
)

// delimiter is one that no key may hold: names in settings hold dots (decision 26).
const delimiter = "\x1f"

// maxProblems bounds the list: a settings file can have any number of unknown keys.
const maxProblems = 32

// Load decides from the environment of the child and the raw "telemetry" value
// of the global settings file, nil when there is none. project tells that a
// project tried to say something about telemetry, which is ignored.
func Load(environ []string, global []byte, project bool) Config {
	l := loader{}
	env := l.environment(environ)
	if env.killed {
		return Config{}
	}
	c := Config{Asked: env.asked}
	if project {
		l.problem(CodeProject, "telemetry")
	}
	// Nobody has said anything: nearly every child. The layers take a quarter of a
	// millisecond of its start, and nothing is on by default.
	if len(bytes.TrimSpace(global)) > 0 || len(env.layer) > 0 {
		if tree := l.merge(global, env.layer); tree != nil {
			l.decode(&c, tree, environ, env.broken)
		}
	}
	c.Asked = c.Asked || c.On()
	c.Problems, c.Hints, c.Unknown = l.problems, l.hints, l.unknown
	return c
}

// Killed reports whether the environment alone says that nothing may be on.
func Killed(environ []string) bool {
	l := loader{}
	return l.environment(environ).killed
}

type loader struct {
	problems []Problem
	hints    map[Problem]string
	unknown  []string
	named    map[string]string // of a key that a variable has set: which one
	// given are the keys of the OTLP sink that settings or environment have, and
	// settingsEndpoint is the endpoint that stands in the settings.
	given            map[string]bool
	settingsEndpoint string
	noOTLP           bool // something about the endpoint or its headers cannot be used
}

func (l *loader) problem(code, key string) {
	p := Problem{Code: code, Key: key}
	if len(l.problems) < maxProblems && !slices.Contains(l.problems, p) {
		l.problems = append(l.problems, p)
		if name := l.named[key]; name != "" {
			l.hint(p, "it comes from "+name)
		}
	}
}

// takes is problem with what the key, or the variable that has set it, takes.
func (l *loader) takes(code, key, what string) {
	l.problem(code, key)
	name := l.named[key]
	if name == "" {
		name = "it"
	}
	l.hint(Problem{code, key}, name+" takes "+what)
}

func (l *loader) hint(p Problem, text string) {
	if l.hints == nil {
		l.hints = map[Problem]string{}
	}
	l.hints[p] = text
}

// merge layers defaults, the global value and the environment. nil: the global
// value is no object, and all is off.
func (l *loader) merge(global []byte, env map[string]any) map[string]any {
	k := koanf.New(delimiter)
	layers := []map[string]any{defaults()}
	if len(bytes.TrimSpace(global)) > 0 {
		layer, ok := object(global)
		if !ok {
			l.problem(CodeType, "telemetry")
			return nil
		}
		l.prune(layer, "telemetry", defaults())
		layers = append(layers, layer)
		l.settingsEndpoint, _ = l.notice(layer)["endpoint"].(string)
	}
	l.notice(env)
	for _, layer := range append(layers, env) {
		if k.Load(confmap.Provider(layer, ""), nil) != nil {
			l.problem(CodeType, "telemetry")
			return nil
		}
	}
	return k.Raw()
}

// notice remembers which keys of the OTLP sink a layer gives, and returns them.
func (l *loader) notice(layer map[string]any) map[string]any {
	sink, _ := layer["otlp"].(map[string]any)
	for key := range sink {
		if l.given == nil {
			l.given = map[string]bool{}
		}
		l.given[key] = true
	}
	return sink
}

// prune drops keys that we do not know, and with them every key that holds the
// delimiter.
func (l *loader) prune(layer map[string]any, path string, known map[string]any) {
	var unknown []string
	for key, value := range layer {
		def, ok := known[key]
		if !ok {
			delete(layer, key)
			l.problem(CodeUnknownKey, path)
			unknown = append(unknown, key)
			continue
		}
		inner, isObject := def.(map[string]any)
		if object, ok := value.(map[string]any); ok && isObject {
			l.prune(object, path+"."+key, inner)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		l.hint(Problem{CodeUnknownKey, path}, "there is no "+strings.Join(unknown[:min(len(unknown), maxNamed)], ", "))
	}
}

// maxNamed bounds the unknown keys of one object that a hint names.
const maxNamed = 8

func defaults() map[string]any {
	return map[string]any{
		"enabled": false, "names": "hashed", "metrics_interval_s": number(10), "shutdown_ms": number(50), "link_parent": false,
		"file": map[string]any{"enabled": false, "dir": "", "max_mb": number(64), "keep": number(10), "total_mb": number(256),
			"goroutines": true, "runtime_trace": "off"},
		"otlp": map[string]any{"enabled": false, "endpoint": "", "protocol": "http/protobuf", "headers_env": "", "timeout_ms": number(2000),
			"compression": "gzip", "traces": true, "metrics": true},
		"prometheus": map[string]any{"enabled": false, "path": "", "interval_s": number(15), "mode": "0600"},
	}
}

// decode reads the merged tree, sink by sink.
// off: nothing may be on, and what else is wrong is told all the same.
func (l *loader) decode(c *Config, tree map[string]any, environ []string, off bool) {
	top := section{l: l, tree: tree, path: "telemetry"}
	c.Plain = top.word("names", "hashed", "plain") == "plain"
	// What belongs to no sink: a wrong interval is no reason to lose a capture.
	c.MetricsInterval = time.Duration(top.intOr("metrics_interval_s", 5, 300, 10)) * time.Second
	c.Shutdown = time.Duration(top.intOr("shutdown_ms", 0, 500, 50)) * time.Millisecond
	c.LinkParent = top.bool("link_parent")
	enabled := section{l: l, tree: tree, path: "telemetry"}
	on := enabled.bool("enabled") && !enabled.bad
	c.Asked = c.Asked || on
	off = off || enabled.bad
	if !on && !off {
		return
	}
	l.file(&c.File, top.child("file"))
	l.otlp(&c.OTLP, top.child("otlp"), environ)
	l.prometheus(&c.Prometheus, top.child("prometheus"))
	if off {
		c.File.On, c.OTLP.On, c.Prometheus.On = false, false, false
	}
	if !c.On() && len(l.problems) == 0 {
		l.problem(CodeNoSink, "telemetry")
	}
}

func (l *loader) file(f *File, s section) {
	on := s.bool("enabled")
	f.Dir = s.text("dir", 1024)
	f.MaxMB, f.Keep = s.int("max_mb", 4, 1024), s.int("keep", 1, 100)
	f.TotalMB = s.int("total_mb", 4, 4096)
	f.Goroutines = s.bool("goroutines")
	f.RuntimeTrace = s.word("runtime_trace", "off", "cleanup", "always")
	if f.TotalMB < f.MaxMB {
		s.wrong(CodeRange, "total_mb", "telemetry.file.max_mb to 4096")
	}
	if f.Dir != "" && !strings.HasPrefix(f.Dir, "/") {
		s.wrong(CodeRange, "dir", "an absolute path")
	}
	f.On = on && !s.bad
}

func (l *loader) prometheus(p *Prometheus, s section) {
	on := s.bool("enabled")
	p.Path = s.text("path", 1024)
	p.Interval = time.Duration(s.int("interval_s", 5, 300)) * time.Second
	switch s.word("mode", "0600", "0640", "0644") {
	case "0640":
		p.Mode = 0o640
	case "0644":
		p.Mode = 0o644
	default:
		p.Mode = 0o600
	}
	if on && (!strings.HasPrefix(p.Path, "/") || !strings.HasSuffix(p.Path, ".prom")) {
		s.wrong(CodePromPath, "path", "an absolute path that ends in .prom")
	}
	p.On = on && !s.bad
}

// variableName: [A-Z_][A-Z0-9_]{0,127}
func variableName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 128
}
