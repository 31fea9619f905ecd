package server

import (
	"context"

	"magicode/internal/admission"
	"magicode/internal/jsonscan"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// operation is one row of runner.md 6: what is checked, in this order, and what
// happens then. The first check that names a code answers with it.
type operation struct {
	name   string
	checks []check
	// admit answers at once, or starts a job whose end answers, or refuses after
	// all. It is called with the lock held; ctx is the jobs' parent.
	admit func(c *conn, ctx context.Context, q *call) localagent.Code
}

type check func(c *conn, q *call) localagent.Code

// call is the request at hand, with the params of its operation.
type call struct {
	id     string
	params jsonscan.Value // an alias of the frame
	span   telemetry.Span // ended with the call, unless a job took it

	initialize admission.Initialize
	open       admission.SessionOpen
	page       admission.HistoryPage
	start      admission.TurnStart
	cancel     admission.TurnCancel
	answer     admission.ApprovalAnswer
}

// operations returns the table. Its names are the capabilities, in the order
// in which the protocol lists them; all else is unsupported.
func operations() []operation {
	return []operation{
		{localagent.MethodInitialize, []check{neverInitialized, paramsInitialize, supported}, (*conn).initialize},
		{localagent.MethodStatus, []check{everInitialized, paramsEmpty}, (*conn).status},
		{localagent.MethodShutdown, []check{paramsEmpty}, (*conn).shutdown},
		{localagent.MethodSessionCreate, []check{ready, noSessionWork, paramsEmpty, noRun}, (*conn).sessionCreate},
		{localagent.MethodSessionOpen, []check{ready, noSessionWork, paramsOpen, noRun}, (*conn).sessionOpen},
		{localagent.MethodHistoryPage, []check{ready, noSessionWork, paramsPage, noRun}, (*conn).historyPage},
		{localagent.MethodTurnStart, []check{ready, paramsStart, noRun, noSessionWork, attached}, (*conn).turnStart},
		{localagent.MethodTurnCancel, []check{paramsCancel, ready, cancelIDs, cancelRun}, (*conn).turnCancel},
		{localagent.MethodApprovalAnswer, []check{paramsAnswer, ready, answerIDs, answerRun}, (*conn).approvalAnswer},
	}
}

func find(ops []operation, name string) *operation {
	for i := range ops {
		if ops[i].name == name {
			return &ops[i]
		}
	}
	return nil
}

// What must be ready.

func neverInitialized(c *conn, _ *call) localagent.Code {
	if c.startup != startupNone {
		return localagent.CodeAlreadyInitialized
	}
	return ""
}

func everInitialized(c *conn, _ *call) localagent.Code {
	if c.startup == startupNone {
		return localagent.CodeNotInitialized
	}
	return ""
}

func ready(c *conn, _ *call) localagent.Code {
	switch c.startup {
	case startupReady:
		return ""
	case startupFailed:
		return c.failure
	}
	return localagent.CodeNotInitialized
}

func noSessionWork(c *conn, _ *call) localagent.Code {
	if c.work.pending {
		return localagent.CodeBusy
	}
	return ""
}

func noRun(c *conn, _ *call) localagent.Code {
	if c.run != nil {
		return localagent.CodeBusy
	}
	return ""
}

func supported(c *conn, q *call) localagent.Code {
	for _, name := range q.initialize.RequiredCapabilities {
		if find(c.ops, name) == nil {
			return localagent.CodeUnsupportedCapability
		}
	}
	return ""
}

func attached(c *conn, q *call) localagent.Code {
	return c.checkSession(q.start.SessionID)
}

func (c *conn) checkSession(id string) localagent.Code {
	switch c.session {
	case id:
		return ""
	case "":
		return localagent.CodeSessionMissing
	}
	return localagent.CodeStaleSession
}

func cancelRun(c *conn, q *call) localagent.Code {
	if !c.runs(q.cancel.SessionID, q.cancel.RunID) {
		return localagent.CodeStaleRun
	}
	return ""
}

func answerRun(c *conn, q *call) localagent.Code {
	if !c.runs(q.answer.SessionID, q.answer.RunID) {
		return localagent.CodeStaleApproval
	}
	return ""
}

// Params: shapes, and grammars where nothing is checked between the two.

func paramsEmpty(_ *conn, q *call) localagent.Code {
	return invalidUnless(admission.DecodeEmpty(q.params) == nil)
}

func paramsInitialize(_ *conn, q *call) (code localagent.Code) {
	var err error
	q.initialize, err = admission.DecodeInitialize(q.params)
	return invalidUnless(err == nil)
}

func paramsOpen(_ *conn, q *call) localagent.Code {
	var err error
	q.open, err = admission.DecodeSessionOpen(q.params)
	return invalidUnless(err == nil && admission.ValidSessionID(q.open.SessionID))
}

func paramsPage(_ *conn, q *call) localagent.Code {
	var err error
	q.page, err = admission.DecodeHistoryPage(q.params)
	p := &q.page
	return invalidUnless(err == nil && admission.ValidSessionID(p.SessionID) && admission.ValidID(p.Revision) &&
		(!p.HasCursor || admission.ValidID(p.Cursor)))
}

func paramsStart(_ *conn, q *call) localagent.Code {
	var err error
	q.start, err = admission.DecodeTurnStart(q.params)
	return invalidUnless(err == nil && admission.ValidSessionID(q.start.SessionID) && admission.ValidPrompt(q.start.Prompt))
}

func paramsCancel(_ *conn, q *call) localagent.Code {
	var err error
	q.cancel, err = admission.DecodeTurnCancel(q.params)
	return invalidUnless(err == nil)
}

func cancelIDs(_ *conn, q *call) localagent.Code {
	return invalidUnless(admission.ValidID(q.cancel.SessionID) && admission.ValidID(q.cancel.RunID))
}

func paramsAnswer(_ *conn, q *call) localagent.Code {
	var err error
	q.answer, err = admission.DecodeApprovalAnswer(q.params)
	return invalidUnless(err == nil && admission.ValidID(q.answer.ApprovalID))
}

func answerIDs(_ *conn, q *call) localagent.Code {
	return invalidUnless(admission.ValidID(q.answer.SessionID) && admission.ValidID(q.answer.RunID))
}

func invalidUnless(ok bool) localagent.Code {
	if ok {
		return ""
	}
	return localagent.CodeInvalidParams
}
