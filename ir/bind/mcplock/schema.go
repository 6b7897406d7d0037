package mcplock

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// maxSchema bounds how many parts of a schema are looked at, references counted each time they are followed.
const maxSchema = 20_000

// A reading makes types of a JSON Schema (draft 7 and 2020-12, as far as servers of tools use it). What has no type of
// ours becomes any: the server checks it. References lead into the same schema only; nothing is fetched.
type reading struct {
	file  *source.File
	root  *node
	left  int
	open  bool     // an object may have properties that the schema does not name
	times bool     // a string of the format date-time is a time
	path  []string // references being followed
}

// input is the type of a tool's arguments: always a struct.
func (t *Tool) input() (in *schema.Type, open bool) {
	n := t.def.get("inputSchema")
	r := &reading{file: t.file, root: n, left: maxSchema}
	if n == nil || n.kind != '{' {
		return &schema.Type{Kind: schema.Struct}, true
	}
	n, done := r.follow(n)
	defer done()
	in = r.object(n, true)
	return in, n.get("additionalProperties") != nil && !isFalse(n.get("additionalProperties")) || in.Fields == nil && n.get("properties") == nil
}

// output is the type of a tool's structured content, nil when the server says nothing about it.
func (t *Tool) output() (out *schema.Type, open bool) {
	n := t.def.get("outputSchema")
	if n == nil || n.kind != '{' {
		return nil, false
	}
	r := &reading{file: t.file, root: n, left: maxSchema}
	out = r.typ(n, false)
	return out, r.open
}

func isFalse(n *node) bool { return n != nil && n.kind == 'b' && n.text == "false" }

// typ is the type of a schema. in tells schemas of what is sent from those of what comes back.
func (r *reading) typ(n *node, in bool) *schema.Type {
	if r.left--; r.left < 0 || n == nil || n.kind != '{' {
		return schema.AnyType
	}
	n, done := r.follow(n)
	defer done()
	if n == nil {
		return schema.AnyType
	}
	if t := r.constants(n); t != nil {
		return t
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		if alternatives := n.get(word); alternatives != nil && n.get("properties") == nil {
			return r.either(alternatives, word, in)
		}
	}
	switch names, null := typeNames(n); {
	case len(names) == 0 && null:
		return schema.NullType
	case len(names) == 1 && null:
		return schema.OptOf(r.named(n, names[0], in), "it may be null")
	case len(names) == 1:
		return r.named(n, names[0], in)
	case len(names) == 0 && n.get("properties") != nil:
		return r.object(n, in)
	}
	return schema.AnyType
}

// follow goes where a schema refers to, within the file. done must be called when its type is made. A reference that
// leads nowhere, elsewhere or in a circle gives nil.
func (r *reading) follow(n *node) (to *node, done func()) {
	depth := len(r.path)
	done = func() { r.path = r.path[:depth] }
	for n != nil && n.kind == '{' && n.get("$ref") != nil {
		ref := n.get("$ref").str()
		if slices.Contains(r.path, ref) || len(r.path) > maxDepth {
			return nil, done
		}
		r.path = append(r.path, ref)
		n = r.at(ref)
	}
	if n == nil || n.kind != '{' {
		return nil, done
	}
	return n, done
}

// at is the value a JSON pointer leads to.
func (r *reading) at(ref string) *node {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	n := r.root
	for _, part := range strings.Split(pointer, "/")[1:] {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		if n != nil && n.kind == '[' {
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(n.items) {
				return nil
			}
			n = n.items[i]
			continue
		}
		n = n.get(part)
	}
	return n
}

// constants is the type of `enum` and `const`, nil when there is neither.
func (r *reading) constants(n *node) *schema.Type {
	var items []*node
	switch {
	case n.get("const") != nil:
		items = []*node{n.get("const")}
	case n.get("enum") != nil:
		items = n.get("enum").items
	default:
		return nil
	}
	words, seen := schema.EnumOf(), map[string]bool{}
	kinds, null := "", false
	for _, it := range items {
		switch it.kind {
		case 'n':
			null = true
			continue
		case '"':
			if !seen[it.text] {
				seen[it.text] = true
				words.Values = append(words.Values, it.text)
			}
		}
		if kind := kindOf(it); !strings.Contains(kinds, kind) {
			kinds += kind
		}
	}
	t := schema.AnyType
	switch kinds {
	case "s":
		t = words
	case "i":
		t = schema.IntType
	case "f", "if", "fi":
		t = schema.FloatType
	case "b":
		t = schema.BoolType
	case "":
		return schema.NullType
	}
	if null && t.Kind != schema.Any {
		return schema.OptOf(t, "it may be null")
	}
	return t
}

func kindOf(n *node) string {
	switch {
	case n.kind == '"':
		return "s"
	case n.kind == 'b':
		return "b"
	case n.kind == '0' && !strings.ContainsAny(n.text, ".eE"):
		return "i"
	case n.kind == '0':
		return "f"
	}
	return "?"
}

// typeNames are the names under `type`, without null.
func typeNames(n *node) (names []string, null bool) {
	t := n.get("type")
	list := t.strs()
	if s := t.str(); s != "" {
		list = []string{s}
	}
	for _, s := range list {
		if s == "null" {
			null = true
		} else {
			names = append(names, s)
		}
	}
	if len(names) == 2 && slices.Contains(names, "integer") && slices.Contains(names, "number") {
		names = []string{"number"}
	}
	return names, null
}

