package telemetry

import (
	"slices"
	"time"
)

// countedWord reports the words that the metric of a kind is split by.
func countedWord(k Kind, key EnumKey) bool {
	switch k {
	case SpanRequest:
		return key == KeyMethod
	case SpanOutputStall:
		return key == KeyOutputOutcome
	case SpanRun:
		return key == KeyRunOutcome || key == KeyRunPersistence
	case SpanChat:
		return key == KeyProviderName || key == KeyChatPurpose
	case SpanSubagent:
		return key == KeySubagentOutcome
	case SpanMCPConnect:
		return key == KeyMCPServer || key == KeyTransport
	case SpanMCPCall:
		return key == KeyMCPMethod || key == KeyTransport || key == KeyMCPServer
	case SpanProviderRetryWait:
		return key == KeyRetryReason
	case SpanExecuteTool:
		return key == KeyTool || key == KeyToolOrigin || key == KeyToolOutcome
	case SpanApprovalWait:
		return key == KeyApprovalOutcome
	case SpanSessionAppend:
		return key == KeyAppendClass || key == KeyAppendOutcome
	case SpanHistoryProject:
		return key == KeyHistoryTrigger
	}
	return false
}

// spanMetric is the metric of a kind's duration, and the word that stands for
// the kind where several share one.
func spanMetric(k Kind) (m slowMetric, key EnumKey, word string, ok bool) {
	switch k {
	case SpanRequest:
		return metricRequest, keyNone, "", true
	case SpanOutputStall:
		return metricOutputStall, keyNone, "", true
	case SpanStartup:
		return metricStartup, KeyStartupPhase, "total", true
	case SpanStartupSettings:
		return metricStartup, KeyStartupPhase, "settings", true
	case SpanStartupInstructions:
		return metricStartup, KeyStartupPhase, "instructions", true
	case SpanStartupSkills:
		return metricStartup, KeyStartupPhase, "skills", true
	case SpanStartupProfiles:
		return metricStartup, KeyStartupPhase, "profiles", true
	case SpanMCPConnect:
		return metricMCPStartup, keyNone, "", true
	case SpanMCPCall:
		return metricMCPCall, keyNone, "", true
	case SpanStartupReadiness:
		return metricStartup, KeyStartupPhase, "readiness", true
	case SpanRun, SpanSubagent:
		return metricRun, keyNone, "", true
	case SpanChat:
		return metricChat, keyNone, "", true
	case SpanProviderRetryWait:
		return metricRetries, keyNone, "", true
	case SpanExecuteTool:
		return metricTool, keyNone, "", true
	case SpanApprovalWait:
		return metricApproval, keyNone, "", true
	case SpanSessionAppend:
		return metricAppend, keyNone, "", true
	case SpanHistoryProject:
		return metricProject, keyNone, "", true
	case SpanHistoryRead:
		return metricRead, keyNone, "", true
	case SpanHistoryFingerprint:
		return metricFingerprint, keyNone, "", true
	case SpanHistoryPage:
		return metricPage, keyNone, "", true
	}
	return cleanupMetric(k)
}

func cleanupMetric(k Kind) (slowMetric, EnumKey, string, bool) {
	word := ""
	switch k {
	case SpanCleanup:
		word = "total"
	case SpanCleanupDrain:
		word = "drain"
	case SpanCleanupJoin:
		return metricCleanup, keyNone, "", true // its worker says which join
	case SpanCleanupMCPRequest:
		word = "mcp_request"
	case SpanCleanupMCPClose:
		word = "mcp_close"
	case SpanCleanupLease:
		word = "lease"
	default:
		return 0, keyNone, "", false
	}
	return metricCleanup, KeyCleanupPhase, word, true
}

// cleanupPhase is the word for the part of the cleanup that a span is; 0: none,
// or all of it.
func cleanupPhase(o *openSpan) Word {
	if o.kind == SpanCleanupJoin {
		return WordOf(o.word(KeyWorker).text() + "_join")
	}
	if m, _, word, ok := cleanupMetric(o.kind); ok && m == metricCleanup && o.kind != SpanCleanup {
		return WordOf(word)
	}
	return 0
}

// intMetric is the metric of a number on a kind of span, and what a unit of it is
// in the metric's.
type intMetric struct {
	key    IntKey
	metric slowMetric
	scale  float64
}

var intMetrics = [kindCount][]intMetric{
	SpanRun:            {{KeyRunInferenceCalls, metricRunInference, 1}, {KeyRunToolCalls, metricRunTools, 1}, {KeyRunContentBytes, metricRunContent, 1}},
	SpanSubagent:       {{KeyRunInferenceCalls, metricRunInference, 1}, {KeyRunToolCalls, metricRunTools, 1}, {KeySubagentQueueMS, metricSubagentQueue, perMilli}},
	SpanChat:           {{KeyFirstChunkMS, metricChatFirst, perMilli}, {KeyInputTokens, metricInputTokens, 1}, {KeyOutputTokens, metricOutputTokens, 1}, {KeyInputTokens, metricUsageInput, 1}, {KeyOutputTokens, metricUsageOutput, 1}, {KeyCacheReadTokens, metricUsageCacheRead, 1}, {KeyCacheWriteTokens, metricUsageCacheWrite, 1}, {KeyReasoningTokens, metricUsageReasoning, 1}},
	SpanExecuteTool:    {{KeyToolOutputBytes, metricToolOutput, 1}, {KeyCodeModeCalls, metricCodeModeCalls, 1}},
	SpanSessionAppend:  {{KeyAppendBytes, metricAppendSize, 1}},
	SpanHistoryProject: {{KeyHistoryBytes, metricProjectSize, 1}, {KeyHistoryParts, metricProjectParts, 1}},
	SpanHistoryRead:    {{KeyHistoryBytes, metricReadSize, 1}},
	SpanHistoryPage:    {{KeyHistoryBytes, metricPageSize, 1}, {KeyHistoryEntries, metricPageEntries, 1}},
}

