package stargraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// The configs of the kinds that ask a model for one thing.
var (
	reasonConfig    = modelConfig("the config of a reason node", dialect.Key{Name: "input", Doc: "the state field with the question"})
	summarizeConfig = modelConfig("the config of a summarize node", dialect.Key{Name: "input", Doc: "the state field with the text"})
	classifyConfig  = modelConfig("the config of a classify node", dialect.Key{Name: "input", Doc: "the state field with the text"}, dialect.Key{Name: "labels", Required: true, Doc: "the verdicts there are, two or more"})
	extractConfig   = modelConfig("the config of an extract node", dialect.Key{Name: "input", Doc: "the state field with the text"}, dialect.Key{Name: "fields", Required: true, Doc: "what is looked for: names with their types"})
	judgeConfig     = modelConfig("the config of a judge node", dialect.Key{Name: "input", Doc: "the state field with the content"}, dialect.Key{Name: "rubric", Doc: "what is good"})
	planConfig      = modelConfig("the config of a plan node", dialect.Key{Name: "input", Doc: "the state field with the goal"})
)

// one reads the single field that a node works on.
func (p *parser) one(x *node, m dialect.Mapping, def string) []*argument {
	if a := p.operand(x, m.Get("input"), "`input`", def, schema.StringType); a != nil {
		return []*argument{a}
	}
	return nil
}

func (p *parser) reasonNode(x *node, m dialect.Mapping) {
	p.question(x, m, "Answer the question. Write down the reasons first, and then the answer.", p.one(x, m, "question"), []output{
		{name: "rationale", typ: schema.StringType, kept: schema.StringType, doc: "why the answer is what it is"},
		{name: "answer", typ: schema.StringType, kept: schema.StringType, doc: "the answer"},
	})
}

func (p *parser) summarizeNode(x *node, m dialect.Mapping) {
	p.question(x, m, "Summarize the text. Answer with the summary alone.", p.one(x, m, "text"), []output{
		{name: "summary", typ: schema.StringType, kept: schema.StringType},
	})
}

// classifyNode reads a question whose answer is one of several labels. An answer that is none of them is an error of the
// run. What is a number to the model is text to the state.
func (p *parser) classifyNode(x *node, m dialect.Mapping) {
	input := p.one(x, m, "text")
	n := m.Get("labels")
	if n == nil {
		return
	}
	if !p.IsList(n, "`labels`") {
		return
	}
	var labels []string
	seen := map[string]bool{}
	for _, it := range n.Items {
		if it.Kind != yamlnode.Scalar {
			p.WrongShape(it, "a label is text")
			return
		}
		label := p.compared(it, nil).Value
		if seen[label] {
			p.Error(diag.DuplicateName, it.Span, "remove one", "the label `%s` appears twice in `labels`", label)
			return
		}
		seen[label] = true
		labels = append(labels, label)
	}
	if len(labels) < 2 {
		p.Error(diag.BadLiteral, dialect.Head(n), "", "a classify node needs at least two labels")
		return
	}
	p.question(x, m, "Classify the text. The verdict is one of: "+strings.Join(labels, ", ")+".", input, []output{
		{name: "verdict", typ: schema.EnumOf(labels...), kept: schema.StringType, doc: "what the text is"},
		{name: "confidence", typ: schema.FloatType, kept: schema.StringType, doc: "how sure that is, from 0 to 1"},
	})
}

// extractNode reads a question for several fields of a text, each of which becomes a field of the state.
func (p *parser) extractNode(x *node, m dialect.Mapping) {
	input := p.one(x, m, "text")
	n := m.Get("fields")
	if n == nil {
		return
	}
	switch {
	case n.Kind != yamlnode.Mapping:
		p.WrongShape(n, "`fields` is a mapping from names to types")
		return
	case len(n.Entries) == 0:
		p.Error(diag.BadLiteral, dialect.Head(n), "", "an extract node needs at least one field")
		return
	}
	var outputs []output
	for _, e := range n.Entries {
		id, ok := p.Text(e.Value, "the type of a field")
		if !ok {
			continue
		}
		typ := p.pythonType(id)
		if typ == nil {
			continue
		}
		kept := typ
		if typ.Kind == schema.Int || typ.Kind == schema.Float {
			kept = schema.StringType
		}
		name := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
		outputs = append(outputs, output{name: name.Name, typ: typ, kept: kept, to: name})
	}
	if len(outputs) == len(n.Entries) {
		p.question(x, m, "Extract the fields from the text.", input, outputs)
	}
}

func (p *parser) judgeNode(x *node, m dialect.Mapping) {
	system := "Judge the content."
	if n := m.Get("rubric"); n != nil {
		system += " What is good:\n\n" + p.rubric(n)
	}
	p.question(x, m, system, p.one(x, m, "content"), []output{
		{name: "rationale", typ: schema.StringType, kept: schema.StringType, doc: "why"},
		{name: "verdict", typ: schema.EnumOf("pass", "fail"), kept: schema.StringType, doc: "whether the content is good"},
		{name: "score", typ: schema.FloatType, kept: schema.StringType, doc: "how good it is, from 0 to 1"},
	})
}

// rubric is what a judge looks at: text, a list of criteria, or criteria with what they mean.
func (p *parser) rubric(n *yamlnode.Node) string {
	switch n.Kind {
	case yamlnode.Sequence:
		var lines []string
		for _, it := range n.Items {
			if id, ok := p.Text(it, "a criterion"); ok {
				lines = append(lines, "- "+id.Name)
			}
		}
		return strings.Join(lines, "\n")
	case yamlnode.Mapping:
		var lines []string
		for _, e := range n.Entries {
			if id, ok := p.Text(e.Value, "a criterion"); ok {
				lines = append(lines, "- "+e.Key.Text.Value+": "+id.Name)
			}
		}
		return strings.Join(lines, "\n")
	}
	return n.Text.Value
}

func (p *parser) planNode(x *node, m dialect.Mapping) {
	p.question(x, m, "Break the goal down into tasks, in the order in which they are to be done.", p.one(x, m, "goal"), []output{
		{name: "tasks", typ: schema.ListOf(schema.StringType), kept: schema.ListOf(schema.StringType), doc: "what is to be done"},
	})
}
