package dialect

import (
	"bytes"
	"encoding/json"

	"github.com/flowgen-dev/flowgen/ir"
)

// A Form is what may stand as the value of a key, for editors: the reader of the key decides. The zero Form is anything.
type Form struct {
	Kind  FormKind
	Words []string // FormWord
	Shape *Shape   // FormShape
	Elem  *Form    // FormList, FormMap
	Any   []Form   // FormOneOf
}

// FormKind is the kind of a value.
type FormKind uint8

// The kinds of values.
const (
	FormAny     FormKind = iota
	FormText             // a scalar, taken as text
	FormCount            // an integer
	FormBool             // true or false
	FormWord             // one of Words
	FormShape            // a mapping of Shape
	FormList             // a list of Elem
	FormMap              // a mapping from free names to Elem
	FormOneOf            // one of Any
	FormPattern          // text in which the regular expression Words[0] is found
)

// The forms without parts, and lists of names.
var (
	Scalar = Form{Kind: FormText}
	Count  = Form{Kind: FormCount}
	Names  = Form{Kind: FormList, Elem: &Form{Kind: FormText}}
	Map    = Form{Kind: FormMap, Elem: &Form{}}
	Flag   = Form{Kind: FormBool}
)

// Of is the form of a mapping.
func Of(s *Shape) Form { return Form{Kind: FormShape, Shape: s} }

// ListOf is the form of a list.
func ListOf(f Form) Form { return Form{Kind: FormList, Elem: &f} }

// OneWord is the form of one of several words.
func OneWord(words ...string) Form { return Form{Kind: FormWord, Words: words} }

// Pattern is the form of text that a regular expression is found in.
func Pattern(expr string) Form { return Form{Kind: FormPattern, Words: []string{expr}} }

// OneOf is the form of a choice.
func OneOf(forms ...Form) Form { return Form{Kind: FormOneOf, Any: forms} }

// JSONSchema is a JSON Schema of draft 7 for files of a shape. The bytes are always the same.
func JSONSchema(title string, s *Shape) []byte { return FormJSONSchema(title, Of(s)) }

// FormJSONSchema is JSONSchema for files of a form.
func FormJSONSchema(title string, f Form) []byte {
	root := object(entry("$schema", text("http://json-schema.org/draft-07/schema#")), entry("title", text(title)))
	root.Entries = append(root.Entries, formSchema(f).Entries...)
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(JSON(root)), "", "  "); err != nil {
		panic(err) // what JSON writes is JSON
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func entry(key string, v ir.Value) *ir.Entry { return &ir.Entry{Key: ir.Ident{Name: key}, Value: v} }

func object(entries ...*ir.Entry) *ir.Object { return &ir.Object{Entries: entries} }

func text(s string) *ir.Scalar {
	v := &ir.Scalar{Tag: "!!str"}
	v.Text.Value = s
	return v
}

func texts(words []string) *ir.List {
	l := &ir.List{}
	for _, w := range words {
		l.Items = append(l.Items, text(w))
	}
	return l
}

func flag(b bool) *ir.Scalar {
	v := &ir.Scalar{Tag: "!!bool"}
	v.Text.Value = map[bool]string{true: "true", false: "false"}[b]
	return v
}

func shapeSchema(s *Shape) *ir.Object {
	keys := object()
	var required []string
	for _, k := range s.Keys {
		f := formSchema(k.Form)
		f.Entries = append([]*ir.Entry{entry("description", text(k.Doc))}, f.Entries...)
		keys.Entries = append(keys.Entries, entry(k.Name, f))
		if k.Required {
			required = append(required, k.Name)
		}
	}
	out := object(entry("type", text("object")), entry("properties", keys))
	if len(required) > 0 {
		out.Entries = append(out.Entries, entry("required", texts(required)))
	}
	if s.Open {
		out.Entries = append(out.Entries, entry("patternProperties", object(entry(`^(x-|\.)`, object())))) // what holds anchors
	}
	if !s.Any {
		out.Entries = append(out.Entries, entry("additionalProperties", flag(false)))
	}
	return out
}

func formSchema(f Form) *ir.Object {
	switch f.Kind {
	case FormText:
		return object(entry("type", texts([]string{"string", "number", "boolean"})))
	case FormCount:
		return object(entry("type", text("integer")))
	case FormBool:
		return object(entry("type", text("boolean")))
	case FormWord:
		return object(entry("enum", texts(f.Words)))
	case FormPattern:
		return object(entry("type", text("string")), entry("pattern", text(f.Words[0])))
	case FormShape:
		return shapeSchema(f.Shape)
	case FormList:
		return object(entry("type", text("array")), entry("items", formSchema(*f.Elem)))
	case FormMap:
		return object(entry("type", text("object")), entry("additionalProperties", formSchema(*f.Elem)))
	case FormOneOf:
		list := &ir.List{}
		for _, x := range f.Any {
			list.Items = append(list.Items, formSchema(x))
		}
		return object(entry("anyOf", list))
	}
	return object()
}