func (r *reading) named(n *node, name string, in bool) *schema.Type {
	switch name {
	case "string":
		if n.get("contentEncoding").str() == "base64" {
			return schema.BytesType
		}
		if r.times && n.get("format").str() == "date-time" {
			return schema.TimeType
		}
		return schema.StringType
	case "integer":
		return schema.IntType
	case "number":
		return schema.FloatType
	case "boolean":
		return schema.BoolType
	case "array":
		if n.get("prefixItems") != nil || n.get("items") == nil || n.get("items").kind != '{' {
			return schema.ListOf(schema.AnyType)
		}
		return schema.ListOf(r.typ(n.get("items"), in))
	case "object":
		return r.object(n, in)
	}
	return schema.AnyType
}

// either is the type of anyOf, oneOf and allOf: one alternative, with or without null, or several constants.
func (r *reading) either(list *node, word string, in bool) *schema.Type {
	var types []*schema.Type
	null := false
	for _, it := range list.items {
		t := r.typ(it, in)
		switch {
		case t.Kind == schema.Null:
			null = true
		case t.Kind == schema.Opt:
			null = true
			types = append(types, t.Elem)
		default:
			types = append(types, t)
		}
	}
	if len(types) == 0 {
		return schema.AnyType
	}
	t := types[0]
	for _, other := range types[1:] {
		switch {
		case t.Kind == schema.Any || word == "allOf":
			t = schema.AnyType
		default:
			t = foreign.Either(t, other)
		}
	}
	if null && t.Kind != schema.Any {
		return schema.OptOf(t, "it may be null")
	}
	return t
}

// object is a struct of the properties, or without any a map.
func (r *reading) object(n *node, in bool) *schema.Type {
	if n == nil {
		return &schema.Type{Kind: schema.Struct}
	}
	more := n.get("additionalProperties")
	props := n.get("properties")
	if props == nil || props.kind != '{' || len(props.keys) == 0 {
		switch {
		case n == r.root && in:
			return &schema.Type{Kind: schema.Struct}
		case more != nil && more.kind == '{':
			return schema.MapOf(r.typ(more, in))
		case isFalse(more):
			return &schema.Type{Kind: schema.Struct}
		}
		return schema.MapOf(schema.AnyType)
	}
	if !isFalse(more) {
		r.open = true
	}
	required := map[string]bool{}
	for _, name := range n.get("required").strs() {
		required[name] = true
	}
	t := &schema.Type{Kind: schema.Struct}
	var optional []*schema.Field
	for i, k := range props.keys {
		f := r.field(k, props.items[i], in, required[k.name])
		if f.Required() {
			t.Fields = append(t.Fields, f)
		} else {
			optional = append(optional, f)
		}
	}
	t.Fields = append(t.Fields, optional...)
	return t
}

// field is one property. One that need not be there is optional, or has the default of the schema when that is of its
// type.
func (r *reading) field(k key, n *node, in, required bool) *schema.Field {
	f := &schema.Field{Name: k.name, Span: k.span(r.file), Type: r.typ(n, in)}
	if k.lo < k.hi && k.hi-k.lo == len(k.name)+2 { // without the quotes
		f.Span = source.Span{File: r.file, Lo: k.lo + 1, Hi: k.hi - 1}
	}
	if n == nil || n.kind != '{' {
		n = &node{kind: '{'}
	}
	f.Description = oneLine(n.get("description").str())
	target, done := r.follow(n)
	done()
	if target != nil {
		r.bounds(f, target)
	}
	if required {
		return f
	}
	if d := n.get("default"); d != nil && in && d.kind != 'n' && f.Type.Kind != schema.Any {
		text := string(d.canonical(nil))
		if schema.CheckJSON([]byte(text), f.Type.Present()) == "" && within(f, d) {
			f.Type = f.Type.Present()
			f.Default = &schema.Default{JSON: text, Span: d.span(r.file)}
			return f
		}
	}
	if f.Type.Kind != schema.Opt {
		f.Type = schema.OptOf(f.Type, "the server may leave it out")
	}
	f.Omit = true
	return f
}

// oneLine is a description as a comment can hold it.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

var boundWords = map[schema.Kind][2]string{
	schema.Int: {"minimum", "maximum"}, schema.Float: {"minimum", "maximum"}, schema.String: {"minLength", "maxLength"},
	schema.List: {"minItems", "maxItems"}, schema.Map: {"minProperties", "maxProperties"},
}

// bounds takes over what a field's type can be held to.
func (r *reading) bounds(f *schema.Field, n *node) {
	t := f.Type.Present()
	if words, ok := boundWords[t.Kind]; ok {
		f.Min, f.Max = number(n.get(words[0])), number(n.get(words[1]))
	}
	if t.Kind == schema.String {
		if p := n.get("pattern").str(); p != "" {
			if _, err := regexp.Compile(p); err == nil { // RE2 only: others are left to the server
				f.Pattern = p
			}
		}
	}
}

func number(n *node) *float64 {
	if n == nil || n.kind != '0' {
		return nil
	}
	x, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		return nil
	}
	return &x
}

// within tells whether a default keeps the field's own bounds, which it must to be one.
func within(f *schema.Field, d *node) bool {
	x := number(d)
	return x == nil || (f.Min == nil || *x >= *f.Min) && (f.Max == nil || *x <= *f.Max)
}
