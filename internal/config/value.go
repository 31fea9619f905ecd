package config

import (
	"math"
	"strings"

	"magicode/internal/jsonscan"
)

// maxContainers is how deep the released program's parser goes: 127 open
// containers are accepted, as in session lines (storage.md 5.6).
const maxContainers = 127

// number is a JSON number as it was spelled: 2.0 is no integer here.
type number string

// delimiter separates the parts of a path inside our settings library. A key
// that holds it could pass for a path, so such keys never get in (decision 26).
const delimiter = "\x1f"

// toTree turns a parsed object into maps: string, number, bool, nil, []any and
// map[string]any. The last of repeated keys counts, as in the released program.
func toTree(v jsonscan.Value) map[string]any {
	m := make(map[string]any)
	for k, member := range v.Members() {
		name, _ := k.Text()
		if strings.Contains(name, delimiter) {
			continue
		}
		m[name] = toAny(member)
	}
	return m
}

func toAny(v jsonscan.Value) any {
	switch v.Kind() {
	case jsonscan.Object:
		return toTree(v)
	case jsonscan.Array:
		list := []any{}
		for e := range v.Elements() {
			list = append(list, toAny(e))
		}
		return list
	case jsonscan.String:
		text, _ := v.Text()
		return text
	case jsonscan.Number:
		return number(v)
	case jsonscan.True:
		return true
	case jsonscan.False:
		return false
	}
	return nil
}

// uint64Of gives an unsigned integer that is spelled in digits.
func uint64Of(v any) (uint64, bool) {
	n, ok := v.(number)
	if !ok {
		return 0, false
	}
	return jsonscan.Value(n).Uint64()
}

// intOf is uint64Of, held at the largest int.
func intOf(v any) (int, bool) {
	n, ok := uint64Of(v)
	return int(min(n, math.MaxInt)), ok
}

// hasSpaceOrControl reports ASCII white space or an ASCII control character.
func hasSpaceOrControl(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// trimAll trims every entry and drops those that are blank.
func trimAll(list []string) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
