package admission

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/jsonscan"
)

// decoders calls every decoder, by operation.
var decoders = map[string]func(jsonscan.Value) (any, error){
	"empty":           func(p jsonscan.Value) (any, error) { return struct{}{}, DecodeEmpty(p) },
	"initialize":      func(p jsonscan.Value) (any, error) { return DecodeInitialize(p) },
	"session.open":    func(p jsonscan.Value) (any, error) { return DecodeSessionOpen(p) },
	"history.page":    func(p jsonscan.Value) (any, error) { return DecodeHistoryPage(p) },
	"turn.start":      func(p jsonscan.Value) (any, error) { return DecodeTurnStart(p) },
	"turn.cancel":     func(p jsonscan.Value) (any, error) { return DecodeTurnCancel(p) },
	"approval.answer": func(p jsonscan.Value) (any, error) { return DecodeApprovalAnswer(p) },
}

type paramsTest struct {
	op, in string
	want   any // nil: ErrParams
}

func paramsTests() []paramsTest {
	names := func(n int) string { return strings.Trim(strings.Repeat(`"a",`, n), ",") }
	return []paramsTest{
		{"empty", "{}", struct{}{}},
		{"empty", "{ }", struct{}{}},
		{"empty", `{"a":1}`, nil},
		{"empty", "[]", nil},
		{"empty", "null", nil},
		{"empty", `""`, nil},

		{"initialize", `{"required_capabilities":[]}`, Initialize{[]string{}}},
		{"initialize", `{"required_capabilities":["status","x.y",  "sh\u0075tdown" ]}`, Initialize{[]string{"status", "x.y", "shutdown"}}},
		{"initialize", `{"required\u005fcapabilities":[]}`, Initialize{[]string{}}},
		{"initialize", `{"required_capabilities":[` + names(16) + `]}`, Initialize{strings.Split(strings.Repeat("a", 16), "")}},
		{"initialize", `{"required_capabilities":[` + names(17) + `]}`, nil},
		{"initialize", `{"required_capabilities":["a b"]}`, nil},
		{"initialize", `{"required_capabilities":[""]}`, nil},
		{"initialize", `{"required_capabilities":["` + strings.Repeat("a", 65) + `"]}`, nil},
		{"initialize", `{"required_capabilities":["\ud800"]}`, nil},
		{"initialize", `{"required_capabilities":["a",1]}`, nil},
		{"initialize", `{"required_capabilities":[null]}`, nil},
		{"initialize", `{"required_capabilities":[["a"]]}`, nil},
		{"initialize", `{"required_capabilities":"a"}`, nil},
		{"initialize", `{"required_capabilities":null}`, nil},
		{"initialize", `{"required_capabilities":{}}`, nil},
		{"initialize", `{"required_capabilities":[],"required_capabilities":[]}`, nil},
		{"initialize", `{"required_capabilities":[],"required\u005fcapabilities":[]}`, nil},
		{"initialize", `{"Required_capabilities":[]}`, nil},
		{"initialize", `{"required_capabilities":[],"x":1}`, nil},
		{"initialize", "{}", nil},
		{"initialize", "[]", nil},

		{"session.open", `{"session_id":"s"}`, SessionOpen{"s"}},
		{"session.open", `{"session_id":"\n/é\ud83d\ude00"}`, SessionOpen{"\n/é😀"}},
		{"session.open", `{"session_id":""}`, SessionOpen{""}},
		{"session.open", `{"session_id":1}`, nil},
		{"session.open", `{"session_id":null}`, nil},
		{"session.open", `{"session_id":"\udc00"}`, nil},
		{"session.open", `{"session_id":"a","session_id":"b"}`, nil},
		{"session.open", "{\"\u017fession_id\":\"a\"}", nil},
		{"session.open", `{"SESSION_ID":"a"}`, nil},
		{"session.open", "{}", nil},

		{"history.page", `{"session_id":"s","revision":"r"}`, HistoryPage{SessionID: "s", Revision: "r"}},
		{"history.page", `{"session_id":"s","revision":"r","cursor":null}`, HistoryPage{SessionID: "s", Revision: "r"}},
		{"history.page", `{"cursor":"c","session_id":"s","revision":"r"}`, HistoryPage{"s", "r", "c", true}},
		{"history.page", `{"session_id":"s","revision":"r","cursor":""}`, HistoryPage{"s", "r", "", true}},
		{"history.page", `{"session_id":"s","revision":"r","cursor":1}`, nil},
		{"history.page", `{"session_id":"s","revision":"r","cursor":"\ud800"}`, nil},
		{"history.page", `{"session_id":"s","revision":"r","cursor":null,"cursor":"c"}`, nil},
		{"history.page", `{"session_id":"s","cursor":null}`, nil},
		{"history.page", `{"revision":"r"}`, nil},
		{"history.page", `{"session_id":"s","revision":null}`, nil},
		{"history.page", `{"session_id":"s","revision":"r","limit":1}`, nil},

		{"turn.start", `{"session_id":"s","prompt":"hi\n"}`, TurnStart{"s", "hi\n"}},
		{"turn.start", `{"session_id":"s","prompt":"\ud83d\ude00"}`, TurnStart{"s", "😀"}},
		{"turn.start", `{"session_id":"s","prompt":"x\ud83d"}`, nil},
		{"turn.start", `{"session_id":"s","prompt":["hi"]}`, nil},
		{"turn.start", `{"session_id":"s"}`, nil},
		{"turn.start", `{"prompt":"p"}`, nil},
		{"turn.start", `{"session_id":"s","prompt":"p","c":1}`, nil},
		{"turn.start", `{"session_id":"s","prompt":"p","prompt":"p"}`, nil},

		{"turn.cancel", `{"session_id":"s","run_id":"r"}`, TurnCancel{"s", "r"}},
		{"turn.cancel", `{"session_id":"s"}`, nil},
		{"turn.cancel", `{"session_id":1}`, nil},
		{"turn.cancel", `{"session_id":"s","run_id":false}`, nil},

		{"approval.answer", `{"session_id":"s","run_id":"r","approval_id":"a","allow":true}`, ApprovalAnswer{"s", "r", "a", true}},
		{"approval.answer", `{"allow":false,"session_id":"s","run_id":"r","approval_id":"a"}`, ApprovalAnswer{"s", "r", "a", false}},
		{"approval.answer", `{"session_id":"s","run_id":"r","approval_id":"a","allow":"yes"}`, nil},
		{"approval.answer", `{"session_id":"s","run_id":"r","approval_id":"a","allow":1}`, nil},
		{"approval.answer", `{"session_id":"s","run_id":"r","approval_id":"a","allow":null}`, nil},
		{"approval.answer", `{"session_id":"s","run_id":"r","approval_id":"a"}`, nil},
		{"approval.answer", `{"session_id":"s","run_id":"r","approval_id":1,"allow":true}`, nil},
		{"approval.answer", `{"session_id":"s","run_id":"r","approval_id":"a","allow":true,"allow":true}`, nil},
	}
}

