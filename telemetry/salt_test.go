package telemetry

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"magicode/telemetry/rawfile"
)

// TestSalt: children that start at once in a new home have one salt, and one that
// was killed while it made the salt leaves no home without.
func TestSalt(t *testing.T) {
	for range 20 {
		state := t.TempDir()
		salts := make([]string, 8)
		var all sync.WaitGroup
		begin := make(chan struct{})
		for i := range salts {
			all.Go(func() {
				<-begin
				if salt, ok := homeSalt(state); ok {
					salts[i] = string(salt)
				}
			})
		}
		close(begin)
		all.Wait()
		for _, s := range salts {
			if len(s) != saltBytes || s != salts[0] {
				t.Fatalf("salts %q", salts)
			}
		}
	}
	state := t.TempDir()
	path := filepath.Join(state, saltName)
	if err := os.WriteFile(path, make([]byte, 7), 0o600); err != nil {
		t.Fatal(err)
	}
	salt, ok := homeSalt(state)
	if again, fine := homeSalt(state); !ok || !fine || string(salt) != string(again) {
		t.Errorf("the rest of a salt: %v, %v", ok, fine)
	}
	for name, put := range map[string]func() error{
		"longer": func() error { return os.WriteFile(path, make([]byte, 33), 0o600) },
		"link":   func() error { return os.Symlink("elsewhere", path) },
		"folder": func() error { return os.Mkdir(path, 0o700) },
	} {
		_ = os.Remove(path)
		if err := put(); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(path)
		if _, ok := homeSalt(state); ok {
			t.Errorf("%s: taken for a salt", name)
		}
		if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s: replaced", name)
		}
	}
	dir, err := rawfile.OpenDir(state, false, rawfile.OwnerOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer rawfile.Close(dir)
	if names := rawfile.List(dir); len(names) != 1 {
		t.Errorf("left: %q", names)
	}
}
