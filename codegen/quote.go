package codegen

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// quote writes s as a Go expression of one or more string literals. It is the only way for text of the user to get into
// generated code. Text of several lines is a raw string where quoteRaw allows one, or else one literal for each line,
// joined by +. Everything else is one literal; what is not valid UTF-8 is escaped byte by byte.
func quote(s string) jen.Code {
	switch {
	case !quoteBlock(s):
		return jen.Op(literal(s))
	case quoteRaw(s):
		return jen.Op("`" + s + "`")
	case strings.Count(s, "\n") > quoteMaxLines:
		return jen.Op(literal(s))
	}
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, literal(line))
	}
	return jen.Op(strings.Join(lines, " +\n"))
}

// quoteMaxLines bounds how many literals quote joins: gofmt takes quadratic time for them.
const quoteMaxLines = 250

// quoteOne writes s as one Go string literal, between backquotes where that is possible, so that the quotes of JSON and of
// struct tags need no escapes.
func quoteOne(s string) jen.Code {
	if quoteRaw(s) {
		return jen.Op("`" + s + "`")
	}
	return jen.Op(literal(s))
}

// quoteBytes writes arbitrary bytes as a string literal.
func quoteBytes(data []byte) jen.Code { return jen.Op(escapeModes(strconv.QuoteToASCII(string(data)))) }

// literal writes s between double quotes.
func literal(s string) string { return escapeModes(strconv.Quote(s)) }

// quoteBlock reports whether s is worth several lines: a text of three lines or more that hold something.
func quoteBlock(s string) bool {
	lines := 0
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	return lines > 2
}

// quoteRaw reports whether s survives between backquotes and shows what it holds: no backquote, no carriage return (which
// raw strings drop), nothing invisible or direction-changing, and no line that means something to programs that read Go
// files line by line.
func quoteRaw(s string) bool {
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t':
		case r == '`' || !unicode.IsPrint(r):
			return false
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			return false
		}
	}
	for line := range strings.Lines(s) {
		if quoteMeans(line) {
			return false
		}
	}
	return !quoteMeans(s[strings.LastIndexByte(s, '\n')+1:] + "`") // as the last line stands in the file
}

// quoteMarks are what lines begin with that have a meaning outside of Go's syntax: go generate runs the programs of lines
// with directives, even inside strings; git, editors and code reviews look for the marks of conflicts.
var quoteMarks = []string{"//", "/*", "<<<<<<<", "|||||||", "=======", ">>>>>>>"}

// quoteMeans reports whether a line of text may mean something to programs that read Go files line by line.
func quoteMeans(line string) bool {
	line = strings.TrimSpace(line)
	for _, mark := range quoteMarks {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	if strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") || hasMode(line) {
		return true // a file of a txtar archive, as tests keep generated code
	}
	rest, hash := strings.CutPrefix(line, "#")
	return hash && rest != "" && rest[0] != '#' && rest[0] != ' ' // #cgo, #include, #!, but no heading of Markdown
}

// commentWidth is where long comment lines are wrapped, in characters.
const commentWidth = 110

// comment writes text as line comments. Whatever text is, it cannot end the comment, or be read as a directive: every
// line starts with `// ` and holds printable characters only.
func comment(text string) jen.Code {
	s := jen.Null()
	for i, line := range commentLines(text) {
		if i > 0 {
			s.Line()
		}
		s.Comment(strings.TrimRight("// "+line, " "))
	}
	return s
}

func commentLines(text string) []string {
	var out []string
	for _, line := range strings.FieldsFunc(text, commentBreak) {
		var cur string
		for _, word := range strings.Fields(strings.Map(commentVisible, line)) {
			if cur != "" && utf8.RuneCountInString(cur)+1+utf8.RuneCountInString(word) > commentWidth {
				out = append(out, undirected(cur))
				cur = ""
			}
			if cur != "" {
				cur += " "
			}
			cur += word
		}
		if cur != "" {
			out = append(out, undirected(cur))
		}
	}
	if out == nil {
		return []string{""}
	}
	return out
}

func commentBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

func commentVisible(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}
