// Package sqlsource reads SQL tools: it makes the tables of the project's schema in a SQLite in memory, prepares the statements there, and
// gives the tools the types of their parameters and columns. It is the compiler's only importer of SQLite. No statement of a tool is
// run, and nothing is read but the files of the schema.
package sqlsource

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Options say where the schemas of the tools are.
type Options struct {
	Files  *foreign.Files
	Folder func(*source.File) foreign.Folder // of a workflow file
	Locked map[*ir.Tool]*mcplock.Server      // the databases that are locked
}

// Resolve fills the SQL tools among tools.
func Resolve(tools []*ir.Tool, opts Options, sink *diag.Sink) {
	r := &resolver{opts: opts, sink: sink, read: map[[2]string]*opened{}}
	for _, t := range tools {
		if b, ok := t.Binding.(*ir.SQLTool); ok {
			switch { // in other cases the parser has reported it
			case b.Engine == "postgres" && b.Query.Value != "":
				r.postgres(t, b)
			case b.Schema.Name != "" && b.Query.Value != "":
				r.tool(t, b)
			}
			foreign.Poison(t)
		}
	}
	for _, o := range r.read {
		if o.tables != nil {
			o.tables.close()
		}
	}
}

type resolver struct {
	opts Options
	sink *diag.Sink
	read map[[2]string]*opened // by folder and name

	known map[*mcplock.Server][]*ir.SQLTable
}

type opened struct {
	*tables
	list []*ir.SQLTable
	err  error
}

func (r *resolver) tool(t *ir.Tool, b *ir.SQLTool) {
	home := r.opts.Folder(t.File)
	key := [2]string{home.Disk, b.Schema.Name}
	o, again := r.read[key]
	if !again {
		o = &opened{}
		if o.tables, o.err = open(r.opts.Files, home, b.Schema.Name); o.err == nil {
			o.list = o.shown()
		}
		r.read[key] = o
	}
	if o.err != nil {
		if !again {
			r.unusable(b, o.err)
		}
		return
	}
	b.Tables = o.list
	s, wrong := read(b.Query.Value, false)
	if wrong != nil {
		r.report(diag.SourceSyntax, b.Query.At(wrong.lo, wrong.hi), wrong.what, wrong.help)
		return
	}
	columns, reads, err := o.describe(s.text)
	if err == nil && !slices.ContainsFunc([]string{"select", "with", "values", "insert", "replace", "update", "delete"}, s.tokens[0].is) {
		err = &engineError{notAuthorized, 0} // SQLite does not ask its authorizer about all: VACUUM INTO writes a file
	}
	if err != nil {
		r.refused(b, s, o.tables, err)
		return
	}
	if !r.effects(t, b, s, reads) || !r.rows(b, columns) {
		return
	}
	sig := foreign.Signature{Name: "the statement", In: &schema.Type{Kind: schema.Struct}}
	if sig.Out = r.out(b, s, o.tables, columns); sig.Out == nil || !r.in(t, b, s, o.tables, sig.In) {
		return
	}
	b.Text, b.Params = s.text, s.params
	foreign.Fill(t, sig, r.sink)
}

func (r *resolver) report(code diag.Code, at source.Span, message, help string) {
	r.sink.Report(diag.Diagnostic{Code: code, Span: at, Message: message, Help: help})
}

// unusable reports a schema that cannot be read.
func (r *resolver) unusable(b *ir.SQLTool, err error) {
	var bad *broken
	if !errors.As(err, &bad) {
		r.sink.Report(foreign.Unreadable(b.Schema.Span, b.Schema.Name, err))
		return
	}
	d := foreign.CannotRead(diag.SourceSyntax, b.Schema.Span, b.Schema.Name, diag.Printable(bad.why))
	d.Related = []diag.Related{{Span: bad.at, Message: "here"}}
	r.sink.Report(d)
}

// notAuthorized begins SQLite's message about what its authorizer does not allow.
const notAuthorized = "not authorized"

