package telemetry

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"magicode/telemetry/point"
)

// slowMetric is a row of the tables of telemetry.md 6.3 to 6.8: what spans and
// rare events count, by words.
type slowMetric uint8

const (
	metricRejections slowMetric = iota
	metricOutputFailures
	metricAnswers
	metricRetries
	metricRequest
	metricOutputStall
	metricStartup
	metricRun
	metricMCPStartup
	metricMCPCall
	metricMCPSession
	metricRunInference
	metricRunTools
	metricRunContent
	metricPersist
	metricFirstDelta
	metricChat
	metricChatFirst
	metricInputTokens
	metricOutputTokens
	metricUsageInput
	metricUsageOutput
	metricUsageCacheRead
	metricUsageCacheWrite
	metricUsageReasoning
	metricCodeModeCalls
	metricSubagentQueue
	metricTool
	metricToolOutput
	metricApproval
	metricAppend
	metricAppendSize
	metricFsync
	metricLockWait
	metricProject
	metricProjectSize
	metricProjectParts
	metricRead
	metricReadSize
	metricFingerprint
	metricPage
	metricPageSize
	metricPageEntries
	metricCleanup
	metricDetached
	slowMetricCount
)

// slowInfo describes a metric. Without bounds it is a counter. Bounds are in
// the metric's own unit; values are nanoseconds where that is "s".
type slowInfo struct {
	name, unit string
	bounds     []float64
}

var (
	boundsCall    = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	boundsStall   = []float64{0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2}
	boundsStartup = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}
	boundsRun     = []float64{0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}
	boundsCalls   = []float64{0, 1, 2, 5, 10, 20, 50, 100, 200, 500}
	boundsPersist = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}
	boundsDelta   = []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80}
	boundsContent = []float64{1024, 16384, 65536, 262144, 1048576, 4194304, 8388608}
	boundsChat    = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	boundsTokens  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304}
	boundsTool    = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300}
	boundsOutput  = []float64{256, 1024, 4096, 16384, 65536, 262144, 1048576}
	boundsAnswer  = []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 45, 55, 60}
	boundsAppend  = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}
	boundsLock    = []float64{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 5}
	boundsProject = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5}
	boundsVisible = []float64{4096, 32768, 131072, 524288, 1048576, 2097152, 4194304, 8388608}
	boundsParts   = []float64{10, 50, 100, 500, 1000, 2500, 5000, 7500, 10000}
	boundsStored  = []float64{65536, 262144, 1048576, 4194304, 16777216, 33554432, 67108864}
	boundsPage    = []float64{1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25}
	boundsPageBy  = []float64{1024, 4096, 8192, 16384, 24576, 32768}
	boundsMCP     = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
	boundsScript  = []float64{0, 1, 2, 5, 10, 25, 50, 100, 200}
	boundsQueue   = []float64{0.001, 0.01, 0.1, 1, 10, 60, 300}
	boundsEntries = []float64{1, 10, 25, 50, 75, 100}
	boundsCleanup = []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2}
)

