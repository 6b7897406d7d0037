package codegen

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// lower makes a lowerer that writes its statements into b.
func (b *block) lower() *lowerer {
	return &lowerer{
		resolve: b.resolve,
		alone:   b.fn.alone,
		goType:  func(t *schema.Type) jen.Code { return b.fn.g.goType(t) },
		fail: func(err jen.Code) []jen.Code {
			var node jen.Code
			switch {
			case b.node != nil:
				node = b.fn.node(b.node)
			case b.fn.p == nil: // a tool, whose node is known when it is called
				return b.fail(err)
			default:
				node = b.fn.g.outputNode(b.fn.p)
			}
			return b.fail(jen.Id("run").Dot("Fail").Call(node, err))
		},
		fresh:   b.fn.fresh,
		release: func(name string) { delete(b.fn.names, name) },
		pattern: b.fn.g.pattern,
		core:    b.core(),
		guards:  b.fn.guards,
		deflt:   func(f *schema.Field) jen.Code { return b.constant(f.Default, f.Type) },
	}
}

func (b *block) flush(low *lowerer) {
	b.merge(low.stmts)
	low.stmts = nil
}

// resolve says how what an expression names is held in Go.
func (b *block) resolve(sym *expr.Symbol) storage {
	switch ref := sym.Ref.(type) {
	case *check.Root:
		switch ref.Name {
		case "input":
			return storage{code: jen.Id("in")}
		case "error":
			return storage{code: jen.Err()}
		case "now":
			return storage{code: jen.Id("run").Dot("Began").Call()}
		}
		return storage{code: jen.Id("state")}
	case *check.Local:
		return storage{code: jen.Id(ident(b.fn.localName(ref)))}
	case *expr.Param:
		return storage{code: jen.Id(ident(b.fn.paramName(ref)))}
	case *check.Step:
		if name := b.fn.own[ref]; name != "" {
			return storage{code: jen.Id(ident(name))}
		}
		return storage{code: jen.Id(ident(b.fn.local(ref))), ptr: b.fn.pointer(ref)}
	case *check.Var:
		return storage{code: jen.Id(ident(b.fn.varName(ref))), ptr: ref.Type.Kind == schema.Opt}
	case *check.ErrorOf:
		return storage{code: jen.Id(ident(b.fn.errName(ref.Step))), ptr: true}
	case *check.ErrorHere:
		return storage{code: b.firstError(ref.Steps), ptr: true}
	case *check.FailedHere:
		return storage{code: b.failedNode(ref.Steps)}
	case *check.ReceiptOf:
		return storage{code: jen.Id(ident(b.fn.receiptsName(ref.Step))).Dot(ident(fieldName(ref.Field))), ptr: ref.Field.Type.Kind == schema.Opt}
	case *check.FailuresOf:
		return storage{code: jen.Id(ident(b.fn.failuresName(ref.Step)))}
	case *check.Param:
		code := b.fn.params[ref.Field]
		if code == nil {
			code = jen.Id("in").Dot(ident(fieldName(ref.Field)))
		}
		return storage{code: code, ptr: ref.Field.Type.Kind == schema.Opt}
	}
	return storage{code: jen.Nil()}
}

// value writes a checked value; what it needs before goes into b.
func (b *block) value(v *check.Expected) jen.Code {
	return b.valueAs(v.Value, v.Type)
}

func (b *block) valueAs(v ir.Value, t *schema.Type) jen.Code {
	switch v := v.(type) {
	case *ir.Expr:
		low := b.lower()
		c := low.exprAs(v.Node, t)
		b.flush(low)
		return c
	case *ir.Template:
		low := b.lower()
		c := low.convert(low.template(v.Tmpl), schema.StringType, t)
		b.flush(low)
		return c
	case *ir.Scalar:
		return b.scalar(v, t)
	case *ir.List:
		return b.list(v, t)
	case *ir.Object:
		return b.object(v, t)
	}
	return jen.Nil()
}

func (b *block) list(v *ir.List, t *schema.Type) jen.Code {
	to := t.Present()
	if to.Kind == schema.Any {
		return b.optional(jen.Qual(valuePath, "List").CallFunc(func(g *jen.Group) {
			for _, x := range v.Items {
				g.Add(b.valueAs(x, to))
			}
		}), t)
	}
	var items []jen.Code
	for _, x := range v.Items {
		items = append(items, b.valueAs(x, to.Elem))
	}
	return b.optional(jen.Add(b.fn.g.goType(to)).Values(items...), t)
}

