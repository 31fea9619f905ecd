package config

import (
	"fmt"
	"slices"
	"strings"
)

// maxValue bounds one variable (telemetry.md 2.2).
const maxValue = 4096

const prefix = "MC_TELEMETRY"

// variable is a row of the closed table of names.
type variable struct {
	name string // behind the prefix
	path []string
	kind valueKind
}

type valueKind uint8

const (
	isText valueKind = iota
	isNumber
	isBool
)

func variables() []variable {
	return []variable{
		{"_NAMES", []string{"names"}, isText},
		{"_METRICS_INTERVAL_S", []string{"metrics_interval_s"}, isNumber},
		{"_SHUTDOWN_MS", []string{"shutdown_ms"}, isNumber},
		{"_LINK_PARENT", []string{"link_parent"}, isBool},
		{"_DIR", []string{"file", "dir"}, isText},
		{"_MAX_MB", []string{"file", "max_mb"}, isNumber},
		{"_KEEP", []string{"file", "keep"}, isNumber},
		{"_TOTAL_MB", []string{"file", "total_mb"}, isNumber},
		{"_GOROUTINES", []string{"file", "goroutines"}, isBool},
		{"_RUNTIME_TRACE", []string{"file", "runtime_trace"}, isText},
		{"_OTLP_ENDPOINT", []string{"otlp", "endpoint"}, isText},
		{"_OTLP_PROTOCOL", []string{"otlp", "protocol"}, isText},
		{"_OTLP_TIMEOUT_MS", []string{"otlp", "timeout_ms"}, isNumber},
		{"_PROM", []string{"prometheus", "path"}, isText},
	}
}

// Variables are the names of all variables that there are.
func Variables() []string {
	out := []string{prefix}
	for _, v := range variables() {
		out = append(out, prefix+v.name)
	}
	return out
}

// mostTypos is how many letters a name may differ from the one that was meant.
const mostTypos = 2

// Meant is the variable that an unknown one was probably meant to be: the one that it
// ends like, as MC_TELEMETRY_FILE_DIR does, or one that it nearly is; "" for none.
func Meant(name string) (meant string) {
	longest, least := 0, mostTypos+1
	for _, v := range variables() {
		if strings.HasSuffix(name, v.name) && len(v.name) > longest {
			meant, longest = prefix+v.name, len(v.name)
		}
	}
	for _, known := range Variables() {
		if d := typos(name, known); longest == 0 && d < least {
			meant, least = known, d
		}
	}
	return meant
}

// typos is how many letters have to be put in, left out or replaced to make one name
// of the other; more than mostTypos where their lengths alone tell.
func typos(a, b string) int {
	if len(a)-len(b) > mostTypos || len(b)-len(a) > mostTypos {
		return mostTypos + 1
	}
	row := make([]int, len(b)+1)
	for k := range row {
		row[k] = k
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for k := range len(b) {
			replaced := diagonal
			if a[i] != b[k] {
				replaced++
			}
			diagonal = row[k+1]
			row[k+1] = min(replaced, row[k]+1, row[k+1]+1)
		}
	}
	return row[len(b)]
}

// environment is what the child's environment says.
type environment struct {
	killed bool // nothing else is consulted
	asked  bool
	broken bool // the master variable makes no sense: all is off
	layer  map[string]any
}

func (l *loader) environment(environ []string) environment {
	e := environment{layer: map[string]any{}}
	table := variables()
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "OTEL_SDK_DISABLED":
			e.killed = e.killed || strings.EqualFold(value, "true")
		case !strings.HasPrefix(name, prefix):
		case name == prefix:
			l.master(&e, value)
		default:
			i := slices.IndexFunc(table, func(v variable) bool { return prefix+v.name == name })
			switch {
			case i >= 0:
				l.variable(&e, table[i], value)
			case strings.HasPrefix(name, prefix+"_"):
				l.problem(CodeEnvUnknown, "")
				if len(l.unknown) < maxProblems {
					l.unknown = append(l.unknown, name)
				}
			}
		}
	}
	return e
}

// master reads MC_TELEMETRY: a kill switch, or exactly the sinks that are on.
func (l *loader) master(e *environment, value string) {
	if value == "off" || value == "0" {
		e.killed = true
		return
	}
	if value == "" {
		return
	}
	e.asked = true
	l.name("telemetry.enabled", prefix)
	e.layer["enabled"] = true
	on := map[string]bool{}
	for word := range strings.SplitSeq(value, ",") {
		sink, ok := map[string]string{"file": "file", "otlp": "otlp", "prom": "prometheus"}[strings.TrimSpace(word)]
		if !ok || len(value) > maxValue {
			e.broken = true
			l.takes(CodeEnvInvalid, "telemetry.enabled", "off, 0, or which of file, otlp and prom are on, with commas between them")
			return
		}
		on[sink] = true
	}
	for _, sink := range []string{"file", "otlp", "prometheus"} {
		put(e.layer, []string{sink, "enabled"}, on[sink])
	}
}

// variable puts a value into the layer in the form that settings have. One that
// has no such form stays text, which no number and no boolean accepts.
func (l *loader) variable(e *environment, v variable, value string) {
	if value == "" {
		return // as if it was not set
	}
	key := "telemetry." + strings.Join(v.path, ".")
	l.name(key, prefix+v.name)
	if len(value) > maxValue || !clean(value) {
		l.takes(CodeEnvInvalid, key, fmt.Sprintf("at most %d bytes without control characters", maxValue))
		value = "\x00" // turns the sink off
	}
	var typed any = value
	switch v.kind {
	case isNumber:
		if isDigits(value) {
			typed = jsonNumber(value)
		}
	case isBool:
		switch value {
		case "1", "true":
			typed = true
		case "0", "false":
			typed = false
		}
	case isText:
	}
	put(e.layer, v.path, typed)
}

// name remembers which variable has set a key.
func (l *loader) name(key, variable string) {
	if l.named == nil {
		l.named = map[string]string{}
	}
	l.named[key] = variable
}

func put(layer map[string]any, path []string, value any) {
	for _, key := range path[:len(path)-1] {
		next, ok := layer[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			layer[key] = next
		}
		layer = next
	}
	layer[path[len(path)-1]] = value
}

func isDigits(s string) bool {
	return len(s) > 0 && len(s) < 10 && strings.Trim(s, "0123456789") == ""
}