// refused reports a statement that the engine does not take, at its place.
func (r *resolver) refused(b *ir.SQLTool, s *statement, t *tables, err error) {
	var e *engineError
	if !errors.As(err, &e) {
		r.report(diag.SourceSyntax, foreignPlace(b), err.Error(), "")
		return
	}
	message := e.message
	d := diag.Diagnostic{Code: diag.SourceSyntax, Span: foreignPlace(b)}
	at := s.tokens[0]
	if e.off >= 0 {
		if found := s.token(s.at(e.off)); found != nil {
			at = *found
		}
		d.Span = b.Query.At(at.lo, at.hi)
	}
	name, near := "", []string(nil)
	switch {
	case strings.HasPrefix(message, notAuthorized):
		d.Code, d.Message = diag.SourceShape, "a tool reads and changes rows, and this statement does something else"
		d.Span, d.Help = b.Query.At(at.lo, at.hi), "write SELECT, INSERT, UPDATE or DELETE; migrations make tables, and each statement is a transaction"
		r.sink.Report(d)
		return
	case strings.HasPrefix(message, "no such column: "):
		name = message[len("no such column: "):]
		for _, c := range t.of(s) {
			near = append(near, c.name)
		}
	case strings.Contains(message, " has no column named "):
		_, name, _ = strings.Cut(message, " has no column named ")
		for _, c := range t.of(s) {
			near = append(near, c.name)
		}
	case strings.HasPrefix(message, "no such table: "):
		name, near = message[len("no such table: "):], t.tableNames()
	case strings.HasPrefix(message, "no such function: "):
		name = message[len("no such function: "):]
	}
	if name == "" {
		d.Message = diag.Printable(message)
		r.sink.Report(d)
		return
	}
	name, _, _ = strings.Cut(name, " - should this be") // SQLite's hint for names in double quotes
	name = strings.Trim(name, `"`)
	name = name[strings.LastIndexByte(name, '.')+1:]
	if found := s.named(name); found != nil && !strings.EqualFold(at.text, name) {
		at = *found
		if e.off >= 0 { // of t.name, the offset is that of t
			for i := range s.tokens {
				if x := s.tokens[i]; x.lo >= s.at(e.off) && strings.EqualFold(x.text, name) {
					at = x
					break
				}
			}
		}
		d.Span = b.Query.At(at.lo, at.hi)
	}
	d.Code, d.Message = diag.SourceName, b.Schema.Name+" has "+strings.TrimSuffix(strings.TrimPrefix(kindOf(message), "no such "), ":")+" "+quote(diag.Printable(name))
	diag.Suggest(&d, name, near)
	if d.Help == "" && len(near) > 0 && len(near) <= 12 {
		d.Help = "there are " + strings.Join(near, ", ")
	}
	r.sink.Report(d)
}

// kindOf is what the engine misses.
func kindOf(message string) string {
	for _, k := range []string{"table", "function"} {
		if strings.HasPrefix(message, "no such "+k) {
			return "no " + k
		}
	}
	return "no column"
}

// foreignPlace is the statement as it stands in the workflow.
func foreignPlace(b *ir.SQLTool) source.Span { return b.Query.At(0, len(b.Query.Value)) }

// effects compares the declared effects with those of the statement.
func (r *resolver) effects(t *ir.Tool, b *ir.SQLTool, s *statement, reads bool) bool {
	least := ir.EffectsWrites
	if reads {
		least = ir.EffectsReads
	}
	if t.Effects == ir.EffectsUnset {
		t.Effects = least
	}
	if t.Effects >= least {
		return true
	}
	first := s.tokens[0]
	r.sink.Report(diag.Diagnostic{Code: diag.EffectsLowered, Span: t.EffectsSpan, Message: fmt.Sprintf("effects are declared %s, and the statement has effects %s", t.Effects, least),
		Help: "declare `effects: " + least.String() + "`, or remove it", Related: []diag.Related{{Span: b.Query.At(first.lo, first.hi), Message: "it is here"}}})
	return false
}

// rows decides how many rows there are.
func (r *resolver) rows(b *ir.SQLTool, columns []returned) bool {
	switch {
	case len(columns) > 0 && b.Rows == "":
		b.Rows = "many"
	case len(columns) == 0 && b.Rows != "":
		r.report(diag.SourceShape, b.RowsAt, "the statement returns no rows", "remove `rows`, or add `returning id` to the statement")
		return false
	case len(columns) == 0:
		b.Rows = "none"
	}
	return true
}

