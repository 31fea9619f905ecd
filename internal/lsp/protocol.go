package lsp

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"

	"magicode/internal/jsonscan"
)

// object is a JSON object.
type object = map[string]any

// initializeID is the id of our one request.
const initializeID = 1

// Bounds of what an answer repeats: answers wait in a queue until they are read.
const (
	maxID    = 256 // bytes
	maxItems = 1000
)

// encode makes the body of a message. What is encoded here always can be.
func encode(v object) []byte {
	v["jsonrpc"] = "2.0"
	body, err := json.Marshal(v)
	if err != nil {
		panic("lsp: a message of ours does not encode: " + err.Error())
	}
	return body
}

func notification(method string, params any) []byte {
	return encode(object{"method": method, "params": params})
}

// initialize says what we can do: to take diagnostics that are published.
func (s *server) initialize() []byte {
	root := uriOf(s.key.root)
	folders := []any{object{"uri": root, "name": filepath.Base(s.key.root)}}
	return encode(object{"id": initializeID, "method": "initialize", "params": object{
		"processId":  os.Getpid(), // it may end itself when we are gone
		"clientInfo": object{"name": "magi-code", "version": s.m.opt.Version},
		"rootUri":    root, "rootPath": s.key.root, "workspaceFolders": folders,
		"capabilities": object{
			"textDocument": object{
				"synchronization":    object{"didSave": true},
				"publishDiagnostics": object{"versionSupport": true, "relatedInformation": false},
			},
			"workspace": object{"configuration": true, "workspaceFolders": true, "applyEdit": false},
			"window":    object{"workDoneProgress": false},
		},
	}})
}

// receive takes one message of the server.
func (s *server) receive(body []byte) error {
	v, err := jsonscan.Parse(body, jsonscan.Options{AnyNumber: true, LoneSurrogates: true})
	if err != nil || v.Kind() != jsonscan.Object {
		return errFraming
	}
	id, method := v.Get("id"), v.Get("method").LenientText()
	switch {
	case method == "" && id.Kind() != jsonscan.Invalid:
		return s.answered(id, v)
	case method == "textDocument/publishDiagnostics":
		s.publish(v.Get("params"))
	case len(id) > maxID:
		return errFraming
	case id.Kind() == jsonscan.Number || id.Kind() == jsonscan.String:
		s.send(s.reply(json.RawMessage(id), method, v.Get("params")))
	}
	return nil
}

// answered takes the answer to initialize.
func (s *server) answered(id, v jsonscan.Value) error {
	n, ok := id.Int64()
	select {
	case <-s.ready:
		return nil
	default:
	}
	if !ok || n != initializeID {
		return nil
	}
	if v.Get("result").Kind() != jsonscan.Object {
		return errRefused
	}
	sync := v.Get("result").Get("capabilities").Get("textDocumentSync")
	save := sync.Get("save")
	on, _ := save.Bool()
	s.saves = on || save.Kind() == jsonscan.Object
	s.send(notification("initialized", object{}))
	close(s.ready)
	return nil
}

// reply answers what a server asks of its client. It has no settings and
// nothing that it may change here.
func (s *server) reply(id json.RawMessage, method string, params jsonscan.Value) []byte {
	out := object{"id": id}
	switch method {
	case "workspace/configuration":
		all := []any{}
		for range params.Get("items").Elements() {
			if all = append(all, nil); len(all) == maxItems {
				break
			}
		}
		out["result"] = all
	case "workspace/workspaceFolders":
		out["result"] = []any{object{"uri": uriOf(s.key.root), "name": filepath.Base(s.key.root)}}
	case "workspace/applyEdit":
		out["result"] = object{"applied": false, "failureReason": "edits are not taken"}
	case "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest":
		out["result"] = nil
	default:
		out["error"] = object{"code": -32601, "message": "method not found"}
	}
	return encode(out)
}

// uriOf is the URI of an absolute path.
func uriOf(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// pathOf is the path of a file URI, however it is escaped; "" for another.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return filepath.FromSlash(u.Path)
}
