package session

import (
	"errors"
	"io/fs"
	"time"

	"magicode/internal/vfs"
	"magicode/telemetry"
)

// work is the append under way. Without one, what is told of it goes nowhere.
type work struct {
	span   telemetry.Span
	size   int           // bytes, line ends among them
	synced time.Duration // how long the disk was waited for
}

// ended describes the append to telemetry: what class of record it was, and what
// became of it.
func (w work) ended(class string, o Outcome) {
	if !w.span.On() {
		return
	}
	w.span.Str(telemetry.KeyAppendClass, telemetry.WordOf(class))
	w.span.Int(telemetry.KeyAppendBytes, int64(w.size))
	if w.synced > 0 {
		w.span.Dur(telemetry.KeyFsyncMS, w.synced)
	}
	w.span.Str(telemetry.KeyAppendOutcome, telemetry.WordOf(outcomeWord(o)))
	if !o.OK() {
		w.span.Fail(telemetry.CodeOf("append"))
	}
}

// classOf is the class of an append (telemetry.md 4.3), by its last record's kind.
func classOf(events []Event) string {
	if len(events) == 0 {
		return "other"
	}
	switch events[len(events)-1].Kind {
	case KindUserInput:
		return "input"
	case KindAssistantOutput, KindAssistantChunk, KindReasoningSummary:
		return "assistant"
	case KindToolCall, KindToolResult:
		return "tool"
	case KindCodeModeToolCall, KindCodeModeToolResult, KindCodeModeContext, KindCodeModeWarning, KindCodeModeAssessment:
		return "code_mode"
	case KindProviderResponseItem, KindProviderStreamTrace:
		return "provider"
	case KindSessionUsage:
		return "usage"
	case KindTurnStatus:
		return "status"
	}
	return "other"
}

func outcomeWord(o Outcome) string {
	switch o {
	case Durable:
		return "durable"
	case NotWritten:
		return "not_written"
	case RolledBack:
		return "rolled_back"
	case Uncertain:
		return "uncertain"
	case MetadataFailed:
		return "metadata_failed"
	}
	return ""
}

// leased closes the span of taking a session's locks.
func leased(span telemetry.Span, err error) {
	outcome := "ok"
	switch {
	case errors.Is(err, ErrBusy):
		outcome = "busy"
	case err != nil:
		outcome = "invalid"
	}
	span.Str(telemetry.KeyLeaseOutcome, telemetry.WordOf(outcome))
	span.End()
}

// started is when something begins that is timed; off, no clock is read.
func started(tel telemetry.Tel) (began time.Time) {
	if tel.On() {
		began = time.Now()
	}
	return began
}

// lockWaited reports how long the append lock was waited for.
func (h *Handle) lockWaited(began time.Time) {
	if !began.IsZero() {
		took := time.Since(began)
		h.span.Dur(telemetry.KeyLockWaitMS, took)
		h.store.o.Tel.LockWaited(took)
	}
}

// hasSynced reports a sync, made in the handle's turn.
func (h *Handle) hasSynced(target telemetry.Word, took time.Duration) {
	h.synced += took
	h.store.o.Tel.Synced(target, took)
}

// measured is a file system that reports how long its syncs take. All those of a
// store go through one: of an append as well as of a torn tail that is set aside,
// a write that is taken back and a log that is replaced.
type measured struct {
	vfs.FS
	tel    telemetry.Tel
	files  string // what a sync of a file is of; that of a folder is of the "directory"
	report func(target telemetry.Word, took time.Duration)
}

func (m *measured) Open(name string, flags vfs.Flag, perm fs.FileMode) (vfs.File, error) {
	f, err := m.FS.Open(name, flags, perm)
	if err != nil {
		return nil, err
	}
	return measuredFile{f, m}, nil
}

func (m *measured) SyncDir(name string) error {
	began := started(m.tel)
	err := m.FS.SyncDir(name)
	m.took(began, "directory")
	return err
}

func (m *measured) took(began time.Time, target string) {
	if !began.IsZero() {
		m.report(telemetry.WordOf(target), time.Since(began))
	}
}

type measuredFile struct {
	vfs.File
	of *measured
}

func (f measuredFile) Sync() error {
	began := started(f.of.tel)
	err := f.File.Sync()
	f.of.took(began, f.of.files)
	return err
}
