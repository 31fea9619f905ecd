package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"magicode/internal/agent"
	"magicode/internal/history"
	"magicode/internal/session"
	"magicode/internal/session/inventory"
	"magicode/internal/vfs"
)

// transcript is a session as it is shown and exported.
type transcript struct {
	ID       string
	Meta     session.Meta
	InUse    *inventory.Use
	Task     bool // of a delegated task
	Complete bool // no turn was cut off
	Messages []history.Message
}

// minPrefix is how much of an id must be given at least.
const minPrefix = 4

// find returns the session that a word names, and the home it is in.
func (k *keeper) find(word string) (id string, home inventory.Home, err error) {
	if !session.ValidID(word) {
		return "", k.home, usageError(fmt.Sprintf("%q is no session id; 'magi-code sessions list' shows them", word))
	}
	tasks := k.home
	tasks.Child = true
	var found []string
	for _, h := range []inventory.Home{k.home, tasks} {
		ids, err := h.IDs(word)
		if err != nil {
			return "", h, err
		}
		if len(ids) > 0 && ids[0] == word || len(ids) == 1 && len(word) >= minPrefix {
			return ids[0], h, nil
		}
		if found = ids; len(found) > 0 {
			break // a beginning means a session before it means a task
		}
	}
	switch {
	case len(found) == 0:
		return "", k.home, fmt.Errorf("there is no session %s; 'magi-code sessions list' shows them", word)
	case len(word) < minPrefix:
		return "", k.home, usageError(fmt.Sprintf("give at least %d characters of the id", minPrefix))
	}
	return "", k.home, usageError(fmt.Sprintf("%d sessions begin with %s: %s", len(found), word, strings.Join(found[:min(len(found), 5)], ", ")))
}

// read folds a session without owning it: another program may go on with it.
func (k *keeper) read(ctx context.Context, word string) (*transcript, error) {
	id, home, err := k.find(word)
	if err != nil {
		return nil, err
	}
	t := &transcript{ID: id, Task: home.Child}
	fold := history.NewWhole(agent.NewID)
	info, err := home.Read(ctx, id, &t.Meta, fold)
	switch {
	case errors.Is(err, session.ErrLimit):
		return nil, fmt.Errorf("session %s has more than 100,000 lines or 64 MiB", id)
	case errors.Is(err, session.ErrInvalid), errors.Is(err, history.ErrInvalid):
		return nil, fmt.Errorf("session %s cannot be read: %w ('magi-code doctor' says what to do about files that are open to others)", id, err)
	case err != nil:
		return nil, err
	}
	t.InUse = home.Use(id)
	if info.Torn && t.InUse == nil { // else its owner is writing it
		fold.SetTorn()
	}
	snap, err := fold.Snapshot(id)
	if err != nil {
		return nil, fmt.Errorf("session %s cannot be shown: %w", id, err)
	}
	t.Complete, t.Messages = snap.Complete(), snap.Messages()
	return t, nil
}

func (k *keeper) show(ctx context.Context, c sessionsShowCmd) error {
	t, err := k.read(ctx, c.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return t.json(k.out)
	}
	return t.text(k.out)
}

func (k *keeper) export(ctx context.Context, c sessionsExportCmd) error {
	format := c.Format
	if format == "" && strings.EqualFold(filepath.Ext(c.Output), ".json") {
		format = "json"
	}
	t, err := k.read(ctx, c.ID)
	if err != nil {
		return err
	}
	write := t.markdown
	if format == "json" {
		write = t.json
	}
	if c.Output == "" || c.Output == "-" {
		return write(k.out)
	}
	var b strings.Builder
	if err := write(&b); err != nil {
		return err
	}
	path := c.Output
	if !filepath.IsAbs(path) {
		path = filepath.Join(k.env.CWD, path)
	}
	if err := k.save(path, b.String(), c.Force); err != nil {
		return err
	}
	fmt.Fprintf(k.notes, "wrote %s\n", c.Output)
	return nil
}

// save makes a private file: a conversation is the user's own.
func (k *keeper) save(path, text string, force bool) error {
	if force {
		return vfs.Replace(k.env.FS, path, []byte(text), 0o600)
	}
	f, err := k.env.FS.Open(path, vfs.Write|vfs.Create|vfs.Exclusive|vfs.NoFollow, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; --force replaces it", path)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(vfs.WriteAll(f, []byte(text)), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, k.env.FS.Remove(path))
	}
	return nil
}