var slowInfos = [slowMetricCount]slowInfo{
	metricRejections:      {"magi.admission.rejections", "{request}", nil},
	metricOutputFailures:  {"magi.output.failures", "{failure}", nil},
	metricAnswers:         {"magi.approval.answers", "{answer}", nil},
	metricRetries:         {"magi.provider.retries", "{retry}", nil},
	metricRequest:         {"rpc.server.call.duration", "s", boundsCall},
	metricOutputStall:     {"magi.output.stall.duration", "s", boundsStall},
	metricStartup:         {"magi.startup.duration", "s", boundsStartup},
	metricRun:             {nameRunDuration, "s", boundsRun},
	metricMCPStartup:      {"magi.mcp.startup.duration", "s", boundsStartup},
	metricMCPCall:         {"mcp.client.operation.duration", "s", boundsMCP},
	metricMCPSession:      {"mcp.client.session.duration", "s", boundsMCP},
	metricRunInference:    {nameRunInference, "{call}", boundsCalls},
	metricRunTools:        {nameRunTools, "{call}", boundsCalls},
	metricRunContent:      {"magi.run.content.size", "By", boundsContent},
	metricPersist:         {"magi.run.persist.latency", "s", boundsPersist},
	metricFirstDelta:      {"magi.run.first_delta.latency", "s", boundsDelta},
	metricChat:            {nameChatDuration, "s", boundsChat},
	metricChatFirst:       {nameChatFirst, "s", boundsChat},
	metricInputTokens:     {nameChatInput, "{token}", boundsTokens},
	metricOutputTokens:    {nameChatOutput, "{token}", boundsTokens},
	metricUsageInput:      {nameUsageInput, "{token}", nil},
	metricUsageOutput:     {nameUsageOutput, "{token}", nil},
	metricUsageCacheRead:  {nameUsageCacheRead, "{token}", nil},
	metricUsageCacheWrite: {nameUsageCacheWrite, "{token}", nil},
	metricUsageReasoning:  {nameUsageReasoning, "{token}", nil},
	metricCodeModeCalls:   {"magi.code_mode.calls", "{call}", boundsScript},
	metricSubagentQueue:   {"magi.subagent.queue.duration", "s", boundsQueue},
	metricTool:            {nameToolDuration, "s", boundsTool},
	metricToolOutput:      {"magi.tool.output.size", "By", boundsOutput},
	metricApproval:        {"magi.approval.wait.duration", "s", boundsAnswer},
	metricAppend:          {"magi.session.append.duration", "s", boundsAppend},
	metricAppendSize:      {"magi.session.append.size", "By", boundsOutput},
	metricFsync:           {"magi.session.fsync.duration", "s", boundsAppend},
	metricLockWait:        {"magi.session.lock.wait", "s", boundsLock},
	metricProject:         {"magi.history.project.duration", "s", boundsProject},
	metricProjectSize:     {"magi.history.project.size", "By", boundsVisible},
	metricProjectParts:    {"magi.history.project.parts", "{part}", boundsParts},
	metricRead:            {"magi.history.read.duration", "s", boundsProject},
	metricReadSize:        {"magi.history.read.size", "By", boundsStored},
	metricFingerprint:     {"magi.history.fingerprint.duration", "s", boundsProject},
	metricPage:            {"magi.history.page.duration", "s", boundsPage},
	metricPageSize:        {"magi.history.page.size", "By", boundsPageBy},
	metricPageEntries:     {"magi.history.page.entries", "{entry}", boundsEntries},
	metricCleanup:         {"magi.cleanup.duration", "s", boundsCleanup},
	metricDetached:        {"magi.cleanup.detached", "{process}", nil},
}

// labels are at most four words, an error type, and what is no word of ours.
// They are comparable: a key of a map.
type labels struct {
	keys  [4]EnumKey
	words [4]Word
	n     uint8
	coded bool
	code  Code
	extra extra
}

// extra is what metrics are split by and is no word: constants, and the names of
// models by their numbers.
type extra struct {
	of              extraKind
	model, response uint8 // 0: none
	modality        bool
}

type extraKind uint8

const (
	_ extraKind = iota
	extraRequest
	extraRun
	extraSubagent
	extraChat
	extraOverflow
)

func (l labels) with(k EnumKey, w Word) labels {
	if int(l.n) < len(l.keys) {
		l.keys[l.n], l.words[l.n] = k, w
		l.n++
	}
	return l
}

func (l labels) withCode(c Code) labels {
	l.coded, l.code = true, c
	return l
}

func (s *slowInstruments) list(l labels) []point.Label {
	out := make([]point.Label, 0, int(l.n)+4)
	add := func(key, value string) { out = append(out, point.Label{Key: key, Value: value}) }
	for i := range int(l.n) {
		add(enumKeys[l.keys[i]], l.words[i].text())
	}
	if l.coded {
		add(keyErrorType, l.code.text())
	}
	switch l.extra.of {
	case extraRequest:
		add(keyRPCSystem, rpcSystem)
		if l.coded {
			add(keyRPCStatus, l.code.text())
		}
	case extraRun:
		add(keyAgentName, serviceName)
	case extraSubagent:
		add(keyAgentName, agentSubagent)
	case extraChat:
		add(keyOperation, "chat")
	case extraOverflow:
		add(keyOverflow, "true")
	}
	for _, m := range [...]struct {
		key NameKey
		at  uint8
	}{{KeyModel, l.extra.model}, {KeyResponseModel, l.extra.response}} {
		if m.at > 0 {
			add(nameKeys[m.key], s.models[m.at-1])
		}
	}
	if l.extra.modality {
		add(keyTokenModality, "unknown")
	}
	return out
}

// maxSeries bounds the series of one metric (telemetry.md 6.1); what comes
// beyond has one series that says so.
const maxSeries = 512

// slowInstruments are safe for concurrent use.
type slowInstruments struct {
	mu     sync.Mutex
	series [slowMetricCount][]*series // what is counted often comes first
	models []string                   // the last is "_OTHER" once there are too many
	// linked: a sink takes exemplars.
	linked atomic.Bool
}

