package claude

import (
	"bytes"
	"strings"

	"magicode/internal/jsonscan"
)

// maxBreakpoints is how many cache_control marks the API takes in one request.
const maxBreakpoints = 4

const (
	reminder   = "<system-reminder>"
	breakpoint = `"cache_control":{"ttl":"1h","type":"ephemeral"},`
)

// rewrite puts our own messages in the place of the command's, whose way through
// its own transcript may reorder or merge them. What the command adds of its own
// is kept: its reminders at the front of the first message, its system messages
// at the end. A body of any unexpected shape is returned as it is.
func rewrite(raw []byte, messages []message) []byte {
	v, err := jsonscan.Parse(raw, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
	if err != nil || v.Kind() != jsonscan.Object {
		return raw
	}
	added, ok := additions(v.Get("messages"))
	if !ok {
		return raw
	}
	marks := added.marks
	for k, m := range v.Members() {
		if !k.Is("messages") {
			marks += countMarks(k, m)
		}
	}
	out := make([]byte, 0, len(raw)+1024)
	out = append(out, '{')
	done := false
	for k, m := range v.Members() {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, k...), ':')
		if !k.Is("messages") {
			out = append(out, m...)
			continue
		}
		if done {
			return raw // two lists: who knows which one counts
		}
		done = true
		out = added.append(out, messages, marks < maxBreakpoints)
	}
	return append(out, '}')
}

// own is what the command adds to a conversation by itself.
type own struct {
	reminders [][]byte
	system    [][]byte
	marks     int // cache_control in these
}

// additions reads the command's messages; ok is false for any unexpected shape.
func additions(messages jsonscan.Value) (out own, ok bool) {
	if messages.Kind() != jsonscan.Array {
		return out, false
	}
	users := 0
	for m := range messages.Elements() {
		role, content := m.Get("role"), m.Get("content")
		if content.Kind() != jsonscan.Array && content.Kind() != jsonscan.String {
			return out, false
		}
		switch {
		case role.Is("system"):
			out.system = append(out.system, m)
			out.marks += countMarks(nil, m)
		case role.Is("user"):
			if users++; users == 1 {
				out.keepReminders(content)
			}
		case role.Is("assistant"):
		default:
			return out, false
		}
	}
	return out, users > 0
}

func (o *own) keepReminders(content jsonscan.Value) {
	for b := range content.Elements() {
		if b.Get("type").Is("text") && strings.HasPrefix(b.Get("text").LenientText(), reminder) {
			o.reminders = append(o.reminders, b)
			o.marks += countMarks(nil, b)
		}
	}
}

// append appends the whole list of messages.
func (o *own) append(dst []byte, messages []message, mark bool) []byte {
	dst = append(dst, '[')
	for i := range messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		m := messages[i]
		if i == len(messages)-1 && mark {
			m.blocks = marked(m.blocks)
		}
		if i == 0 {
			m.blocks = append(o.reminders[:len(o.reminders):len(o.reminders)], m.blocks...)
		}
		dst = m.append(dst)
	}
	for _, s := range o.system {
		dst = append(append(dst, ','), s...)
	}
	return append(dst, ']')
}

// marked returns the blocks with a breakpoint on the last one.
func marked(blocks [][]byte) [][]byte {
	out := bytes.Clone(blocks[len(blocks)-1][:1]) // {
	out = append(append(out, breakpoint...), blocks[len(blocks)-1][1:]...)
	return append(blocks[:len(blocks)-1:len(blocks)-1], out)
}

// countMarks counts cache_control in a member.
func countMarks(key, v jsonscan.Value) int {
	n := 0
	if key.Is("cache_control") && v.Kind() == jsonscan.Object {
		n++
	}
	for k, m := range v.Members() {
		n += countMarks(k, m)
	}
	for e := range v.Elements() {
		n += countMarks(nil, e)
	}
	return n
}
