package inventory

import (
	"slices"
	"strings"
	"testing"
)

// TestPruneFollowsNoLink: a folder of the home that is a link leads to things
// that are not the home's; nothing in them is deleted, whatever their names.
func TestPruneFollowsNoLink(t *testing.T) {
	blob := strings.Repeat("0", 64)
	for _, link := range []string{"sessions/.history", "checkpoints", "checkpoints/ledgers", "checkpoints/blobs", "state/recovered"} {
		w := full(t)
		there := root + "/" + link
		w.must(w.MkdirAll("/elsewhere", 0o700), w.Rename(there, "/elsewhere/it"), w.Symlink("/elsewhere/it", there))
		inside := func() (names []string) {
			for _, name := range []string{"old/1.jsonl", "gone/1.jsonl", "blobs/" + blob, "ledgers/old.jsonl", "old.jsonl", "stray.jsonl", blob, "old-1.torn"} {
				if w.exists("/elsewhere/it/" + name) {
					names = append(names, name)
				}
			}
			return names
		}
		before := inside()
		plan, err := w.Survey(t.Context(), noon.AddDate(0, 0, -30))
		if err == nil {
			_, err = w.Delete(t.Context(), plan, func(_ Item, e error) {
				if e != nil {
					err = e
				}
			})
		}
		if after := inside(); len(before) == 0 || !slices.Equal(before, after) {
			t.Errorf("%s: %q of %q are left (%v)", link, after, before, err)
		}
	}
}

// TestOrphanKeepsYoungLedger: what an old sidecar without a log takes with it is
// itself; a ledger of its name goes when it is old too.
func TestOrphanKeepsYoungLedger(t *testing.T) {
	w := full(t)
	w.put("checkpoints/ledgers/lost.jsonl", `{"event":{"session_id":"lost"}}`+"\n")
	if _, err := w.Delete(t.Context(), w.survey(), func(Item, error) {}); err != nil {
		t.Fatal(err)
	}
	if w.exists(root + "/sessions/lost.metadata.json") {
		t.Error("the sidecar is there")
	}
	if !w.exists(root + "/checkpoints/ledgers/lost.jsonl") {
		t.Error("a ledger of today is gone")
	}
}
