package bind

import (
	"encoding/json"
	"errors"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// structType converts the fields of a struct. Their names are those of encoding/json. A field with `json:"-"` does not
// exist for workflows; an unexported one without it is refused, because it would be lost on the way through the
// journal. Embedded structs are refused unless a json tag names them: their fields cannot be set by name in a literal.
// Of several mistakes in one struct the first is reported.
func (c *converter) structType(n *types.Named, s *types.Struct, at spot) *schema.Type {
	t := &schema.Type{Kind: schema.Struct}
	owner := qualified(n)
	file := c.files.declaring(n.Obj(), c.fset)
	exported := 0
	for f := range s.Fields() {
		if f.Exported() {
			exported++
		}
	}
	if s.NumFields() > 0 && exported == 0 {
		if spec := file.typ(n.Obj().Name()); spec != nil {
			at.span = file.ident(spec.Name)
		}
		return c.refuse(at, "is a "+owner+", which has only unexported fields", "")
	}
	for i := range s.NumFields() {
		v := s.Field(i)
		place := spot{name: owner + "." + v.Name()}
		syntax, id := file.field(n.Obj().Name(), v.Name())
		if id != nil {
			place.span = file.ident(id)
		}
		tag := reflect.StructTag(s.Tag(i))
		f, skip := c.field(v, tag, place)
		if f == nil {
			if skip {
				continue
			}
			return schema.InvalidType
		}
		if t.Field(f.Name) != nil {
			return c.refuse(place, "has the same JSON name as another field, "+quote(f.Name), "give it a json tag of its own")
		}
		if syntax != nil {
			f.Description = describe(v.Name(), syntax.Doc, syntax.Comment)
		}
		if err := constrain(f, tag); err != nil {
			c.fail(diag.Diagnostic{
				Code: diag.GoTag, Span: c.ref.span(),
				Message: "the tag of " + place.name + " " + err.Error(),
				Related: []diag.Related{{Span: place.span, Message: "declared here"}},
			})
		}
		t.Fields = append(t.Fields, f)
	}
	return t
}

// field converts one field; nil when it is skipped, or refused after a report.
func (c *converter) field(v *types.Var, tag reflect.StructTag, at spot) (f *schema.Field, skip bool) {
	jsonTag := tag.Get("json")
	if jsonTag == "-" || v.Name() == "_" {
		return nil, true
	}
	name, options, _ := strings.Cut(jsonTag, ",")
	if !validName(name) {
		name = ""
	}
	opts := strings.Split(options, ",")
	switch {
	case !v.Exported():
		switch v.Type().Underlying().(type) {
		case *types.Signature, *types.Chan:
			c.typ(v.Type().Underlying(), at)
		default:
			c.refuse(at, "is unexported", "export it, or tag it `json:\"-\"` if it may be lost")
		}
		return nil, false
	case v.Embedded() && name == "" && isStruct(v.Type()):
		c.refuse(at, "is an embedded struct without a JSON name", "name it with a json tag, or list its fields")
		return nil, false
	case slices.Contains(opts, "string"):
		c.refuse(at, "is a number written as a string in JSON", "remove `string` from its json tag")
		return nil, false
	}
	f = &schema.Field{Name: name, GoName: v.Name(), Type: c.typ(v.Type(), at)}
	if name == "" {
		f.Name = v.Name()
	}
	if slices.Contains(opts, "omitempty") || slices.Contains(opts, "omitzero") {
		f.Default = zero(f.Type)
	}
	return f, false
}

// zero is the default of a field that JSON may leave out: what Go then has.
func zero(t *schema.Type) *schema.Default {
	switch t.Kind {
	case schema.Bool:
		return &schema.Default{JSON: "false"}
	case schema.Int, schema.Float:
		return &schema.Default{JSON: "0"}
	case schema.String, schema.Bytes:
		return &schema.Default{JSON: `""`}
	case schema.List:
		return &schema.Default{JSON: "[]"}
	case schema.Map:
		return &schema.Default{JSON: "{}"}
	}
	return nil
}

func isStruct(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// validName is encoding/json's rule for names in tags: others are ignored.
func validName(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return s != ""
}

// constrain reads the tags the runtime also reads: `flow:"enum=a|b"`, `flow:"min=0,max=10"`, `flow:"pattern=..."` (the
// last one, it takes the rest), and `default:"<json>"`.
func constrain(f *schema.Field, tag reflect.StructTag) error {
	if err := flowTag(f, tag.Get("flow")); err != nil {
		return err
	}
	text, ok := tag.Lookup("default")
	if !ok || f.Type.Kind == schema.Invalid {
		return nil
	}
	if !json.Valid([]byte(text)) {
		return errors.New("has a default that is not JSON: " + quote(text))
	}
	if !fits([]byte(text), f.Type) {
		return errors.New("has a default that is not of type " + f.Type.String() + ": " + quote(text))
	}
	f.Default = &schema.Default{JSON: text}
	return nil
}

func flowTag(f *schema.Field, rest string) error {
	leaf := leafOf(f.Type)
	if leaf.Kind == schema.Invalid {
		return nil
	}
	text := leaf.Kind == schema.String || leaf.Kind == schema.Enum
	for rest != "" {
		var part string
		if pattern, ok := strings.CutPrefix(rest, "pattern="); ok {
			if _, err := regexp.Compile(pattern); err != nil {
				return errors.New("has a pattern that is not a regular expression: " + quote(pattern))
			}
			if !text {
				return errors.New("has a pattern, but " + f.Type.String() + " holds no text")
			}
			f.Pattern = pattern
			return nil
		}
		part, rest, _ = strings.Cut(rest, ",")
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "enum":
			if !text {
				return errors.New("has an enum, but " + f.Type.String() + " holds no text")
			}
			f.Type = withEnum(f.Type, strings.Split(value, "|"))
		case "min", "max":
			n, err := strconv.ParseFloat(value, 64)
			if err != nil || n != n {
				return errors.New("has a " + key + " that is not a number: " + quote(value))
			}
			switch f.Type.Present().Kind {
			case schema.Int, schema.Float, schema.String, schema.List:
			default:
				return errors.New("has a " + key + ", but " + f.Type.String() + " is not a number and has no length")
			}
			if key == "min" {
				f.Min = &n
			} else {
				f.Max = &n
			}
		default:
			return errors.New("has an unknown rule: " + quote(part))
		}
	}
	return nil
}

// leafOf looks through optionals, lists and maps.
func leafOf(t *schema.Type) *schema.Type {
	for t.Kind == schema.Opt || t.Kind == schema.List || t.Kind == schema.Map {
		t = t.Elem
	}
	return t
}

// withEnum is t with its leaf, a string in Go, restricted to values.
func withEnum(t *schema.Type, values []string) *schema.Type {
	out := *t
	switch t.Kind {
	case schema.Opt, schema.List, schema.Map:
		out.Elem = withEnum(t.Elem, values)
		return &out
	}
	return enumIn(t, values)
}

// enumIn is the enum of values that Go knows as the string type t.
func enumIn(t *schema.Type, values []string) *schema.Type {
	spelt := t.Go
	if spelt == nil {
		spelt = &schema.Go{Name: "string"}
	}
	return &schema.Type{Kind: schema.Enum, Values: values, Go: spelt}
}

// fits reports whether JSON text is a value of t; structs are only looked at from outside.
func fits(text []byte, t *schema.Type) bool {
	var s string
	isString := json.Unmarshal(text, &s) == nil && string(text) != "null"
	switch t.Kind {
	case schema.Bool:
		var b *bool
		return json.Unmarshal(text, &b) == nil && b != nil
	case schema.Int:
		_, err := strconv.ParseInt(string(text), 10, 64)
		return err == nil
	case schema.Float:
		_, err := strconv.ParseFloat(string(text), 64)
		return err == nil
	case schema.String, schema.Bytes:
		return isString
	case schema.Enum:
		return isString && slices.Contains(t.Values, s)
	case schema.Duration:
		_, err := time.ParseDuration(s)
		return isString && err == nil
	case schema.Time:
		_, err := time.Parse(time.RFC3339Nano, s)
		return isString && err == nil
	case schema.Opt:
		return string(text) == "null" || fits(text, t.Elem)
	case schema.List:
		var items []json.RawMessage
		if json.Unmarshal(text, &items) != nil || items == nil {
			return false
		}
		return !slices.ContainsFunc(items, func(item json.RawMessage) bool { return !fits(item, t.Elem) })
	case schema.Map, schema.Struct:
		var m map[string]json.RawMessage
		return json.Unmarshal(text, &m) == nil && m != nil
	}
	return true
}
