package native

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
)

// JSONSchema is the shape of a workflow file, and of files that others include, as a JSON Schema of draft 7, for
// editors. It is written from the table of shapes, so that it knows every key and word that the parser knows; names,
// types and expressions are for the compiler to check. The bytes are always the same.
func JSONSchema() []byte {
	root := object{
		{"$schema", "http://json-schema.org/draft-07/schema#"},
		{"title", "flowgen workflow"},
	}
	root = append(root, workflowSchema()...)
	root = append(root, member{"definitions", definitions()})
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic(err) // there is nothing in it that JSON could not hold
	}
	return b.Bytes()
}

// An object is a JSON object that keeps the order of its members.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(m.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// workflowSchema is one schema for workflows and included files: the latter have some of the keys of the former, and
// while a file is being written nobody knows which it will be. With a key that only workflows have, it is one.
func workflowSchema() object {
	o := shapeSchema(shapeWorkflow)
	var only []object
	for _, k := range shapeWorkflow.Keys {
		if shapeLibrary.key(k.Name) == nil {
			only = append(only, object{{"required", []string{k.Name}}})
		}
	}
	for i := range o {
		if o[i].name == "required" {
			o[i].value = requiredKeys(shapeLibrary)
		}
	}
	return append(o, member{"if", object{{"anyOf", only}}}, member{"then", object{{"required", requiredKeys(shapeWorkflow)}}})
}

func definitions() object {
	out := object{{"node", nodeSchema()}, {"type", typeSchema()}}
	for _, s := range Shapes() {
		if s != shapeWorkflow && s != shapeLibrary {
			out = append(out, member{definition(s.Name), shapeSchema(s)})
		}
	}
	return out
}

// definition is where a shape is defined. The long form of a type is not what stands for any type.
func definition(shape string) string {
	if shape == shapeType.Name {
		return "namedType"
	}
	return shape
}

func refTo(name string) object { return object{{"$ref", "#/definitions/" + name}} }

// exclusive keys say what a thing is: exactly one of them is written.
var exclusive = map[string][]string{shapeTool.Name: bindings, shapeServer.Name: {"command", "url"}}

func shapeSchema(s *Shape) object {
	var props object
	for i := range s.Keys {
		k := &s.Keys[i]
		props = append(props, member{k.Name, hinted(s.Name, k, described(k.Doc, formSchema(k.Value)))})
	}
	o := object{{"description", s.Doc}, {"type", "object"}, {"properties", props}, {"additionalProperties", false}}
	if s == shapeSecret { // nothing need be said about a secret
		o[1].value = []string{"object", "null"}
	}
	if req := requiredKeys(s); len(req) > 0 {
		o = append(o, member{"required", req})
	}
	if keys := exclusive[s.Name]; keys != nil {
		o = append(o, member{"oneOf", eachRequired(keys)})
	}
	return o
}

func requiredKeys(s *Shape) []string {
	var out []string
	for _, k := range s.Keys {
		if k.Required {
			out = append(out, k.Name)
		}
	}
	return out
}

func eachRequired(keys []string) []object {
	var out []object
	for _, k := range keys {
		out = append(out, object{{"required", []string{k}}})
	}
	return out
}

// described adds a description. Beside $ref it would be ignored.
func described(doc string, o object) object {
	if len(o) > 0 && o[0].name == "$ref" {
		o = object{{"allOf", []object{o}}}
	}
	return append(object{{"description", doc}}, o...)
}

// nodeSchema asks for one verb; the rest of a node is the verb's.
func nodeSchema() object {
	var props object
	var cases []object
	for _, v := range verbs {
		props = append(props, member{v, object{{"description", nodeShapes[v].Doc}}})
		cases = append(cases, object{{"if", object{{"required", []string{v}}}}, {"then", refTo(nodeShapes[v].Name)}})
	}
	return object{{"description", shapeNode.Doc}, {"type", "object"}, {"properties", props}, {"oneOf", eachRequired(verbs)}, {"allOf", cases}}
}

// typeSchema is a type: text, or a mapping of fields.
func typeSchema() object {
	return object{
		{"description", "A type: string, int, float, bool, bytes, time, duration, any, list<T>, map<T>, opt<T>, enum<a|b>, a named type, go:import/path.Type, a mapping of fields, or a list with one type: the type of lists of it."},
		{"type", []string{"string", "object", "array"}}, {"minLength", 1}, {"additionalProperties", fieldSchema()},
		{"items", refTo("type")}, {"minItems", 1}, {"maxItems", 1},
	}
}