// maxModels bounds the models of a child that metrics are split by
// (telemetry.md 6.1); the others are "_OTHER".
const maxModels = 16

// model is the number of a model's name as a label, from 1; 0: it has none.
func (s *slowInstruments) model(name string) uint8 {
	if name == "" {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.models, name); i >= 0 {
		return uint8(i + 1)
	}
	switch {
	case len(s.models) < maxModels:
		s.models = append(s.models, name)
	case len(s.models) == maxModels:
		s.models = append(s.models, other)
	}
	return uint8(len(s.models))
}

type series struct {
	labels  labels
	count   uint64
	sum     float64
	buckets []uint64
	// exemplars have the last value of each bucket since they were taken; nil
	// where none was of a span, or nobody wants them.
	exemplars []point.Exemplar
}

func (x *series) point(l []point.Label, t point.Type, take bool) point.Point {
	if t == point.Counter {
		return point.Point{Labels: l, Value: x.sum}
	}
	p := point.Point{Labels: l, Buckets: slices.Clone(x.buckets), Count: x.count, Sum: x.sum}
	if take && x.exemplars != nil {
		p.Exemplars = slices.DeleteFunc(x.exemplars, func(e point.Exemplar) bool { return e.At.IsZero() })
		x.exemplars = nil
	}
	return p
}

func (s *slowInstruments) count(m slowMetric, l labels) { s.observe(m, l, 1) }

// observe adds a value in the metric's unit.
func (s *slowInstruments) observe(m slowMetric, l labels, v float64) {
	s.sample(m, l, point.Exemplar{Value: v})
}

// exemplar is a value of a span, with the span where somebody will see it
// (telemetry.md 6.1): that of a request or a run is found by it.
func (s *slowInstruments) exemplar(o *openSpan, v float64, at time.Time) point.Exemplar {
	e := point.Exemplar{Value: v}
	if !s.linked.Load() {
		return e
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.id.valid() {
		e.At, e.Trace, e.Span = o.core.clock(at), o.id.trace, o.id.span
	}
	return e
}

// sample adds a value, and keeps it as an exemplar if it has a span.
func (s *slowInstruments) sample(m slowMetric, l labels, e point.Exemplar) {
	v := e.Value
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.at(m, l)
	x.count++
	x.sum += v // of a counter, the value
	bounds := slowInfos[m].bounds
	if len(bounds) == 0 {
		return
	}
	i := 0
	for i < len(bounds) && v > bounds[i] { // most are in the first ones
		i++
	}
	x.buckets[i]++
	if e.At.IsZero() {
		return
	}
	if x.exemplars == nil {
		x.exemplars = make([]point.Exemplar, len(x.buckets))
	}
	x.exemplars[i] = e
}

// at returns the series, made when it is new. Needs mu.
func (s *slowInstruments) at(m slowMetric, l labels) *series {
	if x := s.known(m, l); x != nil {
		return x
	}
	if len(s.series[m]) >= maxSeries {
		l = labels{extra: extra{of: extraOverflow}}
		if x := s.known(m, l); x != nil {
			return x
		}
	}
	x := &series{labels: l}
	if n := len(slowInfos[m].bounds); n > 0 {
		x.buckets = make([]uint64, n+1)
	}
	s.series[m] = append(s.series[m], x)
	return x
}

// known looks for a series. Most metrics have a few, and those that are counted
// often come first by themselves. Needs mu.
func (s *slowInstruments) known(m slowMetric, l labels) *series {
	list := s.series[m]
	for i, x := range list {
		if x.labels == l {
			if i > 0 {
				list[i-1], list[i] = x, list[i-1]
			}
			return x
		}
	}
	return nil
}

// metrics returns everything counted so far. take: the exemplars too, each once.
func (s *slowInstruments) metrics(take bool) []point.Metric {
	var out [slowMetricCount]point.Metric
	for m := range out {
		info := &slowInfos[m]
		out[m] = point.Metric{Name: info.name, Unit: info.unit, Type: point.Histogram, Bounds: info.bounds}
		if len(info.bounds) == 0 {
			out[m].Type = point.Counter
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range out {
		for _, x := range s.series[i] {
			out[i].Points = append(out[i].Points, x.point(s.list(x.labels), out[i].Type, take))
		}
	}
	return slices.DeleteFunc(out[:], func(m point.Metric) bool { return len(m.Points) == 0 })
}
