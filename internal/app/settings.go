package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"magicode/internal/agent"
	"magicode/internal/config"
	"magicode/internal/jsonscan"
	"magicode/internal/lease"
	"magicode/internal/vfs"
	telemetryconfig "magicode/telemetry/config"
)

// settingsCmd is the settings without a terminal user interface.
type settingsCmd struct {
	Schema struct{} `cmd:"" help:"Print the JSON schema of settings.json."`
	Show   struct{} `cmd:"" help:"Print the global settings file."`
	Get    struct {
		Key string `arg:"" help:"Path of the key, with dots, as in agent.model.provider."`
	} `cmd:"" help:"Print one value of the global settings file."`
	Set struct {
		Key     string `arg:"" help:"Path of the key, with dots."`
		Value   string `arg:"" help:"A JSON value; text that is no JSON is taken as a string."`
		Project bool   `help:"Change the project's file instead of the global one."`
	} `cmd:"" help:"Change one value; everything else in the file stays as it is."`
}

var (
	errNotSet    = errors.New("is not set in the settings file")
	errNoKey     = errors.New("is not in the settings file, and this version knows no such setting")
	errNoFile    = errors.New("there is no settings file yet")
	errEmptyPart = usageError("the path of the key has an empty part")
)

func runSettings(c settingsCmd, what string, stdout, stderr *os.File) int {
	var err error
	switch what {
	case "schema":
		_, err = stdout.Write(append(config.Schema(), '\n'))
	case "show":
		err = showSettings(stdout, stderr, "")
	case "get":
		err = showSettings(stdout, stderr, c.Get.Key)
	case "set":
		scope := config.ScopeGlobal
		if c.Set.Project {
			scope = config.ScopeProject
		}
		err = setSetting(stderr, scope, c.Set.Key, c.Set.Value)
	}
	if err != nil {
		fmt.Fprintf(stderr, "magi-code: %v\n", err)
		return statusOf(err)
	}
	return exitOK
}

// settingsEnv is what reading and saving settings needs.
func settingsEnv() (config.Env, error) {
	fsys := vfs.OS()
	dir, err := agent.WorkingDir(fsys)
	if err != nil {
		return config.Env{}, fmt.Errorf("the working directory cannot be resolved: %v", err)
	}
	leases := lease.New(lease.Options{FS: fsys})
	return config.Env{FS: fsys, Lookup: agent.LookupIn(os.Environ()), CWD: dir, PID: os.Getpid(), UID: os.Geteuid(), PasswordHome: agent.PasswordHome,
		Lock: func(ctx context.Context, target string, wait time.Duration) (func() error, error) {
			l, err := leases.Acquire(ctx, target, wait)
			if err != nil {
				return nil, err
			}
			return l.Release, nil
		}}, nil
}

// maxSettingsBytes is the size of a settings file (storage.md 2.1).
const maxSettingsBytes = 1 << 20

func showSettings(stdout, stderr io.Writer, key string) error {
	env, err := settingsEnv()
	if err != nil {
		return err
	}
	paths, _, err := config.ResolveRoot(env)
	if err != nil {
		return err
	}
	data, err := vfs.ReadFile(env.FS, paths.Settings(), maxSettingsBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist) && key == "":
		fmt.Fprintln(stderr, "there is no settings file yet: the defaults are used")
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s%s", errNoFile, key, defaultOf(key))
	case err != nil:
		return err
	}
	if key == "" {
		_, err = fmt.Fprintf(stdout, "%s\n", bytes.TrimSuffix(data, []byte{'\n'}))
		return err
	}
	v, err := jsonscan.Parse(data, jsonscan.Options{AnyNumber: true})
	if err != nil {
		return fmt.Errorf("%s is not JSON: %v", paths.Settings(), err)
	}
	for _, k := range strings.Split(key, ".") {
		v = v.Get(k)
	}
	if v.Kind() == jsonscan.Invalid {
		if !knownSetting(strings.Split(key, ".")) {
			return fmt.Errorf("%s %w", key, errNoKey)
		}
		return fmt.Errorf("%s %w%s", key, errNotSet, defaultOf(key))
	}
	if text, ok := v.Text(); ok {
		_, err = fmt.Fprintln(stdout, text)
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s\n", indented(v))
	return err
}

