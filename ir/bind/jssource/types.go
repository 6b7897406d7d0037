package jssource

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A shape is a type of TypeScript as it is read: undefined is not a type of values, a function is none of JSON.
type shape struct {
	typ       *schema.Type
	undefined bool
	function  bool
}

// named is the type of a declaration. One that is used twice is one type.
type named struct {
	shape shape
	busy  bool // it is being read: inside of itself it is any
}

var (
	anything = shape{typ: schema.AnyType}
	nothing  = shape{typ: schema.NullType, undefined: true}
)

// A typeReader reads one type of a module.
type typeReader struct {
	*module
	i     int
	depth int
	vars  map[string]bool // type parameters, which can be anything
}

const maxDepth = 60

// read reads a type that begins at token i:
//
//	string number boolean, literals of them         string float bool
//	"a" | "b", enums of texts                       enum
//	T[] Array<T> Set<T> [A, B]                      list<T>
//	{a: T; b?: U} interfaces, A & B                 a struct; b may be absent
//	Record<string, T> {[k: string]: T} Map          map<T>
//	T | null, T | undefined                         opt<T>
//	Promise<T> Readonly<T> Partial<T> Pick<T, K>    T with what they change
//	anything else                                   any
func (m *module) read(i int) (shape, int) {
	r := &typeReader{module: m, i: i}
	return r.union(), r.i
}

func (r *typeReader) peek() token { return r.tok(r.i) }

func (r *typeReader) take(text string) bool {
	if r.peek().is(text) {
		r.i++
		return true
	}
	return false
}

func (r *typeReader) union() shape {
	if r.depth++; r.depth > maxDepth {
		r.i = len(r.toks) - 1
		return anything
	}
	defer func() { r.depth-- }()
	r.take("|")
	out := r.intersection()
	for r.take("|") {
		out = either(out, r.intersection())
	}
	if r.peek().is("extends") && !r.peek().fresh { // a conditional type: what it is depends
		for _, sep := range []string{"extends", "?", ":"} {
			if r.take(sep) {
				r.union()
			}
		}
		return anything
	}
	return out
}

// either is the union of two shapes.
func either(a, b shape) shape {
	out := shape{undefined: a.undefined || b.undefined, function: a.function || b.function}
	null := false
	part := func(s shape) *schema.Type {
		switch {
		case s.undefined && s.typ.Kind == schema.Null:
			return nil
		case s.typ.Kind == schema.Null:
			null = true
			return nil
		case s.typ.Kind == schema.Opt:
			null = true
			return s.typ.Elem
		}
		return s.typ
	}
	x, y := part(a), part(b)
	switch {
	case x == nil && y == nil:
		out.typ = schema.NullType
		return out
	case x == nil:
		out.typ = y
	case y == nil:
		out.typ = x
	default:
		out.typ = foreign.Either(x, y)
	}
	if null {
		out.typ = optional(out.typ)
	}
	return out
}

func optional(t *schema.Type) *schema.Type {
	if t.Kind == schema.Any || t.Kind == schema.Null {
		return t
	}
	return schema.OptOf(t, "it may be null")
}

func (r *typeReader) intersection() shape {
	r.take("&")
	out := r.postfix()
	var merged *schema.Type // is of no declaration
	for r.take("&") {
		b := r.postfix()
		if out.typ.Kind != schema.Struct || b.typ.Kind != schema.Struct {
			out = anything
			continue
		}
		if merged == nil {
			merged = &schema.Type{Kind: schema.Struct, Fields: slices.Clone(out.typ.Fields)}
		}
		if len(b.typ.Fields) < 10 {
			for _, f := range b.typ.Fields {
				foreign.Put(merged, f)
			}
		} else {
			foreign.PutAll(merged, b.typ.Fields)
		}
		if out = (shape{typ: merged}); len(merged.Fields) > foreign.MaxFields {
			out = anything
		}
	}
	return out
}

