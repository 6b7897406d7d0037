package native

import (
	"path"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// The suffixes of workflow files and of the files with their test cases.
const (
	WorkflowSuffix = ".flowgen.yaml"
	CasesSuffix    = ".test.yaml"
)

// ParseCases reads the test file f, whose tree is root. It never returns nil: after mistakes, which go to sink, it holds
// what could be read.
func ParseCases(root *yamlnode.Node, f *source.File, sink *diag.Sink) *ir.CaseFile {
	p := &parser{sink: sink, before: sink.Errors(), file: f}
	base := strings.TrimSuffix(path.Base(f.Name), CasesSuffix)
	out := &ir.CaseFile{File: f, Workflow: ir.Ident{Name: base + WorkflowSuffix}}
	m, ok := p.mapping(root, shapeCaseFile)
	if !ok {
		return out
	}
	p.version(m)
	if t, ok := p.path(m.get("workflow"), "the workflow"); ok {
		out.Workflow = t
	}
	p.each(m.get("cases"), "cases", caseID, func(id ir.Ident, n *yamlnode.Node) {
		if c := p.testCase(id, n, base); c != nil {
			out.Cases = append(out.Cases, c)
		}
	})
	return out
}

// path reads the name of a file below the folder of the one that is being read.
func (p *parser) path(n *yamlnode.Node, what string) (ir.Ident, bool) {
	if n == nil {
		return ir.Ident{}, false
	}
	t, ok := p.text(n, what)
	if !ok {
		return ir.Ident{}, false
	}
	at := ir.Ident{Name: path.Clean(t.Value), Span: textSpan(t)}
	if t.Value == "" || path.IsAbs(at.Name) || at.Name == ".." || strings.HasPrefix(at.Name, "../") || strings.ContainsAny(at.Name, "\\:\x00") {
		p.report(diag.BadLiteral, at.Span, "name a file in or below this folder, with `/` separators", "%s is outside this file's folder", what)
		return ir.Ident{}, false
	}
	return at, true
}

func (p *parser) testCase(id ir.Ident, n *yamlnode.Node, base string) *ir.TestCase {
	m, ok := p.mapping(n, shapeCase)
	if !ok {
		return nil
	}
	c := &ir.TestCase{Name: id, Span: n.Span, Description: p.prose(m.get("description"), "the description")}
	c.Cassette = ir.Ident{Name: path.Join("testdata", base, id.Name+".jsonl"), Span: id.Span}
	if t, ok := p.path(m.get("cassette"), "the cassette"); ok {
		c.Cassette = t
	}
	c.Input = p.constants(m.get("input"), "input")
	c.Answers = p.constants(m.get("answers"), "answers")
	for _, a := range c.Answers {
		if _, scalar := a.Value.(*ir.Scalar); !scalar {
			p.report(diag.WrongShape, a.Value.Source(), "", "an answer is text, a number or a bool")
		}
	}
	if w := m.get("want"); w != nil {
		c.Want = p.want(w)
	}
	return c
}

func (p *parser) want(n *yamlnode.Node) ir.Want {
	m, ok := p.mapping(n, shapeWant)
	w := ir.Want{Span: n.Span}
	if !ok {
		return w
	}
	w.Output = p.constants(m.get("output"), "output")
	w.State = p.constants(m.get("state"), "state")
	p.each(m.get("calls"), "calls", naming{}, func(id ir.Ident, n *yamlnode.Node) {
		if c := p.wantCall(id, n); c != nil {
			w.Calls = append(w.Calls, c)
		}
	})
	if o := m.get("order"); o != nil && o.Kind != yamlnode.Sequence {
		p.wrongShape(o, "`order` is a list of keys", "")
	} else if o != nil {
		for _, it := range o.Items {
			if t, ok := p.text(it, "a key"); ok {
				w.Order = append(w.Order, ir.Ident{Name: t.Value, Span: textSpan(t)})
			}
		}
	}
	if c := m.get("cost"); c != nil {
		w.Cost = p.wantCost(c)
	}
	if e := m.get("error"); e != nil {
		w.Error = p.wantError(e, true)
	}
	if w.Error != nil && len(w.Output) > 0 {
		p.report(diag.Misplaced, m.keys["output"].Span, "leave out `output` or `error`", "a failed run has no output")
	}
	return w
}

func (p *parser) wantCall(id ir.Ident, n *yamlnode.Node) *ir.WantCall {
	c := &ir.WantCall{Key: id}
	if isNull(n) { // that there was one
		return c
	}
	m, ok := p.mapping(n, shapeWantCall)
	if !ok {
		return nil
	}
	c.Places = places(m)
	c.Input = p.constantValue(m.get("input"))
	c.Output = p.constantValue(m.get("output"))
	if e := m.get("error"); e != nil {
		c.Error = p.wantError(e, false)
	}
	if b := m.get("cached"); b != nil {
		if w := p.word(b, "`cached`", "true", "false"); w != "" {
			yes := w == "true"
			c.Cached = &yes
		}
	}
	if t := m.get("attempts"); t != nil {
		if v, ok := p.count(t, "`attempts`", 1); ok {
			times := int(v)
			c.Attempts = &times
		}
	}
	if t := m.get("times"); t != nil {
		if v, ok := p.count(t, "`times`", 0); ok {
			times := int(v)
			c.Times = &times
		}
	}
	return c
}

func (p *parser) wantCost(n *yamlnode.Node) *ir.WantCost {
	m, ok := p.mapping(n, shapeWantCost)
	if !ok {
		return nil
	}
	w := &ir.WantCost{Span: n.Span, Places: places(m)}
	for name, to := range map[string]*string{"usd": &w.USD, "max_usd": &w.MaxUSD} {
		if v := m.get(name); v != nil {
			*to = p.money(v, "`"+name+"`")
		}
	}
	for _, at := range []struct {
		name string
		to   **int64
	}{{"tokens", &w.Tokens}, {"max_tokens", &w.MaxTokens}, {"calls", &w.Calls}, {"max_calls", &w.MaxCalls}} {
		if v := m.get(at.name); v != nil {
			if n, ok := p.count(v, "`"+at.name+"`", 0); ok {
				*at.to = &n
			}
		}
	}
	return w
}

// places are where the values of a mapping stand.
func places(m mapping) map[string]source.Span {
	out := map[string]source.Span{}
	for k, v := range m.values {
		out[k] = v.Span
	}
	return out
}

// wantError reads a code, or a mapping with one; node says whether it can name the node.
func (p *parser) wantError(n *yamlnode.Node, node bool) *ir.WantError {
	e := &ir.WantError{Span: n.Span}
	if n.Kind == yamlnode.Scalar {
		e.Code = p.errorCode(n)
		return e
	}
	m, ok := p.mapping(n, shapeWantError)
	if !ok {
		return nil
	}
	if c := m.get("code"); c != nil {
		e.Code = p.errorCode(c)
	}
	if t := m.get("node"); t != nil {
		if !node {
			p.report(diag.Misplaced, m.keys["node"].Span, "leave it out", "the key of a call already names the node")
		} else if t, ok := p.text(t, "the node"); ok {
			e.Node = ir.Ident{Name: t.Value, Span: textSpan(t)}
		}
	}
	e.Message = p.constantValue(m.get("message"))
	return e
}

func (p *parser) errorCode(n *yamlnode.Node) ir.Ident {
	if w := p.word(n, "a code", schema.ErrorCodes...); w != "" {
		return ir.Ident{Name: w, Span: n.Span}
	}
	return ir.Ident{}
}

// constants reads a mapping from names to constants.
func (p *parser) constants(n *yamlnode.Node, what string) []*ir.Entry {
	var out []*ir.Entry
	p.each(n, what, naming{}, func(id ir.Ident, v *yamlnode.Node) {
		out = append(out, &ir.Entry{Key: id, Value: p.constantValue(v)})
	})
	return out
}

// constantValue reads data in which `$` and braces mean nothing.
func (p *parser) constantValue(n *yamlnode.Node) ir.Value {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case yamlnode.Sequence:
		l := &ir.List{Span: n.Span}
		for _, it := range n.Items {
			l.Items = append(l.Items, p.constantValue(it))
		}
		return l
	case yamlnode.Mapping:
		o := &ir.Object{Span: n.Span}
		for _, e := range n.Entries {
			if name, ok := p.keyName(e.Key); ok {
				o.Entries = append(o.Entries, &ir.Entry{Key: ir.Ident{Name: name, Span: textSpan(e.Key.Text)}, Value: p.constantValue(e.Value)})
			}
		}
		return o
	case yamlnode.Null:
		return &ir.Scalar{Text: n.Text, Tag: "!!null"}
	}
	return &ir.Scalar{Text: n.Text, Tag: n.Tag}
}
