package factory_test

import (
	"regexp"
	"testing"

	"magicode/internal/provider"
	"magicode/internal/provider/factory"
	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"

	"github.com/google/go-cmp/cmp"
)

// TestResponseModel: the model that answered is on each generation's span and in
// its metrics, whatever API it is asked by: as it is from a built-in provider,
// hashed from one of the user's own, and not at all where it is no name.
func TestResponseModel(t *testing.T) {
	p := spantest.New(t)
	p.Ready()
	s := &server{}
	c := config(s)
	c.Engine.Tel = p.Tel
	f := factory.New(c)
	key := telemetry.KeyResponseModel.String()
	want := map[string]uint64{"answering": 2, "a hash": 3, "_OTHER": 1, "": 2}
	for _, id := range []string{"local", "chat", "thinking", "anthropic", "openai-codex"} {
		s.model = "answering"
		send(t, f, provider.Selection{Provider: id, Model: "m1"}, provider.PurposeMain)
	}
	for _, model := range []string{"no\nname", ""} {
		s.model = model
		send(t, f, provider.Selection{Provider: "chat", Model: "m1"}, provider.PurposeMain)
	}
	s.model = ""
	send(t, f, provider.Selection{Provider: "anthropic", Model: "m1"}, provider.PurposeMain)
	hash := regexp.MustCompile(`^[0-9a-f]{12}$`)
	onSpans, inMetrics := map[string]uint64{}, map[string]uint64{}
	for _, span := range p.Spans() {
		if span.Attributes[telemetry.KeyChatPurpose.String()] == "main" {
			name, _ := span.Attributes[key].(string)
			onSpans[hash.ReplaceAllString(name, "a hash")]++
		}
	}
	if diff := cmp.Diff(want, onSpans); diff != "" {
		t.Errorf("spans: %s", diff)
	}
	for name, n := range p.Counts("gen_"+"ai.client.inference.duration", key) {
		inMetrics[hash.ReplaceAllString(name, "a hash")] += n
	}
	if diff := cmp.Diff(want, inMetrics); diff != "" {
		t.Errorf("metrics: %s", diff)
	}
}
