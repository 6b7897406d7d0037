package jinja

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// A choice is a conditional expression inside of another one.
type choice struct {
	x *PromptExpr
}

// lift gives the words of conditional expressions their type, and replaces each that stands in brackets by a name.
func (r *reader) lift(all []*tokens.Token) []*tokens.Token {
	var out []*tokens.Token
	var starts []int // where the parts of brackets that are open begin in out
	tagName := false
	flush := func() { // the part that ends here
		lo := starts[len(starts)-1]
		if lo+1 < len(out) && out[lo].Type == tokens.Name && out[lo+1].Type == tokens.Assign {
			lo += 2
		}
		part := out[lo:]
		if !slices.ContainsFunc(part, func(t *tokens.Token) bool { return t.Type == conditional && t.Val == "if" }) {
			return
		}
		stand := &tokens.Token{Type: tokens.Name, Val: fmt.Sprintf("\x00%d", len(r.inline)), Pos: part[0].Pos}
		saved := r.p
		r.p = r.sub(slices.Clone(part))
		x := r.expression()
		if !r.p.End() {
			r.unreadable(r.p.Current())
		}
		r.p = saved
		r.inline[stand.Val] = &choice{x}
		out = append(out[:lo], stand)
	}
	for _, t := range all {
		switch t.Type {
		case tokens.VariableBegin, tokens.BlockBegin, tokens.Data:
			starts = nil
		case tokens.LeftParenthesis, tokens.LeftBracket, tokens.LeftBrace:
			out = append(out, t)
			starts = append(starts, len(out))
			continue
		case tokens.Comma, tokens.Colon:
			if len(starts) > 0 {
				flush()
				out = append(out, t)
				starts[len(starts)-1] = len(out)
				continue
			}
		case tokens.RightParenthesis, tokens.RightBracket, tokens.RightBrace:
			if len(starts) > 0 {
				flush()
				starts = starts[:len(starts)-1]
			}
		case tokens.Name:
			if !tagName && (t.Val == "if" || t.Val == "else") {
				word := *t
				word.Type = conditional
				t = &word
			}
		}
		tagName = t.Type == tokens.BlockBegin
		out = append(out, t)
	}
	return out
}

func (r *reader) word(w string) bool {
	if t := r.p.Current(conditional); t != nil && t.Val == w {
		r.p.Consume()
		return true
	}
	return false
}

// expression reads an expression with its condition: a if b else c.
func (r *reader) expression() *PromptExpr {
	x := r.operand()
	if !r.word("if") {
		return x
	}
	test := r.operand()
	var other *PromptExpr
	if r.word("else") {
		other = r.expression()
	}
	return &PromptExpr{Op: "if", Kids: []*PromptExpr{test, x, other}, Span: x.Span}
}

// operand reads an expression without a condition.
func (r *reader) operand() *PromptExpr {
	at := r.p.Current()
	x, err := r.p.ParseExpression()
	if err != nil {
		r.syntax(err, at)
	}
	return r.convert(x, at)
}

func (r *reader) unreadable(t *tokens.Token) { r.wrong(t, "this expression cannot be read", "") }

// syntax reports what gonja says of an expression.
func (r *reader) syntax(err error, at *tokens.Token) {
	var s *parser.SyntaxError
	if errors.As(err, &s) && s.Line > 0 {
		at = &tokens.Token{Type: tokens.Name, Val: s.Raw, Pos: offset(r.text.Value, s.Line, s.Column)}
		if s.Raw == "" {
			at = r.p.Current()
		}
	}
	r.unreadable(at)
}

func offset(text string, line, col int) int {
	at := 0
	for i := 0; i < len(text) && line > 1; i++ {
		if text[i] == '\n' {
			line--
			at = i + 1
		}
	}
	return at + col - 1
}

var operators = map[tokens.Type]string{tokens.Addition: "+", tokens.Subtraction: "-", tokens.Multiply: "*", tokens.Division: "/", tokens.FloorDivision: "//", tokens.Modulo: "%",
	tokens.Power: "**", tokens.Tilde: "~", tokens.And: "and", tokens.Or: "or", tokens.Equals: "==", tokens.Ne: "!=", tokens.LowerThan: "<", tokens.LowerThanOrEqual: "<=",
	tokens.GreaterThan: ">", tokens.GreaterThanOrEqual: ">="}

