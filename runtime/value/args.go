package value

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Args are the arguments of a call as data: what a model or an earlier node made, before anything is known about it.
// Generated functions turn them into a tool's input with Arg, ArgOr and ArgOpt, by name and type, without reflection:
// unknown fields, missing fields, null for anything but an optional, wrong types and numbers out of range are errors.
// An Args is used for one call, by one goroutine.
type Args struct {
	value Value
	dict  map[string]Value // instead of value
	list  []Entry          // likewise
	found int              // fields asked for and given
	wrong []violation
	asked *[]string // all fields asked for; nil: nobody wants to know
}

// ValueArgs are arguments that one value holds. null stands for no arguments, anything else but a map is an error.
func ValueArgs(v Value) Args { return Args{value: v} }

// MapArgs are arguments by name.
func MapArgs(m map[string]Value) Args { return Args{dict: m} }

// EntryArgs are arguments by name, each of which is there once. They are read where they stand.
func EntryArgs(entries []Entry) Args { return Args{list: entries} }

// argError is what is wrong with an argument, and where.
type argError struct {
	path, message string
	more          []argError // what else is wrong in the same argument
}

func (e *argError) Error() string {
	if e.path == "" {
		return e.message
	}
	return e.path + ": " + e.message
}

// below puts the name of the field or the index of the item that err is about before its path.
func below(at string, err error) *argError {
	var e *argError
	if !errors.As(err, &e) {
		e = &argError{message: Clip(err.Error(), 400)}
	}
	out := &argError{path: within(at, e.path), message: e.message}
	for _, m := range e.more {
		out.more = append(out.more, argError{path: within(at, m.path), message: m.message})
	}
	return out
}

// with is e, which may be nil, and what is wrong with another item.
func (e *argError) with(other *argError) *argError {
	if e == nil {
		return other
	}
	e.more = append(append(e.more, argError{path: other.path, message: other.message}), other.more...)
	return e
}

// within is a path inside of the value at another one.
func within(at, path string) string {
	if path == "" || strings.HasPrefix(path, "[") {
		return at + path
	}
	return at + "." + path
}

func argName(name string) string { return path{{key: name, named: true}}.String() }

func (a *Args) get(name string) (Value, bool) {
	if a.asked != nil {
		*a.asked = append(*a.asked, name)
	}
	var v Value
	var ok bool
	switch {
	case a.list != nil:
		if i := slices.IndexFunc(a.list, func(e Entry) bool { return e.Key == name }); i >= 0 {
			v, ok = a.list[i].Value, true
		}
	case a.dict != nil:
		v, ok = a.dict[name]
	default:
		v, ok = a.value.Get(name)
	}
	if ok {
		a.found++
	}
	return v, ok
}

// violation is one thing that is wrong with the arguments: where, and the message with the place.
type violation struct{ path, text string }

// maxViolations bounds how many violations are told.
const maxViolations = 20

func (a *Args) fail(v violation) {
	if len(a.wrong) < maxViolations {
		a.wrong = append(a.wrong, v)
	}
}

// ReadArgs returns the input that in reads, or what is wrong with the arguments.
func ReadArgs[In any](a *Args, in func(*Args) In) (In, *ToolError) {
	input := in(a)
	given := len(a.dict) + len(a.list)
	switch kind := a.value.Kind(); {
	case a.dict != nil || a.list != nil || kind == NullKind:
	case kind != MapKind:
		return input, Invalid("an object expected, %s given", withArticle(kind))
	default:
		given = a.value.Len()
	}
	if a.found < given {
		asked := &Args{asked: new([]string)}
		in(asked)
		missing := a.wrong
		a.wrong = a.strangers(*asked.asked)
		for _, v := range missing {
			a.fail(v)
		}
	}
	if len(a.wrong) == 0 {
		return input, nil
	}
	return input, violations(a.wrong)
}

// violations is the error of values with something wrong: its message is that of the first, and its details have all.
func violations(wrong []violation) *ToolError {
	e := Invalid("%s", wrong[0].text)
	if wrong[0].path == "" && len(wrong) == 1 { // the value itself
		return e
	}
	var all []Value
	for _, v := range wrong {
		all = append(all, Map(Entry{"path", String(v.path)}, Entry{"message", String(v.text)}))
	}
	e.Details = Map(Entry{"path", String(wrong[0].path)}, Entry{"violations", List(all...)})
	return e
}

// strangers are the fields that are none of the known ones.
func (a *Args) strangers(known []string) (out []violation) {
	names := a.value.Keys()
	if a.dict != nil {
		names = slices.Sorted(maps.Keys(a.dict))
	}
	for i := range a.list {
		names = append(names, a.list[i].Key)
	}
	for _, n := range names {
		if !slices.Contains(known, n) && len(out) < maxViolations {
			out = append(out, violation{Clip(argName(n), 100), "unknown field " + strconv.Quote(Clip(n, 80))})
		}
	}
	return out
}

// Arg reads a required field.
func Arg[T any](a *Args, name string, as func(Value) (T, error)) (out T) {
	v, ok := a.get(name)
	if !ok {
		a.fail(violation{argName(name), "field " + strconv.Quote(name) + " is missing"})
		return out
	}
	return arg(a, name, v, as)
}

func arg[T any](a *Args, name string, v Value, as func(Value) (T, error)) T {
	out, err := as(v)
	if err != nil {
		e := below(argName(name), err)
		for _, e := range append([]argError{*e}, e.more...) {
			a.fail(violation{e.path, e.Error()})
		}
	}
	return out
}