// out is the type of the result; nil when that was reported.
func (r *resolver) out(b *ir.SQLTool, s *statement, t *tables, columns []returned) *schema.Type {
	if len(columns) == 0 {
		return &schema.Type{Kind: schema.Struct, Fields: []*schema.Field{{Name: "affected", Type: schema.IntType, Description: "The number of rows."}}}
	}
	row := &schema.Type{Kind: schema.Struct}
	items, strict, ok := s.items(len(columns)), t.strict(s), true
	for i, c := range columns {
		at, item := foreignPlace(b), []token(nil)
		if items != nil && len(items[i]) > 0 {
			item = items[i]
			at = b.Query.At(item[0].lo, item[len(item)-1].hi)
		}
		typ := t.result(s, c, item, strict)
		if !r.column(row, c.name, typ, at, "hex("+c.name+")") {
			ok = false
			continue
		}
		if typ == nil {
			typ = schema.AnyType
		}
		row.Fields = append(row.Fields, &schema.Field{Name: c.name, Type: typ, Span: at})
	}
	switch {
	case !ok:
		return nil
	case b.Rows == "one":
		return schema.OptOf(row, "the row may not exist")
	}
	return schema.ListOf(row)
}

// column reports what keeps a column from being the next field of a row. asText is the expression that makes text of binary.
func (r *resolver) column(row *schema.Type, name string, typ *schema.Type, at source.Span, asText string) bool {
	switch {
	case !isName(name):
		r.report(diag.SourceShape, at, "a column has no name that a field can have: "+quote(diag.Printable(name)), "name it, as in `count(*) as n`")
	case row.Field(name) != nil:
		r.report(diag.SourceShape, at, "two columns have the name "+quote(name), "name one of them, as in `"+name+" as other`")
	case typ != nil && typ.Present() == schema.BytesType:
		r.report(diag.SourceShape, at, "the column "+quote(name)+" is binary", "return it as text, as in `"+asText+" as "+name+"`")
	default:
		return true
	}
	return false
}

// in fills the type of the input. false: that was reported.
func (r *resolver) in(t *ir.Tool, b *ir.SQLTool, s *statement, tables *tables, in *schema.Type) bool {
	ok := true
	for _, name := range s.params {
		i := slices.IndexFunc(s.tokens, func(x token) bool { return x.kind == param && x.text == name })
		at := b.Query.At(s.tokens[i].lo, s.tokens[i].hi)
		typ := tables.parameter(s, name)
		var declared *schema.Field
		if t.In != nil {
			declared = t.In.Field(name)
		}
		switch {
		case declared != nil && !bindable(declared.Type):
			r.notBindable(declared, "json_each")
			ok = false
			continue
		case typ == nil && declared != nil:
			typ = declared.Type
		case typ == nil && t.In == nil:
			r.report(diag.SourceUnclear, at, "the type of "+quote("{"+name+"}")+" is unknown", "declare it next to `sql`: `in: {"+strings.Join(s.params, ": string, ")+": string}`")
			ok = false
			continue
		case typ == nil:
			typ = schema.AnyType // a declaration that lacks it is reported
		}
		if declared != nil && declared.Type.Kind == schema.Opt { // null can be bound to every parameter
			typ = schema.OptOf(typ.Present(), "it is declared so")
		}
		in.Fields = append(in.Fields, &schema.Field{Name: name, Type: typ, Span: at})
	}
	return ok
}

// notBindable reports a field of a type that no parameter has; unpack is the engine's function for lists.
func (r *resolver) notBindable(f *schema.Field, unpack string) {
	r.report(diag.SourceShape, f.Span, quote(f.Name)+" is "+f.Type.String()+", and a parameter is text, a number, true or false, or a time",
		"pass the values one by one, or as JSON for `"+unpack+"`")
}

// bindable reports whether values of a type can be bound.
func bindable(t *schema.Type) bool {
	switch t.Present().Kind {
	case schema.String, schema.Int, schema.Float, schema.Bool, schema.Time, schema.Enum, schema.Invalid:
		return true
	}
	return false
}