// convert makes an expression of gonja's node; at is where it begins.
func (r *reader) convert(n nodes.Node, at *tokens.Token) *PromptExpr {
	one := func(op, name string, t *tokens.Token, kids ...*PromptExpr) *PromptExpr {
		return &PromptExpr{Op: op, Name: name, Kids: kids, Span: r.at(t)}
	}
	switch n := n.(type) {
	case *nodes.Name:
		return r.name(n.Name)
	case *nodes.String:
		return &PromptExpr{Op: "const", Lit: r.scalar("!!str", n.Val, n.Location), Span: r.at(n.Location)}
	case *nodes.Integer:
		return &PromptExpr{Op: "const", Lit: r.scalar("!!int", strconv.Itoa(n.Val), n.Location), Span: r.at(n.Location)}
	case *nodes.Float:
		return &PromptExpr{Op: "const", Lit: r.scalar("!!float", strconv.FormatFloat(n.Val, 'g', -1, 64), n.Location), Span: r.at(n.Location)}
	case *nodes.Bool:
		return &PromptExpr{Op: "const", Lit: r.scalar("!!bool", strconv.FormatBool(n.Val), n.Location), Span: r.at(n.Location)}
	case *nodes.None:
		return &PromptExpr{Op: "const", Lit: r.scalar("!!null", "null", n.Location), Span: r.at(n.Location)}
	case *nodes.List:
		return one("list", "", n.Location, r.all(n.Val, n.Location)...)
	case *nodes.Tuple:
		return one("list", "", n.Location, r.all(n.Val, n.Location)...)
	case *nodes.Dict:
		x := one("dict", "", n.Token)
		for _, p := range n.Pairs {
			key := r.convert(p.Key, n.Token)
			if key.Op != "const" {
				r.refuse(n.Token, "a mapping whose keys are not constants")
			}
			x.Kids = append(x.Kids, key, r.convert(p.Value, n.Token))
		}
		return x
	case *nodes.GetAttribute:
		return r.attribute(n, at)
	case *nodes.GetItem:
		if n.Arg == nil {
			r.wrong(n.Location, "an index is missing", "")
		}
		return one("item", "", n.Location, r.convert(n.Node, at), r.convert(n.Arg, n.Location))
	case *nodes.GetSlice:
		x := one("slice", "", n.Location, r.convert(n.Node, at), nil, nil, nil)
		for i, part := range []nodes.Node{n.Start, n.End, n.Step} {
			if part != nil {
				x.Kids[i+1] = r.convert(part, n.Location)
			}
		}
		return x
	case *nodes.Call:
		return r.call(n, at)
	case *nodes.FilteredExpression:
		x := r.convert(n.Expression, at)
		for _, f := range n.Filters {
			x = r.filter(x, f)
		}
		return x
	case *nodes.TestExpression:
		return r.test(n, at)
	case *nodes.Negation:
		return one("not", "", n.Operator, r.convert(n.Term, n.Operator))
	case *nodes.UnaryExpression:
		x := r.convert(n.Term, n.Operator)
		if !n.Negative {
			return x
		}
		return one("neg", "", n.Operator, x)
	case *nodes.BinaryExpression:
		left := r.convert(n.Left, at)
		x := one(operators[n.Operator.Token.Type], "", n.Operator.Token, left, r.convert(n.Right, n.Operator.Token))
		if x.Op == "" {
			r.unreadable(n.Operator.Token)
		}
		return x
	}
	r.wrong(at, "expected an expression", "")
	return nil
}

// attribute is x.name, or x.0.
func (r *reader) attribute(n *nodes.GetAttribute, at *tokens.Token) *PromptExpr {
	if x := r.loop1(n.Node, n.Attribute, n.Location); x != nil {
		return x
	}
	if n.Attribute == "" {
		index := &PromptExpr{Op: "const", Lit: r.scalar("!!int", strconv.Itoa(n.Index), n.Location), Span: r.at(n.Location)}
		return &PromptExpr{Op: "item", Kids: []*PromptExpr{r.convert(n.Node, at), index}, Span: r.at(n.Location)}
	}
	x := &PromptExpr{Op: "attr", Name: n.Attribute, Kids: []*PromptExpr{r.convert(n.Node, at)}, Span: r.at(n.Location)}
	if lo := n.Location.Pos; lo < len(r.text.Value) {
		x.Span = r.text.At(lo+1, min(lo+1+len(n.Attribute), len(r.text.Value)))
	}
	return x
}

// loop1 is an attribute of `loop`; nil when a value is none.
func (r *reader) loop1(n nodes.Node, attribute string, at *tokens.Token) *PromptExpr {
	name, ok := n.(*nodes.Name)
	if !ok || name.Name.Val != "loop" || len(r.loops) == 0 {
		return nil
	}
	if !slices.Contains(LoopWords, attribute) {
		r.refuse(name.Name, "`loop.%s`", clip(attribute))
	}
	r.loops[len(r.loops)-1].Loop = true
	return &PromptExpr{Op: "loop", Name: attribute, Span: r.at(name.Name)}
}

func (r *reader) scalar(tag, text string, t *tokens.Token) *ir.Scalar {
	return &ir.Scalar{Tag: tag, Text: source.Text{Value: text, Span: r.at(t)}}
}