// ArgOr reads a field that has a default.
func ArgOr[T any](a *Args, name string, as func(Value) (T, error), def T) T {
	v, ok := a.get(name)
	if !ok {
		return def
	}
	return arg(a, name, v, as)
}

// ArgOpt reads an optional field: absent and null are nil.
func ArgOpt[T any](a *Args, name string, as func(Value) (T, error)) *T {
	v, ok := a.get(name)
	if !ok || v.IsNull() {
		return nil
	}
	out := arg(a, name, v, as)
	return &out
}

// NoArgs is the input of a tool that takes nothing.
func NoArgs(*Args) struct{} { return struct{}{} }

// AnyArgs reads the input of a tool that takes whatever it is given. Without arguments it is an empty map.
func AnyArgs(a *Args) Value {
	a.found = len(a.list) + len(a.dict) + a.value.Len()
	switch {
	case a.list != nil:
		return Map(a.list...)
	case a.dict != nil:
		entries := make([]Entry, 0, len(a.dict))
		for _, name := range slices.Sorted(maps.Keys(a.dict)) {
			entries = append(entries, Entry{Key: name, Value: a.dict[name]})
		}
		return Map(entries...)
	case a.value.Kind() == NullKind:
		return Map()
	}
	return a.value
}

func withArticle(k Kind) string {
	switch k {
	case NullKind:
		return "null"
	case IntKind, FloatKind:
		return "a number"
	case MapKind:
		return "an object"
	}
	return "a " + k.String()
}

func unlike(what string, v Value) error {
	return &argError{message: what + " expected, " + withArticle(v.Kind()) + " given"}
}

// AsString reads text.
func AsString[T ~string](v Value) (T, error) {
	if v.Kind() != StringKind {
		return "", unlike("a string", v)
	}
	return T(v.text), nil
}

// AsBool reads true or false.
func AsBool[T ~bool](v Value) (T, error) {
	if v.Kind() != BoolKind {
		return false, unlike("a bool", v)
	}
	return v.bits == 1, nil
}

// Integer is any integer type.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// AsInt reads an integer that fits T.
func AsInt[T Integer](v Value) (T, error) {
	if v.Kind() == FloatKind && math.Trunc(v.Float()) == v.Float() && math.Abs(v.Float()) >= 1<<63 {
		return 0, &argError{message: FormatFloat(v.Float()) + " is out of range"} // it was written as an integer
	}
	if v.Kind() != IntKind {
		return 0, unlike("an integer", v)
	}
	n := int64(v.bits)
	t := T(n)
	if int64(t) != n || t < 0 != (n < 0) {
		return 0, &argError{message: strconv.FormatInt(n, 10) + " is out of range"}
	}
	return t, nil
}

// AsFloat reads a number.
func AsFloat[T ~float32 | ~float64](v Value) (T, error) {
	if v.Kind() != FloatKind && v.Kind() != IntKind {
		return 0, unlike("a number", v)
	}
	f := v.Float()
	t := T(f)
	if math.IsInf(float64(t), 0) || math.IsNaN(f) {
		return 0, &argError{message: FormatFloat(f) + " is out of range"}
	}
	return t, nil
}

// AsValue reads anything.
func AsValue(v Value) (Value, error) { return v, nil }

// AsList reads a list whose items as reads.
func AsList[T any](as func(Value) (T, error)) func(Value) ([]T, error) {
	return func(v Value) ([]T, error) {
		if v.Kind() != ListKind {
			return nil, unlike("a list", v)
		}
		out := make([]T, len(v.tree.items))
		var wrong *argError
		for i, x := range v.tree.items {
			var err error
			if out[i], err = as(x); err != nil {
				if wrong = wrong.with(below("["+strconv.Itoa(i)+"]", err)); len(wrong.more) >= maxViolations {
					break
				}
			}
		}
		if wrong != nil {
			return nil, wrong
		}
		return out, nil
	}
}

// AsMap reads an object of any keys whose values as reads.
func AsMap[T any](as func(Value) (T, error)) func(Value) (map[string]T, error) {
	return func(v Value) (map[string]T, error) {
		if v.Kind() != MapKind {
			return nil, unlike("an object", v)
		}
		out := make(map[string]T, len(v.tree.items))
		var wrong *argError
		for i, k := range v.tree.keys {
			x, err := as(v.tree.items[i])
			if err != nil {
				if wrong = wrong.with(below(argName(k), err)); len(wrong.more) >= maxViolations {
					break
				}
			}
			out[k] = x
		}
		if wrong != nil {
			return nil, wrong
		}
		return out, nil
	}
}

// AsOpt reads null as nil.
func AsOpt[T any](as func(Value) (T, error)) func(Value) (*T, error) {
	return func(v Value) (*T, error) {
		if v.IsNull() {
			return nil, nil
		}
		x, err := as(v)
		if err != nil {
			return nil, err
		}
		return &x, nil
	}
}

// As reads any other type by way of its JSON, as strictly as Decode.
func As[T any](v Value) (T, error) {
	var out T
	b, err := v.MarshalJSON()
	if err != nil {
		return out, err
	}
	if err := Decode(b, &out); err != nil {
		te := ToolErrorOf(err)
		at, _ := te.Details.Get("path")
		e := &argError{path: at.text, message: strings.TrimPrefix(te.Message, at.text+": ")}
		all, _ := te.Details.Get("violations")
		for i := 1; i < all.Len(); i++ {
			at, _ := all.Index(i).Get("path")
			message, _ := all.Index(i).Get("message")
			e.more = append(e.more, argError{path: at.text, message: strings.TrimPrefix(message.text, at.text+": ")})
		}
		return out, e
	}
	return out, nil
}
