package yamlnode

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A fault is an error of the library with its marks as offsets. What the library says is in terms of its grammar; the
// functions below look at the text around the mark and say it in terms of what was written.
type fault struct {
	message, context string
	at               int // where the library noticed
	start            int // where the construct that context is about begins; -1 if there is none
}

// explain turns an error of the library into a problem.
func (p *parser) explain(err error) Problem {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return Problem{Kind: Syntax, Span: p.span(0, 0), Message: "not valid YAML: " + shorten(err.Error()), Help: genericHelp}
	}
	f := fault{message: le.Message, context: le.ContextMsg, at: p.offset(le.Mark), start: -1}
	if le.ContextMark.Line > 0 {
		f.start = p.offset(le.ContextMark)
	}
	for _, try := range []func(fault) *Problem{
		p.depthFault, p.tabFault, p.openQuote, p.bracketFault, p.templateFault, p.colonFault, p.keyFault, p.characterFault, p.quotedFault, p.flowFault,
		p.blockFault, p.anchorFault,
	} {
		if pr := try(f); pr != nil {
			return *pr
		}
	}
	msg := shorten(f.message)
	if f.context != "" {
		msg = shorten(f.context) + ": " + msg
	}
	return Problem{Kind: Syntax, Span: p.token(f.at), Message: msg, Help: genericHelp}
}

const genericHelp = "check the indentation and the quotes around here"

func (p *parser) offset(m yaml.Mark) int {
	if m.Line == 0 {
		return min(m.Index, len(p.src))
	}
	return p.file.Offset(m.Line, m.Column)
}

// token is the span of the word at an offset; at the end of a line or file, of the last character before it.
func (p *parser) token(at int) source.Span {
	if at >= len(p.src) || LineBreak(p.src, at) > 0 {
		for at > 0 && (at >= len(p.src) || strings.IndexByte(" \t\r\n", p.src[at]) >= 0) {
			_, n := utf8.DecodeLastRuneInString(p.src[:at])
			at -= n
		}
	}
	hi := at
	for hi < len(p.src) && strings.IndexByte(" \t\r\n", p.src[hi]) < 0 {
		hi++
	}
	return p.span(at, hi)
}

// char is the span of the one character at an offset.
func (p *parser) char(at int) source.Span {
	_, n := utf8.DecodeRuneInString(p.src[min(at, len(p.src)):])
	return p.span(at, at+n)
}

// lineText is the text from lo to the end of its line, blanks at the end not included; of a very long line, the part
// that an expression could reach.
func (p *parser) lineText(lo int) source.Span {
	limit := min(len(p.src), lo+maxExpression)
	hi := EndOfLine(p.src[:limit], lo)
	if hi == limit && limit < len(p.src) {
		for hi > lo && !utf8.RuneStart(p.src[hi]) {
			hi--
		}
		return p.span(lo, hi)
	}
	return p.trimmed(lo, hi)
}

// trimmed is the span [lo, hi) without blanks at its end.
func (p *parser) trimmed(lo, hi int) source.Span {
	for hi > lo && (p.src[hi-1] == ' ' || p.src[hi-1] == '\t') {
		hi--
	}
	return p.span(lo, hi)
}

func (p *parser) depthFault(f fault) *Problem {
	if f.message != errTooDeep.Error() {
		return nil
	}
	pr := p.tooDeep(f.at, f.at+1)
	return &pr
}

func (p *parser) tabFault(f fault) *Problem {
	tab := strings.Contains(f.message, "tab character")
	if strings.Contains(f.message, "cannot start any token") {
		tab = f.at < len(p.src) && p.src[f.at] == '\t'
	}
	if !tab {
		return nil
	}
	return &Problem{Kind: TabIndent, Span: p.char(f.at), Message: "a tab is used as indentation",
		Help: "indent with spaces"}
}

