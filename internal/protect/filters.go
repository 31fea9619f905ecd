package protect

import "strings"

// sed edits in place with -i; its e command and flag run programs, its w
// command and flag write files.
func (w *walker) sed(args []string, _ *source) {
	w.raise(overall, 0.1)
	scripts := values(args, "-e", "--expression")
	files := operands(valued(args, "-e", "-f", "--expression", "--file", "-l"))
	if len(scripts) == 0 && len(values(args, "-f", "--file")) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	for _, s := range scripts {
		if unseen(s) {
			w.raise(overall, 1)
		}
		w.sedScript(s)
	}
	for _, f := range values(args, "-f", "--file") {
		w.runsFile(f)
	}
	for _, a := range args {
		if strings.HasPrefix(a, "-i") || strings.HasPrefix(a, "--in-p") || len(a) > 2 && a[0] == '-' && a[1] != '-' && a[1] != 'e' && strings.Contains(a, "i") {
			for _, f := range files {
				w.writes(f)
			}
			if len(files) == 0 {
				w.raise(overall, 1)
			}
			return
		}
	}
}

// sedScript looks at the start of every command and at the flags of s.
func (w *walker) sedScript(s string) {
	for i := 0; i < len(s); {
		i = skipAddress(s, i)
		if i >= len(s) {
			return
		}
		c := s[i]
		i++
		switch c {
		case 's', 'y':
			var flags string
			flags, i = substitution(s, i)
			if strings.Contains(flags, "e") {
				w.opaque()
			}
			if at := strings.IndexByte(flags, 'w'); at >= 0 {
				w.writes(strings.TrimSpace(flags[at+1:]))
			}
		case 'e':
			w.inlineOrOpaque(rest(s, i))
			i = lineEnd(s, i)
		case 'w', 'W':
			w.writes(rest(s, i))
			i = lineEnd(s, i)
		case 'r', 'R':
			w.readsFile(rest(s, i))
			i = lineEnd(s, i)
		case 'a', 'i', 'c', ':', 'b', 't', 'T', '#':
			i = lineEnd(s, i)
		}
	}
}

// inlineOrOpaque: without text, e runs what it reads.
func (w *walker) inlineOrOpaque(text string) {
	w.opaque()
	if text != "" {
		w.inline(text)
	}
}

func rest(s string, i int) string { return strings.TrimSpace(s[i:lineEnd(s, i)]) }

func lineEnd(s string, i int) int {
	if at := strings.IndexByte(s[i:], '\n'); at >= 0 {
		return i + at
	}
	return len(s)
}

// skipAddress goes over addresses, blanks and separators.
func skipAddress(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case strings.IndexByte(" \t\n;{}!,$+~0123456789", c) >= 0:
			i++
		case c == '/':
			i = closing(s, i+1, '/')
			for i < len(s) && (s[i] == 'I' || s[i] == 'M') {
				i++
			}
		case c == '\\' && i+1 < len(s):
			i = closing(s, i+2, s[i+1])
		default:
			return i
		}
	}
	return i
}

// closing returns the place behind the next unescaped delimiter.
func closing(s string, i int, delimiter byte) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case delimiter:
			return i + 1
		}
	}
	return len(s)
}

// substitution skips both parts of s/// and returns its flags.
func substitution(s string, i int) (flags string, next int) {
	if i >= len(s) {
		return "", len(s)
	}
	d := s[i]
	i = closing(s, closing(s, i+1, d), d)
	next = i
	for next < len(s) && strings.IndexByte(";\n}", s[next]) < 0 {
		next++
	}
	return s[min(i, len(s)):next], next
}

// awk programs run others with system, pipes and getline.
func (w *walker) awk(args []string, _ *source) {
	w.raise(overall, 0.1)
	programs := values(args, "-e", "--source")
	for _, f := range values(args, "-f", "--file") {
		w.runsFile(f)
		programs = append(programs, "")
	}
	ops := operands(valued(args, "-F", "-v", "-f", "-e", "-i", "--source", "--file", "--assign", "--field-separator", "-l"))
	if len(programs) == 0 && len(ops) > 0 {
		programs, ops = ops[:1], ops[1:]
	}
	for _, p := range programs {
		w.awkProgram(p)
	}
	for _, lib := range values(args, "-i", "--include") {
		if lib == "inplace" {
			for _, o := range ops {
				w.writes(o)
			}
		}
	}
}

func (w *walker) awkProgram(p string) {
	if unseen(p) || hasWord(p, "system") || strings.Contains(p, "/inet") || strings.Contains(p, "@load") {
		w.opaque()
	}
	code, strs := awkCode(p)
	if strings.Contains(strings.ReplaceAll(code, "||", ""), "|") {
		w.opaque()
	}
	if strings.Contains(code, ">") {
		for _, s := range strs {
			if strings.Contains(s, "/") || strings.HasPrefix(s, ".") {
				w.writes(s)
			}
		}
	}
	if strings.Contains(code, "ENVIRON") {
		w.dumps = true
	}
}

// awkCode takes strings and regular expressions out of a program.
func awkCode(p string) (code string, strs []string) {
	var b strings.Builder
	last := byte('{')
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case c == '"':
			end := closing(p, i+1, '"')
			strs = append(strs, strings.TrimSuffix(p[i+1:end], `"`))
			i, last = end-1, '"'
			b.WriteByte(' ')
			continue
		case c == '/' && strings.IndexByte("(,!~&|{;}\n", last) >= 0:
			i, last = closing(p, i+1, '/')-1, '/'
			continue
		case c != ' ' && c != '\t':
			last = c
		}
		b.WriteByte(c)
	}
	return b.String(), strs
}
