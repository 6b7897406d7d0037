package sqlsource

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// postgres fills a tool from what flowgen.lock says of its statement, or from its declaration where its database is not locked: there is
// no PostgreSQL to ask when a workflow is compiled. What is declared is held to when the tool runs, and a statement that is said to read
// runs in a transaction that cannot write.
func (r *resolver) postgres(t *ir.Tool, b *ir.SQLTool) {
	s, wrong := read(b.Query.Value, true)
	if wrong != nil {
		r.report(diag.SourceSyntax, b.Query.At(wrong.lo, wrong.hi), wrong.what, wrong.help)
		return
	}
	first := s.tokens[0]
	if !slices.ContainsFunc([]string{"select", "with", "values", "insert", "update", "delete", "merge"}, first.is) {
		r.report(diag.SourceShape, b.Query.At(first.lo, first.hi), "a tool reads and changes rows, and this statement does something else", "write SELECT, INSERT, UPDATE, DELETE or MERGE")
		return
	}
	if !r.effects(t, b, s, s.reads()) {
		return
	}
	if locked := r.opts.Locked[t]; locked != nil {
		r.locked(t, b, s, locked)
		return
	}
	returns := first.is("select") || first.is("values") || s.has("returning") || first.is("with") && s.has("select")
	sig := foreign.Signature{Name: "the statement", In: &schema.Type{Kind: schema.Struct}}
	switch {
	case !returns:
		if !r.rows(b, nil) {
			return
		}
		sig.Out = r.out(b, s, nil, nil)
	case t.Out == nil:
		r.report(diag.SourceUnclear, b.Query.At(first.lo, first.hi), "the result type of the statement is unknown", "declare it next to `sql`: `out: [{id: int}]`, or `out: opt<Order>` with `rows: one`")
		return
	default:
		r.rows(b, []returned{{}})
		if kind := t.Out.Kind; b.Rows == "many" && kind != schema.List && kind != schema.Invalid || b.Rows == "one" && kind == schema.List {
			r.report(diag.SourceDeclared, t.OutSpan, "`out` is "+t.Out.String()+", and `rows: "+b.Rows+"` returns something else", "many rows are a list of structs, one is an optional struct")
			return
		}
		sig.Out = t.Out
	}
	for _, name := range s.params {
		f := (*schema.Field)(nil)
		if t.In != nil {
			f = t.In.Field(name)
		}
		switch {
		case f == nil && t.In == nil:
			r.report(diag.SourceUnclear, b.Query.At(first.lo, first.hi), "the types of the parameters are unknown", "declare them next to `sql`: `in: {"+strings.Join(s.params, ": string, ")+": string}`")
			return
		case f == nil:
			f = &schema.Field{Name: name, Type: schema.AnyType} // a declaration that lacks it is reported
		case !bindable(f.Type):
			r.notBindable(f, "json_array_elements")
			return
		}
		sig.In.Fields = append(sig.In.Fields, &schema.Field{Name: name, Type: f.Type})
	}
	b.Text, b.Params = s.text, s.params
	foreign.Fill(t, sig, r.sink)
}