// templateFault recognises `{{` without quotes as the cause.
func (p *parser) templateFault(f fault) *Problem {
	if strings.Contains(f.context, "scalar") { // inside quotes or a block nothing is wrong with it
		return nil
	}
	flow := strings.Contains(f.context, "flow")
	if flow && strings.HasPrefix(p.src[f.start:], "{") {
		for _, lo := range []int{f.start - 1, f.start} {
			if lo >= 0 && strings.HasPrefix(p.src[lo:], "{{") {
				return p.templateProblem(lo, f.start < StartOfLine(p.src, lo))
			}
		}
	}
	for _, at := range []int{f.at, f.start} {
		if at < 0 {
			continue
		}
		line := StartOfLine(p.src, at)
		hi := min(at+2, EndOfLine(p.src, at))
		if at == f.start {
			if !flow && !strings.Contains(f.context, "simple key") {
				continue
			}
			hi = EndOfLine(p.src, at)
		}
		inFlow := flow && f.start < line
		if lo := bareTemplate(p.src[line:hi], inFlow); lo >= 0 {
			return p.templateProblem(line+lo, inFlow)
		}
	}
	return nil
}

// templateProblem reports the `{{` at lo. The fix quotes the value that it is in, as far as the line shows it.
func (p *parser) templateProblem(lo int, inFlow bool) *Problem {
	line := StartOfLine(p.src, lo)
	s := scanLine(p.src[line:lo], inFlow)
	end, closed := balanced(p.src[:EndOfLine(p.src, lo)], lo+2, "}}")
	pr := unquoted(p.span(lo, lo+2))
	if closed {
		pr.Span = p.span(lo, end)
	}
	switch text := p.lineText(lo); {
	case !closed:
	case skipBlanks(p.src, line) == lo && line > 0 && !inFlow:
		pr.Help = "put the text in quotes; if the line belongs to a `|` block above, indent it like the lines there"
		return pr
	case s.depth == 0 && !strings.Contains(p.src[end:text.Hi], " #"):
		pr.Fix = quoted(text)
	case s.depth > 0:
		if e, ok := balanced(p.src[:text.Hi], end, ","); ok {
			pr.Fix = quoted(p.span(line+s.token, e))
		}
	}
	if pr.Fix != nil {
		pr.Help = quoteHelp(pr.Fix)
	}
	return pr
}

// A lineScan is what a look at the start of a line finds.
type lineScan struct {
	template int   // offset of the first `{{` where YAML does not take it for text, or -1
	value    int   // offset of the first value after a `key: `, or -1
	token    int   // offset of the last token that began, the end if one is about to
	depth    int   // open brackets at the end
	dollars  []int // offsets of tokens inside brackets that begin with `$`
}

func bareTemplate(line string, inFlow bool) int { return scanLine(line, inFlow).template }

// scanLine reads line as YAML does, roughly: where tokens begin, what is in quotes, brackets. It stops at a comment, at
// a quote that does not close and at the first bare template.
func scanLine(line string, inFlow bool) lineScan {
	s := lineScan{template: -1, value: -1}
	if inFlow {
		s.depth = 1
	}
	fresh := true // a token begins here
	for i := 0; i < len(line); i++ {
		c := line[i]
		if c == ' ' || c == '\t' {
			continue
		}
		blank := i+1 >= len(line) || line[i+1] == ' ' || line[i+1] == '\t'
		if fresh {
			s.token = i
			if c == '$' && s.depth > 0 {
				s.dollars = append(s.dollars, i)
			}
		}
		switch {
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return s
		case (fresh || s.depth > 0) && strings.HasPrefix(line[i:], "{{"):
			s.template = i
			return s
		case fresh && (c == '-' || c == '?') && blank && s.depth == 0:
			continue
		case c == ':' && blank:
			if s.value < 0 {
				s.value = skipBlanks(line, i+1)
			}
			fresh = true
			continue
		case fresh && (c == '"' || c == '\''):
			i = endOfQuoted(line, i) - 1
		case (fresh || s.depth > 0) && (c == '[' || c == '{'):
			s.depth++
			fresh = true
			continue
		case s.depth > 0 && (c == ']' || c == '}'):
			s.depth--
		case s.depth > 0 && c == ',':
			fresh = true
			continue
		}
		fresh = false
	}
	if fresh {
		s.token = len(line)
	}
	return s
}

