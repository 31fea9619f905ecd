package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The constructors below make rules of one JSON type each. at gives the place
// in T where the value goes. Where a constructor's name starts with opt, null is
// a value too.

type object = map[string]any

func boolean[T any](path string, fallback bool, at func(*T) *bool) rule[T] {
	return rule[T]{
		path: path, fallback: fallback,
		schema: func() object { return object{"type": "boolean", "default": fallback} },
		take: func(t *T, v any) *problem {
			b, ok := v.(bool)
			if !ok {
				return wrong("must be true or false")
			}
			*at(t) = b
			return nil
		},
	}
}

func optBoolean[T any](path string, at func(*T) **bool) rule[T] {
	return rule[T]{
		path: path, schema: func() object { return object{"type": []any{"boolean", "null"}} },
		take: func(t *T, v any) *problem {
			if v == nil {
				*at(t) = nil
				return nil
			}
			b, ok := v.(bool)
			if !ok {
				return wrong("must be true, false or null")
			}
			*at(t) = &b
			return nil
		},
	}
}

// noLimit is the upper end of integers that may be anything in 64 bits.
const noLimit = math.MaxInt

func integer[T any](path string, fallback, low, high int, at func(*T) *int) rule[T] {
	return rule[T]{
		path: path, fallback: number(strconv.Itoa(fallback)),
		schema: func() object { return bounds(object{"type": "integer", "default": fallback}, low, high) },
		take: func(t *T, v any) *problem {
			n, p := inRange(v, low, high)
			*at(t) = n
			return p
		},
	}
}

// optInteger has null as its default when fallback is below 0.
func optInteger[T any](path string, fallback, low, high int, at func(*T) **int) rule[T] {
	schema := func() object { return bounds(object{"type": []any{"integer", "null"}}, low, high) }
	r := rule[T]{
		path: path, schema: schema,
		take: func(t *T, v any) *problem {
			if v == nil {
				*at(t) = nil
				return nil
			}
			n, p := inRange(v, low, high)
			*at(t) = &n
			return p
		},
	}
	if fallback >= 0 {
		r.fallback = number(strconv.Itoa(fallback))
		r.schema = func() object {
			s := schema()
			s["default"] = fallback
			return s
		}
	}
	return r
}

// clamped is an integer of any size that is moved into the range, not refused.
func clamped[T any](path string, fallback, low, high int, at func(*T) *int) rule[T] {
	r := integer(path, fallback, 0, noLimit, at)
	take := r.take
	r.take = func(t *T, v any) *problem {
		p := take(t, v)
		*at(t) = min(max(*at(t), low), high)
		return p
	}
	return r
}

func inRange(v any, low, high int) (int, *problem) {
	n, ok := intOf(v)
	if !ok {
		return 0, wrong("must be an integer without a sign or fraction")
	}
	if n < low || n > high {
		return 0, wrong("is out of range (" + rangeText(low, high) + ")")
	}
	return n, nil
}

