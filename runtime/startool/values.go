package startool

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

const maxDepth = 1000

// arguments are the keyword arguments in a JSON object.
func arguments(data []byte) ([]starlark.Tuple, error) {
	v, err := value.Parse(data)
	if err != nil {
		return nil, err
	}
	if v.Kind() != value.MapKind {
		return nil, value.Invalid("the arguments are not an object")
	}
	keys := v.Keys()
	out := make([]starlark.Tuple, len(keys))
	for i, k := range keys {
		out[i] = starlark.Tuple{starlark.String(k), toStarlark(v.Index(i))}
	}
	return out, nil
}

func toStarlark(v value.Value) starlark.Value {
	switch v.Kind() {
	case value.BoolKind:
		return starlark.Bool(v.Bool())
	case value.IntKind:
		return starlark.MakeInt64(v.Int())
	case value.FloatKind:
		return starlark.Float(v.Float())
	case value.StringKind:
		return starlark.String(v.String())
	case value.ListKind:
		items := make([]starlark.Value, v.Len())
		for i := range items {
			items[i] = toStarlark(v.Index(i))
		}
		return starlark.NewList(items)
	case value.MapKind:
		d := starlark.NewDict(v.Len())
		for i, k := range v.Keys() {
			_ = d.SetKey(starlark.String(k), toStarlark(v.Index(i))) // a new dict takes text
		}
		return d
	}
	return starlark.None
}

// encode appends the JSON of a result of at most limit bytes. The limit also ends values that are small in memory and
// huge as text, because they hold one part many times.
func encode(b []byte, v starlark.Value, limit int) ([]byte, error) {
	e := encoder{b: b, limit: limit}
	err := e.value(v, 0)
	return e.b, err
}

type encoder struct {
	b     []byte
	limit int
}

func (e *encoder) value(v starlark.Value, depth int) error {
	if depth > maxDepth {
		return value.Invalid("it is nested more than %d deep, or holds itself", maxDepth)
	}
	switch v := v.(type) {
	case starlark.NoneType:
		e.b = append(e.b, "null"...)
	case starlark.Bool:
		e.b = strconv.AppendBool(e.b, bool(v))
	case starlark.Int:
		if v.BigInt().BitLen() > 64 {
			return value.Invalid("an integer of %d bits is out of range", v.BigInt().BitLen())
		}
		e.b = append(e.b, v.String()...)
	case starlark.Float:
		return e.float(float64(v))
	case starlark.String:
		if !utf8.ValidString(string(v)) {
			return value.Invalid("a string is not UTF-8")
		}
		j, err := json.Marshal(string(v))
		if err != nil {
			return err
		}
		e.b = append(e.b, j...)
	case starlark.IterableMapping:
		return e.object(v, depth)
	case starlark.Iterable:
		if _, ok := v.(starlark.Sequence); !ok {
			return value.Invalid("a %s has no JSON", v.Type())
		}
		return e.list(v, depth)
	default:
		return value.Invalid("a %s has no JSON", v.Type())
	}
	return e.fits()
}

func (e *encoder) fits() error {
	if len(e.b) <= e.limit {
		return nil
	}
	err := value.Errorf(value.PolicyDenied, "it is larger than the %d bytes allowed: raise max_output", e.limit)
	err.Details = value.Map(value.Entry{Key: "max_output", Value: value.Int(int64(e.limit))})
	return err
}

func (e *encoder) float(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value.Invalid("%v has no JSON", f)
	}
	b, err := value.Float(f).MarshalJSON()
	e.b = append(e.b, b...)
	return err
}

func (e *encoder) object(m starlark.IterableMapping, depth int) error {
	e.b = append(e.b, '{')
	for i, item := range m.Items() {
		key, ok := item[0].(starlark.String)
		if !ok {
			return value.Invalid("a dict has a key that is a %s, not a string", item[0].Type())
		}
		if i > 0 {
			e.b = append(e.b, ',')
		}
		if err := e.value(key, depth+1); err != nil {
			return err
		}
		e.b = append(e.b, ':')
		if err := e.value(item[1], depth+1); err != nil {
			return err
		}
	}
	e.b = append(e.b, '}')
	return e.fits()
}

func (e *encoder) list(v starlark.Iterable, depth int) error {
	e.b = append(e.b, '[')
	it := v.Iterate()
	defer it.Done()
	var x starlark.Value
	for i := 0; it.Next(&x); i++ {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		if err := e.value(x, depth+1); err != nil {
			return err
		}
	}
	e.b = append(e.b, ']')
	return e.fits()
}