// colonFault explains `: ` where no mapping can be.
func (p *parser) colonFault(f fault) *Problem {
	if !strings.HasPrefix(f.message, "mapping values are not allowed") {
		return nil
	}
	line := StartOfLine(p.src, f.at)
	s := scanLine(p.src[line:min(f.at, len(p.src))], false)
	colon := p.char(f.at)
	if s.value < 0 {
		key := p.span(skipBlanks(p.src, line), f.at)
		return &Problem{Kind: Syntax, Span: key, Message: "a key cannot be here: the value above is already complete",
			Help: "indent it like the keys it belongs with; if it is part of the text above, put the entire text in quotes"}
	}
	text := p.lineText(line + s.value)
	if strings.IndexByte("\"'[{&*!|>", p.src[text.Lo]) >= 0 {
		return &Problem{Kind: Syntax, Span: colon, Message: "a second `: ` on one line",
			Help: "put the inner mapping on lines of its own, or the entire text in quotes"}
	}
	pr := &Problem{Kind: CutText, Span: colon, Message: "`: ` is not allowed inside unquoted text", Help: structHelp(text.Text())}
	if pr.Help != "" {
		return pr
	}
	if !strings.Contains(text.Text(), " #") {
		pr.Fix = quoted(text)
	}
	pr.Help = quoteHelp(pr.Fix)
	return pr
}

// keyFault explains lines that are no `key: value`.
func (p *parser) keyFault(f fault) *Problem {
	switch {
	case f.message == "could not find expected ':'" && f.start >= 0:
		return &Problem{Kind: Syntax, Span: p.lineText(f.start), Message: "this line is not `key: value`",
			Help: "add `:` after the key; if it continues the text above, indent it deeper than the key of that text"}
	case strings.HasPrefix(f.message, "block sequence entries are not allowed"):
		return &Problem{Kind: Syntax, Span: p.char(f.at), Message: "a list item cannot be here",
			Help: "begin the list on the next line; if `- ` is part of the text, put the text in quotes"}
	case strings.HasPrefix(f.message, "mapping keys are not allowed"):
		return &Problem{Kind: Syntax, Span: p.char(f.at), Message: "`? ` cannot be here",
			Help: "if `? ` is part of the text, put the text in quotes"}
	}
	return nil
}

func (p *parser) characterFault(f fault) *Problem {
	if !strings.Contains(f.message, "cannot start any token") {
		return nil
	}
	c := p.char(f.at)
	name := "`" + c.Text() + "`"
	if c.Text() == "`" {
		name = "a backquote"
	}
	pr := &Problem{Kind: Syntax, Span: c, Message: "unquoted text cannot begin with " + name, Help: quoteHelp(nil)}
	text := p.lineText(f.at)
	line := StartOfLine(p.src, f.at)
	if scanLine(p.src[line:f.at], false).depth == 0 && !strings.Contains(text.Text(), " #") {
		pr.Fix = quoted(text)
		pr.Help = quoteHelp(pr.Fix)
	}
	return pr
}

