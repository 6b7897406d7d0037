// Package toy reads files of the toy dialect: texts in order, each made of inputs and of the texts before it.
package toy

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Language is the toy dialect.
var Language = dialect.Language{
	Name: "toy", Root: "toy.yaml",
	Is: func(root *yamlnode.Node) bool { return root.Entry("toy") != nil }, Parse: parse,
	Schema:    func() []byte { return dialect.JSONSchema("toy", shape) },
	Functions: functions,
	Codes:     []diag.Code{diag.UnknownName},
}

var (
	shape = &dialect.Shape{What: "a toy", Keys: []dialect.Key{
		{Name: "toy", Required: true, Doc: "its name", Form: dialect.Scalar},
		{Name: "given", Doc: "the names of its inputs", Form: dialect.Names},
		{Name: "steps", Required: true, Doc: "texts by name, in order", Form: dialect.Map},
	}}
	countShape = &dialect.Shape{What: "a step that counts", Keys: []dialect.Key{
		{Name: "words", Required: true, Doc: "the text whose words are counted", Form: dialect.Scalar},
	}}
)

// A tree is what a file says.
type tree struct {
	given []ir.Ident
	steps []step
}

type step struct {
	id    ir.Ident
	text  source.Text
	count bool // of the words of the text
}

func parse(root *yamlnode.Node, f *source.File, _ dialect.Loader, _ dialect.Options, sink *diag.Sink) *ir.Workflow {
	r := dialect.NewReader(f, yamlnode.Core, sink)
	wf, t := &ir.Workflow{File: f}, &tree{}
	wf.Settle = func(sink *diag.Sink) { r.Sink = sink; settle(r, wf, t) }
	m, ok := r.Mapping(root, shape)
	if !ok {
		return wf
	}
	wf.Name, _ = r.Text(m.Get("toy"), "the name of a toy")
	for _, id := range r.Idents(m.Get("given"), "`given`") {
		t.given = append(t.given, id)
		wf.Input = append(wf.Input, &schema.Field{Name: id.Name, Span: id.Span, Type: schema.StringType})
	}
	steps := m.Get("steps")
	if steps == nil {
		return wf
	}
	for _, e := range steps.Entries {
		s, n := step{id: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}}, e.Value
		if n.Kind == yamlnode.Mapping {
			c, _ := r.Mapping(n, countShape)
			n, s.count = n.Get("words"), c.Node != nil
		}
		if _, ok := r.Text(n, "a step"); ok {
			s.text = n.Text
			t.steps = append(t.steps, s)
		}
	}
	return wf
}
