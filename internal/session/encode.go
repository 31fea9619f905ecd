package session

import (
	"fmt"
	"strconv"

	"magicode/internal/jsonscan"
)

// span is where a payload stands in h.buf.
type span struct{ from, to int }

// encode renders events into h.buf: a line end, for the case that the file
// lacks its last one, and then the lines. h.records is what folds are told;
// its payloads are set when the buffer does not move any more.
func (h *Handle) encode(events []Event) error {
	h.buf, h.records = append(h.buf[:0], '\n'), h.records[:0]
	first, ids := h.store.ids.reserve(len(events))
	var few [8]span
	payloads := few[:0]
	for i, ev := range events {
		id := ""
		if ids {
			id = strconv.FormatUint(first+uint64(i), 16)
		}
		at, err := h.line(ev, id)
		if err != nil {
			return fmt.Errorf("encode %s: %w", ev.Kind, err)
		}
		payloads = append(payloads, at)
	}
	for i, at := range payloads {
		h.records[i].Payload = h.buf[at.from:at.to:at.to]
	}
	h.size = len(h.buf) - 1
	return nil
}

// line appends one record in the key order of storage.md 6.1, and behind them
// event_id where the home has them (extensions.md 18.3).
func (h *Handle) line(ev Event, id string) (payload span, err error) {
	if h.envelope == nil {
		h.envelope = h.middle()
	}
	b := append(h.buf, `{"event_type":`...)
	b = append(jsonscan.AppendString(b, string(ev.Kind)), `,"timestamp":"`...)
	from := len(b)
	b = appendTimestamp(b, h.store.o.Now())
	stamp := string(b[from:])
	b = append(b, h.envelope...)
	payload.from = len(b)
	if b, err = payloadOf(ev).value(b, ev.Payload, 0, false); err != nil {
		return span{}, err
	}
	payload.to = len(b)
	if id != "" {
		b = append(append(append(b, `,"event_id":"`...), id...), '"')
	}
	h.buf = append(b, "}\n"...)
	h.records = append(h.records, Record{
		Kind: ev.Kind, Timestamp: stamp, SessionID: h.id, Cwd: h.store.o.Cwd, SessionPath: h.store.path(),
	})
	return payload, nil
}

// middle is what stands between the timestamp and the payload.
func (h *Handle) middle() []byte {
	b := append([]byte(`","session_id":`), jsonscan.AppendString(nil, h.id)...)
	b = append(append(b, `,"cwd":`...), jsonscan.AppendString(nil, h.store.o.Cwd)...)
	b = append(append(b, `,"session_path":`...), jsonscan.AppendString(nil, h.store.path())...)
	return append(b, `,"payload":`...)
}

func payloadOf(ev Event) *writer {
	switch ev.Kind {
	case KindProviderResponseItem:
		return &writer{drop: "encrypted_content"}
	case KindCompaction:
		return &writer{plain: true}
	}
	return &writer{}
}

// EncodedSize is the number of bytes that a value of a payload takes in the file.
func EncodedSize(v any) (int, error) {
	b, err := (&writer{}).value(nil, v, 1, false)
	return len(b), err
}