func (r *typeReader) postfix() shape {
	out := r.primary()
	for r.peek().is("[") && !r.peek().fresh {
		if r.tok(r.i + 1).is("]") {
			r.i += 2
			out = shape{typ: schema.ListOf(list(out))}
			continue
		}
		r.i = r.skip(r.i)
		out = anything
	}
	return out
}

// list is the type of an element: undefined becomes null in JSON.
func list(s shape) *schema.Type {
	if s.undefined && s.typ.Kind != schema.Null {
		return optional(s.typ)
	}
	return s.typ
}

func (r *typeReader) primary() shape {
	t := r.peek()
	switch {
	case t.kind == str:
		r.i++
		return shape{typ: schema.EnumOf(t.text)}
	case t.kind == template:
		r.i++
		return shape{typ: schema.StringType}
	case t.kind == number:
		r.i++
		return shape{typ: schema.FloatType}
	case t.is("-"):
		r.i += 2
		return shape{typ: schema.FloatType}
	case t.is("("):
		return r.parens()
	case t.is("{"):
		return r.object()
	case t.is("["):
		return r.tuple()
	case t.is("<"): // a generic function
		r.angle()
		return r.primary()
	case t.kind == word:
		return r.word(t)
	}
	if t.kind != end {
		r.i++
	}
	return anything
}

// parens is a type in parentheses, or a function.
func (r *typeReader) parens() shape {
	close := r.skip(r.i)
	if r.tok(close).is("=>") {
		r.i = close + 1
		r.union()
		return shape{typ: schema.AnyType, function: true}
	}
	r.i++
	out := r.union()
	r.i = close
	return out
}

// angle skips <...>.
func (r *typeReader) angle() {
	depth := 0
	for ; r.peek().kind != end; r.i++ {
		switch t := r.peek(); {
		case t.is("<"):
			depth++
		case t.is(">"):
			if depth--; depth == 0 {
				r.i++
				return
			}
		case t.is("(") || t.is("{") || t.is("["):
			r.i = r.skip(r.i) - 1
		}
	}
}

func (r *typeReader) tuple() shape {
	close := r.skip(r.i)
	r.i++
	var elem *schema.Type
	for r.i < close-1 {
		r.take("...")
		if r.peek().kind == word && (r.tok(r.i+1).is(":") || r.tok(r.i+1).is("?") && r.tok(r.i+2).is(":")) { // a label
			r.i += 2
			r.take(":")
		}
		t := list(r.union())
		r.take("?")
		if elem == nil {
			elem = t
		} else {
			elem = foreign.Either(elem, t)
		}
		if !r.take(",") {
			break
		}
	}
	r.i = close
	if elem == nil {
		elem = schema.AnyType
	}
	return shape{typ: schema.ListOf(elem)}
}

// object is {a: T, b?: U} or {[key: string]: T}.
func (r *typeReader) object() shape {
	close := r.skip(r.i)
	r.i++
	t := &schema.Type{Kind: schema.Struct}
	var index *schema.Type
	for r.i < close-1 {
		before := r.i
		if r.member(t, &index, close) {
			r.i = close
			return anything
		}
		for r.take(";") || r.take(",") {
		}
		if r.i == before {
			r.i++
		}
	}
	r.i = close
	switch {
	case index != nil && len(t.Fields) == 0:
		return shape{typ: schema.MapOf(index)}
	case index != nil:
		return anything
	}
	return shape{typ: t}
}

