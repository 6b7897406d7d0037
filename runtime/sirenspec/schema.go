package sirenspec

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// schemas are the guards of schemas, by their text.
var schemas sync.Map

// Schema makes the guardrail that holds answers to a JSON Schema of draft 7. schema is its JSON.
func Schema(schema string) Guard {
	if g, ok := schemas.Load(schema); ok {
		return g.(Guard)
	}
	g := schemaGuard(schema)
	schemas.Store(schema, g)
	return g
}

func schemaGuard(schema string) Guard {
	d, wrong := newDraft7(schema)
	return func(text string, answer bool) (string, error) {
		if !answer {
			return text, nil
		}
		if wrong != nil {
			return "", violation("%v", wrong)
		}
		v, err := value.Parse([]byte(text))
		if err != nil {
			return "", violation("Output is not valid JSON: %s", notJSON(text, err))
		}
		if at, message := d.first(v); message != "" {
			return "", violation("Schema violation at '$%s': %s", at, message)
		}
		return text, nil
	}
}

// notJSON says where text stops being JSON, in the words of Python. err is what its parser here says, which is stricter.
func notJSON(text string, err error) string {
	if why := py.JSONError(text); why != "" {
		return why
	}
	var te *value.ToolError
	if errors.As(err, &te) {
		return te.Message
	}
	return err.Error()
}

// draft7 holds values to a schema, with the words of the library that the engine uses.
type draft7 struct {
	root     value.Value
	patterns map[string]*regexp.Regexp
}

// maxSchemaDepth bounds how deep a schema that refers to itself is followed.
const maxSchemaDepth = 200

func newDraft7(text string) (*draft7, error) {
	root, err := value.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	if k := root.Kind(); k != value.MapKind && k != value.BoolKind {
		return nil, fmt.Errorf("a schema is a mapping")
	}
	d := &draft7{root: root, patterns: map[string]*regexp.Regexp{}}
	if err := d.compile(root); err != nil {
		return nil, err
	}
	return d, nil
}

