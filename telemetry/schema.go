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
)

// keyForms is asked for every attribute that is written.
var keyForms = sync.OnceValue(func() map[string]form {
	forms := map[string]form{}
	for _, of := range []struct {
		form form
		keys []string
	}{{formInt, intKeys[:]}, {formBool, boolKeys[:]}, {formWord, enumKeys[1:]}, {formName, nameKeys[:]}} {
		for _, k := range of.keys {
			forms[k] = of.form // the last counts: a key can have a word, and a name where the user wants plain ones
		}
	}
	return forms
})

// allowed is the second check of what leaves the process (telemetry.md 7.2): a
// key must be known, and its value must be of the key's type and form. It knows
// nothing of how values are made.
func allowed(r otlpjson.Record, key string, v attribute.Value) bool {
	is := keyForms()[key]
	switch v.Type() {
	case attribute.INT64:
		return is == formInt || oneOf(key, keySpanAge, keyOldest, keyOutputOldest, keyWorkerPending, keyGoroutines, keyDropped, "magi.capture.schema")
	case attribute.BOOL:
		return is == formBool || oneOf(key, keySpanCut, keySpanLate, keyStream)
	case attribute.STRINGSLICE:
		if key == enumKeys[KeyFinishReasons] {
			return !slices.ContainsFunc(v.AsStringSlice(), func(s string) bool { return s != other && WordOf(s) == 0 })
		}
		return key == keyOpenNames && !slices.ContainsFunc(v.AsStringSlice(), func(s string) bool { return !knownSpanName(s) })
	case attribute.INT64SLICE:
		return key == keyOpenAges
	case attribute.STRING:
		return allowedText(r, key, is, v.AsString())
	}
	return false
}

func allowedText(r otlpjson.Record, key string, is form, s string) bool {
	switch {
	case r == otlpjson.RecordResource:
		return oneOf(key, "service.name", "service.version", "service.instance.id", "telemetry.sdk.name", "telemetry.sdk.language",
			"process.runtime.name", "process.runtime.version", "os.type", "host.arch") && printable(s)
	case is == formWord:
		return s == other || WordOf(s) != 0
	case key == keyErrorType || key == keyRPCStatus:
		return CodeOf(s).text() == s
	case is == formName:
		return allowedName(key, s)
	case key == keySpanParent:
		return hexadecimal(s, 16)
	case key == keySpanName:
		return knownSpanName(s)
	case key == keyEventName:
		return contains(eventNames[:], s)
	case key == keyRPCSystem:
		return s == rpcSystem
	case key == keyOperation:
		return oneOf(s, "invoke_agent", "chat", "execute_tool")
	case key == keyAgentName:
		return oneOf(s, serviceName, agentSubagent)
	case key == keyTokenModality:
		return s == "unknown"
	case key == keyToolType:
		return s == "function"
	}
	switch key {
	case keyDirection, keyFrameType, keyDeltaOutcome:
		return oneOf(s, "in", "out", "request", "invalid", "response", "event", "queued", "merged", "dropped")
	case keyEvent:
		return contains(frameEvents[:], s)
	case keySignal:
		return contains(signalTexts[:], s)
	case keySink:
		return contains(sinkTexts[:], s)
	case keyDrop:
		return contains(dropTexts[:], s)
	case keyProblem:
		return config.KnownCode(s)
	case keyMemoryType:
		return oneOf(s, memoryStack, memoryOther)
	case keyCPUMode:
		return oneOf(s, cpuUser, cpuSystem)
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
		name := kinds[i].name
		if s == name || (kinds[i].tail != keyNone || Kind(i) == SpanChat) && strings.HasPrefix(s, name+" ") && printable(s) {
			return true
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
