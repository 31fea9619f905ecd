package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"magicode/internal/config"
	"magicode/internal/jsonscan"
	"magicode/internal/lease"
	"magicode/internal/vfs"
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

var errNoKey = errors.New("the settings file has no such key")

func runSettings(c settingsCmd, what string, stdout, stderr *os.File) int {
	var err error
	switch what {
	case "schema":
		_, err = stdout.Write(append(config.Schema(), '\n'))
	case "show":
		err = showSettings(stdout, "")
	case "get":
		err = showSettings(stdout, c.Get.Key)
	case "set":
		scope := config.ScopeGlobal
		if c.Set.Project {
			scope = config.ScopeProject
		}
		err = setSetting(scope, c.Set.Key, c.Set.Value)
	}
	if err != nil {
		fmt.Fprintf(stderr, "magi-code: %v\n", err)
		return exitError
	}
	return exitOK
}

// settingsEnv is what reading and saving settings needs.
func settingsEnv() (config.Env, error) {
	fsys := vfs.OS()
	dir, err := workingDir(fsys)
	if err != nil {
		return config.Env{}, fmt.Errorf("the working directory cannot be resolved: %v", err)
	}
	leases := lease.New(lease.Options{FS: fsys})
	return config.Env{FS: fsys, Lookup: lookupIn(os.Environ()), CWD: dir, PID: os.Getpid(), UID: os.Geteuid(), PasswordHome: passwordHome,
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

func showSettings(stdout *os.File, key string) error {
	env, err := settingsEnv()
	if err != nil {
		return err
	}
	paths, _, err := config.ResolveRoot(env)
	if err != nil {
		return err
	}
	data, err := vfs.ReadFile(env.FS, paths.Settings(), maxSettingsBytes)
	if err != nil {
		return err
	}
	if key == "" {
		_, err = stdout.Write(data)
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
		return fmt.Errorf("%w: %s", errNoKey, key)
	}
	if text, ok := v.Text(); ok {
		_, err = fmt.Fprintln(stdout, text)
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s\n", v)
	return err
}

func setSetting(scope config.Scope, key, value string) error {
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
	return config.Save(context.Background(), env, paths, scope, strings.Split(key, "."), raw)
}
