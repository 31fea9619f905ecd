package agent

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/agenttest"
	"magicode/internal/vfs"
)

// TestImageInATurn: the image goes to the vision model only, in a request of its
// own; the conversation and the session hold its answer, also on replay.
func TestImageInATurn(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "cat.png")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString(b.Bytes())
	m := agenttest.Start(t, "")
	c := serveOn(t, vfs.OS(), dir, m, `,"capabilities":{"tools":{"view_image":{"vision_model":{"provider":"fixture","model":"eyes"}}}}`)
	m.Load(fmt.Sprintf(`tool:view_image {"path":%q,"prompt":"What is it?"}`, path), "text:A grey cat.", "text:It is a cat.")
	if got := c.turn(); got != "completed durable <nil>" {
		t.Fatal(got)
	}
	seen := m.Seen()
	if len(seen) != 3 || !strings.Contains(seen[1], data) || !strings.Contains(seen[1], `"model":"eyes"`) {
		t.Fatalf("%d requests: %.900s", len(seen), seen)
	}
	m.Load("text:Yes.")
	if got := c.turn(); got != "completed durable <nil>" {
		t.Fatal(got)
	}
	for _, request := range []string{seen[0], seen[2], m.Seen()[0]} {
		if strings.Contains(request, data) {
			t.Error("the conversation holds the image")
		}
	}
	if !strings.Contains(seen[2], "A grey cat.") || !strings.Contains(m.Seen()[0], "A grey cat.") {
		t.Error("the conversation lacks the answer")
	}
	text, err := os.ReadFile(filepath.Join(c.home, "sessions", c.session+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), data) || !strings.Contains(string(text), `"media_type":"image/png"`) {
		t.Errorf("the session:\n%s", text)
	}
}