func rangeText(low, high int) string {
	if high == noLimit {
		return fmt.Sprintf("at least %d", low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

func bounds(s object, low, high int) object {
	s["minimum"] = low
	if high != noLimit {
		s["maximum"] = high
	}
	return s
}

// fraction is a number from 0 to 1.
func fraction[T any](path string, fallback float64, at func(*T) *float64) rule[T] {
	return rule[T]{
		path: path, fallback: number(strconv.FormatFloat(fallback, 'g', -1, 64)),
		schema: func() object { return object{"type": "number", "minimum": 0, "maximum": 1, "default": fallback} },
		take: func(t *T, v any) *problem {
			n, ok := v.(number)
			if !ok {
				return wrong("must be a number")
			}
			f, err := strconv.ParseFloat(string(n), 64)
			if err != nil || f < 0 || f > 1 {
				return wrong("is out of range (0 to 1)")
			}
			*at(t) = f
			return nil
		},
	}
}

// checker gives the reason why a text is refused, "" if it is not.
type checker func(string) string

func anyText(string) string { return "" }

func notBlank(s string) string {
	if strings.TrimSpace(s) == "" {
		return "is blank"
	}
	return ""
}

func text[T any](path string, check checker, at func(*T) *string) rule[T] {
	return rule[T]{
		path: path, fallback: "", schema: func() object { return object{"type": "string"} },
		take: func(t *T, v any) *problem {
			s, ok := v.(string)
			if !ok {
				return wrong("must be a string")
			}
			*at(t) = s
			return complaint(check(s))
		},
	}
}

// absentText is text whose absence is no blank value: the check is left out then.
func absentText[T any](path string, at func(*T) *string) rule[T] { return text(path, anyText, at) }

func optText[T any](path string, check checker, at func(*T) **string) rule[T] {
	return rule[T]{
		path: path, schema: func() object { return object{"type": []any{"string", "null"}} },
		take: func(t *T, v any) *problem {
			if v == nil {
				*at(t) = nil
				return nil
			}
			s, ok := v.(string)
			if !ok {
				return wrong("must be a string or null")
			}
			*at(t) = &s
			return complaint(check(s))
		},
	}
}

// blankable is an optional text that is trimmed, blank counting as null. clean
// checks what is left and may rewrite it.
func blankable[T any](path string, check checker, at func(*T) *string) rule[T] {
	return rule[T]{
		path: path, schema: func() object { return object{"type": []any{"string", "null"}} },
		take: func(t *T, v any) *problem {
			s, ok := v.(string)
			if v != nil && !ok {
				return wrong("must be a string or null")
			}
			*at(t) = strings.TrimSpace(s)
			if *at(t) == "" {
				return nil
			}
			return complaint(check(*at(t)))
		},
	}
}

func complaint(reason string) *problem {
	if reason == "" {
		return nil
	}
	return wrong(reason)
}

func enum[T any, E ~string](path string, fallback E, at func(*T) *E, values ...E) rule[T] {
	return rule[T]{
		path: path, fallback: string(fallback),
		schema: func() object { return object{"enum": words(values), "default": string(fallback)} },
		take: func(t *T, v any) *problem {
			s, ok := v.(string)
			if !ok {
				return wrong("must be a string")
			}
			return choose(at(t), s, values)
		},
	}
}

// optEnum stores null as whenNull.
func optEnum[T any, E ~string](path string, whenNull E, at func(*T) *E, values ...E) rule[T] {
	return rule[T]{
		path: path, schema: func() object { return object{"enum": append(words(values), nil)} },
		take: func(t *T, v any) *problem {
			s, ok := v.(string)
			switch {
			case v == nil:
				*at(t) = whenNull
				return nil
			case !ok:
				return wrong("must be a string or null")
			}
			return choose(at(t), s, values)
		},
	}
}

func choose[E ~string](to *E, s string, values []E) *problem {
	for _, v := range values {
		if s == string(v) {
			*to = v
			return nil
		}
	}
	return wrong("is none of " + strings.Join(stringsOf(values), ", "))
}

func stringsOf[E ~string](values []E) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

func words[E ~string](values []E) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// list is an array of strings. check sees the whole list and may rewrite it.
func list[T any](path string, check func([]string) ([]string, *problem), at func(*T) *[]string) rule[T] {
	return rule[T]{
		path: path, fallback: []any{},
		schema: func() object { return object{"type": "array", "items": object{"type": "string"}, "default": []any{}} },
		take: func(t *T, v any) *problem {
			items, p := textList(v)
			if p != nil {
				return p
			}
			items, p = check(items)
			*at(t) = items
			return p
		},
	}
}

func textList(v any) ([]string, *problem) {
	items, ok := v.([]any)
	if !ok {
		return nil, wrong("must be an array")
	}
	out := make([]string, 0, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok {
			return nil, wrong("must be a string", strconv.Itoa(i))
		}
		out = append(out, s)
	}
	return out, nil
}

func asIs(items []string) ([]string, *problem)    { return items, nil }
func trimmed(items []string) ([]string, *problem) { return trimAll(items), nil }

// fixed is a schema that is written down.
func fixed(s object) func() object { return func() object { return s } }

// special is a key with a decoder of its own.
func special[T any](path string, fallback any, schema func() object, take func(*T, any) *problem) rule[T] {
	return rule[T]{path: path, fallback: fallback, schema: schema, take: take}
}

// keyed is an object whose keys the user chooses. one decodes an entry.
func keyed[T, E any](path string, entry func() object, at func(*T) *map[string]E, one func(key string, v any) (E, *problem)) rule[T] {
	return rule[T]{
		path: path, fallback: map[string]any{},
		schema: func() object { return object{"type": "object", "additionalProperties": entry(), "default": object{}} },
		take: func(t *T, v any) *problem {
			m, ok := v.(map[string]any)
			if !ok {
				return wrong("must be an object")
			}
			out := make(map[string]E, len(m))
			for _, k := range sortedKeys(m) {
				e, p := one(k, m[k])
				if p != nil {
					return p.under(k)
				}
				out[k] = e
			}
			*at(t) = out
			return nil
		},
	}
}
