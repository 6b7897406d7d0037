package jssource

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A function is what could be read of a default export.
type function struct {
	in, out *schema.Type // nil: not known
	open    bool
	async   bool
	span    source.Span
	doc     string
	refused string // why it cannot be a tool; "" when it can or nobody knows

	callable bool // refused because of what it takes or gives: it can be called all the same
}

// defaultExport reads the function that a module exports. What it is stays unknown where it comes out of a call or from
// elsewhere.
func (m *module) defaultExport(steps int) function {
	if m.first == 0 {
		if f, ok := m.elsewhere(m.exports["default"], steps); ok {
			return f
		}
		if d := m.exported("default", 0); d != nil {
			return d.function()
		}
		return function{}
	}
	t := m.tok(m.first)
	at := function{span: m.span(t)}
	switch {
	case t.is("class") || t.is("abstract"):
		at.refused = "it is a class"
		return at
	case t.kind == str || t.kind == number || t.kind == template || t.is("{") || t.is("[") || t.is("null") || t.is("true") || t.is("false"):
		at.refused = "it is not a function"
		return at
	}
	if f, ok := m.callable(m.first); ok {
		f.doc = t.doc
		return f
	}
	if next := m.tok(m.first + 1); t.kind == word && (next.kind == end || next.is(";") || next.fresh || next.is("satisfies") || next.is("as")) {
		if f, ok := m.elsewhere(m.imports[t.text], steps); ok {
			return f
		}
		if d := m.lookup(t.text, 0); d != nil {
			return d.function()
		}
	}
	return at
}

// elsewhere is the default export of another module, when a name is bound to it.
func (m *module) elsewhere(b binding, steps int) (function, bool) {
	if b.from == "" || b.name != "default" || steps > maxSteps {
		return function{}, false
	}
	if o := m.other(b.from); o != nil {
		return o.defaultExport(steps + 1), true
	}
	return function{}, false
}

// function reads the declaration of a function, or a name that has one as its value.
func (d *decl) function() function {
	m := d.in
	out := function{span: m.span(d.name), doc: d.doc}
	switch d.kind {
	case "function":
		f := m.signature(d.at)
		f.span, f.doc, f.async = out.span, d.doc, m.tok(d.at-3).is("async") // async function name
		return f
	case "value":
		i := d.at
		if m.tok(i).is("=") { // not const f: Type = ..., whose type is a name for a function
			if f, ok := m.callable(i + 1); ok {
				f.span, f.doc = out.span, d.doc
				return f
			}
			switch t := m.tok(i + 1); {
			case t.kind == str || t.kind == number || t.kind == template || t.is("{") || t.is("["):
				out.refused = "it is not a function"
			}
		}
	case "class":
		out.refused = "it is a class"
	case "interface", "type", "enum":
		out.refused = "it is a type"
	}
	return out
}

// callable reads a function expression or an arrow function at i.
func (m *module) callable(i int) (f function, ok bool) {
	async := false
	if m.tok(i).is("async") && !m.tok(i+1).is("=>") && !m.tok(i+1).fresh {
		async = true
		i++
	}
	start := m.tok(i)
	switch {
	case start.is("function"):
		i++
		if m.tok(i).is("*") {
			return function{span: m.span(start), refused: "it is a generator"}, true
		}
		name := start
		if m.tok(i).kind == word {
			name = m.tok(i)
			i++
		}
		f = m.signature(i)
		f.span, f.async = m.span(name), async
		return f, true
	case start.kind == word && m.tok(i+1).is("=>"):
		return function{span: m.span(start), async: async}, true
	case start.is("(") || start.is("<"):
		at := i
		if start.is("<") {
			r := &typeReader{module: m, i: i}
			r.angle()
			at = r.i
		}
		close := m.skip(at)
		if next := m.tok(close); m.tok(at).is("(") && (next.is("=>") || next.is(":")) {
			f = m.signature(i)
			f.span, f.async = m.span(start), async
			return f, true
		}
	}
	return function{}, false
}

// signature reads <T>(parameters): result at i. The first parameter is the input; others need defaults.
func (m *module) signature(i int) function {
	vars := &typeReader{module: m, i: i}
	vars.parameters()
	i = vars.i
	var f function
	if !m.tok(i).is("(") {
		return f
	}
	close := m.skip(i)
	m.input(&f, i+1, close-1, vars.vars)
	if m.tok(close).is(":") {
		r := &typeReader{module: m, i: close + 1, vars: vars.vars}
		s := r.union()
		if s.function {
			f.callable, f.refused = true, "its result is not representable in JSON"
		}
		f.out = list(s)
	}
	return f
}

