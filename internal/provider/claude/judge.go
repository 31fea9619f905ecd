package claude

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/proc"
	"magicode/internal/provider"
	"magicode/internal/provider/anthropic"
	"magicode/internal/provider/exchange"
)

// evidence is all that is known of a generation at its end.
type evidence struct {
	heard   heard
	exit    proc.Result
	again   bool
	status  int
	failure error // of the relay
	answer  []byte
	names   map[string]bool
}

// judge returns the events of a generation whose parts agree (providers.md 15).
func judge(ctx context.Context, e *evidence) ([]provider.Event, error) {
	switch {
	case e.again:
		return nil, refused("the claude command made more than one request")
	case e.status == 0 && e.failure != nil:
		return nil, failed(provider.ErrTransport, "Claude cannot be reached")
	case e.status == 0:
		return nil, refused(hintNone)
	case e.status != 200:
		return nil, statusError(e.status, e.answer)
	case errors.Is(e.failure, errAnswerTooLarge):
		return nil, failed(provider.ErrStreamTerminal, errAnswerTooLarge.Error())
	}
	a := &answer{names: e.names}
	if err := exchange.Read(ctx, bytes.NewReader(e.answer), a.parser, a.take); err != nil {
		if context.Cause(ctx) != nil || a.foreign {
			return nil, err
		}
		return nil, streamError(err)
	}
	if !e.agrees(a) {
		return nil, refused(hintAnswer)
	}
	return a.events, nil
}

// agrees holds what the command said and how it ended against the answer.
func (e *evidence) agrees(a *answer) bool {
	h := e.heard
	if !h.assistant || !h.stopped || h.results != 1 || e.exit.Reason != proc.Exited {
		return false
	}
	switch a.stop {
	case "end_turn", "tool_use", "max_tokens", "refusal":
	default:
		return false
	}
	if a.usage == nil || a.usage.Input == nil || a.usage.Output == nil {
		return false
	}
	if h.subtype == "success" && !h.isError && e.exit.ExitCode == 0 {
		return true
	}
	// One turn is all that the command may take: with a call it complains.
	return a.calls > 0 && h.subtype == "error_max_turns" && (e.exit.ExitCode == 0 || e.exit.ExitCode == 1)
}

// answer collects the events of the model's answer.
type answer struct {
	names   map[string]bool
	events  []provider.Event
	usage   *provider.Usage
	stop    string
	calls   int
	foreign bool // a tool that was not offered
}

// parser is the Anthropic parser, with an eye on the stop reason.
func (a *answer) parser(s *exchange.Sink) exchange.Parser {
	return &watched{Parser: anthropic.NewParser(s), answer: a}
}

type watched struct {
	exchange.Parser
	answer *answer
}

// Event implements exchange.Parser.
func (w *watched) Event(data []byte) error {
	if bytes.Contains(data, []byte(`"stop_reason"`)) {
		if v, err := exchange.ParseData(data); err == nil {
			if stop := v.Get("delta").Get("stop_reason"); stop.Kind() == jsonscan.String {
				w.answer.stop = stop.LenientText()
			}
		}
	}
	return w.Parser.Event(data)
}

// take keeps an event, with the tools under their own names.
func (a *answer) take(ev provider.Event) error {
	switch ev.Kind {
	case provider.EventUsage:
		a.usage = ev.Usage
	case provider.EventCall:
		name, err := a.name(ev.Call.Name)
		if err != nil {
			return err
		}
		call := *ev.Call
		call.Name, ev.Call = name, &call
		a.calls++
	case provider.EventItem:
		raw, err := a.item(ev)
		if err != nil {
			return err
		}
		ev.Raw = raw
	}
	a.events = append(a.events, ev)
	return nil
}

// item renames the tool of a call's item.
func (a *answer) item(ev provider.Event) ([]byte, error) {
	v, err := jsonscan.Parse(ev.Raw, jsonscan.Options{LoneSurrogates: true, AnyNumber: true})
	if err != nil || !v.Get("type").Is("function_call") {
		return ev.Raw, nil
	}
	name, err := a.name(v.Get("name").LenientText())
	if err != nil {
		return nil, err
	}
	return anthropic.CallItem(&provider.Call{ID: v.Get("call_id").LenientText(), Name: name, Arguments: v.Get("arguments").LenientText()}), nil
}

func (a *answer) name(full string) (string, error) {
	name, ok := strings.CutPrefix(full, prefix)
	if !ok || !a.names[name] {
		a.foreign = true
		return "", refused("the model called a tool that was not offered")
	}
	return name, nil
}