// json writes one object; the keys of a message are those of history.page.
func (t *transcript) json(w io.Writer) error {
	type message struct {
		Kind    string `json:"kind"`
		Text    string `json:"text"`
		Partial bool   `json:"partial"`
	}
	messages := make([]message, 0, len(t.Messages))
	for _, m := range t.Messages {
		messages = append(messages, message(m))
	}
	return printJSON(w, struct {
		ID        string    `json:"session_id"`
		Title     *string   `json:"title"`
		Workspace *string   `json:"workspace"`
		Latest    *string   `json:"latest_activity"`
		Prompts   int       `json:"prompts"`
		Task      bool      `json:"delegated_task"`
		InUse     bool      `json:"in_use"`
		Complete  bool      `json:"complete"`
		Messages  []message `json:"messages"`
	}{t.ID, orNull(t.Meta.Title), orNull(t.Meta.SessionPath), orNull(t.Meta.LatestActivity), t.Meta.UserInputs, t.Task, t.InUse != nil, t.Complete, messages})
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// facts are what stands above a conversation.
func (t *transcript) facts() []string {
	facts := []string{"session " + t.ID}
	if t.Task {
		facts[0] = "delegated task " + t.ID
	}
	if t.Meta.SessionPath != "" {
		facts = append(facts, "folder "+printable(t.Meta.SessionPath))
	}
	if t.Meta.LatestActivity != "" {
		facts = append(facts, "latest activity "+printable(t.Meta.LatestActivity))
	}
	facts = append(facts, fmt.Sprintf("prompts %d", t.Meta.UserInputs))
	switch {
	case t.InUse != nil && !t.Complete:
		facts = append(facts, inUse(t.InUse), "a turn of it goes on, or was cut off")
	case t.InUse != nil:
		facts = append(facts, inUse(t.InUse))
	case !t.Complete:
		facts = append(facts, "a turn of it was cut off")
	}
	return facts
}

// text is for a terminal.
func (t *transcript) text(w io.Writer) error {
	var b strings.Builder
	if t.Meta.Title != "" {
		b.WriteString(printable(t.Meta.Title) + "\n")
	}
	b.WriteString(strings.Join(t.facts(), "\n") + "\n")
	for i, m := range t.Messages {
		switch m.Kind {
		case "activity", "diagnostic":
			if i == 0 || !isNote(t.Messages[i-1].Kind) {
				b.WriteByte('\n')
			}
			mark := "· "
			if m.Kind == "diagnostic" {
				mark = "! "
			}
			b.WriteString(mark + indentRest(m.Text, "  ") + "\n")
		default:
			fmt.Fprintf(&b, "\n%s%s\n%s\n", speakers[m.Kind], partly(m), strings.TrimRight(m.Text, "\n"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var speakers = map[string]string{"user": "USER", "assistant": "ASSISTANT", "reasoning_summary": "REASONING", "compaction": "SUMMARY OF WHAT CAME BEFORE"}

func isNote(kind string) bool { return kind == "activity" || kind == "diagnostic" }

func partly(m history.Message) string {
	if m.Partial {
		return " (cut off)"
	}
	return ""
}

func indentRest(text, indent string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+indent)
}

// markdown is for a file. What was said stands as it is, since both sides write
// Markdown; what happened stands in lists and quotes.
func (t *transcript) markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", cmp.Or(printable(t.Meta.Title), "Session "+t.ID))
	for _, f := range t.facts() {
		b.WriteString("- " + f + "\n")
	}
	for i, m := range t.Messages {
		switch m.Kind {
		case "activity":
			if i == 0 || t.Messages[i-1].Kind != "activity" {
				b.WriteByte('\n')
			}
			b.WriteString("- " + codeSpan(m.Text) + "\n")
		case "diagnostic", "reasoning_summary":
			b.WriteString("\n> " + indentRest(m.Text, "> ") + "\n")
		default:
			heading := speakers[m.Kind]
			fmt.Fprintf(&b, "\n## %s%s\n\n%s\n", heading[:1]+strings.ToLower(heading[1:]), partly(m), strings.TrimRight(m.Text, "\n"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// codeSpan puts text on one line between as many backticks as it needs.
func codeSpan(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}