func (r *reader) all(list []nodes.Expression, at *tokens.Token) []*PromptExpr {
	var out []*PromptExpr
	for _, x := range list {
		out = append(out, r.convert(x, at))
	}
	return out
}

// name is a variable, a word of the language, or a conditional expression that was taken out.
func (r *reader) name(t *tokens.Token) *PromptExpr {
	if c := r.inline[t.Val]; c != nil {
		return c.x
	}
	if t.Val == "none" {
		return &PromptExpr{Op: "const", Lit: r.scalar("!!null", "null", t), Span: r.at(t)}
	}
	if t.Val == "loop" && len(r.loops) > 0 {
		r.refuse(t, "`loop` itself")
	}
	return &PromptExpr{Op: "name", Name: t.Val, Span: r.at(t)}
}

// filter is a filter over a value.
func (r *reader) filter(x *PromptExpr, f *nodes.FilterCall) *PromptExpr {
	if Filters[f.Name] == nil {
		r.refuse(f.Token, "the filter `%s`", clip(f.Name))
	}
	return r.arguments(&PromptExpr{Op: "filter", Name: f.Name, Kids: []*PromptExpr{x}, Span: r.at(f.Token)}, f.Token, Filters[f.Name], f.Args, f.Kwargs)
}

// arguments puts arguments into the order of the parameters; what is left out is nil.
func (r *reader) arguments(x *PromptExpr, t *tokens.Token, params []string, args []nodes.Expression, named map[string]nodes.Expression) *PromptExpr {
	if len(params) > 0 && params[len(params)-1] == "*" { // as many as there are
		if len(named) > 0 {
			r.refuse(t, "`%s` with names of arguments", clip(x.Name))
		}
		x.Kids = append(x.Kids, r.all(args, t)...)
		return x
	}
	if len(args) > len(params) {
		r.wrong(t, fmt.Sprintf("`%s` takes at most %d arguments", clip(x.Name), len(params)), "")
	}
	list := make([]*PromptExpr, len(params))
	for i, a := range args {
		list[i] = r.convert(a, t)
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		i := slices.Index(params, key)
		if i < 0 || list[i] != nil {
			r.wrong(t, fmt.Sprintf("`%s` takes no argument `%s`", clip(x.Name), clip(key)), "")
		}
		list[i] = r.convert(named[key], t)
	}
	for len(list) > 0 && list[len(list)-1] == nil {
		list = list[:len(list)-1]
	}
	x.Kids = append(x.Kids, list...)
	return x
}

// test is a test of a value: x is defined, x in y.
func (r *reader) test(n *nodes.TestExpression, at *tokens.Token) *PromptExpr {
	x := r.convert(n.Expression, at)
	name := n.Test.Name
	if n.Test.Token.Type == tokens.In {
		name = "in"
	}
	if word := tests[name]; word != "" {
		name = word
	}
	want, known := Tests[name]
	if !known {
		r.refuse(n.Test.Token, "the test `%s`", clip(name))
	}
	if len(n.Test.Args) != want {
		r.wrong(n.Test.Token, fmt.Sprintf("the test `%s` takes %d arguments", clip(name), want), "")
	}
	return &PromptExpr{Op: "test", Name: name, Kids: append([]*PromptExpr{x}, r.all(n.Test.Args, n.Test.Token)...), Span: r.at(n.Test.Token)}
}

// call is a call of a function of Jinja, or of a method of a value.
func (r *reader) call(n *nodes.Call, at *tokens.Token) *PromptExpr {
	switch f := n.Func.(type) {
	case *nodes.Name:
		params := Functions[f.Name.Val]
		if params == nil {
			r.refuse(f.Name, "the function `%s`", clip(f.Name.Val))
		}
		return r.arguments(&PromptExpr{Op: "call", Name: f.Name.Val, Span: r.at(f.Name)}, f.Name, params, n.Args, n.Kwargs)
	case *nodes.GetAttribute:
		if x := r.loop1(f.Node, f.Attribute, f.Location); x != nil && f.Attribute == "cycle" {
			x.Kids = r.all(n.Args, n.Location)
			return x
		}
		t := &tokens.Token{Type: tokens.Name, Val: f.Attribute, Pos: f.Location.Pos + 1}
		params := Methods[f.Attribute]
		if params == nil {
			r.refuse(t, "the method `%s`", clip(f.Attribute))
		}
		return r.arguments(&PromptExpr{Op: "method", Name: f.Attribute, Kids: []*PromptExpr{r.convert(f.Node, at)}, Span: r.at(t)}, t, params, n.Args, n.Kwargs)
	}
	r.refuse(n.Location, "a call of a value")
	return nil
}
