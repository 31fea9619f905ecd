package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"magicode/internal/provider/chat"
)

// TestManyCalls: the number of calls of one answer has a bound, because the
// work for each grows with those before it.
func TestManyCalls(t *testing.T) {
	for n, fits := range map[int]bool{4096: true, 4097: false} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `data: {"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"f","arguments":"{}"}}]}}]}`+"\n\n", i, i)
		}
		b.WriteString("data: [DONE]\n\n")
		got := play(chat.NewParser, strings.NewReader(b.String()))
		if calls, overflow := strings.Count(got, "\ncall id="), strings.Contains(got, "number of tool calls"); overflow == fits || fits && calls < n-1 {
			t.Errorf("%d: %d calls, overflow %v", n, calls, overflow)
		}
	}
}
