package inventory

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"magicode/internal/vfs/faultfs"
)

// TestDeleteUnderFaults fails every file operation of a deletion in turn. What
// was not to be deleted is always there, and a session that was is either whole
// in its place, or gone, or in the folder that the next deletion empties; and
// the next one always finishes the work.
func TestDeleteUnderFaults(t *testing.T) {
	for _, effect := range []faultfs.Effect{faultfs.Fail, faultfs.Late, faultfs.FailFrom} {
		for n := 0; ; n++ {
			w := full(t)
			w.must(w.Remove(root + "/sessions/.appending.jsonl.lock"))
			plan := w.survey()
			before := w.tree()
			ff := faultfs.New(w.FS)
			ff.Inject(faultfs.Fault{N: n, Op: faultfs.Any, Effect: effect})
			spoiled := w.Home
			spoiled.FS = ff
			for i := range plan.Items {
				plan.Items[i].home.FS = ff
			}
			reported := map[string]error{}
			_, err := spoiled.Delete(t.Context(), plan, func(i Item, err error) { reported[i.Path] = err })
			hit, spoilt := ff.Hit()
			for _, name := range before {
				if stays(name) && !slices.Contains(w.tree(), name) {
					t.Fatalf("%v %v: %s is gone", effect, hit, name)
				}
			}
			if err := reported["sessions/old.jsonl"]; err == nil && w.exists(w.log("old")) {
				t.Fatalf("%v %v: called deleted, and there", effect, hit)
			}
			if !spoilt {
				w.must(err)
				break
			}
			if _, err := w.Delete(t.Context(), w.survey(), func(i Item, err error) {
				if err != nil {
					t.Fatalf("%v %v, then %s: %v", effect, hit, i.Path, err)
				}
			}); err != nil {
				t.Fatalf("%v %v: %v", effect, hit, err)
			}
			for _, name := range w.tree() {
				if strings.Contains(name, "old.jsonl") && !strings.Contains(name, "ledgers") {
					t.Fatalf("%v %v: %s is left", effect, hit, name)
				}
			}
		}
	}
}

// stays are the files of sessions that were not to be deleted.
func stays(name string) bool {
	return strings.Contains(name, "fresh.") || strings.Contains(name, "young") || strings.Contains(name, "used.jsonl") || strings.HasSuffix(name, fmt.Sprintf("blobs/%s", strings.Repeat("1", 64)))
}
