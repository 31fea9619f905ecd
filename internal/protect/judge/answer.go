package judge

import (
	"strconv"

	"magicode/internal/jsonscan"
)

// decode reads {"model","answers"} and holds every answer against its question.
// Members that are not known are left alone.
func decode(body []byte, questions map[string]Question) (Answers, error) {
	v, err := jsonscan.Parse(body, jsonscan.Options{AnyNumber: true})
	if err != nil || v.Kind() != jsonscan.Object {
		return Answers{}, failure(Malformed, "the answer is no JSON object")
	}
	answers := v.Get("answers")
	if answers.Kind() != jsonscan.Object {
		return Answers{}, failure(Malformed, "the answer has no answers")
	}
	out := Answers{Of: make(map[string]Answer, len(questions)), Model: modelName(v.Get("model"))}
	for name, q := range questions {
		a, ok := q.read(answers.Get(name))
		if !ok {
			return Answers{}, failure(Incomplete, "an answer is missing or does not fit its question")
		}
		out.Of[name] = a
	}
	return out, nil
}

// modelName is who says to have judged; a name that is none is the one asked.
func modelName(v jsonscan.Value) string {
	name, ok := v.Text()
	if !ok || name == "" || len(name) > 128 {
		return Model
	}
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return Model
		}
	}
	return name
}

func (q Question) read(v jsonscan.Value) (a Answer, ok bool) {
	if v.Kind() != jsonscan.Object {
		return a, false
	}
	if t := v.Get("type"); t.Kind() != jsonscan.Invalid && !t.Is(string(q.Kind)) {
		return a, false
	}
	if q.Kind == Noul {
		a.Noul, ok = within(v.Get("noul"), 1)
		return a, ok
	}
	if a.Confidence, ok = within(v.Get("confidence"), 1); !ok {
		return a, false
	}
	if a.Probabilities, ok = probabilities(v.Get("probabilities")); !ok {
		return a, false
	}
	if q.Kind == Score {
		a.Score, ok = within(v.Get("score"), float64(len(q.Levels)-1))
		return a, ok
	}
	a.Choice, ok = v.Get("choice").Text()
	_, known := q.Criteria[a.Choice]
	return a, ok && known
}

// within is a number from 0 to high.
func within(v jsonscan.Value, high float64) (float64, bool) {
	if v.Kind() != jsonscan.Number {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(v), 64)
	return n, err == nil && n >= 0 && n <= high
}

// maxProbabilities is one per criterion of the largest choice.
const maxProbabilities = 255

// probabilities may be left out.
func probabilities(v jsonscan.Value) (map[string]float64, bool) {
	switch v.Kind() {
	case jsonscan.Invalid, jsonscan.Null:
		return nil, true
	case jsonscan.Object:
	default:
		return nil, false
	}
	out := make(map[string]float64)
	for k, p := range v.Members() {
		n, ok := within(p, 1)
		if !ok || len(out) >= maxProbabilities {
			return nil, false
		}
		out[k.LenientText()] = n
	}
	return out, true
}