func (b *block) object(v *ir.Object, t *schema.Type) jen.Code {
	to := t.Present()
	switch to.Kind {
	case schema.Union:
		variant := b.object(v, check.Tagged(v, to))
		if t.Kind == schema.Opt {
			return jen.Qual(flowPath, "Ptr").Types(b.fn.g.goType(to)).Call(variant)
		}
		return variant
	case schema.Struct:
		var args []*check.Argument
		for _, f := range to.Fields {
			i := slices.IndexFunc(v.Entries, func(e *ir.Entry) bool { return e.Key.Name == f.Name })
			switch {
			case i >= 0:
				args = append(args, &check.Argument{Field: f, Value: &check.Expected{Value: v.Entries[i].Value, Type: f.Type}})
			case f.Default != nil:
				args = append(args, &check.Argument{Field: f, Value: &check.Expected{Type: f.Type}})
			}
		}
		return b.optional(b.structLiteral(b.fn.g.goType(to), args), t)
	case schema.Map:
		var items []jen.Code
		for _, e := range v.Entries {
			items = append(items, jen.Add(quote(e.Key.Name)).Op(":").Add(b.valueAs(e.Value, to.Elem)))
		}
		return b.optional(jen.Add(b.fn.g.goType(to)).Custom(braces(len(items) > 2), items...), t)
	}
	return b.optional(jen.Qual(valuePath, "Map").CallFunc(func(g *jen.Group) {
		for _, e := range v.Entries {
			g.Qual(valuePath, "Entry").Values(jen.Id("Key").Op(":").Add(quote(e.Key.Name)), jen.Id("Value").Op(":").Add(b.valueAs(e.Value, to)))
		}
	}), t)
}

// optional wraps a composite literal where a pointer is asked for.
func (b *block) optional(c jen.Code, t *schema.Type) jen.Code {
	if t.Kind != schema.Opt {
		return c
	}
	if t.Elem.Kind == schema.Struct || t.Elem.Kind == schema.List || t.Elem.Kind == schema.Map {
		return jen.Op("&").Add(c)
	}
	return jen.Qual(flowPath, "Ptr").Call(c)
}

// structLiteral writes T{A: a, B: b}, on one line while it is short.
func (b *block) structLiteral(typ jen.Code, args []*check.Argument) jen.Code {
	if len(args) == 0 {
		return jen.Add(typ).Values()
	}
	var fields []jen.Code
	long := len(args) > 2
	for _, a := range args {
		v := b.argument(a)
		long = long || wide(v)
		fields = append(fields, jen.Id(ident(fieldName(a.Field))).Op(":").Add(v))
	}
	return jen.Add(typ).Custom(braces(long), fields...)
}

// wide tells whether a value takes too much of a line to share it. Formatting a value to see how long it is costs more
// than all else that is done for a node, so that those which are short in any case are told apart first.
func wide(v jen.Code) bool {
	s, ok := v.(*jen.Statement)
	if !ok {
		return false
	}
	f := jen.NewFile("p")
	f.NoFormat = true
	f.Add(s)
	var raw bytes.Buffer
	if err := f.Render(&raw); err == nil && raw.Len() <= 60 { // with a package clause, which makes up for blanks
		return false
	}
	return len(s.GoString()) > 60
}

// argument is the value of a field: as given, or the field's default.
func (b *block) argument(a *check.Argument) jen.Code {
	if a.Value.Value == nil {
		return b.constant(a.Field.Default, a.Field.Type)
	}
	return b.value(a.Value)
}

func braces(multi bool) jen.Options {
	return jen.Options{Open: "{", Close: "}", Separator: ",", Multi: multi}
}

// scalar writes a literal of the file.
func (b *block) scalar(v *ir.Scalar, t *schema.Type) jen.Code {
	to := t.Present()
	if v.Tag == "!!null" {
		if t.Kind == schema.Any {
			return jen.Qual(valuePath, "Null").Call()
		}
		return jen.Nil()
	}
	return b.pointerTo(b.literal(v.Text.Value, v.Tag, to), t)
}

// pointerTo makes a literal optional where that is asked for.
func (b *block) pointerTo(c jen.Code, t *schema.Type) jen.Code {
	if t.Kind != schema.Opt {
		return c
	}
	switch {
	case t.Elem.Kind == schema.Int || t.Elem.Kind == schema.Float || t.Elem.Go != nil || b.fn.g.p.Names.Types[t.Elem] != "":
		return jen.Qual(flowPath, "Ptr").Types(b.fn.g.goType(t.Elem)).Call(c)
	}
	return jen.Qual(flowPath, "Ptr").Call(c)
}

// literal writes text of the given YAML tag as a value of type t.
func (b *block) literal(text, tag string, t *schema.Type) jen.Code {
	switch t.Kind {
	case schema.String, schema.Enum:
		return quote(text)
	case schema.Bool:
		return jen.Lit(strings.EqualFold(text, "true"))
	case schema.Int:
		n, _ := check.ParseInt(text)
		return wholeNumber(n)
	case schema.Float:
		f, _ := check.ParseFloat(text)
		return jen.Op(numeral(strconv.FormatFloat(f, 'g', -1, 64)))
	case schema.Duration:
		d, _ := time.ParseDuration(text)
		return durationCode(d)
	case schema.Time:
		when, _ := time.Parse(time.RFC3339Nano, text)
		return timeCode(when)
	case schema.Bytes:
		data, _ := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		return jen.Index().Byte().Parens(quoteBytes(data))
	}
	switch tag { // any
	case "!!bool":
		return jen.Qual(valuePath, "Bool").Call(jen.Lit(strings.EqualFold(text, "true")))
	case "!!int":
		n, _ := check.ParseInt(text)
		return jen.Qual(valuePath, "Int").Call(wholeNumber(n))
	case "!!float":
		f, _ := check.ParseFloat(text)
		return jen.Qual(valuePath, "Float").Call(jen.Op(numeral(strconv.FormatFloat(f, 'g', -1, 64))))
	}
	return jen.Qual(valuePath, "String").Call(quote(text))
}

