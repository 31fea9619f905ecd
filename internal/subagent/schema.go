package subagent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"magicode/internal/jsonscan"
	"magicode/internal/profile"
)

// texts is an array of strings in a schema.
const texts = `{"type":"array","items":{"type":"string"}}`

// builtins are the schemas that profiles name (tools.md 5.5): the phase, the
// states it knows, and the members beside the common ones.
var builtins = [...]struct{ name, states, members string }{
	{"plan", `"READY","NEEDS_REVISION","BLOCKED"`, `"plan_path":{"type":"string"},"ready_for_implementation":{"type":"boolean"},` +
		`"documentation":{"type":"object","properties":{"prd":{"type":"string"},"adr":{"type":"string"},"rfc":{"type":"string"}},"required":["prd","adr","rfc"],"additionalProperties":false},` +
		`"key_assumptions":` + texts},
	{"research", otherStates, `"findings":{"type":"array","items":{"type":"object","properties":{"claim":{"type":"string"},"evidence":{"type":"string"},` +
		`"confidence":{"enum":["observed","inferred","unknown"]}},"required":["claim","evidence","confidence"],"additionalProperties":false}},"open_questions":` + texts},
	{"implement", otherStates, `"changed_files":` + texts + `,"tests_run":` + texts + `,"implementation_notes":` + texts},
	{"review", otherStates, `"verdict":{"enum":["PASS","NEEDS_REVISION","FAIL"]},"findings":{"type":"array","items":{"type":"object","properties":{` +
		`"severity":{"enum":["critical","high","medium","low"]},"file":{"type":"string"},"issue":{"type":"string"},"recommendation":{"type":"string"}},` +
		`"required":["severity","file","issue","recommendation"],"additionalProperties":false}}`},
	{"document", otherStates, `"documents":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"status":{"type":"string"},` +
		`"change_summary":{"type":"string"}},"required":["path","status","change_summary"],"additionalProperties":false}},"ready":{"type":"boolean"}`},
}

const otherStates = `"COMPLETE","PARTIAL","BLOCKED"`

// SchemaOf returns the JSON Schema that a profile asks for, "" for none.
func SchemaOf(o profile.Output) string {
	if o.Inline != "" {
		return o.Inline
	}
	for _, b := range builtins {
		if b.name == o.Builtin {
			return object(`"phase":{"const":"` + strings.ToUpper(b.name) + `"},"status":{"enum":[` + b.states + `]},"summary":{"type":"string"},` +
				`"artifacts":` + texts + `,"verification":` + texts + `,"risks":` + texts + `,` + b.members)
		}
	}
	return ""
}

// object is the schema of an object that has exactly these members.
func object(members string) string {
	var names []string
	for name := range jsonscan.Value("{" + members + "}").Members() {
		names = append(names, string(name))
	}
	return `{"type":"object","properties":{` + members + `},"required":[` + strings.Join(names, ",") + `],"additionalProperties":false}`
}

// checker holds answers against a schema.
type checker struct{ schema *jsonschema.Resolved }

// newChecker fails for a schema that is none, or that needs another document.
func newChecker(schema string) (*checker, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return nil, fmt.Errorf("the profile's output_schema is no JSON Schema: %v", err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("the profile's output_schema cannot be used: %v", err)
	}
	return &checker{r}, nil
}

// problem is what is wrong with an answer.
type problem struct {
	InstancePath string `json:"instance_path"`
	SchemaPath   string `json:"schema_path"`
	Message      string `json:"message"`
}

// check returns the answer's object, or what is wrong with it. The whole text
// must be the object.
func (c *checker) check(answer string) (map[string]any, *problem) {
	if _, err := jsonscan.Parse([]byte(answer), jsonscan.Options{AnyNumber: true}); err != nil {
		return nil, &problem{Message: "the answer is not one JSON value: no other text and no code fence may stand around it"}
	}
	var v any
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		return nil, &problem{Message: "the answer holds a number that is out of range"}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, &problem{Message: "the answer is no JSON object"}
	}
	if err := c.schema.Validate(m); err != nil {
		return nil, located(err.Error())
	}
	return m, nil
}

// located takes the library's text apart: where it was validating, innermost
// last, and what it found there.
func located(text string) *problem {
	p := &problem{Message: text}
	for {
		rest, ok := strings.CutPrefix(p.Message, "validating ")
		where, message, found := strings.Cut(rest, ": ")
		if !ok || !found {
			break
		}
		p.Message = message
		if strings.HasPrefix(where, "/") {
			p.SchemaPath = where
		}
	}
	p.InstancePath = instancePath(p.SchemaPath)
	return p
}

// instancePath turns a path in the schema into one in the answer: elements of
// an array become "*".
func instancePath(schema string) string {
	var out strings.Builder
	steps := strings.Split(strings.TrimPrefix(schema, "/"), "/")
	for i := 0; i < len(steps); i++ {
		switch {
		case steps[i] == "properties" && i+1 < len(steps):
			i++
			out.WriteString("/" + steps[i])
		case steps[i] == "items":
			out.WriteString("/*")
		}
	}
	return out.String()
}

// feedback tells the child, or in the end the parent, what is wrong (tools.md 5.5).
func (p *problem) feedback(attempt, maxRetries int, exhausted bool) string {
	f := struct {
		Error       bool      `json:"schema_validation_error"`
		Attempt     int       `json:"attempt"`
		MaxRetries  int       `json:"max_retries"`
		Exhausted   bool      `json:"exhausted,omitempty"`
		Errors      []problem `json:"errors"`
		Instruction string    `json:"instruction,omitempty"`
	}{Error: true, Attempt: attempt, MaxRetries: maxRetries, Exhausted: exhausted, Errors: []problem{*p}}
	if !exhausted {
		f.Instruction = "Answer again with one raw JSON object that matches the schema, and nothing else."
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return p.Message // strings and numbers: cannot happen
	}
	return string(raw)
}
