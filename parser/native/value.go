package native

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// value reads data: `$` starts an expression, `{{` makes a template, `$$` is a plain dollar, the rest is itself.
func (p *parser) value(n *yamlnode.Node) ir.Value {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case yamlnode.Sequence:
		l := &ir.List{Span: n.Span}
		for _, it := range n.Items {
			l.Items = append(l.Items, p.value(it))
		}
		return l
	case yamlnode.Mapping:
		return &ir.Object{Entries: p.entries(n, naming{}), Span: n.Span}
	case yamlnode.Null:
		return &ir.Scalar{Text: n.Text, Tag: "!!null"}
	}
	v := n.Text.Value
	switch {
	case strings.HasPrefix(v, "$$"):
		return p.textValue(cut(n.Text, 1, len(v)), "!!str")
	case strings.HasPrefix(v, "$"):
		return p.expr(n)
	}
	return p.textValue(n.Text, n.Tag)
}

func (p *parser) textValue(t source.Text, tag string) ir.Value {
	if strings.Contains(t.Value, "{{") {
		return p.template(t)
	}
	return &ir.Scalar{Text: t, Tag: tag}
}

// entries reads the entries of a mapping as named values. Names are free unless rule has a form.
func (p *parser) entries(n *yamlnode.Node, rule naming) []*ir.Entry {
	var out []*ir.Entry
	seen := map[string]bool{}
	for _, e := range n.Entries {
		name, ok := p.keyName(e.Key)
		if !ok || seen[name] || p.isCut(e.Key) {
			continue
		}
		seen[name] = true
		id := ir.Ident{Name: name, Span: textSpan(e.Key.Text)}
		if rule.form != nil {
			p.checkName(id, rule)
		}
		out = append(out, &ir.Entry{Key: id, Value: p.value(e.Value)})
	}
	return out
}

// expr reads a scalar that is an expression, with or without `$`.
func (p *parser) expr(n *yamlnode.Node) *ir.Expr {
	if !isScalar(n) {
		p.wrongShape(n, "an expression is expected", "")
		return nil
	}
	t := n.Text
	if strings.HasPrefix(t.Value, "$") {
		t = cut(t, 1, len(t.Value))
	}
	tree, problems := expr.Parse(t.Value)
	p.exprProblems(t, problems)
	p.nestedBraces(t, tree)
	return &ir.Expr{Text: t, Node: tree}
}

func (p *parser) template(t source.Text) *ir.Template {
	tmpl, problems := expr.ParseTemplate(t.Value)
	p.exprProblems(t, problems)
	if tmpl != nil {
		for _, s := range tmpl.Segments {
			p.nestedBraces(t, s.Expr)
		}
	}
	return &ir.Template{Text: t, Tmpl: tmpl}
}

// nested is a place for a value in a text where none has one: {{ x }}, but not braces around nothing or a quoted text,
// which are there for their own sake.
var nested = lazyregexp.New(`\{\{\s*[A-Za-z_][^{}]*\}\}`)

// nestedBraces warns about texts in an expression that look as if values were put into them.
func (p *parser) nestedBraces(t source.Text, n *expr.Node) {
	if n == nil {
		return
	}
	n.Walk(func(n *expr.Node) bool {
		if s, ok := n.Value.(string); ok && n.Op == expr.Lit && nested.MatchString(s) {
			p.say(diag.Diagnostic{Severity: diag.Warning, Code: diag.NestedBraces, Span: t.At(n.Lo, n.Hi), Message: "braces have no meaning in this string: it is inside an expression",
				Help: "put it together with `+`, as in `\"Hello \" + name`, or write the text without an expression around it"})
		}
		return true
	})
}

// exprProblems reports what is wrong in t, at the place in the file its bytes came from.
func (p *parser) exprProblems(t source.Text, problems []expr.Problem) {
	for _, x := range problems {
		at := t.At(x.Lo, x.Hi)
		d := diag.Diagnostic{Code: x.Code, Span: at, Message: x.Message, Help: x.Help, Related: x.Related}
		if quote, ok := p.quoteInside(t); ok && x.Code == diag.TemplateSyntax {
			d.Span, d.Message, d.Help = quote, "this quote ends the text inside `{{ }}`", "write strings inside with single quotes"
		}
		if x.Replace != nil && !t.Opaque {
			d.Fixes = []diag.Fix{diag.ReplaceIn(t, at, *x.Replace)}
		}
		p.say(d)
	}
}