var durationUnits = []struct {
	d    time.Duration
	name string
}{{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"}, {time.Microsecond, "Microsecond"}, {time.Nanosecond, "Nanosecond"}}

// durationCode writes a duration in its largest whole unit.
func durationCode(d time.Duration) *jen.Statement {
	for _, u := range durationUnits {
		if d != 0 && d%u.d == 0 {
			if n := int(d / u.d); n != 1 {
				return jen.Lit(n).Op("*").Qual("time", ident(u.name))
			}
			return jen.Qual("time", ident(u.name))
		}
	}
	return jen.Qual("time", "Duration").Call(jen.Lit(int(d)))
}

func timeCode(t time.Time) jen.Code {
	t = t.UTC()
	return jen.Qual("time", "Date").Call(jen.Lit(t.Year()), jen.Lit(int(t.Month())), jen.Lit(t.Day()), jen.Lit(t.Hour()),
		jen.Lit(t.Minute()), jen.Lit(t.Second()), jen.Lit(t.Nanosecond()), jen.Qual("time", "UTC"))
}

// constant writes a JSON constant as a value of type t.
func (b *block) constant(d *schema.Default, t *schema.Type) jen.Code {
	dec := json.NewDecoder(strings.NewReader(d.JSON))
	dec.UseNumber()
	v, err := decodeConstant(dec)
	if err != nil {
		return jen.Nil()
	}
	return b.constantValue(v, t)
}

// A constantObject keeps the order of its keys: values of type any do.
type constantObject struct {
	keys   []string
	values map[string]any
}

func decodeConstant(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := decodeConstant(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = dec.Token()
		return list, err
	case json.Delim('{'):
		o := &constantObject{values: map[string]any{}}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			v, err := decodeConstant(dec)
			if err != nil {
				return nil, err
			}
			o.keys, o.values[name] = append(o.keys, name), v
		}
		_, err = dec.Token()
		return o, err
	}
	return t, nil
}

func (b *block) constantValue(v any, t *schema.Type) jen.Code {
	to := t.Present()
	switch v := v.(type) {
	case nil:
		if t.Kind == schema.Any {
			return jen.Qual(valuePath, "Null").Call()
		}
		return jen.Nil()
	case bool:
		return b.pointerTo(b.literal(strconv.FormatBool(v), "!!bool", to), t)
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(v.String(), ".eE") {
			tag = "!!float"
		}
		return b.pointerTo(b.literal(v.String(), tag, to), t)
	case string:
		return b.pointerTo(b.literal(v, "!!str", to), t)
	case []any:
		return b.constantList(v, t)
	case *constantObject:
		return b.constantMap(v, t)
	}
	return jen.Nil()
}

func (b *block) constantList(v []any, t *schema.Type) jen.Code {
	to, items := t.Present(), []jen.Code{}
	for _, x := range v {
		elem := to
		if to.Kind == schema.List {
			elem = to.Elem
		}
		items = append(items, b.constantValue(x, elem))
	}
	if to.Kind == schema.Any {
		return jen.Qual(valuePath, "List").Call(items...)
	}
	return b.optional(jen.Add(b.fn.g.goType(to)).Values(items...), t)
}

func (b *block) constantMap(v *constantObject, t *schema.Type) jen.Code {
	to := t.Present()
	var items []jen.Code
	if to.Kind == schema.Struct {
		for _, f := range to.Fields {
			if x, ok := v.values[f.Name]; ok {
				items = append(items, jen.Id(ident(fieldName(f))).Op(":").Add(b.constantValue(x, f.Type)))
			} else if f.Default != nil {
				items = append(items, jen.Id(ident(fieldName(f))).Op(":").Add(b.constant(f.Default, f.Type)))
			}
		}
		return b.optional(jen.Add(b.fn.g.goType(to)).Custom(braces(len(items) > 2), items...), t)
	}
	for _, k := range v.keys {
		if to.Kind == schema.Any {
			items = append(items, jen.Qual(valuePath, "Entry").Values(jen.Id("Key").Op(":").Add(quote(k)), jen.Id("Value").Op(":").Add(b.constantValue(v.values[k], to))))
		} else {
			items = append(items, jen.Add(quote(k)).Op(":").Add(b.constantValue(v.values[k], to.Elem)))
		}
	}
	if to.Kind == schema.Any {
		return jen.Qual(valuePath, "Map").Call(items...)
	}
	return b.optional(jen.Add(b.fn.g.goType(to)).Custom(braces(len(items) > 2), items...), t)
}
