package native

import (
	"errors"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

const (
	maxTypeDepth  = 32
	maxEnumValues = 1000
)

// foreign are types as other languages spell them.
var foreign = map[string]string{
	"str": "string", "text": "string", "String": "string", "integer": "int", "Int": "int", "int32": "int", "int64": "int", "long": "int",
	"number": "float", "double": "float", "float32": "float", "float64": "float", "boolean": "bool", "Boolean": "bool",
	"datetime": "time", "timestamp": "time", "object": "any", "Any": "any", "json": "any", "binary": "bytes",
	"array": "list", "List": "list", "Array": "list", "slice": "list", "dict": "map", "Map": "map", "record": "map",
	"optional": "opt", "Optional": "opt", "Option": "opt", "maybe": "opt", "Enum": "enum", "error": "Error",
}

// typeText reads a type written as text.
func (p *parser) typeText(t source.Text) *schema.Type {
	r := typeReader{p: p, t: t}
	typ := r.read(0)
	if r.failed {
		return schema.InvalidType
	}
	if r.skip(); r.i < len(t.Value) {
		r.trailing(typ)
		return schema.InvalidType
	}
	return typ
}

// A typeReader is at byte i of a type.
type typeReader struct {
	p      *parser
	t      source.Text
	i      int
	failed bool // a message about the syntax was given; what remains is not read
}

func (r *typeReader) skip() {
	for r.i < len(r.t.Value) && strings.IndexByte(" \t\r\n", r.t.Value[r.i]) >= 0 {
		r.i++
	}
}

func (r *typeReader) peek() byte {
	if r.skip(); r.i < len(r.t.Value) {
		return r.t.Value[r.i]
	}
	return 0
}

// fail reports broken syntax at [lo, hi), once.
func (r *typeReader) fail(lo, hi int, help, message string) *schema.Type {
	if !r.failed {
		at := r.t.At(lo, hi)
		if len(r.t.Value) == 0 || lo >= len(r.t.Value) {
			at = r.t.Span
		}
		r.p.report(diag.BadType, at, help, "%s", message)
	}
	r.failed = true
	return schema.InvalidType
}

// trailing reports what is after a complete type.
func (r *typeReader) trailing(typ *schema.Type) {
	rest := r.t.Value[r.i:]
	if typ.Kind == schema.Invalid && typ.Go == nil {
		r.failed = true // reported already
		return
	}
	switch {
	case strings.HasPrefix(rest, "[]"):
		r.brackets(len(r.t.Value), typ.String())
	case strings.HasPrefix(rest, "?"):
		r.fail(r.i, len(r.t.Value), "write `opt<"+typ.String()+">`", "optional types are not written with `?`")
	case rest[0] == '|':
		r.fail(r.i, len(r.t.Value), "one of several words is `enum<a|b>`, a value that may be absent `opt<T>`", "types cannot be combined with `|`")
	default:
		r.fail(r.i, len(r.t.Value), "", "the type ends before `"+shorten(rest)+"`")
	}
}

func (r *typeReader) word() (string, int) {
	r.skip()
	lo := r.i
	for r.i < len(r.t.Value) && isWord(r.t.Value[r.i]) {
		r.i++
	}
	return r.t.Value[lo:r.i], lo
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func (r *typeReader) read(depth int) *schema.Type {
	if depth > maxTypeDepth {
		return r.fail(r.i, len(r.t.Value), "", "types are nested too deeply")
	}
	r.skip()
	if strings.HasPrefix(r.t.Value[r.i:], "[]") {
		return r.brackets(r.i+2, "T")
	}
	w, lo := r.word()
	if w == "" {
		if r.i >= len(r.t.Value) {
			return r.fail(0, len(r.t.Value), "write a type such as `string`, `list<int>` or a name under `types:`", "a type is missing")
		}
		if depth > 0 && r.peek() == '{' {
			return r.fail(r.i, len(r.t.Value), "declare it under `types:`; a list of structs is also written `[{path: string}]`", "a struct cannot be used in `<>`")
		}
		return r.fail(r.i, len(r.t.Value), "write a type such as `string`, `list<int>` or a name under `types:`", "`"+shorten(r.t.Value[r.i:])+"` is not a type")
	}
	hi := r.i
	if w == "go" && r.i < len(r.t.Value) && r.t.Value[r.i] == ':' {
		return r.goType()
	}
	if w == "enum" || w == "Enum" {
		if n, spelling := yamlnode.EnumSpelling(r.t.Value[lo:]); n > 0 {
			return r.otherEnum(r.t.At(lo, lo+n), spelling)
		}
		if at, spelling := r.p.cutEnum(r.t, lo); spelling != "" {
			return r.otherEnum(at, spelling)
		}
	}
	if r.peek() == '[' && !strings.HasPrefix(r.t.Value[r.i:], "[]") {
		return r.squareBrackets(w)
	}
	if r.peek() == '<' {
		return r.parameters(w, lo, hi, depth)
	}
	if slices.Contains(generic, w) {
		return r.fail(lo, hi, "write `"+w+"<"+parameterOf(w)+">`", "`"+w+"` needs a parameter")
	}
	return r.name(w, lo, hi)
}

// otherEnum reports an enum with other brackets or separators.
func (r *typeReader) otherEnum(at source.Span, spelling string) *schema.Type {
	r.p.replace(diag.BadType, at, spelling, yamlnode.EnumMistake)
	r.failed = true
	return schema.InvalidType
}

// cutEnum finds the rest of an enum that a comma ends in flow style, where YAML takes its other words for keys.
func (p *parser) cutEnum(t source.Text, lo int) (source.Span, string) {
	at := t.Span
	if at.File == nil || at.Text() != t.Value {
		return at, ""
	}
	at.Lo += lo
	n, spelling := yamlnode.EnumSpelling(at.File.Text[at.Lo:yamlnode.EndOfLine(at.File.Text, at.Lo)])
	if spelling == "" {
		return at, ""
	}
	at.Hi = at.Lo + n
	p.cut = at
	return at, spelling
}

func parameterOf(w string) string {
	if w == "enum" {
		return "a|b"
	}
	return "T"
}

// anyParameter is a parameter that takes whatever it is.
func anyParameter(w string) string {
	if w == "enum" {
		return "a|b"
	}
	return "any"
}

// squareBrackets reports a parameter in square brackets, and how it is written.
func (r *typeReader) squareBrackets(w string) *schema.Type {
	to, parameter := w, "T"
	if f := foreign[w]; slices.Contains(generic, f) {
		to = f
	}
	if end := strings.IndexByte(r.t.Value[r.i:], ']'); end > 0 && slices.Contains(generic, to) {
		parameter = r.t.Value[r.i+1 : r.i+end]
		if f := foreign[parameter]; f != "" && !slices.Contains(generic, f) {
			parameter = f
		}
		if strings.ContainsAny(parameter, "[]<>,| \t\r\n`") || len(parameter) > maxName {
			parameter = "T"
		}
	}
	return r.fail(r.i, r.i+1, "write `"+to+"<"+parameter+">`", "the parameter of a type is written in `<>`")
}

// name resolves the name of a type.
func (r *typeReader) name(w string, lo, hi int) *schema.Type {
	if d := r.p.decls[w]; d != nil {
		r.p.wf.TypeUses = append(r.p.wf.TypeUses, ir.TypeUse{At: r.t.At(lo, hi), Decl: d.decl})
		return r.p.named(d, r.t.At(lo, hi))
	}
	if t := builtin[w]; t != nil {
		return t
	}
	at := r.t.At(lo, hi)
	if words := strings.Split(r.t.Value, "|"); lo == 0 && len(words) > 1 && !strings.ContainsAny(r.t.Value, "<>[]") {
		if spelling := yamlnode.EnumOf(words); spelling != "" && !r.p.typed(words) {
			return r.otherEnum(r.t.At(0, len(r.t.Value)), spelling)
		}
	}
	known := slices.Concat(sortedKeys(r.p.decls), sortedKeys(builtin), r.p.words)
	if to := foreign[w]; slices.Contains(generic, to) {
		r.undefined(w, at, "", "write `"+to+"<"+anyParameter(to)+">`")
	} else if to != "" {
		r.undefined(w, at, to, "")
	} else if w == "date" {
		r.undefined(w, at, "", "write `string`, with a `pattern` in the long form; `time` is a moment")
	} else if near := r.p.nearest(w, known); near != "" {
		r.undefined(w, at, near, "")
	} else {
		r.undefined(w, at, "", "declare it under `types:`, or use one of "+list(quoted(sortedKeys(builtin)), "and"))
	}
	return schema.InvalidType
}

// typed reports whether one of some words is the name of a type, here or elsewhere.
func (p *parser) typed(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return p.decls[w] != nil || builtin[w] != nil || foreign[w] != "" || w == "null" || w == "None"
	})
}

