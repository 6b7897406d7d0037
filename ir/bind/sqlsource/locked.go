package sqlsource

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A Column is one of what a statement returns, by the account of a server of PostgreSQL.
type Column struct {
	Name, Type string
	Present    bool // its table says that it is not null
}

// A Failure is what a server says of a statement that it does not take.
type Failure struct {
	Message, Hint string
	At            int  // the character where it is, from 1; 0: nowhere
	Name          bool // a name that it does not know
}

func (f *Failure) Error() string { return f.Message }

// Locked has a server describe the statement of a tool, and returns what flowgen.lock keeps of it, as JSON: its effects, and the types of
// parameters and columns. An error of ask that is a *Failure is reported at its place in the statement, and then text is empty.
func Locked(b *ir.SQLTool, ask func(text string) (params []string, columns []Column, err error), sink *diag.Sink) (text string, err error) {
	r := &resolver{sink: sink}
	s, wrong := read(b.Query.Value, true)
	if wrong != nil {
		r.report(diag.SourceSyntax, b.Query.At(wrong.lo, wrong.hi), wrong.what, wrong.help)
		return "", nil
	}
	params, columns, err := ask(s.text)
	if f, ok := err.(*Failure); ok {
		r.failed(b, s, f)
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if len(params) != len(s.params) {
		return "", fmt.Errorf("it describes %d parameters as %d", len(s.params), len(params))
	}
	in := &schema.Type{Kind: schema.Struct}
	for i, p := range params {
		in.Fields = append(in.Fields, &schema.Field{Name: s.params[i], Type: postgresType(p, true)})
	}
	out, ok := r.described(b, s, columns)
	if !ok {
		return "", nil
	}
	def := map[string]any{"name": Key(b), "annotations": map[string]bool{"readOnlyHint": s.reads()}, "inputSchema": json.RawMessage(schema.JSONSchema(in))}
	if len(columns) > 0 {
		def["outputSchema"] = json.RawMessage(schema.JSONSchema(out))
	}
	made, err := json.Marshal(def)
	return string(made), err
}

// Key is the name of a statement in flowgen.lock: the statement.
func Key(b *ir.SQLTool) string { return strings.TrimSpace(b.Query.Value) }

// described is the type of the rows. false: what is wrong with them was reported.
func (r *resolver) described(b *ir.SQLTool, s *statement, columns []Column) (*schema.Type, bool) {
	row, ok := &schema.Type{Kind: schema.Struct}, true
	items, strict := s.items(len(columns)), s.keepsNotNull()
	for i, c := range columns {
		at, item := foreignPlace(b), []token(nil)
		if items != nil && len(items[i]) > 0 {
			item = items[i]
			at = b.Query.At(item[0].lo, item[len(item)-1].hi)
		}
		typ, present := postgresType(c.Type, false), c.Present && strict
		if !present {
			_, present = (&tables{}).expression(s, unnamed(item))
		}
		if typ != schema.AnyType && !present { // null is any value
			typ = schema.OptOf(typ, "it can be null here")
		}
		if !r.column(row, c.Name, typ, at, "encode("+c.Name+", 'hex')") {
			ok = false
			continue
		}
		row.Fields = append(row.Fields, &schema.Field{Name: c.Name, Type: typ, Span: at})
	}
	return row, ok
}

// postgresType is the type of a parameter or column by the name of the server's: what has none of ours is text.
func postgresType(name string, param bool) *schema.Type {
	switch name {
	case "int2", "int4", "int8", "oid":
		return schema.IntType
	case "float4", "float8":
		return schema.FloatType
	case "bool":
		return schema.BoolType
	case "timestamp", "timestamptz":
		return schema.TimeType
	case "json", "jsonb":
		if !param {
			return schema.AnyType
		}
	case "bytea":
		if !param {
			return schema.BytesType
		}
	}
	return schema.StringType
}

// reads reports whether a statement for PostgreSQL only reads. A function that it calls cannot write: its transaction may not.
func (s *statement) reads() bool { return !s.has("insert", "update", "delete", "merge") }

// keepsNotNull reports whether a column that its table does not let be null is not null in the result.
func (s *statement) keepsNotNull() bool {
	return !s.has("left", "right", "full", "rollup", "cube", "sets", "old", "new", "merge") && s.selects() <= 1
}

// failed reports what a server says of a statement, at its place.
func (r *resolver) failed(b *ir.SQLTool, s *statement, f *Failure) {
	d := diag.Diagnostic{Code: diag.SourceSyntax, Span: foreignPlace(b), Message: diag.Printable(f.Message), Help: diag.Printable(f.Hint)}
	if f.Name {
		d.Code = diag.SourceName
	}
	if f.At > 0 {
		off := 0
		for range f.At - 1 {
			_, n := utf8.DecodeRuneInString(s.text[off:])
			off += n
		}
		at := s.at(off)
		d.Span = b.Query.At(at, min(at+1, len(s.source)))
		for i := range s.tokens {
			if t := s.tokens[i]; at >= t.lo && at < t.hi {
				for i+2 < len(s.tokens) && s.tokens[i+1].is(".") && strings.Contains(f.Message, "column ") { // of t.name, the name is what is wrong
					i += 2
				}
				d.Span = b.Query.At(s.tokens[i].lo, s.tokens[i].hi)
				break
			}
		}
	}
	r.sink.Report(d)
}

// locked fills a tool from what is locked of its statement.
func (r *resolver) locked(t *ir.Tool, b *ir.SQLTool, s *statement, server *mcplock.Server) {
	b.Tables = r.tablesOf(server)
	found := server.Tool(Key(b))
	if found == nil && r.misspelt(b, s, b.Tables) {
		return
	}
	if found == nil {
		first := s.tokens[0]
		r.report(diag.NotLocked, b.Query.At(first.lo, first.hi), "the statement is not locked: "+mcplock.Name+" knows others of "+b.DB.Name,
			"run `flowgen lock`, which asks the database, and look at what it writes")
		return
	}
	in, row := found.Types()
	var columns []returned
	if row != nil {
		columns = []returned{{}}
	}
	if !r.rows(b, columns) {
		return
	}
	sig := foreign.Signature{Name: "the statement", In: &schema.Type{Kind: schema.Struct}}
	switch {
	case row == nil:
		sig.Out = r.out(b, s, nil, nil)
	case b.Rows == "one":
		sig.Out = schema.OptOf(row, "the row may not exist")
	default:
		sig.Out = schema.ListOf(row)
	}
	for _, name := range s.params {
		typ := schema.AnyType
		if f := in.Field(name); f != nil {
			typ = f.Type
		}
		if t.In != nil {
			if f := t.In.Field(name); f != nil {
				if !bindable(f.Type) {
					r.notBindable(f, "json_array_elements")
					return
				}
				typ = asDeclared(typ, f.Type)
			}
		}
		i := slices.IndexFunc(s.tokens, func(x token) bool { return x.kind == param && x.text == name })
		sig.In.Fields = append(sig.In.Fields, &schema.Field{Name: name, Type: typ, Span: b.Query.At(s.tokens[i].lo, s.tokens[i].hi)})
	}
	b.Text, b.Params = s.text, s.params
	foreign.Fill(t, sig, r.sink)
}

// asDeclared is the type of a parameter: null can be bound to each, and what is text to us can be a number to the server.
func asDeclared(typ, declared *schema.Type) *schema.Type {
	if k := declared.Present().Kind; typ == schema.StringType && (k == schema.Int || k == schema.Float || k == schema.Time) {
		typ = declared.Present()
	}
	if declared.Kind == schema.Opt {
		return schema.OptOf(typ, "it is declared so")
	}
	return typ
}
