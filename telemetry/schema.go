package telemetry

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"go.opentelemetry.io/otel/attribute"

	"magicode/telemetry/config"
	"magicode/telemetry/otlpjson"
)

// form is what the values of a key look like.
type form uint8

const (
	_ form = iota
	formInt
	formBool
	formWord
	formName
	formText // of ownTexts
)

// Attributes that no caller sets: those of records, of metrics, and what every
// span of a kind has.
var (
	ownInts  = [...]string{keySpanAge, keyOldest, keyWorkerPending, keyGoroutines, keyDropped, keySchema}
	ownBools = [...]string{keySpanCut, keySpanLate, keyStream, keyOverflow}
	// resourceTexts are those that a resource has besides its numbers.
	resourceTexts = [...]string{"service.name", "service.version", "service.instance.id", "telemetry.sdk.name", "telemetry.sdk.language",
		"process.runtime.name", "process.runtime.version", "os.type", "host.arch"}
)

// ownTexts are those of them that are texts, and which ones are theirs.
func ownTexts() map[string]func(s string) bool {
	of := func(list ...string) func(string) bool { return func(s string) bool { return contains(list, s) } }
	return map[string]func(string) bool{
		keyErrorType:     func(s string) bool { return CodeOf(s).text() == s },
		keyRPCStatus:     func(s string) bool { return CodeOf(s).text() == s },
		keySpanParent:    func(s string) bool { return hexadecimal(s, 16) },
		keySpanName:      knownSpanName,
		keyEventName:     of(eventNames[:]...),
		keyRPCSystem:     of(rpcSystem),
		keyOperation:     of("invoke_agent", "chat", "execute_tool"),
		keyTokenModality: of("unknown"),
		keyToolType:      of("function"),
		keyDirection:     of("in", "out"),
		keyFrameType:     of("request", "invalid", "response", "event"),
		keyDeltaOutcome:  of("queued", "merged", "dropped"),
		keySignal:        of(signalTexts[:]...),
		keySink:          of(sinkTexts[:]...),
		keyDrop:          of(dropTexts[:]...),
		keyProblem:       config.KnownCode,
		keyMemoryType:    of(memoryStack, memoryOther),
		keyCPUMode:       of(cpuUser, cpuSystem),
	}
}

// keyForms is asked for every attribute that is written.
var keyForms = sync.OnceValue(func() map[string]keyForm {
	forms := map[string]keyForm{}
	for _, of := range []struct {
		form form
		keys []string
	}{{formInt, intKeys[:]}, {formInt, ownInts[:]}, {formBool, boolKeys[:]}, {formBool, ownBools[:]}, {formWord, enumKeys[1:]}, {formName, nameKeys[:]}} {
		for _, k := range of.keys {
			forms[k] = keyForm{form: of.form} // the last counts: a key can have a word, and a name where the user wants plain ones
		}
	}
	for k, fits := range ownTexts() {
		forms[k] = keyForm{formText, fits}
	}
	return forms
})

// keyForm is the form of a key's values, and of one of ownTexts what they may be.
type keyForm struct {
	form form
	fits func(s string) bool
}

// allowed is the second check of what leaves the process (telemetry.md 7.2): a
// key must be known, and its value must be of the key's type and form. It knows
// nothing of how values are made.
func allowed(r otlpjson.Record, key string, v attribute.Value) bool {
	switch v.Type() {
	case attribute.INT64:
		return keyForms()[key].form == formInt
	case attribute.BOOL:
		return keyForms()[key].form == formBool
	case attribute.STRINGSLICE:
		if key == enumKeys[KeyFinishReasons] {
			return !slices.ContainsFunc(v.AsStringSlice(), func(s string) bool { return s != other && WordOf(s) == 0 })
		}
		return key == keyOpenNames && !slices.ContainsFunc(v.AsStringSlice(), func(s string) bool { return !knownSpanName(s) })
	case attribute.INT64SLICE:
		return key == keyOpenAges
	case attribute.STRING:
		return allowedText(r, key, v.AsString())
	}
	return false
}

func allowedText(r otlpjson.Record, key, s string) bool {
	if r == otlpjson.RecordResource {
		return contains(resourceTexts[:], key) && printable(s)
	}
	switch is := keyForms()[key]; is.form {
	case formWord:
		return s == other || WordOf(s) != 0
	case formName:
		return allowedName(key, s)
	case formText:
		return is.fits(s)
	}
	return false
}

func allowedName(key, s string) bool {
	switch key {
	case nameKeys[KeyRequestHash], nameKeys[KeyRunHash], nameKeys[KeyApprovalHash], nameKeys[KeyMCPHash], nameKeys[KeySubagentHash], nameKeys[KeyProviderHash]:
		return hexadecimal(s, hashLength)
	case nameKeys[KeySessionRef], nameKeys[KeyConversation]:
		return strings.HasPrefix(s, sessionPrefix) && hexadecimal(s[len(sessionPrefix):], hashLength)
	}
	return printable(s)
}

// knownSpanName: a name of the catalogue, with the word or model behind it.
func knownSpanName(s string) bool {
	for i := range kinds {
		if s == kinds[i].name {
			return true
		}
		tail, ok := strings.CutPrefix(s, kinds[i].name+" ")
		switch {
		case !ok:
		case Kind(i) == SpanChat:
			return printable(tail)
		case kinds[i].tail != keyNone:
			return tail == other || WordOf(tail) != 0
		}
	}
	return WordOf(s) != 0
}

func printable(s string) bool {
	return s != "" && len(s) <= maxText && strings.IndexFunc(s, unicode.IsControl) < 0
}

func hexadecimal(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

func contains(list []string, s string) bool { return s != "" && slices.Contains(list, s) }

func oneOf(s string, list ...string) bool { return slices.Contains(list, s) }
