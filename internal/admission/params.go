package admission

import (
	"errors"

	"magicode/internal/jsonscan"
	"magicode/pkg/localagent"
)

// ErrParams means params of the wrong shape: no object, a field too many, too
// few or twice, a wrong type, or half a surrogate pair. It answers as invalid_params.
var ErrParams = errors.New("params of the wrong shape")

// Initialize is the params of initialize.
type Initialize struct {
	// RequiredCapabilities are at most 16 names that match the id grammar.
	RequiredCapabilities []string
}

// SessionOpen is the params of session.open.
type SessionOpen struct {
	SessionID string
}

// HistoryPage is the params of history.page.
type HistoryPage struct {
	SessionID string
	Revision  string
	Cursor    string
	// HasCursor is false where the cursor is null or left out.
	HasCursor bool
}

// TurnStart is the params of turn.start.
type TurnStart struct {
	SessionID string
	Prompt    string
}

// TurnCancel is the params of turn.cancel.
type TurnCancel struct {
	SessionID string
	RunID     string
}

// ApprovalAnswer is the params of approval.answer.
type ApprovalAnswer struct {
	SessionID  string
	RunID      string
	ApprovalID string
	Allow      bool
}

// DecodeEmpty takes {} only: status, shutdown, session.create.
func DecodeEmpty(params jsonscan.Value) error {
	if params.Kind() != jsonscan.Object {
		return ErrParams
	}
	for range params.Members() {
		return ErrParams
	}
	return nil
}

// DecodeInitialize also refuses more than 16 names and names outside the id
// grammar: nothing is checked between these and the shape (runner.md 6).
func DecodeInitialize(params jsonscan.Value) (Initialize, error) {
	var m [1]jsonscan.Value
	if !members(params, m[:], "required_capabilities") || m[0].Kind() != jsonscan.Array {
		return Initialize{}, ErrParams
	}
	p := Initialize{RequiredCapabilities: []string{}}
	var buf [maxEscapedName]byte
	for v := range m[0].Elements() {
		// Names that version 1 knows are not copied.
		capability, ok := intern(v, &buf)
		if !ok || len(p.RequiredCapabilities) == localagent.MaxCapabilities {
			return Initialize{}, ErrParams
		}
		p.RequiredCapabilities = append(p.RequiredCapabilities, capability)
	}
	return p, nil
}

// DecodeSessionOpen checks the shape only.
func DecodeSessionOpen(params jsonscan.Value) (SessionOpen, error) {
	var m [1]jsonscan.Value
	s := shape{ok: members(params, m[:], "session_id")}
	p := SessionOpen{SessionID: s.text(m[0])}
	if !s.ok {
		return SessionOpen{}, ErrParams
	}
	return p, nil
}

// DecodeHistoryPage checks the shape only.
func DecodeHistoryPage(params jsonscan.Value) (HistoryPage, error) {
	var m [3]jsonscan.Value
	s := shape{ok: members(params, m[:], "session_id", "revision", "cursor")}
	p := HistoryPage{SessionID: s.text(m[0]), Revision: s.text(m[1])}
	if cursor := m[2]; cursor != nil && cursor.Kind() != jsonscan.Null {
		p.Cursor, p.HasCursor = s.text(cursor), true
	}
	if !s.ok {
		return HistoryPage{}, ErrParams
	}
	return p, nil
}

// DecodeTurnStart checks the shape only.
func DecodeTurnStart(params jsonscan.Value) (TurnStart, error) {
	var m [2]jsonscan.Value
	s := shape{ok: members(params, m[:], "session_id", "prompt")}
	p := TurnStart{SessionID: s.text(m[0]), Prompt: s.text(m[1])}
	if !s.ok {
		return TurnStart{}, ErrParams
	}
	return p, nil
}

// DecodeTurnCancel checks the shape only.
func DecodeTurnCancel(params jsonscan.Value) (TurnCancel, error) {
	var m [2]jsonscan.Value
	s := shape{ok: members(params, m[:], "session_id", "run_id")}
	p := TurnCancel{SessionID: s.text(m[0]), RunID: s.text(m[1])}
	if !s.ok {
		return TurnCancel{}, ErrParams
	}
	return p, nil
}

// DecodeApprovalAnswer checks the shape only.
func DecodeApprovalAnswer(params jsonscan.Value) (ApprovalAnswer, error) {
	var m [4]jsonscan.Value
	s := shape{ok: members(params, m[:], "session_id", "run_id", "approval_id", "allow")}
	p := ApprovalAnswer{SessionID: s.text(m[0]), RunID: s.text(m[1]), ApprovalID: s.text(m[2]), Allow: s.bool(m[3])}
	if !s.ok {
		return ApprovalAnswer{}, ErrParams
	}
	return p, nil
}

// members fills got with the members of params that names name, nil for each
// that is missing. It is false for another kind than an object, for an unknown
// key and for a repeated one, however it is spelled.
func members(params jsonscan.Value, got []jsonscan.Value, names ...string) bool {
	if params.Kind() != jsonscan.Object {
		return false
	}
	for k, v := range params.Members() {
		i := 0
		for i < len(names) && !k.Is(names[i]) {
			i++
		}
		if i == len(names) || got[i] != nil {
			return false
		}
		got[i] = v
	}
	return true
}

// shape remembers whether anything had the wrong type.
type shape struct{ ok bool }

func (s *shape) text(v jsonscan.Value) string {
	if !s.ok {
		return "" // no copy for what is refused
	}
	var text string
	text, s.ok = v.Text()
	return text
}

func (s *shape) bool(v jsonscan.Value) bool {
	value, ok := v.Bool()
	s.ok = s.ok && ok
	return value
}