// input reads the first parameter, between tokens i and stop.
func (m *module) input(f *function, i, stop int, vars map[string]bool) {
	if m.tok(i).is("this") { // a type for this is no parameter
		for ; i < stop && !m.tok(i).is(","); i = m.skip(i) {
		}
		i++
	}
	if i >= stop {
		f.in = schema.EmptyType
		return
	}
	var pattern *schema.Type
	name := m.tok(i)
	switch {
	case name.is("{"):
		pattern = m.destructured(f, i)
		i = m.skip(i)
	case name.is("..."), name.is("["):
		f.callable, f.refused = true, "it takes more than one object"
		return
	default:
		i++
	}
	maybe := m.tok(i).is("?")
	if maybe {
		i++
	}
	typed := false
	if m.tok(i).is(":") {
		r := &typeReader{module: m, i: i + 1, vars: vars}
		s := r.union()
		i, typed = r.i, true
		m.typedInput(f, name, s)
	}
	if !typed {
		f.in = pattern
	}
	if m.tok(i).is("=") { // a default
		for i++; i < stop && !m.tok(i).is(","); i = m.skip(i) {
		}
	}
	m.more(f, i, stop)
}

func (m *module) typedInput(f *function, name token, s shape) {
	switch s.typ.Kind {
	case schema.Struct:
		f.in = s.typ
		for _, field := range s.typ.Fields {
			if field.Type.Kind == schema.Invalid {
				f.callable, f.refused = true, "its input `"+field.Name+"` is not representable in JSON"
			}
		}
	case schema.Map:
		f.in, f.open = schema.EmptyType, true
	case schema.Any:
		if s.function {
			f.callable, f.refused = true, "it takes a function"
		}
	default:
		f.callable, f.refused = true, "it takes a "+s.typ.String()+", and tools are called with one object"
		if t := s.typ.Kind; t == schema.Null || t == schema.Opt {
			f.refused, f.in = "", nil
			if t == schema.Opt && s.typ.Elem.Kind == schema.Struct {
				f.in = s.typ.Elem
			}
		}
	}
}

// more looks at the parameters after the first: those without a default would be undefined.
func (m *module) more(f *function, i, stop int) {
	for i < stop {
		if !m.tok(i).is(",") {
			i = m.skip(i)
			continue
		}
		if i+1 >= stop {
			return // a comma at the end
		}
		start, given := i+1, m.tok(i+1).is("...")
		for i++; i < stop && !m.tok(i).is(","); i = m.skip(i) {
			given = given || m.tok(i).is("=") || m.tok(i).is("?")
		}
		if !given {
			f.callable, f.refused = true, "its parameter `"+m.tok(start).text+"` would be undefined: tools are called with one object"
			return
		}
	}
}

// destructured is the input of `({a, b = 1, c: d, ...rest})`, whose types are not known.
func (m *module) destructured(f *function, i int) *schema.Type {
	t := &schema.Type{Kind: schema.Struct}
	close := m.skip(i)
	for j := i + 1; j < close-1; {
		name := m.tok(j)
		field := &schema.Field{Name: name.text, Type: schema.AnyType, Span: m.span(name)}
		rest := name.is("...")
		for j++; j < close-1 && !m.tok(j).is(","); j = m.skip(j) {
			if m.tok(j).is("=") {
				field.Type, field.Omit = schema.OptOf(schema.AnyType, "it has a default"), true
			}
		}
		j++
		switch {
		case rest:
			f.open = true
		case name.kind == word || name.kind == str:
			foreign.Put(t, field)
		default:
			f.open = true
		}
	}
	return t
}

// jsDoc fills what a /** comment */ says: the description, and in JavaScript the types of @param and @returns.
func (m *module) jsDoc(f *function) {
	text := docText(f.doc)
	if f.in == nil || f.out == nil {
		for _, tag := range strings.Split(text, "\n@")[1:] {
			m.tag(f, tag)
		}
	}
}

// tag reads `param {T} name` and `returns {T}`.
func (m *module) tag(f *function, text string) {
	name, rest, _ := strings.Cut(text, "{")
	name = strings.TrimSpace(name)
	depth, stop := 1, -1
	for i := 0; i < len(rest) && stop < 0; i++ {
		switch rest[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				stop = i
			}
		}
	}
	if stop < 0 {
		return
	}
	inner := *m
	inner.toks = lex(rest[:stop])
	s, _ := inner.read(0)
	unplaced(s.typ)
	switch {
	case name == "param" && f.in == nil && f.refused == "" && !strings.Contains(firstWord(rest[stop+1:]), "."):
		m.typedInput(f, token{}, s)
	case (name == "returns" || name == "return") && f.out == nil:
		f.out = list(s)
	}
}

// unplaced takes the places out of types that were read from a comment, where they would be wrong.
func unplaced(t *schema.Type) {
	for t != nil && t.Elem != nil {
		t = t.Elem
	}
	if t != nil && t.Kind == schema.Struct {
		for _, f := range t.Fields {
			f.Span = source.Span{}
			unplaced(f.Type)
		}
	}
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	return w
}

// docText is a /** comment */ without its stars.
func docText(doc string) string {
	doc = strings.TrimSuffix(strings.TrimPrefix(doc, "/**"), "*/")
	var lines []string
	for line := range strings.Lines(doc) {
		line = strings.TrimSpace(line)
		line = strings.TrimSpace(strings.TrimPrefix(line, "*"))
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
