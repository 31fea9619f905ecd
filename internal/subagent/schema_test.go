package subagent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/profile"
	"magicode/internal/session"
)

const answerSchema = `{"type":"object","properties":{"n":{"type":"integer"},"list":{"type":"array","items":{"type":"string"}}},"required":["n"],"additionalProperties":false}`

func TestRepair(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []string
		ok      bool
		asked   int
	}{
		{"at once", []string{`{"n":1}`}, true, 1},
		{"after prose", []string{"Here: {\"n\":1}", `{"n":1}`}, true, 2},
		{"at last", []string{"x", `{"n":"1"}`, ` {"n":1} `}, true, 3},
		{"never", []string{`{}`}, false, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, delegates(1, "one"))
			w.schema = answerSchema
			w.replies = func(Request) (out []reply) {
				for _, a := range c.answers {
					out = append(out, says(text(a), cost(1, 1)))
				}
				return out
			}
			if res := w.run(t.Context()); res.Err != nil {
				t.Fatal(res.Err)
			}
			w.settled()
			r, k := w.report().Results[0], w.kids[0]
			if (r.Status == "completed") != c.ok || len(k.model.requests) != c.asked || r.TotalTokens != int64(2*c.asked) {
				t.Errorf("%+v, asked %d times", r, len(k.model.requests))
			}
			if c.ok && (r.Structured["n"] != 1.0) {
				t.Errorf("%v", r.Structured)
			}
			if !c.ok && !strings.Contains(*r.Error, `"attempt":2,"max_retries":2,"exhausted":true`) {
				t.Error(*r.Error)
			}
			in := k.log.of(session.KindUserInput)
			if !strings.Contains(in[0]["text"].(string), answerSchema) {
				t.Error("the task does not know its schema")
			}
			if c.asked > 1 && !strings.HasPrefix(in[1]["text"].(string), `{"schema_validation_error":true,"attempt":1,"max_retries":2,"errors":[`) {
				t.Errorf("%v", in[1])
			}
		})
	}
}

func TestProblems(t *testing.T) {
	c, err := newChecker(answerSchema)
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]problem{
		`{"n":1,"list":["a",2]}`:  {"/list/*", "/properties/list/items", `type: 2 has type "integer", want "string"`},
		`{"n":1,"m":2}`:           {"", "", `unexpected additional properties ["m"]`},
		`[1]`:                     {Message: "the answer is no JSON object"},
		"```json\n{\"n\":1}\n```": {Message: "the answer is not one JSON value: no other text and no code fence may stand around it"},
		`{"n":1e999}`:             {Message: "the answer holds a number that is out of range"},
	} {
		if _, got := c.check(answer); got == nil || *got != want {
			t.Errorf("%s: %+v", answer, got)
		}
	}
}

// TestBuiltinSchemas: each takes an answer that has every member, and no other.
func TestBuiltinSchemas(t *testing.T) {
	common := `"summary":"s","artifacts":[],"verification":["v"],"risks":[]`
	for name, members := range map[string]string{
		"plan":      `"phase":"PLAN","status":"READY","plan_path":"p","ready_for_implementation":true,"documentation":{"prd":"","adr":"","rfc":""},"key_assumptions":[]`,
		"research":  `"phase":"RESEARCH","status":"PARTIAL","findings":[{"claim":"c","evidence":"e","confidence":"observed"}],"open_questions":[]`,
		"implement": `"phase":"IMPLEMENT","status":"COMPLETE","changed_files":[],"tests_run":[],"implementation_notes":[]`,
		"review":    `"phase":"REVIEW","status":"BLOCKED","verdict":"PASS","findings":[{"severity":"low","file":"f","issue":"i","recommendation":"r"}]`,
		"document":  `"phase":"DOCUMENT","status":"COMPLETE","documents":[{"path":"p","status":"s","change_summary":"c"}],"ready":false`,
	} {
		c, err := newChecker(SchemaOf(profile.Output{Builtin: name}))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		good := "{" + members + "," + common + "}"
		v, p := c.check(good)
		if p != nil {
			t.Errorf("%s: %+v", name, *p)
			continue
		}
		for key := range v {
			less := map[string]any{"x": 1}
			for k, old := range v {
				if k != key {
					less[k] = old
				}
			}
			raw, err := json.Marshal(less)
			if err != nil {
				t.Fatal(err)
			}
			if _, p := c.check(string(raw)); p == nil {
				t.Errorf("%s takes an answer without %s", name, key)
			}
			delete(less, "x")
			if raw, err = json.Marshal(less); err != nil {
				t.Fatal(err)
			}
			if _, p := c.check(string(raw)); p == nil {
				t.Errorf("%s does not want %s", name, key)
			}
		}
		if _, p := c.check(strings.Replace(good, `"summary"`, `"more":1,"summary"`, 1)); p == nil {
			t.Errorf("%s takes more members", name)
		}
	}
	if d := cmp.Diff([]string{"", `{"a":1}`}, []string{SchemaOf(profile.Output{}), SchemaOf(profile.Output{Inline: `{"a":1}`})}); d != "" {
		t.Error(d)
	}
}
