package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
	"unicode/utf8"

	"magicode/internal/vfs"
)

// Lookup gives an environment variable's value and whether it is set, as
// os.LookupEnv does.
type Lookup func(name string) (string, bool)

// Acquire takes the lock that guards the file target (storage.md 12.2), waiting
// at most wait, and returns the function that gives it back.
type Acquire func(ctx context.Context, target string, wait time.Duration) (release func() error, err error)

// SettingsLockWait is how long the settings lock is waited for (storage.md 2.1).
const SettingsLockWait = 30 * time.Second

// Env is what the package needs of the world. All fields but PasswordHome are
// required.
type Env struct {
	FS     vfs.FS
	Lookup Lookup
	Lock   Acquire
	// CWD is the canonical working directory, resolved once at launch.
	CWD string
	// PID names the temporary copy of a migration.
	PID int
	// UID is the effective user, the only one who may own sessions/.
	UID int
	// PasswordHome gives the user's home directory from the password
	// database; it is asked only when HOME is unset or empty. May be nil.
	PasswordHome func() (string, error)
}

// Paths is where things are. Root is as given; CanonicalRoot has every link
// resolved. The zero value of a field means that it is not known yet.
type Paths struct {
	Root          string
	CanonicalRoot string
	CWD           string // canonical
	Home          string // the user's home directory; "" if MC_HOME is set and there is none
}

// Settings is the global settings file.
func (p Paths) Settings() string { return filepath.Join(p.Root, "settings.json") }

// ProjectSettings is the settings file of the working directory.
func (p Paths) ProjectSettings() string {
	return filepath.Join(p.CWD, ".magi-code", "settings.json")
}

// State is the directory of what this program remembers between runs.
func (p Paths) State() string { return filepath.Join(p.Root, "state") }

// Sessions is the directory of the session logs.
func (p Paths) Sessions() string { return filepath.Join(p.Root, "sessions") }

// Cache is the directory of what can be made again.
func (p Paths) Cache() string { return filepath.Join(p.Root, "cache") }

// Auth is the credential file.
func (p Paths) Auth() string { return filepath.Join(p.Root, "auth.json") }

// ResolveRoot finds the home of the configuration (storage.md 1.1) and changes
// nothing. byDefault is true when MC_HOME is unset.
func ResolveRoot(env Env) (p Paths, byDefault bool, err error) {
	p = Paths{CWD: env.CWD}
	home, homeErr := userHome(env)
	p.Home = home
	root, set := env.Lookup("MC_HOME")
	if !set {
		if homeErr != nil {
			return p, true, &Error{Key: "HOME", Reason: "no home directory"}
		}
		p.Root = filepath.Join(home, ".magi-code")
		return p, true, checkRoot(env.FS, p.Root)
	}
	if root == "" {
		return p, false, &Error{Key: "MC_HOME", Reason: "empty; name a folder, or unset it"}
	}
	if !filepath.IsAbs(root) {
		return p, false, &Error{Key: "MC_HOME", Reason: "not an absolute path"}
	}
	p.Root = root
	return p, false, checkRoot(env.FS, root)
}

func userHome(env Env) (string, error) {
	home, _ := env.Lookup("HOME")
	if home == "" && env.PasswordHome != nil {
		var err error
		if home, err = env.PasswordHome(); err != nil {
			return "", err
		}
	}
	if !filepath.IsAbs(home) {
		return "", errors.New("no absolute home directory")
	}
	return home, nil
}

// checkRoot refuses what exists and is no directory. A dangling link passes;
// making the directories below it fails then.
func checkRoot(fsys vfs.FS, root string) error {
	info, err := fsys.Stat(root)
	if err == nil && !info.Mode.IsDir() {
		return &Error{File: root, Reason: "not a directory"}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &Error{File: root, Reason: "not accessible", Err: err}
	}
	return nil
}

// Prepare resolves the root, runs the migrations and makes the runtime
// directories (storage.md 1). What it returns beside an error is as far as it
// came; an empty Root means that there is no place to write anything to.
func Prepare(env Env) (p Paths, migrated bool, err error) {
	p, byDefault, err := ResolveRoot(env)
	if err != nil {
		return Paths{CWD: p.CWD, Home: p.Home}, false, err
	}
	if byDefault {
		if migrated, err = migrateHome(env.FS, p, env.PID); err != nil {
			return p, false, err
		}
	}
	renamed, err := migrateAgents(env.FS, p.Root)
	migrated = migrated || renamed
	if err != nil {
		return p, migrated, err
	}
	if err := makeDirs(env.FS, p); err != nil {
		return p, migrated, err
	}
	if err := CheckSessions(env.FS, p.Sessions(), env.UID); err != nil {
		return p, migrated, err
	}
	if p.CanonicalRoot, err = env.FS.EvalSymlinks(p.Root); err != nil {
		return p, migrated, &Error{File: p.Root, Reason: "not resolvable", Err: err}
	}
	if !utf8.ValidString(p.CanonicalRoot) || !utf8.ValidString(p.CWD) {
		return p, migrated, &Error{Reason: "a path is not UTF-8"}
	}
	return p, migrated, nil
}

// makeDirs makes the directories of storage.md 1.2 in their order. Modes are
// those that the umask leaves, but for sessions/.
func makeDirs(fsys vfs.FS, p Paths) error {
	for _, dir := range []string{p.Cache(), p.State()} {
		if err := makeDir(fsys, dir); err != nil {
			return err
		}
	}
	if _, err := fsys.Lstat(p.Sessions()); errors.Is(err, fs.ErrNotExist) {
		if err := fsys.Mkdir(p.Sessions(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return &Error{File: p.Sessions(), Reason: "cannot be made", Err: err}
		}
		if err := fsys.Chmod(p.Sessions(), 0o700); err != nil { // the umask may have taken more
			return &Error{File: p.Sessions(), Reason: "cannot be made private", Err: err}
		}
	}
	return makeDir(fsys, filepath.Join(p.Root, "checkpoints"))
}

func makeDir(fsys vfs.FS, dir string) error {
	if isDir(fsys, dir) {
		return nil
	}
	err := fsys.MkdirAll(dir, 0o777)
	if err != nil || !isDir(fsys, dir) { // a dangling link is neither made nor there
		return &Error{File: dir, Reason: "cannot be made", Err: err}
	}
	return nil
}

// CheckSessions refuses a sessions directory that is a link, another's, or open
// to group or others. Modes are never repaired. uid below 0 skips the owner.
func CheckSessions(fsys vfs.FS, dir string, uid int) error {
	info, err := fsys.Lstat(dir)
	switch {
	case err != nil:
		return &Error{File: dir, Reason: "not accessible", Err: err}
	case !info.Mode.IsDir():
		return &Error{File: dir, Reason: "not a directory of its own"}
	case uid >= 0 && info.UID != uint32(uid):
		return &Error{File: dir, Reason: "owned by another user"}
	case info.Mode.Perm()&0o077 != 0:
		return &Error{File: dir, Reason: fmt.Sprintf("open to others (mode %04o, wanted 0700)", info.Mode.Perm())}
	}
	return nil
}
