package tool

import (
	"strconv"
	"strings"
)

// ResourceDisplay is what a call that reads, searches or lists knows of its
// outcome, for whoever shows it later (extensions.md 13.6, 13.12). It never
// reaches the model.
type ResourceDisplay struct {
	Facts     []Fact
	Resources []Resource // of read: one an entry, in order
	Limited   bool       // something was left out because of a bound
}

// String lists the facts, one a line; ? is one that is not known.
func (d *ResourceDisplay) String() string {
	var b strings.Builder
	for _, f := range d.Facts {
		v, known := f.Text()
		if !known {
			v = "?"
		}
		b.WriteString(f.Label + ": " + v + "\n")
	}
	return b.String()
}

// Fact is one labelled value: an int that counts, a bool or a text; nil is one
// that is not known.
type Fact struct {
	Label string
	Value any
}

// Text is the value as it is recorded, and whether it is known.
func (f Fact) Text() (string, bool) {
	switch v := f.Value.(type) {
	case int:
		return strconv.Itoa(v), true
	case bool:
		return strconv.FormatBool(v), true
	case string:
		return v, true
	}
	return "", false
}

// Resource is one entry of a call that names several.
type Resource struct {
	Location     string // as it was found, or as it was asked for
	Outcome      string // success, failure or omitted
	Supplied     int    // source lines that are shown; -1: not known
	Retained     int    // lines of the output that they take; -1: not known
	Completeness string // complete, partial, omitted or unavailable
	Reason       string // why it is not complete; "" when it is
}

// stateLabel is the one fact that all tools have.
const stateLabel = "Result state"

// factLabels are the labels of each tool in their order: extensions.md 13.6.
var factLabels = map[string][]string{
	"read": {"Requested resources", stateLabel, "Succeeded resources", "Failed resources", "Omitted resources", "Read complete", "Results limited", "Aggregate read limited"},
	"grep": {"Matching lines returned", stateLabel, "Total matching lines", "Context lines returned", "Output lines returned", "Matching lines seen", "Seen count exact",
		"Files returned", "Scan complete", "Timed out", "Results limited", "Next offset", "Has more", "Context lines omitted", "Read errors skipped", "Walk errors",
		"Walk entries omitted", "File byte limit reached", "Scan byte limit reached", "File limit reached", "Match limit reached", "Per-file limit reached",
		"Output byte limit reached", "Raw lookahead reached"},
	"ast_grep": {"Search output lines returned", stateLabel, "Scan complete", "Outline entries returned", "Timed out", "Results limited", "Partial scan", "Output truncated", "Files skipped", "Workset limited"},
	"find": {"Entries returned", stateLabel, "Total matching entries", "Matching entries seen", "Seen count exact", "Scan complete", "Timed out", "Results limited", "Has more",
		"Next offset", "Entries scanned", "Entry limit reached", "Walk errors", "Walk entries omitted"},
	"list_files": {"Files returned", "Directories returned", stateLabel, "Entries returned", "Listing complete", "Results limited"},
}

// Displays reports whether results of a tool come with one; the name is
// canonical.
func Displays(name string) bool { return factLabels[name] != nil }

// Describe puts the facts of a tool into their order. Those that are left out
// are not known. A label that the tool has not is a broken invariant: it panics.
func Describe(name string, limited bool, facts map[string]any) *ResourceDisplay {
	labels := factLabels[name]
	d := &ResourceDisplay{Limited: limited, Facts: make([]Fact, len(labels))}
	used := 0
	for i, label := range labels {
		v, ok := facts[label]
		if ok {
			used++
		}
		d.Facts[i] = Fact{label, v}
	}
	if used != len(facts) {
		panic("tool: a fact of " + name + " has a label that is not in its list")
	}
	return d
}

// DescribeFailure is what is known of a call that came to nothing: nothing is
// known but that. It is nil for tools without one.
func DescribeFailure(name string) *ResourceDisplay {
	if !Displays(name) {
		return nil
	}
	return Describe(name, false, map[string]any{stateLabel: "failed"})
}

// ResultState words what came of a search or a listing that did not fail
// (extensions.md 13.6). whole: nothing is missing and nothing was left out, so
// that total is exact; empty is the word for a total of 0.
func ResultState(whole bool, total, returned int, empty string) string {
	switch {
	case !whole:
		return "incomplete"
	case total == 0:
		return empty
	case returned == 0:
		return "no entries returned"
	}
	return "results returned"
}

// Known is v where it is known, else nil.
func Known(known bool, v any) any {
	if !known {
		return nil
	}
	return v
}
