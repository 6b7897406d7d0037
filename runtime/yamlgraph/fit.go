package yamlgraph

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// fit holds an answer to its schema as the engine's models of Pydantic do: fields in the order of the schema, defaults
// where none came, and values of a near type converted. Other fields are dropped.
func fit(s *llm.Schema, v runtime.Value) (runtime.Value, *runtime.ToolError) {
	tree, err := parsed(s)
	if err != nil {
		return v, runtime.Invalid("the schema of the answer is no JSON: %v", err)
	}
	return fits(tree, v, "the answer")
}

var schemas sync.Map // of *llm.Schema: their values

func parsed(s *llm.Schema) (runtime.Value, error) {
	if v, ok := schemas.Load(s); ok {
		return v.(runtime.Value), nil
	}
	v, err := runtime.ParseValue(s.JSON)
	if err == nil {
		schemas.Store(s, v)
	}
	return v, err
}

func get(v runtime.Value, key string) runtime.Value {
	x, _ := v.Get(key)
	return x
}

// fits holds one value to one schema. at names it in errors.
func fits(s, v runtime.Value, at string) (runtime.Value, *runtime.ToolError) {
	typ := get(s, "type")
	if typ.Kind() == runtime.ListKind { // with null
		if v.IsNull() {
			return v, nil
		}
		typ = typ.Index(0)
	}
	wrong := func() (runtime.Value, *runtime.ToolError) {
		return v, runtime.Invalid("%s is %s, and no %s", at, v.Kind(), typ.String())
	}
	switch typ.String() {
	case "object":
		if v.Kind() != runtime.MapKind {
			return wrong()
		}
		if props := get(s, "properties"); props.Kind() == runtime.MapKind {
			return object(s, props, v, at)
		}
		var out []runtime.Entry
		for i, k := range v.Keys() {
			x, te := fits(get(s, "additionalProperties"), v.Index(i), at+"."+k)
			if te != nil {
				return v, te
			}
			out = append(out, runtime.Entry{Key: k, Value: x})
		}
		return runtime.MapValue(out...), nil
	case "array":
		if v.Kind() != runtime.ListKind {
			return wrong()
		}
		var out []runtime.Value
		for i := range v.Len() {
			x, te := fits(get(s, "items"), v.Index(i), at+"["+strconv.Itoa(i)+"]")
			if te != nil {
				return v, te
			}
			out = append(out, x)
		}
		v = runtime.ListValue(out...)
		return v, bounds(s, float64(v.Len()), "Items", at)
	case "string":
		if v.Kind() != runtime.StringKind {
			return wrong()
		}
		if p := get(s, "pattern"); p.Kind() == runtime.StringKind {
			if re, err := regexp.Compile(p.String()); err == nil && !re.MatchString(v.String()) {
				return v, runtime.Invalid("%s does not match the pattern %s", at, p.String())
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
		case v.Kind() == runtime.BoolKind:
			return v, nil
		case v.Kind() == runtime.StringKind && (b == "true" || b == "yes" || b == "on" || b == "1"):
			return runtime.BoolValue(true), nil
		case v.Kind() == runtime.StringKind && (b == "false" || b == "no" || b == "off" || b == "0"):
			return runtime.BoolValue(false), nil
		}
		return wrong()
	}
	return v, nil
}

func object(s, props, v runtime.Value, at string) (runtime.Value, *runtime.ToolError) {
	needed := map[string]bool{}
	required := get(s, "required")
	for i := range required.Len() {
		needed[required.Index(i).String()] = true
	}
	var out []runtime.Entry
	for i, k := range props.Keys() {
		x, there := v.Get(k)
		if !there || x.IsNull() && !needed[k] {
			if needed[k] {
				return v, runtime.Invalid("%s has no field %q", at, k)
			}
			out = append(out, runtime.Entry{Key: k, Value: get(props.Index(i), "default")})
			continue
		}
		fitted, te := fits(props.Index(i), x, at+"."+k)
		if te != nil {
			return v, te
		}
		out = append(out, runtime.Entry{Key: k, Value: fitted})
	}
	return runtime.MapValue(out...), nil
}

// numberOf is a number, or a text that is one.
func numberOf(v runtime.Value, whole bool) (runtime.Value, bool) {
	if v.Kind() == runtime.StringKind {
		f, err := strconv.ParseFloat(strings.TrimSpace(v.String()), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return v, false
		}
		v = runtime.FloatValue(f)
	}
	switch {
	case v.Kind() == runtime.IntKind && whole:
		return v, true
	case v.Kind() == runtime.IntKind:
		return runtime.FloatValue(v.Float()), true
	case v.Kind() != runtime.FloatKind:
		return v, false
	case !whole:
		return v, true
	case v.Float() == math.Trunc(v.Float()) && math.Abs(v.Float()) < 1<<53:
		return runtime.IntValue(int64(v.Float())), true
	}
	return v, false
}

// bounds holds a number to what a schema says: minimum, minLength or minItems, and the like.
func bounds(s runtime.Value, n float64, what, at string) *runtime.ToolError {
	low, high := get(s, "min"+what), get(s, "max"+what)
	if !low.IsNull() && n < low.Float() {
		return runtime.Invalid("%s is below its least, which is %s", at, low.String())
	}
	if !high.IsNull() && n > high.Float() {
		return runtime.Invalid("%s is above its most, which is %s", at, high.String())
	}
	if x := get(s, "exclusiveMinimum"); !x.IsNull() && n <= x.Float() {
		return runtime.Invalid("%s is not above %s", at, x.String())
	}
	if x := get(s, "exclusiveMaximum"); !x.IsNull() && n >= x.Float() {
		return runtime.Invalid("%s is not below %s", at, x.String())
	}
	return nil
}