// undefined reports the name of no type, and the one that is meant; "" is none, then help says what to do.
func (r *typeReader) undefined(w string, at source.Span, meant, help string) {
	const message = "type %q is not defined"
	if meant != "" {
		r.p.replace(diag.UnknownType, at, meant, message, w)
		return
	}
	r.p.report(diag.UnknownType, at, help, message, w)
}

// goType reads go:import/path.Name up to the end of the parameter.
func (r *typeReader) goType() *schema.Type {
	r.i++
	lo := r.i
	for r.i < len(r.t.Value) && strings.IndexByte(" \t\r\n<>|,", r.t.Value[r.i]) < 0 {
		r.i++
	}
	id := r.p.goRef(cut(r.t, lo, r.i), "Type")
	m := goForm.FindStringSubmatch(id.Name)
	if m == nil {
		return schema.InvalidType
	}
	t := &schema.Type{Kind: schema.Invalid, Go: &schema.Go{Path: m[1], Name: m[2]}}
	r.p.wf.GoTypes = append(r.p.wf.GoTypes, &ir.GoType{Ref: id, Type: t})
	return t
}

// parameters reads `<...>` after w.
func (r *typeReader) parameters(w string, lo, hi, depth int) *schema.Type {
	open := r.i
	if !slices.Contains(generic, w) {
		if to := foreign[w]; slices.Contains(generic, to) {
			r.undefined(w, r.t.At(lo, hi), to, "")
			w = to
		} else if near := r.p.nearest(w, generic); near != "" && r.p.decls[w] == nil && builtin[w] == nil {
			r.undefined(w, r.t.At(lo, hi), near, "")
			w = near
		} else {
			return r.fail(open, len(r.t.Value), "", "`"+w+"` has no parameter")
		}
	}
	r.i++
	if w == "enum" {
		return r.enum(lo)
	}
	elem := r.read(depth + 1)
	if r.failed {
		return schema.InvalidType
	}
	switch c := r.peek(); {
	case c == '>':
		r.i++
	case c == ',' && w == "map":
		return r.fail(r.i, r.i+1, "write `map<T>` with the type of the values", "the keys of a map are strings: it has one parameter")
	case c == 0:
		return r.unclosed(open)
	default:
		r.trailing(elem)
		return schema.InvalidType
	}
	switch w {
	case "list":
		return schema.ListOf(elem)
	case "map":
		return schema.MapOf(elem)
	}
	if elem.Kind == schema.Opt {
		return r.fail(lo, r.i, "write `"+elem.String()+"`", "a nested optional is the same as a single one")
	}
	// Not schema.OptOf: a Go type is still unknown here, and is optional all the same.
	return &schema.Type{Kind: schema.Opt, Elem: elem, Why: whyOpt}
}

