package server

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"magicode/pkg/localagent"
)

// immediate are the codes that the table of operations, admission, framing and
// closing answer with. All others come from errors.
var immediate = []localagent.Code{
	localagent.CodeInvalidFrame, localagent.CodeInvalidRequest, localagent.CodeInvalidParams, localagent.CodeProtocolMismatch,
	localagent.CodeUnsupportedMethod, localagent.CodeUnsupportedCapability, localagent.CodeNotInitialized,
	localagent.CodeAlreadyInitialized, localagent.CodeDuplicateID, localagent.CodeRequestLimit, localagent.CodeFrameTooLarge,
	localagent.CodeIncompleteFrame, localagent.CodeBusy, localagent.CodeStaleSession, localagent.CodeSessionMissing,
	localagent.CodeStaleRun, localagent.CodeStaleApproval,
}

// TestEveryCodeHasASource walks the codes of version 1.
func TestEveryCodeHasASource(t *testing.T) {
	sources := slices.Clone(immediate)
	for _, r := range rules() {
		sources = append(sources, r.code)
	}
	for _, d := range []domain{startupErrors(), sessionErrors(), runErrors()} {
		sources = append(sources, d.other, d.cancelled)
	}
	for _, code := range localagent.Codes() {
		if !slices.Contains(sources, code) {
			t.Errorf("nothing answers with %s", code)
		}
	}
	for _, code := range sources {
		if !slices.Contains(localagent.Codes(), code) {
			t.Errorf("%s is no code of version 1", code)
		}
	}
}

// TestRules: each sentinel gives its code where that may come from, and the
// domain's own code elsewhere.
func TestRules(t *testing.T) {
	for _, r := range rules() {
		used := false
		for _, d := range []domain{startupErrors(), sessionErrors(), runErrors()} {
			want := d.other
			if slices.Contains(d.known, r.code) {
				want, used = r.code, true
			}
			if got := d.code(fmt.Errorf("doing something: %w", r.err)); got != want {
				t.Errorf("%v: %s, want %s", r.err, got, want)
			}
		}
		if !used {
			t.Errorf("%v: no domain knows %s", r.err, r.code)
		}
	}
}

func TestDomains(t *testing.T) {
	for _, test := range []struct {
		d    domain
		err  error
		want localagent.Code
	}{
		{startupErrors(), nil, ""},
		{startupErrors(), errFixture, "startup_failed"},
		{startupErrors(), context.Canceled, "startup_cancelled"},
		{startupErrors(), errPanic, "startup_failed"},
		{sessionErrors(), errFixture, "session_invalid"},
		{sessionErrors(), fmt.Errorf("reading: %w", context.Canceled), "operation_cancelled"},
		{sessionErrors(), ErrShutdown, "operation_cancelled"},
		{sessionErrors(), errPanic, "session_invalid"},
		{sessionErrors(), codeError("stale_session"), "stale_session"},
		{runErrors(), errFixture, "execution_failed"},
		{runErrors(), errPanic, "execution_failed"},
	} {
		if got := test.d.code(test.err); got != test.want {
			t.Errorf("%v: %s, want %s", test.err, got, test.want)
		}
	}
}
