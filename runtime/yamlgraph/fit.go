package yamlgraph

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// fit holds an answer to its schema as the engine's models of Pydantic do: fields in the order of the schema, defaults
// where none came, and values of a near type converted. Other fields are dropped.
func fit(s *llm.Schema, v value.Value) (value.Value, *value.ToolError) {
	tree, err := parsed(s)
	if err != nil {
		return v, value.Invalid("the schema of the answer is not valid JSON: %v", err)
	}
	return fits(tree, v, "the answer")
}

var schemas sync.Map // of *llm.Schema: their values

func parsed(s *llm.Schema) (value.Value, error) {
	if v, ok := schemas.Load(s); ok {
		return v.(value.Value), nil
	}
	v, err := value.Parse(s.JSON)
	if err == nil {
		schemas.Store(s, v)
	}
	return v, err
}

func get(v value.Value, key string) value.Value {
	x, _ := v.Get(key)
	return x
}

// fits holds one value to one schema. at names it in errors.
func fits(s, v value.Value, at string) (value.Value, *value.ToolError) {
	typ := get(s, "type")
	if typ.Kind() == value.ListKind { // with null
		if v.IsNull() {
			return v, nil
		}
		typ = typ.Index(0)
	}
	wrong := func() (value.Value, *value.ToolError) {
		return v, value.Invalid("%s is %s, and no %s", at, v.Kind(), typ.String())
	}
	switch typ.String() {
	case "object":
		if v.Kind() != value.MapKind {
			return wrong()
		}
		if props := get(s, "properties"); props.Kind() == value.MapKind {
			return object(s, props, v, at)
		}
		var out []value.Entry
		for i, k := range v.Keys() {
			x, te := fits(get(s, "additionalProperties"), v.Index(i), at+"."+k)
			if te != nil {
				return v, te
			}
			out = append(out, value.Entry{Key: k, Value: x})
		}
		return value.Map(out...), nil
	case "array":
		if v.Kind() != value.ListKind {
			return wrong()
		}
		var out []value.Value
		for i := range v.Len() {
			x, te := fits(get(s, "items"), v.Index(i), at+"["+strconv.Itoa(i)+"]")
			if te != nil {
				return v, te
			}
			out = append(out, x)
		}
		v = value.List(out...)
		return v, bounds(s, float64(v.Len()), "Items", at)
	case "string":
		if v.Kind() != value.StringKind {
			return wrong()
		}
		if p := get(s, "pattern"); p.Kind() == value.StringKind {
			if re, err := regexp.Compile(p.String()); err == nil && !re.MatchString(v.String()) {
				return v, value.Invalid("%s does not match the pattern %s", at, p.String())
			}
		}
		return v, bounds(s, float64(utf8.RuneCountInString(v.String())), "Length", at)
	case "integer", "number":
		n, ok := numberOf(v, typ.String() == "integer")
		if !ok {
			return wrong()
		}
		return n, bounds(s, n.Float(), "imum", at)
	case "boolean":
		switch b := strings.ToLower(v.String()); {
		case v.Kind() == value.BoolKind:
			return v, nil
		case v.Kind() == value.StringKind && (b == "true" || b == "yes" || b == "on" || b == "1"):
			return value.Bool(true), nil
		case v.Kind() == value.StringKind && (b == "false" || b == "no" || b == "off" || b == "0"):
			return value.Bool(false), nil
		}
		return wrong()
	}
	return v, nil
}

func object(s, props, v value.Value, at string) (value.Value, *value.ToolError) {
	needed := map[string]bool{}
	required := get(s, "required")
	for i := range required.Len() {
		needed[required.Index(i).String()] = true
	}
	var out []value.Entry
	for i, k := range props.Keys() {
		x, there := v.Get(k)
		if !there || x.IsNull() && !needed[k] {
			if needed[k] {
				return v, value.Invalid("%s has no field %q", at, k)
			}
			out = append(out, value.Entry{Key: k, Value: get(props.Index(i), "default")})
			continue
		}
		fitted, te := fits(props.Index(i), x, at+"."+k)
		if te != nil {
			return v, te
		}
		out = append(out, value.Entry{Key: k, Value: fitted})
	}
	return value.Map(out...), nil
}

// numberOf is a number, or a text that is one.
func numberOf(v value.Value, whole bool) (value.Value, bool) {
	if v.Kind() == value.StringKind {
		f, err := strconv.ParseFloat(strings.TrimSpace(v.String()), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return v, false
		}
		v = value.Float(f)
	}
	switch {
	case v.Kind() == value.IntKind && whole:
		return v, true
	case v.Kind() == value.IntKind:
		return value.Float(v.Float()), true
	case v.Kind() != value.FloatKind:
		return v, false
	case !whole:
		return v, true
	case v.Float() == math.Trunc(v.Float()) && math.Abs(v.Float()) < 1<<53:
		return value.Int(int64(v.Float())), true
	}
	return v, false
}

// bounds holds a number to what a schema says: minimum, minLength or minItems, and the like.
func bounds(s value.Value, n float64, what, at string) *value.ToolError {
	low, high := get(s, "min"+what), get(s, "max"+what)
	if !low.IsNull() && n < low.Float() {
		return value.Invalid("%s is below its least, which is %s", at, low.String())
	}
	if !high.IsNull() && n > high.Float() {
		return value.Invalid("%s is above its most, which is %s", at, high.String())
	}
	if x := get(s, "exclusiveMinimum"); !x.IsNull() && n <= x.Float() {
		return value.Invalid("%s is not above %s", at, x.String())
	}
	if x := get(s, "exclusiveMaximum"); !x.IsNull() && n >= x.Float() {
		return value.Invalid("%s is not below %s", at, x.String())
	}
	return nil
}