// compile makes the patterns of a schema ready, and follows its references once.
func (d *draft7) compile(s value.Value) error {
	for i, key := range s.Keys() {
		v := s.Index(i)
		switch {
		case key == "enum" || key == "const" || key == "default" || key == "examples":
			continue
		case key == "pattern" && v.Kind() == value.StringKind:
			if err := d.pattern(v.String()); err != nil {
				return err
			}
		case key == "patternProperties":
			for _, p := range v.Keys() {
				if err := d.pattern(p); err != nil {
					return err
				}
			}
		case key == "$ref" && v.Kind() == value.StringKind:
			if _, ok := d.target(v.String()); !ok {
				return fmt.Errorf("the schema has nothing at %s", v.String())
			}
		}
		if err := d.compile(v); err != nil {
			return err
		}
	}
	if s.Kind() == value.ListKind {
		for i := range s.Len() {
			if err := d.compile(s.Index(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *draft7) pattern(p string) error {
	x, err := regexp.Compile(p)
	if err != nil {
		return fmt.Errorf("the pattern %q cannot be used: %w", p, err)
	}
	d.patterns[p] = x
	return nil
}

// target is what a reference within the schema stands for.
func (d *draft7) target(ref string) (value.Value, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' {
		return value.Value{}, false
	}
	at := d.root
	for _, name := range strings.Split(path, "/")[1:] {
		name = strings.NewReplacer("~1", "/", "~0", "~", "%25", "%").Replace(name)
		if at.Kind() == value.ListKind {
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= at.Len() {
				return value.Value{}, false
			}
			at = at.Index(i)
			continue
		}
		if at, ok = at.Get(name); !ok {
			return value.Value{}, false
		}
	}
	return at, true
}

// A fault is a place of a value that does not fit, and why.
type fault struct {
	path    []string
	message string
}

// first is the fault whose path comes first; message is empty when the value fits.
func (d *draft7) first(v value.Value) (at, message string) {
	faults := d.check(d.root, v, nil, 0)
	if len(faults) == 0 {
		return "", ""
	}
	slices.SortStableFunc(faults, func(a, b fault) int { return slices.CompareFunc(a.path, b.path, comparePart) })
	if f := faults[0]; len(f.path) > 0 {
		return "." + strings.Join(f.path, "."), f.message
	}
	return "", faults[0].message
}

// comparePart orders parts of paths: indexes by number.
func comparePart(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

func repr(v value.Value) string { return string(appendRepr(nil, v, 0)) }

func quotedText(s string) string { return string(appendQuoted(nil, s)) }

// check are the faults of a value, in the order of the schema's keys.
func (d *draft7) check(s, v value.Value, path []string, depth int) []fault {
	if s.Kind() == value.BoolKind {
		if s.Bool() {
			return nil
		}
		return []fault{{path, "False schema does not allow " + repr(v)}}
	}
	if depth > maxSchemaDepth {
		return nil
	}
	if ref, ok := s.Get("$ref"); ok && ref.Kind() == value.StringKind { // what is next to it has no effect
		t, _ := d.target(ref.String())
		return d.check(t, v, path, depth+1)
	}
	var out []fault
	for i, key := range s.Keys() {
		x := &scope{d: d, s: s, v: v, path: path, depth: depth}
		x.keyword(key, s.Index(i))
		out = append(out, x.out...)
	}
	return out
}

func (d *draft7) fits(s, v value.Value, depth int) bool {
	return len(d.check(s, v, nil, depth+1)) == 0
}

// A scope is one keyword of a schema applied to a value.
type scope struct {
	d     *draft7
	s, v  value.Value
	path  []string
	depth int
	out   []fault
}

func (x *scope) fail(format string, args ...any) {
	x.out = append(x.out, fault{x.path, fmt.Sprintf(format, args...)})
}

// in holds a value below v to a schema.
func (x *scope) in(s, v value.Value, part string) {
	x.out = append(x.out, x.d.check(s, v, append(slices.Clip(x.path), part), x.depth+1)...)
}

// same holds v to another schema.
func (x *scope) same(s value.Value) {
	x.out = append(x.out, x.d.check(s, x.v, x.path, x.depth+1)...)
}

func (x *scope) keyword(key string, k value.Value) {
	switch key {
	case "type", "enum", "const":
		x.kind(key, k)
	case "allOf", "anyOf", "oneOf", "not", "if":
		x.combined(key, k)
	default:
		switch kind := x.v.Kind(); {
		case kind == value.IntKind || kind == value.FloatKind:
			x.number(key, k)
		case kind == value.StringKind:
			x.text(key, k)
		case kind == value.ListKind:
			x.list(key, k)
		case kind == value.MapKind:
			x.object(key, k)
		}
	}
}

func isType(v value.Value, name string) bool {
	switch v.Kind() {
	case value.NullKind:
		return name == "null"
	case value.BoolKind:
		return name == "boolean"
	case value.IntKind:
		return name == "integer" || name == "number"
	case value.FloatKind:
		return name == "number" || name == "integer" && v.Float() == math.Trunc(v.Float())
	case value.StringKind:
		return name == "string"
	case value.ListKind:
		return name == "array"
	}
	return name == "object"
}

func (x *scope) kind(key string, k value.Value) {
	switch key {
	case "type":
		types := []value.Value{k}
		if k.Kind() == value.ListKind {
			types = items(k)
		}
		var names []string
		for _, t := range types {
			if isType(x.v, t.String()) {
				return
			}
			names = append(names, repr(t))
		}
		x.fail("%s is not of type %s", repr(x.v), strings.Join(names, ", "))
	case "enum":
		if !slices.ContainsFunc(items(k), func(e value.Value) bool { return sameJSON(e, x.v) }) {
			x.fail("%s is not one of %s", repr(x.v), repr(k))
		}
	case "const":
		if !sameJSON(k, x.v) {
			x.fail("%s was expected", repr(k))
		}
	}
}

func items(v value.Value) []value.Value {
	var out []value.Value
	for i := range v.Len() {
		out = append(out, v.Index(i))
	}
	return out
}

// sameJSON is equality of JSON: numbers by value, and true is not a number.
func sameJSON(a, b value.Value) bool {
	if (a.Kind() == value.BoolKind) != (b.Kind() == value.BoolKind) {
		return false
	}
	if a.Kind() == value.ListKind && b.Kind() == value.ListKind {
		return slices.EqualFunc(items(a), items(b), sameJSON)
	}
	if a.Kind() == value.MapKind && b.Kind() == value.MapKind {
		for i, key := range a.Keys() {
			if other, ok := b.Get(key); !ok || !sameJSON(a.Index(i), other) {
				return false
			}
		}
		return a.Len() == b.Len()
	}
	return equal(a, b, 0)
}

func (x *scope) combined(key string, k value.Value) {
	fits := func(s value.Value) bool { return x.d.fits(s, x.v, x.depth) }
	switch key {
	case "allOf":
		for _, s := range items(k) {
			x.same(s)
		}
	case "anyOf":
		if !slices.ContainsFunc(items(k), fits) {
			x.fail("%s is not valid under any of the given schemas", repr(x.v))
		}
	case "oneOf":
		var good []value.Value
		for _, s := range items(k) {
			if fits(s) {
				good = append(good, s)
			}
		}
		switch {
		case len(good) == 0:
			x.fail("%s is not valid under any of the given schemas", repr(x.v))
		case len(good) > 1:
			var list []string
			for _, s := range append(good[1:], good[0]) {
				list = append(list, repr(s))
			}
			x.fail("%s is valid under each of %s", repr(x.v), strings.Join(list, ", "))
		}
	case "not":
		if fits(k) {
			x.fail("%s should not be valid under %s", repr(x.v), repr(k))
		}
	case "if":
		branch := "else"
		if fits(k) {
			branch = "then"
		}
		if s, ok := x.s.Get(branch); ok {
			x.same(s)
		}
	}
}

func (x *scope) number(key string, k value.Value) {
	n, bound := x.v.Float(), k.Float()
	switch {
	case key == "minimum" && n < bound:
		x.fail("%s is less than the minimum of %s", repr(x.v), repr(k))
	case key == "maximum" && n > bound:
		x.fail("%s is greater than the maximum of %s", repr(x.v), repr(k))
	case key == "exclusiveMinimum" && n <= bound:
		x.fail("%s is less than or equal to the minimum of %s", repr(x.v), repr(k))
	case key == "exclusiveMaximum" && n >= bound:
		x.fail("%s is greater than or equal to the maximum of %s", repr(x.v), repr(k))
	case key == "multipleOf" && bound != 0 && n/bound != math.Trunc(n/bound):
		x.fail("%s is not a multiple of %s", repr(x.v), repr(k))
	}
}

// size says how much is asked for; one and none have words of their own.
func (x *scope) size(key string, n int, k value.Value, few, many string) {
	bound := int(k.Int())
	switch {
	case strings.HasPrefix(key, "min") && n < bound && bound == 1:
		x.fail("%s should be non-empty", repr(x.v))
	case strings.HasPrefix(key, "min") && n < bound:
		x.fail("%s %s", repr(x.v), few)
	case strings.HasPrefix(key, "max") && n > bound && bound == 0:
		x.fail("%s is expected to be empty", repr(x.v))
	case strings.HasPrefix(key, "max") && n > bound:
		x.fail("%s %s", repr(x.v), many)
	}
}

func (x *scope) text(key string, k value.Value) {
	switch key {
	case "minLength", "maxLength":
		x.size(key, utf8.RuneCountInString(x.v.String()), k, "is too short", "is too long")
	case "pattern":
		if !x.d.patterns[k.String()].MatchString(x.v.String()) {
			x.fail("%s does not match %s", repr(x.v), repr(k))
		}
	}
}

func (x *scope) list(key string, k value.Value) {
	all := items(x.v)
	switch key {
	case "items":
		for i, v := range all {
			s := k
			if k.Kind() == value.ListKind {
				if i >= k.Len() {
					return
				}
				s = k.Index(i)
			}
			x.in(s, v, strconv.Itoa(i))
		}
	case "additionalItems":
		x.additionalItems(all, k)
	case "minItems", "maxItems":
		x.size(key, len(all), k, "is too short", "is too long")
	case "uniqueItems":
		for i, v := range all {
			if k.Bool() && slices.ContainsFunc(all[:i], func(w value.Value) bool { return sameJSON(v, w) }) {
				x.fail("%s has non-unique elements", repr(x.v))
				return
			}
		}
	case "contains":
		if !slices.ContainsFunc(all, func(v value.Value) bool { return x.d.fits(k, v, x.depth) }) {
			x.fail("None of %s are valid under the given schema", repr(x.v))
		}
	}
}

func (x *scope) additionalItems(all []value.Value, k value.Value) {
	s, _ := x.s.Get("items")
	if s.Kind() != value.ListKind || len(all) <= s.Len() {
		return
	}
	extra := all[s.Len():]
	if k.Kind() == value.BoolKind {
		if !k.Bool() {
			x.fail("Additional items are not allowed (%s)", unexpected(extra))
		}
		return
	}
	for i, v := range extra {
		x.in(k, v, strconv.Itoa(s.Len()+i))
	}
}

func unexpected(extra []value.Value) string {
	var list []string
	for _, v := range extra {
		list = append(list, repr(v))
	}
	verb := " were unexpected"
	if len(list) == 1 {
		verb = " was unexpected"
	}
	return strings.Join(list, ", ") + verb
}

func (x *scope) object(key string, k value.Value) {
	switch key {
	case "required":
		for _, name := range items(k) {
			if _, ok := x.v.Get(name.String()); !ok {
				x.fail("%s is a required property", repr(name))
			}
		}
	case "minProperties", "maxProperties":
		x.size(key, x.v.Len(), k, "does not have enough properties", "has too many properties")
	case "properties":
		for i, name := range k.Keys() {
			if v, ok := x.v.Get(name); ok {
				x.in(k.Index(i), v, name)
			}
		}
	case "patternProperties":
		for i, p := range k.Keys() {
			for j, name := range x.v.Keys() {
				if x.d.patterns[p].MatchString(name) {
					x.in(k.Index(i), x.v.Index(j), name)
				}
			}
		}
	case "propertyNames":
		for _, name := range x.v.Keys() {
			x.out = append(x.out, x.d.check(k, value.String(name), x.path, x.depth+1)...)
		}
	case "additionalProperties":
		x.additionalProperties(k)
	case "dependencies":
		x.dependencies(k)
	}
}

func (x *scope) additionalProperties(k value.Value) {
	known, _ := x.s.Get("properties")
	patterns, _ := x.s.Get("patternProperties")
	var extra []string
	for _, name := range x.v.Keys() {
		_, ok := known.Get(name)
		if !ok && !slices.ContainsFunc(patterns.Keys(), func(p string) bool { return x.d.patterns[p].MatchString(name) }) {
			extra = append(extra, name)
		}
	}
	if k.Kind() != value.BoolKind {
		for _, name := range extra {
			v, _ := x.v.Get(name)
			x.in(k, v, name)
		}
		return
	}
	if k.Bool() || len(extra) == 0 {
		return
	}
	slices.Sort(extra)
	if patterns.Len() == 0 {
		var list []value.Value
		for _, name := range extra {
			list = append(list, value.String(name))
		}
		x.fail("Additional properties are not allowed (%s)", unexpected(list))
		return
	}
	verb := "do"
	if len(extra) == 1 {
		verb = "does"
	}
	forms := slices.Sorted(slices.Values(patterns.Keys()))
	x.fail("%s %s not match any of the regexes: %s", quotedList(extra), verb, quotedList(forms))
}

func quotedList(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, quotedText(s))
	}
	return strings.Join(out, ", ")
}

func (x *scope) dependencies(k value.Value) {
	for i, name := range k.Keys() {
		if _, ok := x.v.Get(name); !ok {
			continue
		}
		need := k.Index(i)
		if need.Kind() != value.ListKind {
			x.same(need)
			continue
		}
		for _, other := range items(need) {
			if _, ok := x.v.Get(other.String()); !ok {
				x.fail("%s is a dependency of %s", repr(other), quotedText(name))
			}
		}
	}
}
