package redact

import "strings"

// worthHiding reports whether v, which stands behind a name of that kind, may
// be a secret. The rules of the reference hide whatever stands there; what no
// secret can be, and source code is full of, is left alone (decision 46): a
// type, a constant, a variable of a shell or a template, a call.
func worthHiding(kind keyKind, v string) bool {
	quoted := isQuote(v[0])
	body := strings.Trim(v, "\"'`\\")
	marked := strings.Contains(body, mark)
	if marked { // as the name or the word that stood there
		body = strings.ReplaceAll(body, mark, "x")
	}
	switch {
	case body == "":
		return false
	case strings.HasSuffix(v, pemDashes+"BEGIN"):
		return true // the block that begins there may be part of the value
	case strings.Trim(v, brackets) == "":
		return len(v) >= 8
	case isPlaceholder(body) || !quoted && (plainWords[strings.TrimRight(body, ")]>?|")] || isCall(body) || isKnownPath(body)):
		return false
	case kind == exactKey || kind == authKey:
		return true
	}
	return !marked && worthLong(kind, v, body, quoted)
}

// worthLong is the rest of worthHiding for the names of decision 46.
func worthLong(kind keyKind, v, body string, quoted bool) bool {
	if !quoted && (isNumber(body) || isExpression(v)) {
		return false
	}
	switch kind {
	case weakKey:
		return looksRandom(body)
	case comparedKey:
		return quoted || looksRandom(body)
	}
	return true
}

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '\\' || b == '`' }

// brackets open what stands behind a name in source code, or are operators there.
const brackets = "{[(<|>=&`\"'\\)]:"

// plainWords are values that name a type or a constant.
var plainWords = map[string]bool{
	"string": true, "String": true, "str": true, "text": true, "bool": true, "boolean": true, "number": true, "int": true, "any": true, "object": true, "bytes": true, "char": true,
	"true": true, "false": true, "True": true, "False": true, "nil": true, "null": true, "None": true, "NULL": true, "undefined": true, "void": true, "unknown": true, "never": true,
	"&str": true, "[]byte": true, "[]string": true, "Option<String": true, "Option<&str": true, "Optional[str": true, "std::string": true, "SecretStr": true, "required": true, "optional": true,
	"await": true, "new": true, "async": true, "function": true, "func": true, "fn": true, "lambda": true, "i32": true, "u32": true, "u8": true, "usize": true, "&mut": true, "*const": true, "*mut": true, "Vec<u8": true,
}

// isPlaceholder reports whether v stands for a value that is filled in later:
// $NAME, ${NAME, $(..., {{name, {name, <name>, %s, %v.
func isPlaceholder(v string) bool {
	switch v[0] {
	case '$':
		name := strings.TrimLeft(v[1:], "({")
		end := runEnd(name, 0, word|dot)
		return name != "" && end == runEnd(name, 0, upper|under|digit|dot) && onlyClosers(name[end:]) || name != v[1:] && end > 0 && runEnd(name, 0, word&^digit|dot) == end && onlyClosers(name[end:])
	case '{':
		name := strings.TrimLeft(v, "{ ")
		end := runEnd(name, 0, word&^digit|dot)
		return onlyClosers(name[end:])
	case '<':
		end := runEnd(v, 1, word&^digit|dash)
		return end > 1 && end < len(v) && v[end] == '>' && onlyClosers(v[end+1:])
	case '%':
		return len(v) > 1 && strings.IndexByte("svqdxTw", v[1]) >= 0 && onlyClosers(v[2:])
	}
	return false
}

// onlyClosers reports whether v holds nothing that a name could go on with.
func onlyClosers(v string) bool {
	return strings.Trim(v, "\"'`)]}>.:!?\\*") == ""
}

// isCall reports whether v is a whole call or index expression: name(...) or name[...].
func isCall(v string) bool {
	end := runEnd(v, 0, word|dot|colon)
	if end == 0 || end == len(v) || classes[v[0]]&(upper|lower|under) == 0 {
		return false
	}
	last := v[len(v)-1]
	return (v[end] == '(' && last == ')' || v[end] == '[' && last == ']') && !strings.ContainsAny(v[end:], ":=")
}

// roots begin paths that lead to a value elsewhere.
var roots = []string{"process.env", "import.meta.env", "os.environ", "os.getenv", "self.", "this.", "config.", "cfg.", "settings.", "options.", "opts.", "args.", "props.", "req.", "request.", "env.", "secrets.", "vars.", "var.", "local.", "data.", "ctx.", "params."}

func isKnownPath(v string) bool {
	for _, r := range roots {
		if strings.HasPrefix(v, r) {
			end := runEnd(v, 0, word&^digit|dot)
			return onlyClosers(v[end:])
		}
	}
	return false
}

// isNumber reports whether v is a short number of a programming language.
func isNumber(v string) bool {
	v = strings.TrimLeft(v, "-+")
	if strings.HasPrefix(v, "0x") {
		return len(v) <= 10 && runEnd(v, 2, anyHex) == len(v)
	}
	return len(v) <= 6 && runEnd(v, 0, digit|under|dot) == len(v)
}

// isExpression reports whether v begins as an expression does that is no
// literal, and holds nothing that stands in no expression.
func isExpression(v string) bool {
	name := strings.TrimLeft(v, "&*[]!")
	end := runEnd(name, 0, word|dot|colon)
	if end == 0 || classes[name[0]]&(upper|lower|under) == 0 || !isCodeTail(name[end:]) || mixedWell(v, false) && count(v, digit) > 4 {
		return false
	}
	if len(name) < len(v) || end < len(name) && strings.IndexByte("([{<", name[end]) >= 0 {
		return true
	}
	return runEnd(name, 0, word&^digit|dot|colon) == len(name) && strings.ContainsAny(name[1:], ".:") // a path
}

func count(v string, set uint32) (n int) {
	for i := 0; i < len(v); i++ {
		if classes[v[i]]&set != 0 {
			n++
		}
	}
	return n
}

// codeMarks are what an expression holds beside names.
const codeMarks = "()[]{}<>&*\"'`\\"

func isCodeTail(v string) bool {
	for i := 0; i < len(v); i++ {
		if classes[v[i]]&(word|dot|colon) == 0 && strings.IndexByte(codeMarks, v[i]) < 0 {
			return false
		}
	}
	return true
}

// looksRandom reports whether v has the length and the mixture of a made key.
func looksRandom(v string) bool {
	if len(v) < 8 {
		return false
	}
	seen := uint32(0)
	for i := 0; i < len(v); i++ {
		if v[i] == ' ' {
			return false
		}
		seen |= classes[v[i]]
	}
	if seen&digit != 0 && seen&(upper|lower) != 0 {
		return true
	}
	return len(v) >= 20 && seen&upper != 0 && seen&lower != 0 && seen&(dash|under|dot) == 0
}
