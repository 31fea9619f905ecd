package telemetry

import "time"

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
	case SpanCleanupJoin:
		return key == KeyWorker
	}
	return false
}

// countedInt reports the numbers that a metric has of its own.
func countedInt(k IntKey) bool {
	switch k {
	case KeyRunInferenceCalls, KeyRunToolCalls, KeyRunContentBytes, KeyFirstChunkMS, KeyInputTokens, KeyOutputTokens,
		KeyToolOutputBytes, KeyAppendBytes, KeyFsyncMS, KeyLockWaitMS, KeyHistoryBytes, KeyHistoryParts:
		return true
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
	case SpanStartupMCP:
		return metricStartup, KeyStartupPhase, "mcp", true
	case SpanStartupReadiness:
		return metricStartup, KeyStartupPhase, "readiness", true
	case SpanRun:
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

// intMetric is the metric of a number on a kind of span.
func intMetric(k Kind, key IntKey) (m slowMetric, scale float64, ok bool) {
	type pair struct {
		kind Kind
		key  IntKey
	}
	switch (pair{k, key}) {
	case pair{SpanRun, KeyRunInferenceCalls}:
		return metricRunInference, 1, true
	case pair{SpanRun, KeyRunToolCalls}:
		return metricRunTools, 1, true
	case pair{SpanRun, KeyRunContentBytes}:
		return metricRunContent, 1, true
	case pair{SpanChat, KeyFirstChunkMS}:
		return metricChatFirst, perMilli, true
	case pair{SpanChat, KeyInputTokens}:
		return metricInputTokens, 1, true
	case pair{SpanChat, KeyOutputTokens}:
		return metricOutputTokens, 1, true
	case pair{SpanExecuteTool, KeyToolOutputBytes}:
		return metricToolOutput, 1, true
	case pair{SpanSessionAppend, KeyAppendBytes}:
		return metricAppendSize, 1, true
	case pair{SpanSessionAppend, KeyFsyncMS}:
		return metricFsync, perMilli, true
	case pair{SpanSessionAppend, KeyLockWaitMS}:
		return metricLockWait, perMilli, true
	case pair{SpanHistoryProject, KeyHistoryBytes}:
		return metricProjectSize, 1, true
	case pair{SpanHistoryProject, KeyHistoryParts}:
		return metricProjectParts, 1, true
	case pair{SpanHistoryRead, KeyHistoryBytes}:
		return metricReadSize, 1, true
	case pair{SpanHistoryPage, KeyHistoryBytes}:
		return metricPageSize, 1, true
	}
	return 0, 0, false
}

const perMilli = 1e-3

// countSpan counts an ended span.
func (s *slowInstruments) countSpan(o *openSpan) {
	m, key, word, ok := spanMetric(o.kind)
	if !ok {
		return
	}
	l := o.words
	if key != keyNone {
		l = l.with(key, WordOf(word))
	}
	switch {
	case m == metricCleanup && o.cut:
		l = l.with(KeyCleanupOutcome, WordOf("detached"))
	case m == metricCleanup:
		l = l.with(KeyCleanupOutcome, WordOf("done"))
	case o.failed:
		l = l.withCode(o.code)
	}
	value := o.end.Sub(o.counted()).Seconds()
	if len(slowInfos[m].bounds) == 0 {
		value = 1 // it is counted, not timed
	}
	s.observe(m, l, value)
	for _, v := range o.ints[:o.nInts] {
		if m, scale, ok := intMetric(o.kind, v.key); ok {
			s.observe(m, intLabels(o), float64(v.value)*scale)
		}
	}
}

// counted is where the metric of a span begins: that of an approval when the
// question was queued for the host, everything else with the span.
func (o *openSpan) counted() time.Time {
	for _, e := range o.events {
		if e.name == EventRequestedQueued {
			return e.at
		}
	}
	return o.start
}

// intLabels: sizes and token counts are split by the kind's words, but not by
// how the span ended.
func intLabels(o *openSpan) labels {
	if o.kind == SpanChat || o.kind == SpanExecuteTool && o.words.n > 0 {
		l := labels{}
		for i := range int(o.words.n) {
			if k := o.words.keys[i]; k == KeyTool || k == KeyProviderName || k == KeyChatPurpose {
				l = l.with(k, o.words.words[i])
			}
		}
		return l
	}
	return labels{}
}

// countEvent counts how long a run took to its first signs of life.
func (s *slowInstruments) countEvent(o *openSpan, e EventName, at time.Time) {
	if o.kind != SpanRun {
		return
	}
	switch e {
	case EventInputPersisted:
		s.observe(metricPersist, labels{}, at.Sub(o.start).Seconds())
	case EventFirstDelta:
		s.observe(metricFirstDelta, labels{}, at.Sub(o.start).Seconds())
	}
}
