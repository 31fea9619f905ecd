package admission

import (
	"math"

	"magicode/internal/jsonscan"
	"magicode/pkg/localagent"
)

// Request is a frame that passed rows 1 to 5 of the admission order.
type Request struct {
	// ID is the request id, a copy. It matches the id grammar.
	ID string
	// Method matches the id grammar too; whether it is known was not checked.
	// The names of version 1 are constants.
	Method string
	// Params is any JSON value, an alias of the frame: it is gone when the next
	// frame is read. Half surrogate pairs and numbers of any size are still in
	// it; what is read of it is judged by the decoders of this package.
	Params jsonscan.Value
}

// Rejection is the error response to a frame, and what becomes of the connection.
type Rejection struct {
	Code localagent.Code
	// ID is the id to answer with. It means null without HasID.
	ID    string
	HasID bool
	// Closes tells that closing begins behind this answer.
	Closes bool
}

var frameOptions = jsonscan.Options{MaxDepth: localagent.MaxDepth, LoneSurrogates: true, AnyNumber: true}

// Parse checks one frame without its LF, by rows 1 to 5 in this order: the
// count of brackets (invalid_frame); one strict JSON object of exactly the five
// fields, with an id and a method that match the grammar (invalid_request); the
// protocol and its version (protocol_mismatch with the id, closes).
//
// It reads the bytes once: valid JSON of at most 32 containers passes row 1,
// so brackets are counted only behind the place where something was refused.
func Parse(frame []byte) (Request, *Rejection) {
	var e envelope
	r := jsonscan.ReadObject(frame, frameOptions)
	for k, v, ok := r.Next(); ok; k, v, ok = r.Next() {
		if !e.set(k, v) {
			return Request{}, malformed(&r)
		}
	}
	if r.Err() != nil {
		return Request{}, malformed(&r)
	}
	return e.request()
}

// malformed tells row 1 from rows 2 and 3.
func malformed(r *jsonscan.ObjectReader) *Rejection {
	if !r.Balanced() {
		return &Rejection{Code: localagent.CodeInvalidFrame}
	}
	return &Rejection{Code: localagent.CodeInvalidRequest}
}

// field numbers the fields of the envelope.
type field int

const (
	fieldProtocol field = iota
	fieldVersion
	fieldID
	fieldMethod
	fieldParams
	fields
)

var fieldNames = [fields]string{"protocol", "version", "id", "method", "params"}

// envelope holds the fields of a frame as they come; nil is a missing one.
type envelope [fields]jsonscan.Value

// set takes a member. It is false for an unknown key and for a repeated one.
func (e *envelope) set(key, value jsonscan.Value) bool {
	f := fieldOf(key)
	if f == fields || e[f] != nil {
		return false
	}
	e[f] = value
	return true
}

// fieldOf returns which field a key spells, with escapes or without.
func fieldOf(key jsonscan.Value) field {
	switch string(key) {
	case `"protocol"`:
		return fieldProtocol
	case `"version"`:
		return fieldVersion
	case `"id"`:
		return fieldID
	case `"method"`:
		return fieldMethod
	case `"params"`:
		return fieldParams
	}
	for f, name := range fieldNames {
		if key.Is(name) {
			return field(f)
		}
	}
	return fields
}

// request checks the types of the fields and the rows behind row 3.
func (e *envelope) request() (Request, *Rejection) {
	var buf [maxEscapedName]byte
	version, isVersion := e[fieldVersion].Uint64()
	ours := version == localagent.Version && e[fieldProtocol].Is(localagent.Name)
	if !isVersion || version > math.MaxUint32 || e[fieldParams] == nil || !ours && !e[fieldProtocol].IsText() {
		return Request{}, &Rejection{Code: localagent.CodeInvalidRequest}
	}
	method, ok := intern(e[fieldMethod], &buf)
	id, isID := name(e[fieldID], &buf)
	if !ok || !isID {
		return Request{}, &Rejection{Code: localagent.CodeInvalidRequest}
	}
	req := Request{ID: string(id), Method: method, Params: e[fieldParams]}
	if !ours {
		return Request{}, &Rejection{Code: localagent.CodeProtocolMismatch, ID: req.ID, HasID: true, Closes: true}
	}
	return req, nil
}
