package reader

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"magicode/internal/racetest"
)

// spansLine is one line with spans, spans that are given as JSON.
func spansLine(spans []string) string {
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(spans, ",") + `]}]}]}` + "\n"
}

// repeat makes n spans or records, in lines of at most 1,000.
func repeat(n int, line func([]string) string, one func(i int) string) string {
	var b strings.Builder
	for i := 0; i < n; i += 1000 {
		var list []string
		for k := i; k < min(n, i+1000); k++ {
			list = append(list, one(k))
		}
		b.WriteString(line(list))
	}
	return b.String()
}

func recordsLine(records []string) string {
	return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + strings.Join(records, ",") + `]}]}]}` + "\n"
}

// TestHostileShapes: a capture of a few megabytes, whatever is below what in it,
// is explained in every form in the time and the memory that its size asks for.
func TestHostileShapes(t *testing.T) {
	const n = 40_000
	most := 15 * time.Second
	if racetest.On {
		most *= 4 // 20 to 28 s were measured beside other work
	}
	for name, text := range map[string]string{
		"a chain of open spans": repeat(n, recordsLine, func(i int) string {
			return fmt.Sprintf(`{"timeUnixNano":"5","eventName":"magi.span.start","spanId":"%x","attributes":[{"key":"magi.span.parent","value":{"stringValue":"%x"}}]}`, i+1, i)
		}),
		"a ring of open spans": repeat(n, recordsLine, func(i int) string {
			return fmt.Sprintf(`{"timeUnixNano":"5","eventName":"magi.span.start","spanId":"%x","attributes":[{"key":"magi.span.parent","value":{"stringValue":"%x"}}]}`, i, (i+1)%n)
		}),
		"runs of one id": repeat(n, spansLine, func(i int) string {
			if i%2 == 0 {
				return `{"name":"invoke_agent magi-code","spanId":"a","parentSpanId":"b","startTimeUnixNano":"1","endTimeUnixNano":"9"}`
			}
			return `{"name":"chat","spanId":"c","parentSpanId":"a","startTimeUnixNano":"1","endTimeUnixNano":"9"}`
		}),
		"many slow cleanups": repeat(n, spansLine, func(i int) string {
			return fmt.Sprintf(`{"name":"magi.cleanup","spanId":"%x","startTimeUnixNano":"1","endTimeUnixNano":"9000000000"}`, i)
		}),
		"many names": repeat(n, spansLine, func(i int) string {
			return fmt.Sprintf(`{"name":"magi.cleanup.%d","spanId":"%x","startTimeUnixNano":"1","endTimeUnixNano":"9000000000"}`, i, i)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a := analysed(t, text)
			Print(io.Discard, a, Look{})
			HTML(io.Discard, a)
			if _, err := json.Marshal(a); err != nil {
				t.Error(err)
			}
			PrintDiff(io.Discard, Compare(a, analysed(t, strings.ReplaceAll(text, "magi.cleanup.", "magi.cleanup.x")), nil), Look{})
			runtime.ReadMemStats(&after)
			if took := time.Since(began); took > most {
				t.Errorf("%d spans took %v", n, took)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 2<<30 {
				t.Errorf("%d spans took %d MB", n, used>>20)
			}
		})
	}
}

func analysed(t *testing.T, text string) *Analysis {
	t.Helper()
	c := new(Capture)
	if err := c.Read(strings.NewReader(text), "traces"); err != nil {
		t.Fatal(err)
	}
	return Analyse("x", c)
}

// TestHostileNumbers: no number that a line can hold stops an explanation, in
// any of its forms.
func TestHostileNumbers(t *testing.T) {
	for _, v := range []string{"1e300", "-1e300", "1.7976931348623157e308", "-1.7976931348623157e308", "9e18", "0"} {
		var b strings.Builder
		for _, name := range []string{"magi.output.pending.peak", "magi.output.oldest_age.peak", "magi.worker.pending.peak", "magi.output.near_misses", "magi.deltas", "magi.telemetry.dropped", "magi.admission.rejections"} {
			for _, form := range []string{"gauge", "sum"} {
				point := `{"timeUnixNano":"9223372036854775807","asDouble":` + v + `,"attributes":[{"key":"magi.delta.outcome","value":{"stringValue":"dropped"}}]}`
				fmt.Fprintf(&b, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":%q,%q:{"dataPoints":[%s,%s]}}]}]}]}`+"\n", name, form, point, point)
			}
		}
		b.WriteString(spansLine([]string{`{"name":"magi.cleanup","startTimeUnixNano":"9223372036854775807","endTimeUnixNano":"1"}`,
			`{"name":"invoke_agent magi-code","spanId":"a","startTimeUnixNano":"9223372036854775807","endTimeUnixNano":"1"}`,
			`{"name":"chat","parentSpanId":"a","startTimeUnixNano":"1","endTimeUnixNano":"9223372036854775807"}`}))
		a := analysed(t, b.String())
		for _, width := range []int{-1, 0, 1, 80} {
			Print(io.Discard, a, Look{Width: width})
		}
		var page bytes.Buffer
		HTML(&page, a)
		for _, bad := range []string{"Inf", "NaN"} {
			if strings.Contains(page.String(), bad) {
				t.Errorf("%s: the page has %s", v, bad)
			}
		}
		if _, err := json.Marshal(a); err != nil {
			t.Errorf("%s: %v", v, err)
		}
		if _, err := json.Marshal(Compare(a, a, nil)); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// TestHostileDepth: what is nested deeply is no line, for whoever reads and for
// whoever checks.
func TestHostileDepth(t *testing.T) {
	for _, open := range []string{`{"resourceSpans":[`, `[`, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":` + strings.Repeat(`{"arrayValue":{"values":[`, 30_000)} {
		line := []byte(strings.Repeat(open, max(500_000/len(open), 1)) + "\n")
		c := new(Capture)
		if err := c.Read(bytes.NewReader(line), "logs"); err != nil || c.Torn != 1 || c.Whole() != ErrForeign {
			t.Errorf("%.20s: %v, torn %d, %v", open, err, c.Torn, c.Whole())
		}
		if found := Check(line); len(found) != 1 {
			t.Errorf("%.20s: %v", open, found)
		}
	}
}

// TestHostileSize: what is small in a file and large in memory is bounded, for
// whoever reads a capture and for whoever checks it.
func TestHostileSize(t *testing.T) {
	line := func(n int) string {
		return spansLine([]string{`{"name":"x","events":[` + strings.TrimSuffix(strings.Repeat("{},", n), ",") + `]}`})
	}
	c := &Capture{inside: maxInside - 500_000}
	if err := c.Read(strings.NewReader(line(300_000)), "traces"); err != nil {
		t.Error(err)
	}
	if err := c.Read(strings.NewReader(line(300_000)), "traces"); err != ErrTooLarge {
		t.Errorf("%v with %d more events than there may be", err, c.inside-maxInside)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found := Check([]byte(`{"resourceSpans":[` + strings.TrimSuffix(strings.Repeat("{},", 20<<20/3), ",") + "]}\n"))
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 || len(found) != 1 {
		t.Errorf("a line of 20 MB: %d MB, %v", used>>20, found)
	}
}

// TestManyMethods: which phases are requests' is not looked up in a list for each.
func TestManyMethods(t *testing.T) {
	const n = 150_000
	a := &Analysis{}
	for i := range n {
		name := fmt.Sprintf("magi.method.%06d", i)
		a.Requests = append(a.Requests, Request{Method: name})
		a.Phases = append(a.Phases, Phase{Name: name})
	}
	a.Phases = append(a.Phases, Phase{Name: "chat"})
	began := time.Now()
	if got := a.slowest(3); len(got) != 1 || got[0].Name != "chat" {
		t.Errorf("%v", got)
	}
	if took := time.Since(began); took > 5*time.Second { // more than half a minute, where it is
		t.Errorf("it takes %v", took)
	}
}

// TestManyBuckets: two bytes of a line are eight in memory, and count.
func TestManyBuckets(t *testing.T) {
	for _, list := range []string{"bucketCounts", "explicitBounds"} {
		line := `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"x","histogram":{"dataPoints":[{"` + list + `":[1` + strings.Repeat(",1", 250_000) + `]}]}}]}]}]}` + "\n"
		c := &Capture{inside: maxInside - 100_000}
		if err := c.Read(strings.NewReader(strings.Repeat(line, 4)), "metrics"); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// endless is a file without an end, as a sparse one may be as good as.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// TestEndless: also what is no line, and what is an empty one, has been read.
func TestEndless(t *testing.T) {
	for _, b := range []endless{0, '\n'} {
		c := &Capture{Bytes: maxBytes - 2<<20}
		if err := c.Read(io.LimitReader(b, 1<<30), "traces"); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%q: %v", rune(b), err)
		}
	}
}
