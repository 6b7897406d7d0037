package stargraph

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var (
	ragConfig = modelConfig("the config of a rag node",
		dialect.Key{Name: "stores", Required: true, Doc: "where is looked: {provider, path, table_name}"},
		dialect.Key{Name: "query", Doc: "the state field with the question"},
		dialect.Key{Name: "k", Doc: "how many documents the model receives at most"},
		dialect.Key{Name: "scan_limit", Doc: "how many documents of a store are looked at"},
	)
	ragStore = &dialect.Shape{What: "a store of a rag node", Keys: []dialect.Key{
		{Name: "provider", Required: true, Doc: "sqlite_doc"},
		{Name: "path", Required: true, Doc: "its file"},
		{Name: "table_name", Doc: "the table of a lancedb store"},
	}}
)

const (
	storePackage = runtimePackage + "/store"
	searchTool   = "stargraph.search_documents@1"
)

// hits are documents that were found: an id and the beginning of its text each.
var hits = schema.ListOf(schema.ListOf(schema.StringType))

// ragNode reads a question that a model answers from documents. When none is found, the model is not asked.
func (p *parser) ragNode(x *node, m dialect.Mapping) {
	at := x.kind.Span
	question := p.operand(x, m.Get("query"), "`query`", "query", schema.StringType)
	paths := p.documentStores(m.Get("stores"))
	limits := map[string]ir.Value{}
	for _, l := range []struct {
		key         string
		most, usual int64
	}{{"k", 50, 5}, {"scan_limit", 10_000, 256}} {
		limits[l.key] = number(p.Count(m.Get(l.key), "`"+l.key+"`", 1, l.most, l.usual), at)
	}
	model := p.model(x, m)
	system := "Answer the question from the context alone. Name the ids of the documents that the answer rests on in square brackets, as in [doc-3]. If the context does not say it, say so."
	if n, ok := p.constant(m.Get("instructions"), "`instructions`"); ok {
		system = n.key.Name
	}
	key := ir.Ident{Name: searchTool, Span: at}
	p.own(key, func() *ir.Tool {
		t := runtimeTool(key, storePackage, "Search", "Finds documents.", ir.EffectsReads, hits, param("question", schema.StringType), param("paths", schema.ListOf(schema.StringType)), param("k", schema.IntType), param("scan", schema.IntType))
		t.Replay = "recorded-result"
		return t
	})
	answer := p.result(ir.Ident{Name: "answer", Span: at}, schema.StringType)
	citations := p.result(ir.Ident{Name: "citations", Span: at}, schema.ListOf(schema.StringType))
	p.keeps(citations, schema.ListOf(schema.StringType))
	if question == nil {
		return
	}
	x.lower = func() []*ir.Node {
		arg := func(name string, v ir.Value) *ir.Entry {
			return &ir.Entry{Key: ir.Ident{Name: name, Span: at}, Value: v}
		}
		search := &ir.Node{ID: x.id, Span: x.at.Span, Verb: &ir.ToolCall{Name: key, With: &ir.With{Span: at, Entries: []*ir.Entry{
			arg("question", question.value()), arg("paths", paths), arg("k", limits["k"]), arg("scan", limits["scan_limit"])}}}}
		of := func(what, function, doc string, out *schema.Type) *ir.Node {
			f := runtimeFunc(at, runtimePackage, function, doc, out, param("hits", hits))
			f.Bind.Err = false
			return &ir.Node{ID: p.part(x, what), Span: x.at.Span, Verb: &ir.GoCall{Func: f, With: &ir.With{Span: at, Entries: []*ir.Entry{arg("hits", result(at, x.id.Name))}}}}
		}
		cited := of("citations", "Citations", "are the ids of documents.", schema.ListOf(schema.StringType))
		cited.Set = []*ir.Set{p.set(citations, at, result(at, cited.ID.Name), schema.ListOf(schema.StringType))}
		told := of("context", "Context", "is what a model receives of documents.", schema.StringType)
		w := newWriter(at)
		w.lit("question: ")
		for _, s := range question.segments {
			w.segment(s)
		}
		w.lit("\n\ncontext: ")
		w.value(nameNode(told.ID.Name), told.ID.Name, "")
		ask := &ir.Node{ID: p.part(x, "answer"), Span: x.at.Span, Verb: &ir.LLM{Model: model, Prompt: &ir.Prompt{Text: w.template(), Span: at}, Span: x.at.Span,
			System: mixed(source.Text{Span: at, Opaque: true}, []segment{{lit: system}})}}
		done := &ir.Node{ID: p.part(x, "done"), Span: x.at.Span, Verb: &ir.Let{}}
		some, _ := expr.Parse(`default(a, "")`)
		some.Kids[0] = nameNode(ask.ID.Name)
		done.Set = []*ir.Set{p.set(answer, at, &ir.Expr{Text: source.Text{Value: `default(` + ask.ID.Name + `, "")`, Span: at, Opaque: true}, Node: some}, schema.StringType)}
		p.only(ask, x.id, at)
		return []*ir.Node{search, cited, told, ask, done}
	}
}

// only makes a step one that runs when a list is not empty.
func (p *parser) only(step *ir.Node, list ir.Ident, at source.Span) {
	cond := func(src string) *ir.Expr {
		tree, _ := expr.Parse(src)
		for n := tree; ; n = n.Kids[0] {
			if n.Op == expr.Call {
				n.Kids[0] = nameNode(list.Name)
				break
			}
		}
		return &ir.Expr{Text: source.Text{Value: strings.Replace(src, "(a)", "("+list.Name+")", 1), Span: at, Opaque: true}, Node: tree}
	}
	if p.unless == nil {
		p.unless = map[string][2]*ir.Expr{}
	}
	p.unless[step.ID.Name] = [2]*ir.Expr{cond("size(a) > 0"), cond("!(size(a) > 0)")}
}

// number is a constant.
func number(v int64, at source.Span) *ir.Scalar {
	return &ir.Scalar{Text: source.Text{Value: strconv.FormatInt(v, 10), Span: at, Opaque: true}, Tag: "!!int"}
}

// documentStores are the files of the stores of a rag node.
func (p *parser) documentStores(n *yamlnode.Node) *ir.List {
	if n == nil {
		return &ir.List{}
	}
	out := &ir.List{Span: n.Span}
	list := p.recordsOf(n, "`stores`", ragStore)
	if n.Kind == yamlnode.Sequence && len(n.Items) == 0 {
		p.Error(diag.BadLiteral, dialect.Head(n), "", "a rag node needs at least one store")
	}
	for _, m := range list {
		provider := m.Get("provider")
		if provider == nil || p.Word(provider, "`provider`", "sqlite_doc", "lancedb") == "" {
			continue
		}
		if provider.Text.Value == "lancedb" {
			p.Error(diag.NotSupported, provider.Span, "keep the documents in a store of the kind sqlite_doc, or make it a tool node that searches, bound in flowgen.bindings.yaml, and a reason node behind it", "stores of lancedb are not read")
			continue
		}
		if path, ok := p.Text(m.Get("path"), "`path`"); ok {
			out.Items = append(out.Items, text(path.Name, path.Span))
		}
	}
	return out
}
