package app

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// completeCmd prints completion scripts, made from the grammar.
type completeCmd struct {
	Shell shellName `arg:"" help:"bash: source <(magi-code completion bash). zsh: put the output into a file _magi-code in a folder of $$fpath. fish: magi-code completion fish | source."`
}

func runComplete(c completeCmd, stdout, stderr io.Writer) int {
	var grammarOf cli
	parser, err := grammar(&grammarOf)
	if err == nil {
		write := map[shellName]func([]place) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
		_, err = io.WriteString(stdout, write(places(parser.Model.Node, nil)))
	}
	if err != nil {
		fmt.Fprintf(stderr, "magi-code: %v\n", err)
		return exitError
	}
	return exitOK
}

// place is a command, and what may stand behind it.
type place struct {
	path  []string // its words, none for the program itself
	words []candidate
}

// candidate is a word that can be completed to.
type candidate struct {
	word  string // a command, a flag with its dashes, or a value
	short string // the other form of a flag, "" without one
	help  string
	takes []string // values of a flag, if they are known
	value bool     // a flag that wants a value
}

// places walks the commands, the outer ones first.
func places(n *kong.Node, path []string) []place {
	p := place{path: path}
	var inner []place
	for _, child := range n.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			p.words = append(p.words, candidate{word: child.Name, help: child.Help})
			inner = append(inner, places(child, append(path[:len(path):len(path)], child.Name))...)
		}
	}
	for _, arg := range n.Positional {
		for _, w := range choicesOf(arg) {
			p.words = append(p.words, candidate{word: w, help: "argument"})
		}
	}
	for _, f := range n.Flags {
		if f.Hidden {
			continue
		}
		o := candidate{word: "--" + f.Name, help: f.Help, takes: choicesOf(f.Value), value: !f.IsBool()}
		if f.Short != 0 {
			o.short = "-" + string(f.Short)
		}
		p.words = append(p.words, o)
	}
	if n.Parent != nil { // the grammar has it in the program's own flags only
		p.words = append(p.words, candidate{word: "--help", short: "-h", help: "Show the help of this command."})
	}
	return append([]place{p}, inner...)
}

func choicesOf(v *kong.Value) []string {
	if v.Target.Kind() != reflect.String {
		return nil
	}
	if c, ok := v.Target.Interface().(interface{ choices() []string }); ok {
		return c.choices()
	}
	return nil
}

// steps are the patterns `<path so far> <word>` by which a command line goes
// from place to place.
func steps(all []place) []string {
	var out []string
	for _, p := range all {
		if n := len(p.path); n > 0 {
			out = append(out, strings.Join(p.path[:n-1], " ")+" "+p.path[n-1])
		}
	}
	return out
}

// quoted puts text between single quotes, for sh and zsh.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func quotedAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quoted(w)
	}
	return out
}

// valueCases are the branches `<path>:<flag>` of flags whose values are known.
func valueCases(all []place, do func(values []string) string) string {
	var b strings.Builder
	for _, p := range all {
		for _, o := range p.words {
			if len(o.takes) > 0 {
				fmt.Fprintf(&b, "    %s) %s; return ;;\n", quoted(strings.Join(p.path, " ")+":"+o.word), do(o.takes))
			}
		}
	}
	return b.String()
}

func bashScript(all []place) string {
	var b strings.Builder
	b.WriteString("# bash completion of magi-code: source <(magi-code completion bash)\n_magi_code() {\n" +
		"  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at= words= i\n" +
		"  for ((i = 1; i < COMP_CWORD; i++)); do\n    case \"$at ${COMP_WORDS[i]}\" in\n")
	fmt.Fprintf(&b, "    %s) at=\"${at:+$at }${COMP_WORDS[i]}\" ;;\n    esac\n  done\n", strings.Join(quotedAll(steps(all)), "|"))
	b.WriteString("  case \"$at:$prev\" in\n" + valueCases(all, func(values []string) string {
		return `COMPREPLY=($(compgen -W ` + quoted(strings.Join(values, " ")) + ` -- "$cur"))`
	}) + "  esac\n  case \"$at\" in\n")
	for _, p := range all {
		var words []string
		for _, o := range p.words {
			words = append(words, o.word)
		}
		fmt.Fprintf(&b, "    %s) words=%s ;;\n", quoted(strings.Join(p.path, " ")), quoted(strings.Join(words, " ")))
	}
	b.WriteString("  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _magi_code magi-code\n")
	return b.String()
}

func zshScript(all []place) string {
	var b strings.Builder
	b.WriteString("#compdef magi-code\n_magi_code() {\n  local at= i\n  local -a offers\n" +
		"  for ((i = 2; i < CURRENT; i++)); do\n    case \"$at ${words[i]}\" in\n")
	fmt.Fprintf(&b, "    %s) at=\"${at:+$at }${words[i]}\" ;;\n    esac\n  done\n", strings.Join(quotedAll(steps(all)), "|"))
	b.WriteString("  case \"$at:${words[CURRENT-1]}\" in\n" + valueCases(all, func(values []string) string {
		return "compadd -- " + strings.Join(quotedAll(values), " ")
	}) + "  esac\n  case \"$at\" in\n")
	for _, p := range all {
		var words []string
		for _, o := range p.words {
			words = append(words, quoted(strings.ReplaceAll(o.word, ":", `\:`)+":"+firstSentence(o.help)))
		}
		fmt.Fprintf(&b, "    %s) offers=(%s) ;;\n", quoted(strings.Join(p.path, " ")), strings.Join(words, " "))
	}
	b.WriteString("  esac\n  _describe 'magi-code' offers || _files\n}\n" +
		"if [ \"$funcstack[1]\" = _magi_code ]; then _magi_code \"$@\"; else compdef _magi_code magi-code; fi\n")
	return b.String()
}

// fishQuoted puts text between single quotes for fish, which knows \' in them.
func fishQuoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

func fishScript(all []place) string {
	var b strings.Builder
	b.WriteString("# fish completion of magi-code: magi-code completion fish | source\nfunction __magi_code_at\n    set -l at ''\n" +
		"    for word in (commandline -opc)[2..-1]\n        switch \"$at $word\"\n            case")
	for _, s := range steps(all) {
		b.WriteString(" " + fishQuoted(s))
	}
	b.WriteString("\n                set at (string trim -- \"$at $word\")\n        end\n    end\n    test \"$at\" = \"$argv[1]\"\nend\n")
	for _, p := range all {
		when := "complete -c magi-code -n " + fishQuoted(`__magi_code_at "`+strings.Join(p.path, " ")+`"`)
		for _, o := range p.words {
			b.WriteString(when)
			if name, ok := strings.CutPrefix(o.word, "--"); ok {
				b.WriteString(" -l " + name)
			} else {
				b.WriteString(" -f -a " + o.word)
			}
			if o.short != "" {
				b.WriteString(" -s " + o.short[1:])
			}
			switch {
			case len(o.takes) > 0:
				b.WriteString(" -x -a " + fishQuoted(strings.Join(o.takes, " ")))
			case o.value:
				b.WriteString(" -r")
			}
			fmt.Fprintf(&b, " -d %s\n", fishQuoted(firstSentence(o.help)))
		}
	}
	return b.String()
}

// firstSentence is as much of a help text as a list of words has room for.
func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSuffix(s, ".")
}
