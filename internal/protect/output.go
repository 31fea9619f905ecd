package protect

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// source is what feeds the standard input of a command, or what a file holds.
type source struct {
	text     string // a here-document or a literal echo
	literal  bool   // text is all of it
	download bool   // something fetched
	inside   bool   // names of files inside the workspace
	found    string // a path that stands for the names of found files
	file     string // the content of a file that the text does not write
}

// output tells what a statement writes to its pipe, as far as the text tells.
func (w *walker) output(s *syntax.Stmt, in *source) *source {
	for _, r := range s.Redirs {
		if src := w.feed(r); src != nil {
			in = src
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if lists := w.argLists(c.Args); len(lists) == 1 && len(lists[0]) > 0 {
			return w.prints(lists[0], in)
		}
	case *syntax.Block:
		return w.together(c.Stmts, in)
	case *syntax.Subshell:
		return w.together(c.Stmts, in)
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return w.output(c.Y, w.output(c.X, in))
		}
		return w.together([]*syntax.Stmt{c.X, c.Y}, in)
	}
	return &source{download: fetches(s)}
}

// together joins the output of several statements.
func (w *walker) together(list []*syntax.Stmt, in *source) *source {
	all := &source{literal: true, inside: true}
	for _, s := range list {
		one := w.output(s, in)
		all.text += one.text
		all.literal = all.literal && one.literal
		all.inside = all.inside && one.inside
		all.download = all.download || one.download
	}
	return all
}

// fetches: somewhere in it something is fetched.
func fetches(s *syntax.Stmt) bool {
	for name := range downloaders {
		if mentions(s, name) {
			return true
		}
	}
	return false
}

// prints tells what one program writes. A wrapper writes what it runs writes.
func (w *walker) prints(args []string, in *source) *source {
	name := base(args[0])
	out := &source{}
	if in != nil {
		out.download = in.download
		out.inside, out.found = in.inside, in.found
	}
	rest := args[1:]
	switch name {
	case "echo":
		return echoed(rest)
	case "printf":
		return formatted(rest)
	case "cat", "tee":
		if ops := operands(rest); name == "tee" || len(ops) == 0 || len(ops) == 1 && ops[0] == "-" {
			return in.orNothing()
		} else if len(ops) == 1 {
			return w.content(ops[0])
		}
		out.inside = false
	case "find":
		return &source{inside: w.allInside(starts(rest)), found: w.finds(rest)}
	case "ls":
		return w.listed(operands(rest))
	case "fd":
		out.inside = w.allInside(starts(rest))
	case "grep", "rg", "ag":
		if in != nil && len(operands(rest)) < 2 && !flag(rest, "-v", "--invert-match") {
			return &source{inside: in.inside, found: strings.TrimSuffix(in.found, "*"), download: in.download}
		}
		out.inside = flag(rest, "-l", "-L", "--files-with-matches", "--files", "--files-without-match") && w.allInside(skipFirst(operands(rest)))
	case "git":
		out.inside = len(rest) > 0 && (rest[0] == "ls-files" || rest[0] == "diff" || rest[0] == "grep")
	case "sort", "uniq", "head", "tail", "tac", "shuf":
		if len(operands(rest)) > 0 {
			out.inside = false
		}
	case "sudo", "env", "command", "nohup", "time", "timeout", "busybox", "nice", "exec", "builtin":
		for i := range rest {
			if rest[i] != "" && rest[i][0] != '-' && !strings.Contains(rest[i], "=") {
				return w.prints(rest[i:], in)
			}
		}
	default:
		out.inside = false
	}
	out.download = out.download || downloaders[name]
	return out
}

// listed is what ls writes: the names of everything in a folder, or what it
// was given.
func (w *walker) listed(ops []string) *source {
	out := &source{inside: w.allInside(ops), found: "./*"}
	for _, o := range ops {
		if out.found = o; !w.allInside([]string{o}) {
			break
		}
	}
	return out
}

func skipFirst(ops []string) []string {
	if len(ops) == 0 {
		return nil
	}
	return ops[1:]
}

func (s *source) orNothing() *source {
	if s == nil {
		return &source{}
	}
	return s
}

func echoed(args []string) *source {
	decode := false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		decode = decode || strings.Contains(args[0], "e")
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if decode {
		text = ansiC(text)
	}
	return &source{text: text + "\n", literal: true}
}

// formatted handles the formats that only pass their arguments on.
func formatted(args []string) *source {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || args[0] == "-v" {
		return &source{literal: true}
	}
	var b strings.Builder
	format, rest := ansiC(args[0]), args[1:]
	for round := 0; round == 0 || len(rest) > 0 && strings.Contains(format, "%") && round < 64; round++ {
		for i := 0; i < len(format); i++ {
			if format[i] != '%' || i+1 == len(format) {
				b.WriteByte(format[i])
				continue
			}
			i++
			value := ""
			if len(rest) > 0 && format[i] != '%' {
				value, rest = rest[0], rest[1:]
			}
			switch format[i] {
			case '%':
				b.WriteByte('%')
			case 's':
				b.WriteString(value)
			case 'b':
				b.WriteString(ansiC(value))
			case 'd', 'i', 'u':
				b.WriteString(value)
			default:
				b.WriteString(hidden)
			}
		}
	}
	return &source{text: b.String(), literal: true}
}