// enum reads the values of enum<a|b> after `<`.
// unclosed reports the `<` at open.
func (r *typeReader) unclosed(open int) *schema.Type {
	return r.fail(open, open+1, "", "`<` is not closed")
}

// brackets reports `[]` for a list of of, up to hi.
func (r *typeReader) brackets(hi int, of string) *schema.Type {
	return r.fail(r.i, hi, "write `list<"+of+">`", "a list is not written with `[]`")
}

func (r *typeReader) enum(lo int) *schema.Type {
	closing := strings.IndexByte(r.t.Value[r.i:], '>')
	if closing < 0 {
		return r.unclosed(r.i - 1)
	}
	t := &schema.Type{Kind: schema.Enum}
	at := map[string]int{}
	for _, part := range strings.Split(r.t.Value[r.i:r.i+closing], "|") {
		v := strings.TrimSpace(part)
		vlo := r.i + strings.Index(part, v)
		r.i += len(part) + 1
		switch first, dup := at[v]; {
		case v == "":
			return r.fail(lo, lo+len("enum")+1+closing+1, "write the words with `|` between them: `enum<a|b>`", "an enum has no empty value")
		case strings.ContainsAny(v, "<{}[],\"'`\\$\n\r\t") || len(v) > maxName:
			return r.fail(vlo, vlo+len(v), "write the words without quotes, with `|` between them: `enum<a|b>`", "`"+shorten(v)+"` cannot be the value of an enum")
		case dup:
			r.p.duplicate("value", ir.Ident{Name: v, Span: r.t.At(vlo, vlo+len(v))}, r.t.At(first, first+len(v)), "")
			continue
		}
		at[v] = vlo
		t.Values = append(t.Values, v)
	}
	if len(t.Values) > maxEnumValues {
		return r.fail(lo, r.i, "", "an enum has too many values")
	}
	return t
}

// patternError says what is wrong in a regular expression, in the library's words without its prefix.
func patternError(err error) string {
	var s *syntax.Error
	if errors.As(err, &s) {
		return s.Code.String() + ": `" + shorten(s.Expr) + "`"
	}
	return "the pattern cannot be read"
}
