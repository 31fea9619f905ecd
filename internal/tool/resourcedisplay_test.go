package tool

import (
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	d := Describe("list_files", true, map[string]any{"Files returned": 2, "Listing complete": false, "Result state": "incomplete"})
	want := "Files returned: 2\nDirectories returned: ?\nResult state: incomplete\nEntries returned: ?\nListing complete: false\nResults limited: ?\n"
	if got := d.String(); got != want || !d.Limited {
		t.Errorf("%v %s", d.Limited, got)
	}
	if DescribeFailure("bash") != nil || Displays("write") {
		t.Error("a tool without facts has some")
	}
	for name, labels := range factLabels {
		got := DescribeFailure(name).String()
		if strings.Count(got, ": ?\n") != len(labels)-1 || !strings.Contains(got, "Result state: failed\n") {
			t.Errorf("%s: %s", name, got)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a label that is not in the list was taken")
		}
	}()
	Describe("find", false, map[string]any{"Entries": 1})
}

func TestResultState(t *testing.T) {
	for _, tc := range []struct {
		whole           bool
		total, returned int
		want            string
	}{
		{false, 0, 0, "incomplete"}, {false, 3, 3, "incomplete"}, {true, 0, 0, "empty"}, {true, 3, 0, "no entries returned"}, {true, 3, 3, "results returned"},
	} {
		if got := ResultState(tc.whole, tc.total, tc.returned, "empty"); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}
