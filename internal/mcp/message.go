package mcp

import (
	"bytes"
	"fmt"
	"strconv"

	"magicode/internal/jsonscan"
)

// maxMessage bounds a line of stdio and an event of a stream: 1 MiB, tools.md
// 6.3. A JSON answer over HTTP may have maxAnswer.
const (
	maxMessage = 1 << 20
	maxAnswer  = 10 << 20
)

// message is one JSON-RPC message. Its values alias the bytes it was parsed of.
type message struct {
	id     jsonscan.Value // nil: a notification
	method string         // "" in an answer
	result jsonscan.Value
	fault  jsonscan.Value
}

// split parses data, one message or a batch of them (2025-03-26 has batches).
func split(data []byte) ([]message, error) {
	v, err := jsonscan.Parse(data, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
	if err != nil {
		return nil, fmt.Errorf("%w: not JSON", errProtocol)
	}
	if v.Kind() != jsonscan.Array {
		m, err := messageOf(v)
		return []message{m}, err
	}
	var out []message
	for e := range v.Elements() {
		m, err := messageOf(e)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func messageOf(v jsonscan.Value) (m message, err error) {
	version, hasMethod := false, false
	for k, f := range v.Members() {
		switch {
		case k.Is("jsonrpc"):
			version = f.Is("2.0")
		case k.Is("id"):
			m.id = f
		case k.Is("method"):
			hasMethod = f.IsText()
			m.method = f.LenientText()
		case k.Is("result"):
			m.result = f
		case k.Is("error"):
			m.fault = f
		}
	}
	if m.fault.Kind() == jsonscan.Null {
		m.fault = nil // some servers send both, one of them null
	}
	if !version || hasMethod == (m.result != nil || m.fault != nil) {
		return m, fmt.Errorf("%w: not JSON-RPC 2.0", errProtocol)
	}
	return m, nil
}

// faultOf reads an error object. Its message is redacted and bounded.
func faultOf(v jsonscan.Value) *rpcError {
	e := new(rpcError)
	e.code, _ = v.Get("code").Int64()
	e.message = shown(v.Get("message").LenientText())
	return e
}

// request builds a request, or a notification when id is 0. params is an object
// or nil.
func request(id int64, method string, params []byte) []byte {
	b := make([]byte, 0, len(params)+96)
	b = append(b, `{"jsonrpc":"2.0",`...)
	if id != 0 {
		b = append(b, `"id":`...)
		b = strconv.AppendInt(b, id, 10)
		b = append(b, ',')
	}
	b = append(b, `"method":`...)
	b = jsonscan.AppendString(b, method)
	if params != nil {
		b = append(b, `,"params":`...)
		b = append(b, params...)
	}
	return append(b, '}')
}

func emptyAnswer(id jsonscan.Value) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(b, `,"result":{}}`...)
}

func refusal(id jsonscan.Value) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(b, `,"error":{"code":-32601,"message":"method not found"}}`...)
}

// oneLine removes line ends from a message: they are only white space in JSON,
// and end a frame on stdio.
func oneLine(b []byte) []byte {
	if bytes.IndexByte(b, '\n') < 0 {
		return b
	}
	return bytes.ReplaceAll(b, []byte{'\n'}, []byte{' '})
}
