package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// Assessor answers questions about a state. The state is encoded as JSON. The
// answers have exactly the names of the questions, and fit them. An error is an
// *Error, or the cause of the end of ctx.
type Assessor interface {
	Ask(ctx context.Context, state any, questions map[string]Question) (Answers, error)
}

// Kind is the form of an answer.
type Kind string

// Kinds of questions.
const (
	Choice Kind = "choice" // one of Criteria
	Score  Kind = "score"  // a place on Levels
	Noul   Kind = "noul"   // how likely the answer is yes
)

// Question is one thing to judge. Instructions have at most 4 KiB.
type Question struct {
	Kind         Kind
	Instructions string
	Criteria     map[string]string // of a Choice: 2 to 255 names and what they mean
	Levels       []string          // of a Score: 2 to 10, from low to high
}

// Answer is the answer to one question.
type Answer struct {
	Choice        string             // of a Choice
	Score         float64            // of a Score: 0 to len(Levels)-1
	Noul          float64            // of a Noul: 0 to 1
	Confidence    float64            // of a Choice or a Score: 0 to 1
	Probabilities map[string]float64 // per criterion or level ("0", "1", ...); nil when not told
}

// Answers are the answers to the questions of one Ask, under their names.
type Answers struct {
	Of     map[string]Answer
	Model  string // who judged
	Cached bool
}

// Bounds of a request (tools.md 7.1).
const (
	maxInstructions = 4 << 10
	maxRequestBytes = 128 << 10
)

// Model is the id of the model that is asked (tools.md 7.1).
const Model = "jev-1.13.0"

// question is a Question on the wire.
type question struct {
	Type         Kind   `json:"type"`
	Instructions string `json:"instructions"`
	Criteria     any    `json:"criteria,omitempty"`
}

// encode makes the body of a request. Equal questions about an equal state make
// equal bytes: they are what the cache goes by.
func encode(state any, questions map[string]Question) ([]byte, error) {
	wire := make(map[string]question, len(questions))
	for name, q := range questions {
		if err := q.check(); err != nil {
			return nil, fmt.Errorf("question %s: %w", name, err)
		}
		w := question{Type: q.Kind, Instructions: q.Instructions}
		switch q.Kind {
		case Choice:
			w.Criteria = q.Criteria
		case Score:
			w.Criteria = q.Levels
		}
		wire[name] = w
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		State     any                 `json:"state"`
		Model     string              `json:"model"`
		Questions map[string]question `json:"questions"`
	}{state, Model, wire})
	if err != nil {
		return nil, failure(TooLarge, "the request cannot be encoded")
	}
	body := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(body) > maxRequestBytes {
		return nil, failure(TooLarge, "the request is too large")
	}
	return body, nil
}

func (q Question) check() error {
	n, low, high := 0, 0, 0
	switch q.Kind {
	case Choice:
		n, low, high = len(q.Criteria), 2, 255
	case Score:
		n, low, high = len(q.Levels), 2, 10
	case Noul:
	default:
		return failure(TooLarge, "a question of no kind")
	}
	if n < low || n > high || len(q.Instructions) > maxInstructions {
		return failure(TooLarge, "a question out of bounds")
	}
	return nil
}