func (p *parser) quotedFault(f fault) *Problem {
	switch {
	case f.context == "while scanning a quoted scalar" && f.start >= 0:
		switch {
		case strings.HasPrefix(f.message, "found unexpected"):
			return p.neverClosed(f.start)
		case f.message == "found unknown escape character":
			e := p.span(f.at, p.char(f.at+1).Hi)
			return &Problem{Kind: Syntax, Span: e, Message: "unknown escape `" + shorten(e.Text()) + "` in double quotes",
				Help: "write a backslash as \\\\, or use single quotes"}
		case strings.Contains(f.message, "hexadecimal"), strings.Contains(f.message, "Unicode character escape"):
			lo := max(f.start, strings.LastIndexByte(p.src[:f.at], '\\'))
			return &Problem{Kind: Syntax, Span: p.span(lo, f.at), Message: "this is not a character escape",
				Help: `write \x, \u or \U with 2, 4 or 8 hexadecimal digits; characters above U+FFFF need \U`}
		}
	case f.message == "did not find expected key" && p.afterQuote(f.at),
		strings.HasPrefix(f.context, "while parsing a flow") && p.atQuote(f.at):
		return &Problem{Kind: Syntax, Span: p.lineText(f.at), Message: "text after the closing quote",
			Help: "put the entire text in quotes; inside '…' a quote is written twice, inside \"…\" as \\\""}
	}
	return nil
}

// afterQuote reports whether a value in quotes ends before the offset, on the same line.
func (p *parser) afterQuote(at int) bool {
	i := at
	for i > 0 && (p.src[i-1] == ' ' || p.src[i-1] == '\t') {
		i--
	}
	return i > 0 && (p.src[i-1] == '"' || p.src[i-1] == '\'')
}

// atQuote reports whether text begins at the offset right behind a closing quote.
func (p *parser) atQuote(at int) bool {
	return at > 0 && at < len(p.src) && p.afterQuote(at) && strings.IndexByte(" \t\r\n,:]}\"'", p.src[at]) < 0 && strings.IndexByte("\"'", p.src[at-1]) >= 0
}

// flowFault explains errors inside [ ] and { }.
func (p *parser) flowFault(f fault) *Problem {
	if f.start < 0 || !strings.HasPrefix(f.context, "while parsing a flow") {
		return nil
	}
	open := p.char(f.start)
	line := StartOfLine(p.src, f.at)
	if pr := p.cutInFlow(f, line); pr != nil {
		return pr
	}
	if at := wordBefore.FindStringIndex(p.src[line:min(f.at, len(p.src))]); at != nil {
		if pr := p.enumInFlow(line + at[0]); pr != nil {
			return pr
		}
	}
	want := map[string]string{"{": "`}`", "[": "`]`"}[open.Text()]
	if want == "" {
		return nil
	}
	first := skipBlanks(p.src, line)
	if line > f.start && (f.at >= len(p.src) || first-line <= countSpaces(p.src, StartOfLine(p.src, f.start))) || f.at >= EndOfLine(p.src, line) {
		return &Problem{Kind: Syntax, Span: open, Related: []source.Span{p.token(f.at)},
			Message: "this `" + open.Text() + "` is never closed", Help: "add " + want}
	}
	pr := &Problem{Kind: Syntax, Span: p.token(f.at), Related: []source.Span{open}, Message: "expected `,` or " + want,
		Help: fmt.Sprintf("close the `%s`; text with brackets, commas or `: ` in it needs quotes here", open.Text())}
	if at := typeBefore.FindStringIndex(p.src[line:min(f.at, len(p.src))]); at != nil {
		pr.Help = cmp.Or(structHelp(p.src[line+at[0]:EndOfLine(p.src, line)]), pr.Help)
	}
	return pr
}

// A struct between `<` and `>` looks as if quotes were missing, and is refused with them as well.
var (
	structIn   = lazyregexp.New(`^(?:list|opt|map)<[a-z<]{0,20}\{`)
	structList = lazyregexp.New(`^list<(\{[^<>{}]{1,200}\})>`)
	typeBefore = lazyregexp.New(`(?:list|opt|map)<[a-z<]{0,20}$`)
	wordBefore = lazyregexp.New(`[eE]num ?$`)
)

// structHelp says how the type is written that text begins with, if that is a struct between `<` and `>`.
func structHelp(text string) string {
	if m := structList.FindStringSubmatch(text); m != nil {
		return "write the list as `[" + m[1] + "]`"
	}
	if structIn.MatchString(text) {
		return "no struct can be inside `<` and `>`: declare it under `types:`; a list of structs is written `[{path: string}]`"
	}
	return ""
}

