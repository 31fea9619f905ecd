package protect

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Marks stand inside the text of a word for what only a run can tell. They are
// of Unicode's private use area: in a command they mean the same.
const (
	split  = "\ue000" // where the shell splits the value of a variable
	env    = "\ue001" // a variable of the environment, which the text never sets
	hidden = "\ue002" // anything else that is computed
	secret = "\ue003" // a variable of the environment that is named like a credential
)

// unseen reports whether a part of s is only known when it runs.
func unseen(s string) bool { return strings.Contains(s, "\xee\x80") }

// maxAlternatives bounds what one word may become.
const maxAlternatives = 16

// word returns the texts that a word may become.
func (w *walker) word(word *syntax.Word) []string {
	if len(word.Parts) == 1 {
		return w.part(word.Parts[0], false, true)
	}
	return w.parts(word.Parts, false)
}

// parts joins the alternatives of the parts of a word, within bounds.
func (w *walker) parts(parts []syntax.WordPart, quoted bool) []string {
	out := []string{""}
	var tail strings.Builder // what every alternative goes on with
	for i, p := range parts {
		alts := w.part(p, quoted, i == 0)
		if len(alts) == 1 {
			tail.WriteString(alts[0])
			continue
		}
		if len(out)*len(alts) > maxAlternatives {
			return []string{hidden}
		}
		next := make([]string, 0, len(out)*len(alts))
		for _, x := range out {
			for _, y := range alts {
				next = append(next, x+tail.String()+y)
			}
		}
		out = next
		tail.Reset()
	}
	for i := range out {
		out[i] += tail.String()
	}
	return out
}

func (w *walker) part(p syntax.WordPart, quoted, first bool) []string {
	switch p := p.(type) {
	case *syntax.Lit:
		return []string{w.literal(p.Value, quoted, first)}
	case *syntax.SglQuoted:
		if p.Dollar {
			return []string{ansiC(p.Value)}
		}
		return []string{p.Value}
	case *syntax.DblQuoted:
		return w.parts(p.Parts, true)
	case *syntax.ParamExp:
		return w.param(p, quoted)
	case *syntax.ArithmExp:
		return []string{"1"} // a number; what it runs is judged with its parts
	case *syntax.CmdSubst:
		return w.substituted(p)
	case *syntax.BraceExp:
		return []string{sequence(p)}
	}
	return []string{hidden} // process substitution, extended globs
}

// literal undoes backslashes and an unquoted tilde.
func (w *walker) literal(s string, quoted, first bool) string {
	if quoted {
		return unescape(s, "\\\"$`\n")
	}
	text := unescape(s, "")
	if !first || text == "" || text[0] != '~' || s[0] != '~' {
		return text
	}
	name, rest, slash := strings.Cut(text[1:], "/")
	if slash {
		rest = "/" + rest
	}
	switch name {
	case "":
		if w.place.Home == "" {
			return hidden + rest
		}
		return w.place.Home + rest
	case "+":
		return w.dirs[0] + rest
	case "-":
		return hidden + rest
	}
	return "/home/" + name + rest // another user's home: outside in any case
}

// substituted knows the output of a few commands that scripts use all the time.
func (w *walker) substituted(c *syntax.CmdSubst) []string {
	if len(c.Stmts) != 1 || len(c.Stmts[0].Redirs) > 0 {
		return []string{hidden}
	}
	call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 || w.funcs[call.Args[0].Lit()] {
		return []string{hidden}
	}
	line := strings.Join(literals(call.Args), " ")
	switch {
	case line == "pwd":
		return known(w.dirs)
	case line == "mktemp" || line == "mktemp -d":
		return []string{"/tmp/tmp.made"}
	case line == "nproc", line == "date +%s", line == "date +%F", line == "date +%Y%m%d", line == "id -u":
		return []string{"1"}
	}
	return []string{hidden}
}

func known(dirs []string) []string {
	out := make([]string, len(dirs))
	for i, d := range dirs {
		if out[i] = d; d == "" {
			out[i] = hidden
		}
	}
	return out
}

// param returns the values of a variable.
func (w *walker) param(p *syntax.ParamExp, quoted bool) []string {
	if p.Param == nil || p.Excl || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return []string{hidden}
	}
	if p.Length || p.Width {
		return []string{"1"}
	}
	values := w.values(p.Param.Value)
	if p.Exp != nil {
		values = w.expanded(p, values)
	}
	if quoted {
		return values
	}
	separators := " \t\n" + strings.Join(w.vars["IFS"], "")
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v
		if strings.ContainsAny(v, separators) {
			out[i] = splitFields(v, separators)
		}
	}
	return out
}

// splitFields marks where the shell splits an unquoted value. Splitting once
// too often makes nothing look safer.
func splitFields(v, separators string) string {
	text := strings.Join(strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(separators, r) }), split)
	if strings.TrimLeft(v, separators) != v {
		text = split + text
	}
	if strings.TrimRight(v, separators) != v {
		text += split
	}
	return text
}

// expanded handles the operators that choose between values.
func (w *walker) expanded(p *syntax.ParamExp, values []string) []string {
	word := []string{""}
	if p.Exp.Word != nil {
		word = w.word(p.Exp.Word)
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return append(append([]string{}, values...), word...)
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return append([]string{""}, word...)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return values
	case syntax.OtherParamOps: // ${x@P} runs the substitutions inside the value
		w.opaque()
	}
	return []string{hidden}
}

// values are what a variable may hold: what the text gives it, and what every
// shell starts with.
func (w *walker) values(name string) []string {
	out := w.vars[name]
	switch name {
	case "HOME":
		if w.place.Home != "" {
			out = append([]string{w.place.Home}, out...)
		}
	case "PWD":
		out = append(known(w.dirs), out...)
	case "IFS":
		out = append([]string{" "}, out...)
	case "SHELL", "BASH":
		out = append([]string{"bash"}, out...)
	case "TMPDIR":
		out = append([]string{"/tmp"}, out...)
	case "$", "#", "?", "RANDOM", "UID", "EUID", "PPID", "LINENO", "SECONDS":
		out = append([]string{"1"}, out...)
	}
	if len(out) > 0 {
		return out
	}
	if strings.ContainsAny(name, "@*!-0123456789") && !strings.ContainsAny(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") {
		return []string{hidden}
	}
	if secretVariable(name) {
		return []string{secret}
	}
	return []string{env}
}

// argLists returns the argument lists that the words of a command may become.
func (w *walker) argLists(words []*syntax.Word) [][]string {
	lists := [][]string{make([]string, 0, len(words))}
	for _, word := range words {
		for _, b := range expandBraces(word) {
			alts := w.word(b)
			if len(alts)*len(lists) > maxAlternatives {
				alts = []string{hidden}
			}
			if len(alts) == 1 {
				for i := range lists {
					lists[i] = appendFields(lists[i], alts[0])
				}
				continue
			}
			next := make([][]string, 0, len(alts)*len(lists))
			for _, l := range lists {
				for _, a := range alts {
					next = append(next, appendFields(append(make([]string, 0, len(l)+4), l...), a))
				}
			}
			lists = next
		}
	}
	return lists
}

// appendFields adds the fields of one word. A word that became empty without
// quotes is none, but an empty argument changes nothing here.
func appendFields(list []string, text string) []string {
	if !strings.Contains(text, split) {
		return append(list, text)
	}
	for f := range strings.SplitSeq(text, split) {
		if f != "" {
			list = append(list, f)
		}
	}
	return list
}