// member reads one member; open is set for one that is not a field, which makes the whole any.
func (r *typeReader) member(t *schema.Type, index **schema.Type, close int) (open bool) {
	doc := r.peek().doc
	for r.peek().is("readonly") && !r.tok(r.i+1).is(":") && !r.tok(r.i+1).is("?") {
		r.i++
	}
	name := r.peek()
	switch {
	case name.is("["):
		inner := r.i
		r.i = r.skip(r.i)
		if r.tok(inner + 2).is("in") { // a mapped type
			return true
		}
		if r.take(":") {
			*index = list(r.union())
			return false
		}
		return true
	case name.is("(") || name.is("<") || name.is("new"):
		return true
	case name.kind != word && name.kind != str && name.kind != number:
		return true
	}
	r.i++
	maybe := r.take("?")
	f := &schema.Field{Name: name.text, Span: r.span(name), Description: foreign.Summary(docText(doc))}
	if name.kind == str && f.Span.Hi-f.Span.Lo > 2 {
		f.Span.Lo, f.Span.Hi = f.Span.Lo+1, f.Span.Hi-1
	}
	s := anything
	switch {
	case r.take(":"):
		s = r.union()
	case r.peek().is("(") || r.peek().is("<"): // a method
		for r.i < close-1 && !r.peek().is(";") && !(r.peek().fresh && r.peek().kind == word) {
			r.i = r.skip(r.i)
		}
		return false
	}
	if s.function && maybe {
		return false
	}
	f.Type = s.typ
	if maybe || s.undefined {
		if s.undefined && s.typ.Kind == schema.Null {
			f.Type = schema.AnyType
		}
		f.Type, f.Omit = schema.OptOf(f.Type, "it may be missing"), true
	}
	foreign.Put(t, f)
	return false
}

var words = map[string]shape{
	"string": {typ: schema.StringType}, "number": {typ: schema.FloatType}, "boolean": {typ: schema.BoolType}, "true": {typ: schema.BoolType},
	"false": {typ: schema.BoolType}, "null": {typ: schema.NullType}, "undefined": nothing, "void": nothing, "never": nothing,
	"Function": {typ: schema.AnyType, function: true}, "symbol": {typ: schema.AnyType, function: true}, "bigint": {typ: schema.AnyType, function: true},
	"object": {typ: schema.MapOf(schema.AnyType)},
}

// word is a type that begins with a word.
func (r *typeReader) word(t token) shape {
	r.i++
	switch t.text {
	case "readonly", "unique", "infer":
		return r.postfix()
	case "keyof":
		r.postfix()
		return shape{typ: schema.StringType}
	case "typeof", "asserts":
		r.postfix()
		return anything
	case "new", "abstract":
		r.union()
		return shape{typ: schema.AnyType, function: true}
	}
	if r.peek().is("is") && !r.peek().fresh { // x is T
		r.i++
		r.union()
		return shape{typ: schema.BoolType}
	}
	name := t.text
	for r.peek().is(".") && r.tok(r.i+1).kind == word {
		name += "." + r.tok(r.i+1).text
		r.i += 2
	}
	var args []shape
	if r.peek().is("<") {
		args = r.arguments()
	}
	if s, ok := words[name]; ok {
		return s
	}
	if r.vars[name] {
		return anything
	}
	if d := r.lookup(name, 0); d != nil {
		return r.declared(d)
	}
	return r.library(name, args)
}

// arguments are the types in <...>, each read once; the reader is after it.
func (r *typeReader) arguments() []shape {
	start := r.i
	r.angle()
	after := r.i
	r.i = start + 1
	var out []shape
	for r.i < after-1 {
		out = append(out, r.union())
		if !r.take(",") {
			break
		}
	}
	r.i = after
	return out
}

// library is a type of the language's library.
func (r *typeReader) library(name string, args []shape) shape {
	arg := func(i int) shape {
		if i >= len(args) {
			return anything
		}
		return args[i]
	}
	switch name {
	case "Array", "ReadonlyArray", "Set", "ReadonlySet", "Iterable":
		return shape{typ: schema.ListOf(list(arg(0)))}
	case "Promise", "PromiseLike", "Awaited", "Readonly", "NonNullable":
		s := arg(0)
		if name == "NonNullable" {
			return shape{typ: s.typ.Present()}
		}
		return s
	case "Record":
		if k := arg(0).typ.Kind; k == schema.String || k == schema.Enum || k == schema.Any {
			return shape{typ: schema.MapOf(list(arg(1)))}
		}
	case "Partial", "Required", "Pick", "Omit":
		return changed(name, arg(0), arg(1))
	case "Date":
		return shape{typ: schema.TimeType}
	case "Generator", "AsyncGenerator", "Iterator", "AsyncIterator", "AsyncIterable", "ReadableStream":
		return shape{typ: schema.AnyType, function: true}
	}
	return anything
}