func params(t *testing.T, in string) jsonscan.Value {
	t.Helper()
	req, rej := Parse([]byte(inParams(in)))
	if rej != nil {
		t.Fatalf("%s: %+v", in, rej)
	}
	return req.Params
}

func TestDecoders(t *testing.T) {
	for _, tt := range paramsTests() {
		got, err := decoders[tt.op](params(t, tt.in))
		if (tt.want == nil) != errors.Is(err, ErrParams) {
			t.Errorf("%s %s: error %v", tt.op, tt.in, err)
		} else if tt.want != nil {
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", tt.op, tt.in, diff)
			}
		}
		n, ok := decode(tt.in)
		if !ok {
			t.Fatalf("%s is no JSON", tt.in)
		}
		checkParams(t, tt.in, n)
	}
}

// kindsOf says which fields params have and of which kinds: s a string, l a
// list of names, b a boolean, ? a string, null or nothing.
var kindsOf = map[string]map[string]byte{
	"empty":           {},
	"initialize":      {"required_capabilities": 'l'},
	"session.open":    {"session_id": 's'},
	"history.page":    {"session_id": 's', "revision": 's', "cursor": '?'},
	"turn.start":      {"session_id": 's', "prompt": 's'},
	"turn.cancel":     {"session_id": 's', "run_id": 's'},
	"approval.answer": {"session_id": 's', "run_id": 's', "approval_id": 's', "allow": 'b'},
}

func isText(n node) bool { return n.kind == '"' && !n.lone }

// rightShape is the oracle of the decoders.
func rightShape(kinds map[string]byte, n node) bool {
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	got, ok := n.fields(names...)
	for name, kind := range kinds {
		v, there := got[name]
		switch kind {
		case 's':
			ok = ok && isText(v)
		case 'b':
			ok = ok && (v.raw == "true" || v.raw == "false")
		case '?':
			ok = ok && (!there || v.raw == "null" || isText(v))
		case 'l':
			ok = ok && v.kind == '[' && len(v.vals) <= 16
			for _, e := range v.vals {
				ok = ok && isText(e) && grammar.MatchString(e.text)
			}
		}
	}
	return ok
}

func checkParams(t *testing.T, in string, n node) {
	t.Helper()
	v, err := jsonscan.Parse([]byte(in), frameOptions)
	if err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	for op, decoder := range decoders {
		got, err := decoder(v)
		if want := rightShape(kindsOf[op], n); want != (err == nil) {
			t.Fatalf("%s %s: %v, wanted accepted = %v", op, in, err, want)
		}
		if err != nil {
			continue
		}
		for i, k := range n.keys { // every text arrived
			if value := n.vals[i]; value.kind == '"' && !strings.Contains(fmt.Sprintf("%q", got), fmt.Sprintf("%q", value.text)) {
				t.Fatalf("%s: %s is missing in %q", op, k.text, got)
			}
		}
	}
}