const perMilli = 1e-3

// countSpan counts an ended span.
func (s *slowInstruments) countSpan(o *openSpan) {
	m, key, word, ok := spanMetric(o.kind)
	if !ok {
		return
	}
	l := o.countedWords()
	if key != keyNone {
		l = l.with(key, WordOf(word))
	}
	switch o.kind {
	case SpanProviderRetryWait:
		l = l.with(KeyProvider, o.parent.word(KeyProvider))
	case SpanMCPConnect:
		l = l.with(KeyMCPPhase, o.word(KeyMCPPhase))
	}
	if o.kind == SpanCleanupJoin {
		l = labels{}.with(KeyCleanupPhase, cleanupPhase(o))
	}
	switch {
	case m == metricCleanup && o.cut:
		l = l.with(KeyCleanupOutcome, WordOf("detached"))
	case m == metricCleanup:
		l = l.with(KeyCleanupOutcome, WordOf("done"))
	case o.failed && !uncoded[m]:
		l = l.withCode(o.code)
	}
	l.extra = s.extra(o)
	took := (o.lasted - o.counted().Sub(o.start)).Seconds()
	if len(slowInfos[m].bounds) == 0 {
		took = 1 // it is counted, not timed
	}
	s.sample(m, l, s.exemplar(o, took, o.ends()))
	s.countInts(o, l.extra)
}

// uncoded are metrics of spans that can fail, and are not split by what of: an
// outcome says it, or it is in the span alone (telemetry.md 6).
var uncoded = [slowMetricCount]bool{metricRetries: true, metricApproval: true, metricAppend: true, metricRead: true, metricFingerprint: true}

// countedWords are the words that the metric of a span is split by.
func (o *openSpan) countedWords() (l labels) {
	for _, v := range o.values {
		if k := EnumKey(v.key); v.class == formWord && countedWord(o.kind, k) {
			if o.kind == SpanSubagent {
				k = KeyRunOutcome // a task is counted with the runs
			}
			l = l.with(k, Word(v.n))
		}
	}
	return l
}

// countInts counts the numbers of a span that have metrics of their own.
func (s *slowInstruments) countInts(o *openSpan, x extra) {
	rows := intMetrics[o.kind]
	if len(rows) == 0 {
		return
	}
	l := intLabels(o)
	l.extra = x
	for _, row := range rows {
		n, ok := o.find(formInt, uint8(row.key))
		if !ok {
			continue
		}
		with := l
		with.extra.modality = len(slowInfos[row.metric].bounds) == 0
		switch row.metric {
		case metricCodeModeCalls:
			with = labels{}.with(KeyCodeModeLimit, o.word(KeyCodeModeLimit))
		case metricRunContent, metricSubagentQueue:
			with = labels{} // only one agent has them
		}
		s.sample(row.metric, with, s.exemplar(o, float64(n)*row.scale, o.ends()))
	}
}

// extra are the labels that are no words of ours.
func (s *slowInstruments) extra(o *openSpan) extra {
	switch o.kind {
	case SpanRequest:
		return extra{of: extraRequest}
	case SpanRun:
		return extra{of: extraRun}
	case SpanSubagent:
		return extra{of: extraSubagent}
	case SpanChat:
		return extra{of: extraChat, model: s.model(o.nameOf(KeyModel)), response: s.model(o.nameOf(KeyResponseModel))}
	}
	return extra{}
}

// counted is where the metric of a span begins: that of an approval when the
// question was queued for the host, everything else with the span.
func (o *openSpan) counted() time.Time {
	for _, e := range o.happened {
		if e.name == EventRequestedQueued {
			return e.at
		}
	}
	return o.start
}

// splitBy are the words by which the sizes and token counts of a kind are split.
var splitBy = [kindCount][]EnumKey{
	SpanChat: {KeyProviderName, KeyChatPurpose}, SpanExecuteTool: {KeyTool}, SpanSessionAppend: {KeyAppendClass},
}

// intLabels: sizes and token counts are split by the kind's words, but not by
// how the span ended.
func intLabels(o *openSpan) (l labels) {
	for _, v := range o.values {
		if v.class == formWord && slices.Contains(splitBy[o.kind], EnumKey(v.key)) {
			l = l.with(EnumKey(v.key), Word(v.n))
		}
	}
	return l
}

// countEvent counts how long a run took to its first signs of life.
func (s *slowInstruments) countEvent(o *openSpan, e EventName, at time.Time) {
	if o.kind != SpanRun {
		return
	}
	switch e {
	case EventInputPersisted:
		s.sample(metricPersist, labels{}, s.exemplar(o, at.Sub(o.start).Seconds(), at))
	case EventFirstDelta:
		s.sample(metricFirstDelta, labels{}, s.exemplar(o, at.Sub(o.start).Seconds(), at))
	}
}