// changed is Partial<T>, Required<T>, Pick<T, K> or Omit<T, K>.
func changed(name string, of, keys shape) shape {
	if of.typ.Kind != schema.Struct || strings.HasSuffix("Pick Omit", name) && (keys.typ.Kind != schema.Enum || len(keys.typ.Values) > foreign.MaxEnum) {
		return anything
	}
	t := &schema.Type{Kind: schema.Struct}
	for _, f := range of.typ.Fields {
		c := *f
		listed := slices.Contains(keys.typ.Values, f.Name)
		switch name {
		case "Partial":
			c.Type, c.Omit = schema.OptOf(f.Type, "it may be missing"), true
		case "Required":
			if f.Omit {
				c.Type, c.Omit = f.Type.Present(), false
			}
		case "Pick":
			if !listed {
				continue
			}
		case "Omit":
			if listed {
				continue
			}
		}
		t.Fields = append(t.Fields, &c)
	}
	return shape{typ: t}
}

// declared is the type of an interface, an alias or an enum.
func (r *typeReader) declared(d *decl) shape {
	if n := r.types[d]; n != nil {
		if n.busy {
			return anything
		}
		return n.shape
	}
	n := &named{busy: true}
	r.types[d] = n
	inner := &typeReader{module: d.in, i: d.at, depth: r.depth}
	inner.parameters()
	n.shape = anything
	switch d.kind {
	case "interface":
		n.shape = inner.interfaces()
	case "type":
		if inner.take("=") {
			n.shape = inner.union()
		}
	case "enum":
		n.shape = inner.enum()
	}
	n.busy = false
	return n.shape
}

// parameters reads the <T, U> of a declaration.
func (r *typeReader) parameters() {
	if !r.peek().is("<") {
		return
	}
	start := r.i
	r.angle()
	r.vars = map[string]bool{}
	for i := start + 1; i < r.i; i++ {
		if before := r.tok(i - 1); r.tok(i).kind == word && (before.is("<") || before.is(",")) {
			r.vars[r.tok(i).text] = true
		}
	}
}

// interfaces is an interface with what it extends.
func (r *typeReader) interfaces() shape {
	if r.depth++; r.depth > maxDepth { // a chain of what extends what
		return anything
	}
	t := &schema.Type{Kind: schema.Struct}
	if r.take("extends") {
		for {
			s := r.postfix()
			if s.typ.Kind != schema.Struct {
				return anything
			}
			foreign.PutAll(t, s.typ.Fields)
			if !r.take(",") {
				break
			}
		}
	}
	if !r.peek().is("{") {
		return anything
	}
	own := r.object()
	if own.typ.Kind != schema.Struct {
		if len(t.Fields) == 0 {
			return own
		}
		return anything
	}
	foreign.PutAll(t, own.typ.Fields)
	return shape{typ: t}
}

// enum is an enum of texts, else a number.
func (r *typeReader) enum() shape {
	close := r.skip(r.i)
	t := &schema.Type{Kind: schema.Enum}
	for i := r.i + 1; i < close-1; i++ {
		if r.tok(i).is("=") && r.tok(i+1).kind == str {
			foreign.AddValue(t, r.tok(i+1).text)
		} else if next := r.tok(i + 1); r.tok(i).kind == word && (next.is(",") || next.is("}")) || r.tok(i).is("=") {
			return shape{typ: schema.FloatType}
		}
	}
	if len(t.Values) == 0 {
		return anything
	}
	return shape{typ: t}
}