// quoteInside finds the quote that ends a text inside `{{ }}`, and was meant for a string there: what YAML makes of the rest of the
// line is not a mistake of its own.
func (p *parser) quoteInside(t source.Text) (quote source.Span, ok bool) {
	at := t.Span
	inside := strings.TrimRight(t.Value, " ")
	if strings.Count(inside, "{{") <= strings.Count(inside, "}}") || !strings.ContainsAny(inside[len(inside)-1:], "(,=+[:?") {
		return at, false
	}
	if at.File == nil || at.Hi-at.Lo < 2 || at.Text()[0] != '"' || at.File.Text[at.Hi-1] != '"' || strings.Contains(at.Text(), "\n") {
		return at, false
	}
	rest := at.File.Text[at.Hi:yamlnode.EndOfLine(at.File.Text, at.Hi)]
	end := strings.Index(rest, "}}")
	if end < 0 || !strings.Contains(rest[end:], "\"") || !strings.Contains(rest[:end], "\"") {
		return at, false
	}
	p.cut = source.Span{File: at.File, Lo: at.Hi, Hi: at.Hi + end + 2}
	return source.Span{File: at.File, Lo: at.Hi - 1, Hi: at.Hi}, true
}

// textOnly reads a scalar where text is asked for that may hold {{ }}. An expression is not text.
func (p *parser) textOnly(n *yamlnode.Node, what string) *ir.Template {
	if !isScalar(n) {
		p.wrongShape(n, what+" is text", "")
		return nil
	}
	t := n.Text
	switch {
	case strings.HasPrefix(t.Value, "$$"):
		t = cut(t, 1, len(t.Value))
	case strings.HasPrefix(t.Value, "$"):
		d := diag.Diagnostic{
			Code: diag.NotText, Span: textSpan(t), Message: what + " is text: an expression is written in `{{ }}` here",
			Help: "write `{{ " + shorten(t.Value[1:]) + " }}` in quotes; a plain dollar is `$$`",
		}
		if plain := strings.TrimSpace(t.Value[1:]); plain != "" && !strings.ContainsAny(plain, "\"\\\n\r") {
			d.Fixes = []diag.Fix{diag.Replace(t.Span, `"{{ `+plain+` }}"`)}
		}
		p.say(d)
		return nil
	}
	return p.template(t)
}

// constant converts n to JSON by its YAML type. ok is false after a mistake.
func (p *parser) constant(n *yamlnode.Node, what string) (d *schema.Default, ok bool) {
	var b strings.Builder
	if !p.writeJSON(&b, n, what) {
		return nil, false
	}
	return &schema.Default{JSON: b.String(), Span: n.Span}, true
}

func (p *parser) writeJSON(b *strings.Builder, n *yamlnode.Node, what string) bool {
	ok := true
	switch n.Kind {
	case yamlnode.Null:
		b.WriteString("null")
	case yamlnode.Sequence:
		b.WriteByte('[')
		for i, it := range n.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			ok = p.writeJSON(b, it, what) && ok
		}
		b.WriteByte(']')
	case yamlnode.Mapping:
		b.WriteByte('{')
		first := true
		for _, e := range n.Entries {
			name, good := p.keyName(e.Key)
			if !good {
				ok = false
				continue
			}
			if !first {
				b.WriteByte(',')
			}
			first = false
			writeString(b, name)
			b.WriteByte(':')
			ok = p.writeJSON(b, e.Value, what) && ok
		}
		b.WriteByte('}')
	default:
		return p.writeScalar(b, n, what)
	}
	return ok
}

func (p *parser) writeScalar(b *strings.Builder, n *yamlnode.Node, what string) bool {
	switch n.Tag {
	case "!!bool":
		b.WriteString(strings.ToLower(n.Text.Value))
	case "!!int":
		v, ok := parseInt(n.Text.Value)
		if !ok {
			p.noNumber(n, "does not fit into 64 bits")
			return false
		}
		b.WriteString(strconv.FormatInt(v, 10))
	case "!!float":
		if strings.Trim(n.Text.Value, "+-0123456789") == "" {
			p.noNumber(n, "does not fit into 64 bits")
			return false
		}
		v, err := strconv.ParseFloat(n.Text.Value, 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			p.noNumber(n, "is not a finite number")
			return false
		}
		j, err := json.Marshal(v)
		if err != nil {
			return false
		}
		b.Write(j)
	default:
		t, ok := p.text(n, what)
		if !ok {
			return false
		}
		writeString(b, t.Value)
	}
	return true
}

// writeString writes s as JSON without the escapes for HTML.
func writeString(b *strings.Builder, s string) {
	var t strings.Builder
	e := json.NewEncoder(&t)
	e.SetEscapeHTML(false)
	if e.Encode(s) == nil {
		b.WriteString(strings.TrimSuffix(t.String(), "\n"))
	}
}

// noNumber reports a number that no program can hold.
func (p *parser) noNumber(n *yamlnode.Node, why string) {
	p.report(diag.BadLiteral, textSpan(n.Text), "quote it if it is text", "`%s` %s", shorten(n.Text.Value), why)
}
