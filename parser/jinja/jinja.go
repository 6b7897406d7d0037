// Package jinja reads templates of Jinja2 into the IR. gonja's lexer and its parser of expressions do the reading; what is
// evaluated is decided here, where everything else is refused at its place: a program links none of it.
package jinja

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// A Problem is what is wrong with a template, or what is not compiled.
type Problem struct {
	Span        source.Span
	Message     string
	Help        string
	Unsupported bool // Jinja has it
}

// Bounds of a template: reading is recursive, and so are the texts that it becomes.
const (
	maxDepth  = 60
	maxTokens = 50_000
)

// Parse reads a template. With problems the result is nil.
func Parse(t source.Text) (body []PromptNode, problems []Problem) {
	r := &reader{text: t}
	defer func() {
		if p := recover(); p != nil {
			if _, ours := p.(stop); !ours {
				r.problems = append(r.problems, Problem{Span: t.At(0, len(t.Value)), Message: "this template cannot be read"})
			}
			body, problems = nil, r.problems
		}
	}()
	r.lex()
	body, end := r.body(0)
	if end != nil {
		r.wrong(end, "no block is open here that `"+end.Val+"` could end", "")
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return body, nil
}

// stop is what ends the reading of a template after a mistake.
type stop struct{}

type reader struct {
	text     source.Text
	p        *parser.Parser
	inline   map[string]*choice // conditional expressions inside of others, by the name that stands for them
	trim     bool               // what comes next loses the white space that it begins with
	loops    []*PromptFor
	depth    int
	problems []Problem
}

func (r *reader) wrong(t *tokens.Token, message, help string) {
	r.problems = append(r.problems, Problem{Span: r.at(t), Message: message, Help: help})
	panic(stop{})
}

func (r *reader) refuse(t *tokens.Token, format string, args ...any) {
	r.problems = append(r.problems, Problem{Span: r.at(t), Message: fmt.Sprintf(format, args...) + " is not compiled", Help: "make the value in a python node", Unsupported: true})
	panic(stop{})
}

// at is the place of a token.
func (r *reader) at(t *tokens.Token) source.Span {
	if t == nil || t.Type == tokens.EOF { // the last character
		hi := len(strings.TrimRight(r.text.Value, " \t\r\n"))
		_, n := utf8.DecodeLastRuneInString(r.text.Value[:hi])
		return r.text.At(hi-n, hi)
	}
	lo := min(t.Pos, len(r.text.Value))
	n := len(t.Val)
	if t.Type == tokens.String {
		n += 2 // the quotes
	}
	if t.Type == tokens.Error {
		n = 1
	}
	return r.text.At(lo, min(lo+max(n, 1), len(r.text.Value)))
}

// lex makes the tokens. Line ends inside of tags are white space, which gonja does not know; conditional expressions
// inside of others are taken out, as gonja reads none there.
func (r *reader) lex() {
	if !utf8.ValidString(r.text.Value) { // gonja reads such text again and again
		r.wrong(nil, "this is not UTF-8 text", "save it as UTF-8")
	}
	stream := tokens.LexAll(flat(r.text.Value), config.New())
	var all []*tokens.Token
	for !stream.End() {
		all = append(all, stream.Next())
	}
	all = append(all, stream.Current())
	depth := 0
	for i, t := range all {
		switch t.Type {
		case tokens.LeftParenthesis, tokens.LeftBracket, tokens.LeftBrace:
			depth++
		case tokens.RightParenthesis, tokens.RightBracket, tokens.RightBrace:
			depth--
		case tokens.VariableBegin, tokens.BlockBegin:
			depth = 0
		case tokens.In: // gonja reads nothing before it, again and again
			if i > 0 && !slices.Contains(operands, all[i-1].Type) {
				r.wrong(t, "`in` has no left operand", "")
			}
		case tokens.Error:
			r.wrong(t, "this is not valid Jinja: "+t.Val, "")
		}
		if depth > maxDepth || len(all) > maxTokens {
			r.wrong(t, "this template is too large, or nested too deep", "make values in a python node")
		}
	}
	r.inline = map[string]*choice{}
	r.p = r.sub(r.lift(all))
}

// operands are the tokens that `in` can be behind.
var operands = []tokens.Type{tokens.Name, tokens.String, tokens.Integer, tokens.Float, tokens.RightParenthesis, tokens.RightBracket, tokens.RightBrace, tokens.Not, tokens.Is}

func (r *reader) sub(all []*tokens.Token) *parser.Parser {
	return parser.NewParser("prompt", tokens.NewStream(all), config.New(), nil, nil)
}

// flat is the text with spaces for the line ends inside of tags; places stay as they are.
func flat(text string) string {
	b := []byte(strings.ReplaceAll(text, "\r\n", " \n"))
	in := byte(0) // the second character of the tag's begin
	for i := 0; i+1 < len(b); i++ {
		switch {
		case in == 0 && b[i] == '{' && (b[i+1] == '{' || b[i+1] == '%' || b[i+1] == '#'):
			in = b[i+1]
			i++
		case in == '{' && b[i] == '}' && b[i+1] == '}', in == '%' && b[i] == '%' && b[i+1] == '}', in == '#' && b[i] == '#' && b[i+1] == '}':
			in = 0
			i++
		case (in == '{' || in == '%') && (b[i] == '\n' || b[i] == '\r'):
			b[i] = ' '
		}
	}
	return string(b)
}

// The words of conditional expressions get a type of their own, so that nobody takes them for names.
const conditional = tokens.Semicolon

// body reads nodes until a tag that ends or divides a block, which it returns without its begin; nil at the end.
func (r *reader) body(open int, until ...string) ([]PromptNode, *tokens.Token) {
	if r.depth = open; open > maxDepth {
		r.wrong(r.p.Current(), "blocks are nested too deep", "")
	}
	var out []PromptNode
	for {
		t := r.p.Current()
		switch t.Type {
		case tokens.EOF:
			if len(until) > 0 {
				r.wrong(t, "the template ends before `{% "+until[len(until)-1]+" %}`", "")
			}
			return out, nil
		case tokens.Data:
			r.p.Consume()
			if s := r.data(t); s != "" {
				out = append(out, &PromptText{Lit: s})
			}
		case tokens.CommentBegin:
			r.comment()
		case tokens.VariableBegin:
			r.p.Consume()
			x := r.expression()
			r.trim = closes(r.expect(tokens.VariableEnd, "}}"))
			out = append(out, &PromptShow{X: x})
		case tokens.BlockBegin:
			r.p.Consume()
			name := r.p.Match(tokens.Name)
			if name == nil {
				r.wrong(t, "a tag starts with its name", "")
			}
			if ends(name.Val) {
				for _, u := range until {
					if u == name.Val {
						return out, name
					}
				}
				return out, r.astray(name, until)
			}
			if n := r.tag(name, open); n != nil {
				out = append(out, n)
			}
		default:
			r.wrong(t, "this is not valid Jinja", "")
		}
	}
}

func ends(name string) bool {
	return strings.HasPrefix(name, "end") || name == "else" || name == "elif"
}

// astray is an end of something else.
func (r *reader) astray(name *tokens.Token, until []string) *tokens.Token {
	if len(until) > 0 {
		r.wrong(name, "`"+name.Val+"` is where `"+until[len(until)-1]+"` should", "")
	}
	return name
}

// data is text without the white space that tags next to it take away.
func (r *reader) data(t *tokens.Token) string {
	s := t.Val
	if r.trim {
		s = strings.TrimLeft(s, " \t\r\n\f\v")
	}
	r.trim = false
	if next := r.p.Current(); next.Type == tokens.VariableBegin || next.Type == tokens.BlockBegin || next.Type == tokens.CommentBegin {
		if strings.HasSuffix(next.Val, "-") {
			s = strings.TrimRight(s, " \t\r\n\f\v")
		}
	}
	return s
}

func closes(t *tokens.Token) bool { return strings.HasPrefix(t.Val, "-") }

func (r *reader) comment() {
	for {
		switch t := r.p.Pop(); t.Type {
		case tokens.CommentEnd:
			r.trim = closes(t)
			return
		case tokens.EOF:
			r.wrong(t, "a comment is not closed", "")
		}
	}
}

func (r *reader) expect(typ tokens.Type, what string) *tokens.Token {
	t := r.p.Match(typ)
	if t == nil {
		r.wrong(r.p.Current(), "expected `"+what+"`", "")
	}
	return t
}

func (r *reader) close() { r.trim = closes(r.expect(tokens.BlockEnd, "%}")) }

// tag reads the tag of a name, with what is inside of it; nil when nothing becomes of it.
func (r *reader) tag(name *tokens.Token, open int) PromptNode {
	switch name.Val {
	case "if":
		return r.choice(open)
	case "for":
		return r.loop(open)
	case "set":
		return r.set(name, open)
	case "raw":
		r.close()
		var lit strings.Builder
		for r.p.Current().Type == tokens.Data {
			lit.WriteString(r.data(r.p.Pop()))
		}
		r.expect(tokens.BlockBegin, "{% endraw %}")
		if end := r.p.Pop(); end.Val != "endraw" {
			r.wrong(end, "`raw` is not closed", "")
		}
		r.close()
		return &PromptText{Lit: lit.String()}
	case "macro", "call", "filter", "include", "import", "from", "extends", "block", "with", "do", "trans", "autoescape", "break", "continue":
		r.refuse(name, "`{%% %s %%}`", name.Val)
	}
	r.wrong(name, "Jinja has no tag `"+clip(name.Val)+"`", "")
	return nil
}

func clip(s string) string {
	if x := []rune(s); len(x) > 40 {
		return string(x[:40]) + "..."
	}
	return s
}

func (r *reader) choice(open int) PromptNode {
	out := &PromptIf{}
	for {
		c := PromptCase{Test: r.expression()}
		r.close()
		body, end := r.body(open+1+len(out.Cases), "elif", "else", "endif") // an elif is an if in the else before it
		c.Body = body
		out.Cases = append(out.Cases, c)
		if end.Val == "elif" {
			continue
		}
		r.close()
		if end.Val == "else" {
			out.Else, _ = r.body(open+1+len(out.Cases), "endif")
			r.close()
		}
		return out
	}
}

func (r *reader) loop(open int) PromptNode {
	out := &PromptFor{}
	paren := r.p.Match(tokens.LeftParenthesis) != nil
	for {
		t := r.p.Match(tokens.Name)
		if t == nil {
			r.wrong(r.p.Current(), "expected the name of an item", "")
		}
		out.Names = append(out.Names, ir.Ident{Name: t.Val, Span: r.at(t)})
		if r.p.Match(tokens.Comma) == nil {
			break
		}
	}
	if paren {
		r.expect(tokens.RightParenthesis, ")")
	}
	if len(out.Names) > 2 {
		r.refuse(r.p.Current(), "a loop over more than pairs")
	}
	r.expect(tokens.In, "in")
	out.Over = r.operand()
	if r.word("if") {
		out.Where = r.operand()
	}
	if t := r.p.MatchName("recursive"); t != nil {
		r.refuse(t, "a loop that calls itself")
	}
	r.close()
	r.loops = append(r.loops, out)
	body, end := r.body(open+1, "else", "endfor")
	r.loops = r.loops[:len(r.loops)-1]
	out.Body = body
	r.close()
	if end.Val == "else" {
		out.Else, _ = r.body(open+1, "endfor")
		r.close()
	}
	return out
}

func (r *reader) set(name *tokens.Token, open int) PromptNode {
	t := r.p.Match(tokens.Name)
	if t == nil {
		r.wrong(r.p.Current(), "expected a name", "")
	}
	out := &PromptSet{Name: ir.Ident{Name: t.Val, Span: r.at(t)}}
	if next := r.p.Current(tokens.Dot, tokens.Comma); next != nil {
		r.refuse(name, "`{%% set %%}` of something else than one name")
	}
	if r.p.Match(tokens.Assign) != nil {
		out.X = r.expression()
		r.close()
		return out
	}
	r.close()
	out.Body, _ = r.body(open+1, "endset")
	if out.Body == nil {
		out.Body = []PromptNode{}
	}
	r.close()
	return out
}
