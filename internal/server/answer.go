package server

import (
	"context"
	"strconv"

	"magicode/internal/jsonscan"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// fail answers a request with an error code.
func (c *conn) fail(id string, code localagent.Code) {
	c.out.Commit(c.env.AppendError(c.out.Begin(), id, true, code), telemetry.FrameResponse)
}

// failUnknown answers a frame whose identity is not known.
func (c *conn) failUnknown(code localagent.Code) {
	c.out.Commit(c.env.AppendError(c.out.Begin(), "", false, code), telemetry.FrameResponse)
}

// succeed answers a request with a result that is one of the constants below,
// or made of safe parts.
func (c *conn) succeed(id string, result string) {
	b := append(c.env.BeginResult(c.out.Begin(), id), result...)
	c.out.Commit(c.env.EndResponse(b), telemetry.FrameResponse)
}

// succeedRaw answers a request with a serialized result.
func (c *conn) succeedRaw(id string, result []byte) {
	b := append(c.env.BeginResult(c.out.Begin(), id), result...)
	c.out.Commit(c.env.EndResponse(b), telemetry.FrameResponse)
}

// Results without content.
const (
	resultStopping  = `{"state":"` + localagent.StateStopping + `"}`
	resultCancelled = `{"cancellation_requested":true}`
	resultRecorded  = `{"recorded":true}`
)

func (c *conn) status(_ context.Context, q *call) localagent.Code {
	b := c.appendStatus(c.env.BeginResult(c.out.Begin(), q.id))
	c.out.Commit(c.env.EndResponse(b), telemetry.FrameResponse)
	return ""
}

func (c *conn) succeedInitialize(id string) {
	b := append(c.env.BeginResult(c.out.Begin(), id), `{"capabilities":[`...)
	for i := range c.ops {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonscan.AppendString(b, c.ops[i].name)
	}
	b = appendLimits(append(b, `],"limits":`...), localagent.V1Limits())
	b = append(c.appendStatus(append(b, `,"status":`...)), '}')
	c.out.Commit(c.env.EndResponse(b), telemetry.FrameResponse)
}

func (c *conn) succeedAttached(id string, a Attached) {
	b := append(c.env.BeginResult(c.out.Begin(), id), `{"durable":`...)
	b = append(strconv.AppendBool(b, a.Durable), `,"notices":[`...)
	for i, notice := range a.Notices {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonscan.AppendString(b, notice)
	}
	b = jsonscan.AppendString(append(b, `],"revision":`...), a.Revision)
	b = jsonscan.AppendString(append(b, `,"session_id":`...), a.SessionID)
	c.out.Commit(c.env.EndResponse(append(b, '}')), telemetry.FrameResponse)
}

func (c *conn) succeedAccepted(id, runID string) {
	b := append(c.env.BeginResult(c.out.Begin(), id), `{"accepted":true,"run_id":`...)
	b = append(jsonscan.AppendString(b, runID), '}')
	c.out.Commit(c.env.EndResponse(b), telemetry.FrameResponse)
}

// choose sets what status tells of the selection: that of the startup, then of
// the last completed attachment, also during an operation. Clients ask for
// status all day and this changes rarely, so it is kept as it is sent.
func (c *conn) choose(provider, model string) {
	b := appendOptional(c.selected[:0], `{"context_id":`, c.context)
	b = appendOptional(b, `,"model":`, model)
	c.selected = appendOptional(b, `,"provider":`, provider)
}

// appendStatus appends the status object (runner.md 6).
func (c *conn) appendStatus(b []byte) []byte {
	state, readiness, runID := c.state()
	b = append(b, c.selected...)
	b = appendOptional(b, `,"readiness":`, readiness)
	b = appendOptional(b, `,"run_id":`, runID)
	b = appendOptional(b, `,"session_id":`, c.session)
	return append(appendOptional(b, `,"state":`, state), '}')
}

func (c *conn) state() (state, readiness, runID string) {
	switch {
	case c.startup == startupPending:
		return localagent.StateStarting, localagent.ReadinessInitializing, ""
	case c.startup == startupFailed:
		return localagent.StateFailed, string(c.failure), ""
	case c.run != nil:
		return localagent.StateRunning, localagent.ReadinessReady, c.run.id
	}
	return localagent.StateIdle, localagent.ReadinessReady, ""
}

func appendOptional(b []byte, key, text string) []byte {
	b = append(b, key...)
	if text == "" {
		return append(b, `null`...)
	}
	return jsonscan.AppendString(b, text)
}

func appendLimits(b []byte, l localagent.Limits) []byte {
	for i, f := range [...]struct {
		name  string
		value int
	}{
		{"content_chunk_bytes", l.ContentChunkBytes},
		{"frame_bytes", l.FrameBytes},
		{"history_page_bytes", l.HistoryPageBytes},
		{"history_page_entries", l.HistoryPageEntries},
		{"id_bytes", l.IDBytes},
		{"json_depth", l.JSONDepth},
		{"output_deadline_ms", l.OutputDeadlineMS},
		{"pending_responses", l.PendingResponses},
		{"prompt_bytes", l.PromptBytes},
		{"requests_per_child", l.RequestsPerChild},
	} {
		b = append(b, "{,"[min(i, 1)], '"')
		b = append(append(b, f.name...), `":`...)
		b = strconv.AppendInt(b, int64(f.value), 10)
	}
	return append(b, '}')
}
