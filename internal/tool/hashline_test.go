package tool

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Values of the algorithm's published test: seed 0.
func TestXXH32(t *testing.T) {
	for in, want := range map[string]uint32{
		"": 0x02cc5d05, "a": 0x550d7456, "abc": 0x32d153ff, "Nobody inspects the spammish repetition": 0xe2293b2f,
	} {
		if got := xxh32([]byte(in)); got != want {
			t.Errorf("%q: %08x, want %08x", in, got, want)
		}
	}
}

func TestNormalizeAndTag(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a\r\nb\rc\n": "a\nb\nc\n", "\ufeffa": "a", "\r\r\n\n": "\n\n\n", "a\ufeff": "a\ufeff",
	} {
		if got := Normalize([]byte(in)); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	same := Tag("a\nb")
	for _, s := range []string{"a \nb", "a\t \r\nb", "a\nb   "} {
		if Tag(s) != same {
			t.Errorf("%q has another tag", s)
		}
	}
	for _, s := range []string{"a\nb\n", " a\nb", "ab"} {
		if Tag(s) == same {
			t.Errorf("%q has the same tag", s)
		}
	}
	if got := fmt.Sprintf("%04X", xxh32(nil)&0xffff); Tag("") != got {
		t.Errorf("Tag of nothing: %s, want %s", Tag(""), got)
	}
	for in, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "\n": 1, "a\n\n": 2, "a\nb": 2} {
		if got := LineCount(in); got != want {
			t.Errorf("LineCount(%q) = %d", in, got)
		}
	}
}

func TestSnapshotBounds(t *testing.T) {
	s := &Snapshots{}
	for i := range maxSnapshotPaths + 5 {
		s.Record(fmt.Sprint("/p", i), "AAAA", "x", 1, 1)
		s.Record("/p0", "AAAA", "x", 1, 1) // stays warm
	}
	if _, ok := s.Find("/p0", "AAAA"); !ok || len(s.paths) != maxSnapshotPaths {
		t.Errorf("%d paths, warm one there: %v", len(s.paths), ok)
	}
	if _, ok := s.Find("/p1", "AAAA"); ok {
		t.Error("the coldest is still there")
	}
	for i := range maxSnapshotVersions + 2 {
		s.Record("/v", fmt.Sprintf("%04d", i), fmt.Sprint(i), 1, 1)
	}
	if _, ok := s.Find("/v", "0001"); ok {
		t.Error("a fifth version")
	}
	if v, ok := s.Find("/v", "0002"); !ok || v.Newest {
		t.Errorf("%+v %v", v, ok)
	}
	if v, _ := s.Find("/v", "0005"); !v.Newest {
		t.Error("the newest")
	}
	big := strings.Repeat("x", maxSnapshotBytes/2)
	s.Record("/big1", "AAAA", big, 1, 1)
	s.Record("/big2", "AAAA", big+"y", 1, 1)
	if s.bytes > maxSnapshotBytes+len(big) || len(s.PathsWith("AAAA")) != 1 {
		t.Errorf("%d bytes, %v", s.bytes, s.PathsWith("AAAA"))
	}
	s.Forget("/big2")
	if s.bytes != 0 || len(s.paths) != 0 {
		t.Errorf("%d bytes in %d paths", s.bytes, len(s.paths))
	}
}

func TestSeen(t *testing.T) {
	s := &Snapshots{}
	s.Record("/f", "AAAA", "text", 3, 5)
	s.Record("/f", "AAAA", "text", 7, 7)
	if got := s.Unseen("/f", "AAAA", []int{2, 3, 5, 6, 7, 8}); !slices.Equal(got, []int{2, 6, 8}) {
		t.Error(got)
	}
	s.Saw("/f", "AAAA", []int{6})
	if got := s.Unseen("/f", "AAAA", []int{6}); got != nil {
		t.Error(got)
	}
	if got := s.Unseen("/g", "AAAA", []int{1}); len(got) != 1 {
		t.Error(got)
	}
}

func TestLineSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l lineSet
		var want [40]bool
		for range rapid.IntRange(0, 12).Draw(t, "adds") {
			first := rapid.IntRange(1, 39).Draw(t, "first")
			last := min(39, first+rapid.IntRange(0, 6).Draw(t, "more"))
			l.add(first, last)
			for i := first; i <= last; i++ {
				want[i] = true
			}
		}
		for i, w := range want {
			if l.has(i) != w {
				t.Fatalf("%d: %v, spans %v", i, !w, l.spans)
			}
		}
		for i := 1; i < len(l.spans); i++ {
			if l.spans[i][0] <= l.spans[i-1][1]+1 {
				t.Fatalf("spans %v", l.spans)
			}
		}
	})
}
