package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Intent is embedded in the arguments of every built-in tool: each takes an
// optional intent, which is for display only (extensions.md 18.3).
type Intent struct {
	Intent *string `json:"intent"`
}

// Decode reads the arguments of a call into a struct of pointers, slices and
// embedded structs. It refuses unknown, repeated and differently spelled
// fields, wrong types, numbers out of range, and anything but an object. null
// is the same as absent: a nil field. Errors name the field, never a value.
func Decode(args json.RawMessage, into any) error {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if kind := jsontext.Value(args).Kind(); kind != '{' {
		return errors.New("invalid arguments: an object is wanted")
	}
	err := jsonv2.Unmarshal(args, into, jsonv2.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	if s, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
		return semanticError(s)
	}
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok && s.Err == jsontext.ErrDuplicateName {
		return fmt.Errorf("invalid arguments: field %s is given twice", field(s.JSONPointer))
	}
	return errors.New("invalid arguments: not valid JSON")
}

func semanticError(s *jsonv2.SemanticError) error {
	if s.Err == jsonv2.ErrUnknownName {
		return fmt.Errorf("invalid arguments: unknown field %s", field(s.JSONPointer))
	}
	if s.GoType == nil {
		return fmt.Errorf("invalid arguments: field %s does not fit", field(s.JSONPointer))
	}
	return fmt.Errorf("invalid arguments: field %s must be %s", field(s.JSONPointer), typeName(s.GoType))
}

// field shows a pointer such as /paths/0 as "paths/0", cut to a readable size.
func field(p jsontext.Pointer) string {
	name := strings.TrimPrefix(string(p), "/")
	if len(name) > 80 {
		name = strings.ToValidUTF8(name[:80], "") + "…"
	}
	return fmt.Sprintf("%q", name)
}

func typeName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// Text returns a required string argument.
func Text(name string, v *string) (string, error) {
	if v == nil {
		return "", fmt.Errorf("invalid arguments: field %q is required", name)
	}
	return *v, nil
}

// Number returns an optional whole number between low and high, both included.
func Number(name string, v *int, low, high, missing int) (int, error) {
	if v == nil {
		return missing, nil
	}
	if *v < low || *v > high {
		return 0, fmt.Errorf("invalid arguments: field %q must be from %d to %d", name, low, high)
	}
	return *v, nil
}