// fieldSchema tells the long form by its key `type`.
func fieldSchema() object { return choice([]string{"type"}, refTo(shapeField.Name), refTo("type")) }

// choice is long for mappings that have one of the keys, and short for everything else.
func choice(keys []string, long, short object) object {
	return object{{"if", object{{"type", "object"}, {"anyOf", eachRequired(keys)}}}, {"then", long}, {"else", short}}
}

const (
	idPattern       = "[a-z][a-z0-9_]*"
	durationPattern = "[0-9.]+(ns|us|µs|ms|s|m|h)"
)

// scalarTypes are what YAML makes of text without quotes.
var scalarTypes = []string{"string", "number", "boolean"}

func pattern(p string) object { return object{{"type", "string"}, {"pattern", "^" + p + "$"}} }

func formSchema(f Form) object {
	switch f.Kind {
	case FormText, FormTemplate, FormExpr:
		return object{{"type", scalarTypes}}
	case FormID:
		return pattern(idPattern)
	case FormRef, FormPath, FormGo:
		return object{{"type", "string"}, {"minLength", 1}}
	case FormType:
		return refTo("type")
	case FormField:
		return fieldSchema()
	case FormCount:
		return object{{"type", "integer"}, {"minimum", 1}, {"maximum", maxCount}}
	case FormNumber:
		return object{{"type", "number"}}
	case FormDuration:
		return pattern("([0-9]+d(" + durationPattern + ")*|(" + durationPattern + ")+)")
	case FormSize:
		units := sortedKeys(ir.SizeUnits)[1:] // the first is none
		return object{{"type", []string{"string", "integer"}}, {"minimum", 1}, {"pattern", "^[0-9]+ ?(" + strings.Join(units, "|") + ")?$"}}
	case FormMoney:
		return object{{"type", []string{"string", "number"}}, {"minimum", 0}, {"pattern", ir.MoneyForm.String()}}
	case FormWord:
		return wordSchema(f.Words)
	case FormShape:
		return refTo(definition(f.Shape))
	case FormList:
		return object{{"type", "array"}, {"items", formSchema(*f.Elem)}}
	case FormMap:
		return object{{"type", "object"}, {"additionalProperties", formSchema(*f.Elem)}}
	case FormOneOf:
		return oneOfSchema(f.Any)
	}
	return object{} // FormAny, FormValue, FormConst: whatever YAML can hold
}

var wholeNumber = lazyregexp.New(`^[0-9]+$`)

// wordSchema lists words as YAML reads them: a number and null without quotes are not text.
func wordSchema(words []string) object {
	var out []any
	for _, w := range words {
		if n, err := strconv.Atoi(w); err == nil && wholeNumber.MatchString(w) {
			out = append(out, n)
		}
		switch w {
		case "null":
			out = append(out, nil)
		case "true", "false":
			out = append(out, w == "true")
		}
		out = append(out, w)
	}
	return object{{"enum", out}}
}

// oneOfSchema prefers to tell alternatives apart: editors then explain the mistakes of the one that was meant.
func oneOfSchema(forms []Form) object {
	first, last := forms[0], forms[len(forms)-1]
	switch {
	case last.Shape == shapeUnion.Name: // a named type
		short := object{{"if", object{{"type", "object"}, {"required", []string{"oneof"}}, {"properties", object{{"oneof", object{{"type", "object"}}}}}}},
			{"then", formSchema(last)}, {"else", formSchema(first)}}
		return choice([]string{"type"}, formSchema(forms[1]), short)
	case first.Kind == FormType && last.Kind == FormShape:
		return choice([]string{"type"}, formSchema(last), formSchema(first))
	case first.Kind == FormValue && last.Kind == FormShape: // an output
		return choice([]string{"value", "type"}, formSchema(last), formSchema(first))
	case first.Shape == shapeNode.Name && last.Shape == shapeBody.Name:
		return choice([]string{"nodes", "result"}, formSchema(last), formSchema(first))
	case first.Kind == FormID && last.Kind == FormList: // targets: `a, b` is a list, too
		return object{{"anyOf", []object{pattern(idPattern + "( *, *" + idPattern + ")*"), formSchema(last)}}}
	}
	var out []object
	for _, f := range forms {
		if s := formSchema(f); !slices.ContainsFunc(out, func(o object) bool { return sameJSON(o, s) }) {
			out = append(out, s)
		}
	}
	return object{{"anyOf", out}}
}

func sameJSON(a, b object) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
