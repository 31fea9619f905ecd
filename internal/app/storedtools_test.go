package app

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"magicode/internal/vfs"
)

// TestMentioned: the names of MCP tools are found wherever they stand in a text,
// however it is read, and nothing else is.
func TestMentioned(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	text := `{"name":"mcp__files__search"} mcp__files__ mcp____x mcp__a__b__c await tools.mcp__ledger-2__add_row(1) mcp__files__` + strings.Repeat("y", 70) +
		long[:64<<10-9] + `"mcp__edge__of_piece"` + long + "mcp__last__one"
	want := []string{"add_row", "of_piece", "one", "search"}
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "by bytes": iotest.OneByteReader(strings.NewReader(text)), "the end with the data": iotest.DataErrReader(strings.NewReader(text))} {
		found := map[string]bool{}
		if err := mentioned(r, found); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestMentionedTooOften: a text that is nothing but beginnings of names takes no longer
// than another, and one that is nothing but names fills no memory.
func TestMentionedTooOften(t *testing.T) {
	found := map[string]bool{}
	began := time.Now()
	if err := mentioned(strings.NewReader(strings.Repeat(toolPrefix, 1<<20/len(toolPrefix))), found); err != nil || len(found) > 0 {
		t.Fatal(len(found), err)
	}
	if took := time.Since(began); took > 5*time.Second { // half a minute, where each is looked at to the end
		t.Errorf("1 MB takes %v", took)
	}
	var names strings.Builder
	for i := range 2 * maxTools {
		fmt.Fprintf(&names, "mcp__s__%d ", i)
	}
	if err := mentioned(strings.NewReader(names.String()), found); err != nil || len(found) != maxTools {
		t.Error(len(found), err)
	}
}

// TestStoredTools: all sessions are looked through, those of tasks too; a link and
// what is no session are not.
func TestStoredTools(t *testing.T) {
	dir := t.TempDir()
	child := filepath.Join(dir, "tasks")
	if err := os.Mkdir(child, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"a.jsonl": "mcp__s__one", "tasks/b.jsonl": "mcp__s__two", "c.txt": "mcp__s__three", "d": "mcp__s__four"} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "d"), filepath.Join(dir, "e.jsonl")); err != nil {
		t.Fatal(err)
	}
	// The oldest is too much: only what is newer is looked through.
	old := filepath.Join(dir, "f.jsonl")
	if err := os.WriteFile(old, []byte("mcp__s__five"), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Truncate(old, maxStored); err != nil || os.Chtimes(old, past, past) != nil {
		t.Fatal(err)
	}
	// One that is too much by itself does not hide those that are older.
	huge, future := filepath.Join(dir, "g.jsonl"), time.Now().Add(time.Hour)
	if err := os.WriteFile(huge, []byte("mcp__s__six"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, maxStored+1); err != nil || os.Chtimes(huge, future, future) != nil {
		t.Fatal(err)
	}
	if got := storedTools(vfs.OS(), dir, child, filepath.Join(dir, "missing")); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("%v", got)
	}
}