// defaultOf says what counts for a key that is not set, as the schema tells.
func defaultOf(key string) string {
	v, err := jsonscan.Parse(config.Schema(), jsonscan.Options{})
	if err != nil {
		return ""
	}
	for _, k := range strings.Split(key, ".") {
		v = v.Get("properties").Get(k)
	}
	if v = v.Get("default"); v.Kind() == jsonscan.Invalid {
		return ""
	}
	return fmt.Sprintf(" (the default is %s)", v)
}

// indented is a value as a file of its own would show it.
func indented(v jsonscan.Value) []byte {
	out := jsontext.Value(bytes.Clone(v))
	if err := out.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true)); err != nil {
		return v
	}
	return out
}

func setSetting(stderr io.Writer, scope config.Scope, key, value string) error {
	path := strings.Split(key, ".")
	if slices.Contains(path, "") {
		return fmt.Errorf("%w: %q", errEmptyPart, key)
	}
	env, err := settingsEnv()
	if err != nil {
		return err
	}
	paths, _, err := config.Prepare(env) // the first command in a new home makes it
	if err != nil {
		return err
	}
	raw := []byte(value)
	if _, err := jsonscan.Parse(raw, jsonscan.Options{}); err != nil {
		raw = jsonscan.AppendString(nil, value)
	}
	if err := telemetryFits(env, scope, path, raw); err != nil {
		return err
	}
	if err := config.Save(context.Background(), env, paths, scope, path, raw); err != nil {
		return err
	}
	if !knownSetting(path) {
		fmt.Fprintf(stderr, "note: this version knows no setting %s; it is stored, and has no effect\n", key)
	}
	noteProvider(stderr, key, raw)
	if scope == config.ScopeProject {
		noteApprovals(stderr, env, key, raw)
	}
	return nil
}

// knownSetting reports a setting that has an effect. The schema of the settings knows of
// telemetry only that it is an object: no start fails for what is in it.
func knownSetting(path []string) bool {
	return config.Known(path) && (path[0] != "telemetry" || telemetryconfig.Known(path[1:]))
}

// telemetryFits refuses a value that the next child could not use.
func telemetryFits(env config.Env, scope config.Scope, path []string, raw []byte) error {
	if path[0] != "telemetry" || scope != config.ScopeGlobal {
		return nil
	}
	l, err := config.Look(env)
	if err != nil {
		return nil // saving says what is wrong with the rest
	}
	if why := telemetryconfig.Unfit(l.Telemetry, path[1:], raw); why != "" {
		return errors.New(why)
	}
	return nil
}

// noteApprovals tells when a project asks for looser approvals than the user's.
func noteApprovals(stderr io.Writer, env config.Env, key string, raw jsonscan.Value) {
	level, _ := raw.Text()
	l, err := config.Look(env)
	if key != "capabilities.approvals.level" || err != nil || string(l.Settings.Capabilities.Approvals.Level) == level {
		return
	}
	fmt.Fprintf(stderr, "note: a project can only make approvals stricter: the level here stays %s\n", l.Settings.Capabilities.Approvals.Level)
}

// noteProvider tells when a selection names a provider that does not exist (yet).
func noteProvider(stderr io.Writer, key string, raw jsonscan.Value) {
	id, ok := raw.Text()
	if key != "agent.model.provider" || !ok {
		return
	}
	d, err := lookDesk(context.Background())
	if err == nil && d.known(id) != nil {
		fmt.Fprintf(stderr, "note: there is no provider %s; there are: %s\n", agent.ShownName(id), strings.Join(d.providers(), ", "))
	}
}