// cutInFlow recognises an unquoted expression that a bracket, a comma or `: ` ended, on the line of the mark.
func (p *parser) cutInFlow(f fault, line int) *Problem {
	at := min(f.at, len(p.src))
	for _, d := range scanLine(p.src[line:at], f.start < line).dollars {
		d += line
		text := p.src[:p.lineText(d).Hi]
		if len(text) < at {
			continue
		}
		e, ok := balanced(text, d+1, ",")
		if !ok || e <= at || at < len(text) && text[at] == ':' && !strings.Contains(text[d:at], " ? ") {
			continue
		}
		pr := &Problem{Kind: CutText, Span: p.char(at), Fix: quoted(p.span(d, e)),
			Message: "this ends an unquoted expression: it is inside [ ] or { }"}
		pr.Help = quoteHelp(pr.Fix)
		return pr
	}
	return nil
}

// blockFault explains lines that do not fit the collection they are indented for.
func (p *parser) blockFault(f fault) *Problem {
	here := p.token(f.at)
	pr := &Problem{Kind: Syntax, Span: here}
	if strings.HasPrefix(p.src[StartOfLine(p.src, f.at):], "%") {
		pr.Message, pr.Help = "YAML directives are not supported", "remove the line"
		return pr
	}
	if f.start >= 0 {
		pr.Related = []source.Span{p.token(f.start)}
	}
	first := skipBlanks(p.src, StartOfLine(p.src, f.at)) == f.at
	switch {
	case f.context == "while scanning a block scalar":
		pr.Message, pr.Help = "text on the line of `|` or `>`", "begin the text on the next line, indented"
	case !strings.HasPrefix(f.message, "did not find expected"), f.context == "while scanning an alias",
		f.context == "while scanning an anchor", f.context == "while scanning a tag":
		return nil
	case strings.HasPrefix(here.Text(), "]"), strings.HasPrefix(here.Text(), "}"):
		pr.Span, pr.Related = p.char(here.Lo), nil
		pr.Message, pr.Help = "nothing is open that `"+pr.Span.Text()+"` could close", "remove it, or put the text in quotes"
	case !first:
		pr.Span = p.lineText(here.Lo)
		pr.Message, pr.Help = "unexpected text after the value", "put the entire text in quotes, or begin a new line"
	case here.Text() == "-":
		pr.Message, pr.Help = "a list item where a key is expected", "indent the list deeper than the keys around it"
	case strings.Contains(f.message, "'-' indicator"):
		pr.Message, pr.Help = "a key where a list item is expected", "begin the line with `- `, or indent it like the keys it belongs with"
	case strings.Contains(f.message, "expected key"), strings.Contains(f.message, "document start"):
		pr.Message, pr.Help = "this line is indented unlike the lines it belongs with", "indent it exactly like its neighbours"
	default:
		return nil
	}
	return pr
}

func (p *parser) anchorFault(f fault) *Problem {
	at := f.at
	if f.start >= 0 {
		at = f.start
	}
	switch {
	case strings.HasPrefix(f.message, "unknown anchor"):
		t := p.token(at)
		return &Problem{Kind: UnknownAnchor, Span: t, Message: "no anchor is named `" + shorten(strings.Trim(t.Text(), "*,]}")) + "`",
			Help: "define it before with `&`; if the `*` is part of the text, put the text in quotes"}
	case f.context == "while scanning an alias", f.context == "while scanning an anchor":
		c := p.char(at)
		return &Problem{Kind: Syntax, Span: c, Message: "`" + c.Text() + "` needs a name", Help: "if it is part of the text, put the text in quotes"}
	case strings.Contains(f.context, "tag"), strings.Contains(f.message, "tag handle"):
		return &Problem{Kind: UnknownTag, Span: p.token(at), Message: "this is not a valid tag",
			Help: "if the `!` is part of the text, put the text in quotes"}
	}
	return nil
}
