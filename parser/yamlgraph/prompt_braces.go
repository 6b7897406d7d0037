package yamlgraph

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/jinja"
)

// Prompts without Jinja are texts of Python's str.format.

var (
	formatField = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z_][A-Za-z0-9_]*|\[[^\[\]{}]+\])*)(?:!([rsa]))?(?::([^{}]*))?$`)
	formatStep  = lazyregexp.New(`\.([A-Za-z_][A-Za-z0-9_]*)|\[([^\[\]{}]+)\]`)
)

// braces reads a text of str.format. ok becomes false for one that it refuses.
func (p *parser) braces(t source.Text, ok *bool) []jinja.PromptNode {
	var out []jinja.PromptNode
	s := t.Value
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			out = append(out, &jinja.PromptText{Lit: lit.String()})
			lit.Reset()
		}
	}
	refuse := func(lo, hi int, message string) {
		*ok = false
		help := "write the variables of this text as `{{ name }}`: in a template of Jinja, braces may stand alone"
		p.Error(diag.ExprSyntax, t.At(lo, hi), help, "%s: the engine cannot format this prompt", message)
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '}' && i+1 < len(s) && s[i+1] == '}':
			lit.WriteByte('}')
			i++
		case s[i] == '}':
			refuse(i, i+1, "a brace closes nothing")
			return nil
		case s[i] == '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				refuse(i, i+1, "a brace is not closed")
				return nil
			}
			m := formatField.FindStringSubmatch(s[i+1 : i+end])
			if m == nil {
				refuse(i, i+end+1, "this is not a placeholder such as `{name}`")
				return nil
			}
			flush()
			out = append(out, p.placeholder(t, i, i+end+1, m))
			i += end
		default:
			lit.WriteByte(s[i])
		}
	}
	flush()
	return out
}

// placeholder is a value in a text: a name, perhaps with attributes and keys, a conversion and a format.
func (p *parser) placeholder(t source.Text, lo, hi int, m []string) *jinja.PromptShow {
	at := t.At(lo, hi)
	x := &jinja.PromptExpr{Op: "name", Name: m[1], Span: t.At(lo+1, lo+1+len(m[1]))}
	for _, step := range formatStep.FindAllStringSubmatch(m[2], -1) {
		if step[1] != "" {
			x = &jinja.PromptExpr{Op: "attr", Name: step[1], Kids: []*jinja.PromptExpr{x}, Span: at}
			continue
		}
		key := &ir.Scalar{Tag: "!!str", Text: source.Text{Value: step[2], Span: at}}
		if n, err := strconv.Atoi(step[2]); err == nil && n >= 0 {
			key.Tag, key.Text.Value = "!!int", strconv.Itoa(n)
		}
		x = &jinja.PromptExpr{Op: "item", Kids: []*jinja.PromptExpr{x, {Op: "const", Lit: key, Span: at}}, Span: at}
	}
	if m[3] == "r" || m[3] == "a" {
		x = &jinja.PromptExpr{Op: "filter", Name: "pprint", Kids: []*jinja.PromptExpr{x}, Span: at}
	}
	return &jinja.PromptShow{X: x, Spec: m[4], Joined: m[2] == "" && m[3] == ""}
}

var agentWord = lazyregexp.New(`\{([A-Za-z0-9_]+)\}`)

// words reads the prompt of an agent: the engine replaces `{word}` by fields of the state and leaves everything else.
func (p *parser) words(t source.Text, item string) *PromptTemplate {
	out := &PromptTemplate{Text: t}
	last := 0
	for _, m := range agentWord.FindAllStringSubmatchIndex(t.Value, -1) {
		name := t.Value[m[2]:m[3]]
		if name == "" || name != item {
			if p.named(name, t.At(m[2], m[3])); p.fields[name] == nil {
				continue
			}
		}
		if m[0] > last {
			out.Body = append(out.Body, &jinja.PromptText{Lit: t.Value[last:m[0]]})
		}
		out.Body = append(out.Body, &jinja.PromptShow{X: &jinja.PromptExpr{Op: "name", Name: name, Span: t.At(m[2], m[3])}, Kept: true})
		last = m[1]
	}
	if last < len(t.Value) {
		out.Body = append(out.Body, &jinja.PromptText{Lit: t.Value[last:]})
	}
	return out
}
