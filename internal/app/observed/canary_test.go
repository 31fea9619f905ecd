package observed

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Canaries: one for each place that content can come from.
const (
	canaryPrompt    = "CANARYPROMPTqx1"
	canaryReply     = "CANARYREPLYqx2"
	canaryArgument  = "CANARYARGqx3"
	canaryResult    = "CANARYRESULTqx4"
	canaryFile      = "CANARYFILEqx5"
	canaryModel     = "CANARYMODELqx6"
	canaryProvider  = "canaryproviderqx7"
	canaryKey       = "CANARYKEYqx8"
	canaryHome      = "CANARYHOMEqx9"
	canaryEnv       = "CANARYENVqx10"
	canaryHeader    = "CANARYHEADERqx11"
	canaryError     = "CANARYERRORqx13"
	canaryServer    = "canaryserverqx14"
	canaryTool      = "canarytoolqx15"
	canaryProfile   = "canaryprofileqx16"
	canaryPanic     = "CANARYPANICqx17"
	canaryAnswering = "CANARYANSWERINGqx18" // the model that says it has answered
	canaryThought   = "CANARYTHOUGHTqx23"   // reasoning
	canaryResponse  = "CANARYRESPONSEqx19"  // the provider's id of an answer, also in a header
	canaryRule      = "CANARYRULEqx20"      // of instructions and of a skill
	canaryHook      = "CANARYHOOKqx21"      // its label and its command
	canarySeen      = "CANARYSEENqx22"      // what an MCP server's tool found
)

func canaries() []string {
	return []string{canaryPrompt, canaryReply, canaryArgument, canaryResult, canaryFile, canaryModel, canaryProvider, canaryKey, canaryHome, canaryEnv, canaryHeader, canaryAnswering,
		canaryError, canaryServer, canaryTool, canaryProfile, canaryPanic, canaryThought, canaryResponse, canaryRule, canaryHook, canarySeen}
}

// forms are the ways in which a text can hide in another, in lower case: as it
// is, in base64 wherever it begins in a group of three bytes, in hexadecimal
// digits, in percents, in the escapes of JSON, and in two pieces.
func forms(c string) map[string]string {
	out := map[string]string{"raw": c, "hex": hex.EncodeToString([]byte(c)), "first half": c[:len(c)/2], "second half": c[len(c)/2:]}
	for _, b := range []byte(c) {
		out["percent"] += fmt.Sprintf("%%%02x", b)
		out["JSON"] += fmt.Sprintf(`\u%04x`, b)
	}
	for before := range 3 {
		whole := (before + len(c)) / 3 * 4 // digits that only the text and what is before it decide
		out[fmt.Sprint("base64 ", before)] = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + c))[(before*8+5)/6 : whole]
	}
	for name, form := range out {
		out[name] = strings.ToLower(form)
	}
	return out
}

// leaks lists the canaries in a text, with their forms.
func leaks(text string) (found []string) {
	lower := strings.ToLower(text)
	for _, c := range canaries() {
		for name, form := range forms(c) {
			if strings.Contains(lower, form) {
				found = append(found, c+" "+name)
			}
		}
	}
	slices.Sort(found)
	return found
}

// holdsNone looks for every canary in every form, and for the paths of a world.
func holdsNone(t *testing.T, w *world, name, text string) {
	t.Helper()
	for _, c := range leaks(text) {
		t.Errorf("%s holds %s", name, c)
	}
	if strings.Contains(text, w.home) || strings.Contains(text, w.work) {
		t.Errorf("%s holds a path", name)
	}
}

// holdNone looks into all of them, but for the salt, which is noise, and locks,
// which are empty.
func holdNone(t *testing.T, w *world, made map[string]string) {
	t.Helper()
	for name, text := range made {
		if strings.HasSuffix(name, ".lock") && text != "" {
			t.Errorf("%s has %d bytes", name, len(text))
		}
		if !strings.HasSuffix(name, ".salt") {
			holdsNone(t, w, name, text)
		}
	}
}

// TestLeaksAreFound: the search itself finds each form of each canary, wherever
// it stands.
func TestLeaksAreFound(t *testing.T) {
	escaped := func(format string) func(string) string {
		return func(s string) (out string) {
			for _, b := range []byte(s) {
				out += fmt.Sprintf(format, b)
			}
			return out
		}
	}
	hidden := map[string]func(string) string{
		"raw": func(s string) string { return s }, "upper": strings.ToUpper, "lower": strings.ToLower,
		"hex": escaped("%02x"), "HEX": escaped("%02X"), "percent": escaped("%%%02X"), "JSON": escaped(`\u%04x`), "JSON, upper": escaped(`\u%04X`),
		"base64":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64 url": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"first":      func(s string) string { return s[:len(s)-len(s)/2] },
	}
	for _, name := range slices.Sorted(maps.Keys(hidden)) {
		for _, c := range canaries() {
			for before := range 4 {
				if text := strings.Repeat("~", before) + c; len(leaks(hidden[name](text+"~"))) == 0 && name != "first" || len(leaks(text[:before+len(c)/2])) == 0 {
					t.Errorf("%s behind %d bytes is not found: %s", c, before, name)
				}
			}
		}
	}
	if found := leaks(`{"resourceSpans":[{"name":"magi.child"}]}`); len(found) > 0 {
		t.Errorf("found where it is not: %v", found)
	}
}
