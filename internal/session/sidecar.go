package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"magicode/internal/vfs"
	"magicode/telemetry"
)

const (
	sidecarSchema = 3
	maxSidecar    = 65_536 // storage.md 5.8
)

func sidecarPath(dir, id string) string { return filepath.Join(dir, id+".metadata.json") }

// Meta is the sidecar's fold over all records of this handle.
func (h *Handle) Meta(ctx context.Context) (Meta, error) {
	if err := h.lock(ctx); err != nil {
		return Meta{}, err
	}
	defer h.unlock()
	return h.meta, nil
}

// WriteSidecar brings `<id>.metadata.json` up to date, without any sync, if a
// record came since the last time that storage.md 5.8 names. Call it once a
// run, where nobody waits for it. The outcome is Durable or MetadataFailed: it
// is a cache, and a stale one is ignored. To telemetry it is the last step of the
// appends before it, and a span like theirs.
func (h *Handle) WriteSidecar(ctx context.Context) (Outcome, error) {
	if err := h.lock(ctx); err != nil {
		return MetadataFailed, fmt.Errorf("write sidecar: %w", err)
	}
	defer h.unlock()
	if !h.told || h.stale || !h.print.exists {
		return Durable, nil
	}
	_, span := h.store.o.Tel.Begin(ctx, telemetry.SpanSessionAppend)
	defer span.End()
	size, err := h.sidecar()
	outcome := Durable
	if err != nil {
		outcome, err = MetadataFailed, fmt.Errorf("write sidecar: %w", err)
	}
	work{span: span, size: size}.ended("other", outcome)
	h.told = err != nil
	return outcome, err
}

func (h *Handle) sidecar() (size int, err error) {
	if h.print.stat == (vfs.Info{}) || h.print.size > h.print.end {
		return 0, ErrStale
	}
	return writeMeta(h.fs, h.store.o.Dir, h.id, &h.meta, h.print.size, h.print.stat.Mtime.UnixNano())
}

// writeMeta replaces the sidecar of a log of size bytes, changed last at mtime,
// by one of n bytes.
func writeMeta(fsys vfs.FS, dir, id string, m *Meta, size, mtime int64) (n int, err error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(sidecar{
		SchemaVersion: sidecarSchema, SessionID: id, Activity: optional(m.LatestActivity), Title: optional(m.Title),
		SessionPath: optional(m.SessionPath), FirstInput: optional(m.FirstInput), UserInputs: m.UserInputs,
		Len: size, ModifiedNS: &mtime, Complete: true,
	})
	if err != nil {
		return 0, err
	}
	text := bytes.TrimRight(buf.Bytes(), "\n")
	return len(text), vfs.ReplaceCache(fsys, sidecarPath(dir, id), text, 0o600)
}

// ReadSidecar returns what the sidecar of a session says. ok is false when there
// is none that is valid for the log as it is now; then the log has to be read.
func ReadSidecar(fsys vfs.FS, dir, id string) (m Meta, ok bool) {
	data, err := vfs.ReadFile(fsys, sidecarPath(dir, id), maxSidecar, vfs.Private|vfs.Owned)
	if err != nil {
		return Meta{}, false
	}
	var s sidecar
	if json.Unmarshal(data, &s) != nil || s.SchemaVersion != sidecarSchema || s.SessionID != id || !s.Complete || s.ModifiedNS == nil {
		return Meta{}, false
	}
	log, err := fsys.Lstat(filepath.Join(dir, id+".jsonl"))
	if err != nil || log.Size != s.Len || log.Mtime.UnixNano() != *s.ModifiedNS {
		return Meta{}, false
	}
	m = Meta{LatestActivity: text(s.Activity), Title: text(s.Title), SessionPath: text(s.SessionPath), FirstInput: text(s.FirstInput), UserInputs: s.UserInputs}
	m.latest, _ = parseTimestamp([]byte(m.LatestActivity))
	return m, true
}
