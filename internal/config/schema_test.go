package config

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "write settings.schema.json")

func TestKnown(t *testing.T) {
	for path, want := range map[string]bool{
		"agent": true, "agent.model.provider": true, "agent.model.model": true, "agent.modle.provider": false, "agnet": false,
		"agent.model.provider.x": false, "providers.custom.mine": true, "providers.custom.mine.base_url": true, "providers.custom.mine.bsae_url": false,
		"telemetry.file.max_mb": true, "capabilities.mcp_approvals./a/.mcp.json": true, "schema_version": true, "$schema": true,
	} {
		if got := Known(strings.Split(path, ".")); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestSchemaIsMadeFromTheTable(t *testing.T) {
	want := string(generateSchema())
	if *update {
		if err := os.WriteFile("settings.schema.json", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(Schema())); diff != "" {
		t.Errorf("settings.schema.json is not up to date; run with -update (-table +file):\n%s", diff)
	}
}

// schemaOracle is the generated schema in somebody else's validator.
func schemaOracle(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(generateSchema(), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSchemaAgreesWithTheDecoder: what settings accept, the schema accepts; what
// the schema refuses, settings refuse. (The reverse does not hold: the schema
// cannot say everything.)
func TestSchemaAgreesWithTheDecoder(t *testing.T) {
	oracle := schemaOracle(t)
	caught := 0
	for _, c := range append(acceptedSettings(), refusedSettings()...) {
		var doc any
		if err := json.Unmarshal([]byte(c.doc), &doc); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		schemaErr := oracle.Validate(doc)
		parsed, err := parseDocument("x", []byte(c.doc))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		_, p := decodeSettings(parsed.tree)
		switch {
		case p == nil && schemaErr != nil && !strings.Contains(c.name, "leniency"):
			t.Errorf("%s: settings accept what the schema refuses: %v", c.name, schemaErr)
		case p != nil && schemaErr != nil:
			caught++
		}
	}
	if caught < 100 {
		t.Errorf("the schema catches only %d of the refused rows", caught)
	}
}

// TestUnknown: settings without effect are named, the user's own names are none.
func TestUnknown(t *testing.T) {
	w := newWorld(t)
	w.global(`{"$schema":"x","schema_version":2,"agnet":{"a":1},"agent":{"model":{"modle":"m"}},"telemetry":{"enabled":false},"capabilities":{"mcp_approvals":{"/f":{"s":true}}}}`)
	w.project(`{"agnet":1,"providers":{"custom":{"mine":{"label":"L","base_url":"http://127.0.0.1/v1","lable":1}}}}`)
	if got, want := w.load().Unknown(), []string{"agent.model.modle", "agnet", "providers.custom.mine.lable"}; !slices.Equal(got, want) {
		t.Errorf("%q, wanted %q", got, want)
	}
}
