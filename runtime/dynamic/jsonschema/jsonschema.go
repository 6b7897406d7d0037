// Package jsonschema holds dynamic values to JSON Schemas that workflow files of dialects bring along: for what models and
// programs answer. It knows the keywords of drafts 7 to 2020-12 that say something about a value itself; annotations and
// formats say nothing, and references lead only inside of the schema.
package jsonschema

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxDepth bounds how deep schemas and their references are followed.
const maxDepth = 200

// Check reports where and why a value does not fit a schema, nil when it does. The error is a VALIDATION_ERROR that begins
// with the place in the value, as a JSON Pointer. A schema that is not JSON fits nothing.
func Check(schema []byte, v value.Value) error {
	s, err := value.Parse(schema)
	if err != nil {
		return value.Errorf(value.ValidationError, "the schema is not valid JSON: %v", err)
	}
	c := &checker{root: s}
	if why := c.check(s, v, "", 0); why != "" {
		return value.Errorf(value.ValidationError, "%s", why)
	}
	return nil
}

type checker struct{ root value.Value }

func wrong(at, format string, args ...any) string {
	if at == "" {
		at = "/"
	}
	return at + ": " + fmt.Sprintf(format, args...)
}

// check is what is wrong, empty when nothing is.
func (c *checker) check(s, v value.Value, at string, depth int) string {
	switch {
	case depth > maxDepth:
		return wrong(at, "the schema is nested too deep")
	case s.Kind() == value.BoolKind && !s.Bool():
		return wrong(at, "nothing may be here")
	case s.Kind() != value.MapKind:
		return ""
	}
	if ref, ok := s.Get("$ref"); ok {
		to, ok := c.find(ref.String())
		if !ok {
			return wrong(at, "the schema has no %s", ref.String())
		}
		if why := c.check(to, v, at, depth+1); why != "" {
			return why
		}
	}
	for _, rule := range []func(s, v value.Value, at string, depth int) string{c.typed, c.listed, c.numbers, c.texts, c.lists, c.maps, c.combined} {
		if why := rule(s, v, at, depth); why != "" {
			return why
		}
	}
	return ""
}

// find follows a reference inside of the schema.
func (c *checker) find(ref string) (value.Value, bool) {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return value.Value{}, false
	}
	at := c.root
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		if part == "" {
			continue
		}
		if at, ok = at.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(part)); !ok {
			return at, false
		}
	}
	return at, true
}

// typed is `type`: a word or a list of them.
func (c *checker) typed(s, v value.Value, at string, _ int) string {
	t, ok := s.Get("type")
	if !ok {
		return ""
	}
	if t.Kind() == value.StringKind {
		if is(t.String(), v) {
			return ""
		}
		return wrong(at, "must be %s", t.String())
	}
	var words []string
	for i := range t.Len() {
		if is(t.Index(i).String(), v) {
			return ""
		}
		words = append(words, t.Index(i).String())
	}
	return wrong(at, "must be %s", strings.Join(words, " or "))
}

func is(word string, v value.Value) bool {
	switch v.Kind() {
	case value.NullKind:
		return word == "null"
	case value.BoolKind:
		return word == "boolean"
	case value.IntKind:
		return word == "integer" || word == "number"
	case value.FloatKind:
		return word == "number" || word == "integer" && v.Float() == math.Trunc(v.Float())
	case value.StringKind:
		return word == "string"
	case value.ListKind:
		return word == "array"
	}
	return word == "object"
}

// same is equality in JSON, where 1 is 1.0.
func same(a, b value.Value) bool {
	if number(a) && number(b) {
		return a.Float() == b.Float()
	}
	return a.Kind() == b.Kind() && value.JSON(a) == value.JSON(b)
}

func number(v value.Value) bool {
	return v.Kind() == value.IntKind || v.Kind() == value.FloatKind
}

// listed is `enum` and `const`.
func (c *checker) listed(s, v value.Value, at string, _ int) string {
	if one, ok := s.Get("const"); ok && !same(one, v) {
		return wrong(at, "must be %s", value.JSON(one))
	}
	list, ok := s.Get("enum")
	if !ok {
		return ""
	}
	var words []string
	for i := range list.Len() {
		if same(list.Index(i), v) {
			return ""
		}
		words = append(words, value.JSON(list.Index(i)))
	}
	return wrong(at, "must be one of %s", strings.Join(words, ", "))
}

func (c *checker) numbers(s, v value.Value, at string, _ int) string {
	if !number(v) {
		return ""
	}
	n := v.Float()
	for _, rule := range []struct {
		key, word string
		holds     func(limit float64) bool
	}{
		{"minimum", ">=", func(x float64) bool { return n >= x }}, {"maximum", "<=", func(x float64) bool { return n <= x }},
		{"exclusiveMinimum", ">", func(x float64) bool { return n > x }}, {"exclusiveMaximum", "<", func(x float64) bool { return n < x }},
		{"multipleOf", "a multiple of", func(x float64) bool {
			q := n / x
			return x == 0 || math.Abs(q-math.Round(q)) < 1e-9
		}},
	} {
		if limit, ok := s.Get(rule.key); ok && number(limit) && !rule.holds(limit.Float()) {
			return wrong(at, "must be %s %s", rule.word, value.JSON(limit))
		}
	}
	return ""
}

// bounded is what is wrong with a count between two limits.
func bounded(s value.Value, least, most string, n int, at, what string) string {
	if limit, ok := s.Get(least); ok && number(limit) && float64(n) < limit.Float() {
		return wrong(at, "must have at least %s %s", value.JSON(limit), what)
	}
	if limit, ok := s.Get(most); ok && number(limit) && float64(n) > limit.Float() {
		return wrong(at, "must have at most %s %s", value.JSON(limit), what)
	}
	return ""
}

func (c *checker) texts(s, v value.Value, at string, _ int) string {
	if v.Kind() != value.StringKind {
		return ""
	}
	if why := bounded(s, "minLength", "maxLength", utf8.RuneCountInString(v.String()), at, "characters"); why != "" {
		return why
	}
	if p, ok := s.Get("pattern"); ok {
		if re, err := regexp.Compile(p.String()); err == nil && !re.MatchString(v.String()) { // of JavaScript, it may mean nothing to Go
			return wrong(at, "must match %s", p.String())
		}
	}
	return ""
}

func (c *checker) lists(s, v value.Value, at string, depth int) string {
	if v.Kind() != value.ListKind {
		return ""
	}
	if why := bounded(s, "minItems", "maxItems", v.Len(), at, "items"); why != "" {
		return why
	}
	items, _ := s.Get("items")
	first, ok := s.Get("prefixItems")
	if !ok && items.Kind() == value.ListKind { // of draft 7
		first = items
		items, _ = s.Get("additionalItems")
	}
	for i := range v.Len() {
		rule := items
		if i < first.Len() {
			rule = first.Index(i)
		}
		if why := c.check(rule, v.Index(i), fmt.Sprintf("%s/%d", at, i), depth+1); why != "" {
			return why
		}
	}
	if unique, _ := s.Get("uniqueItems"); unique.Kind() == value.BoolKind && unique.Bool() {
		seen := map[string]bool{}
		for i := range v.Len() {
			text := value.JSON(v.Index(i))
			if seen[text] {
				return wrong(at, "must have no item twice")
			}
			seen[text] = true
		}
	}
	if some, ok := s.Get("contains"); ok {
		for i := range v.Len() {
			if c.check(some, v.Index(i), at, depth+1) == "" {
				return ""
			}
		}
		return wrong(at, "must contain an item that is not there")
	}
	return ""
}

func (c *checker) maps(s, v value.Value, at string, depth int) string {
	if v.Kind() != value.MapKind {
		return ""
	}
	required, _ := s.Get("required")
	for i := range required.Len() {
		if _, ok := v.Get(required.Index(i).String()); !ok && required.Index(i).Kind() == value.StringKind {
			return wrong(at, "must have the property %s", required.Index(i).String())
		}
	}
	if why := bounded(s, "minProperties", "maxProperties", v.Len(), at, "properties"); why != "" {
		return why
	}
	properties, _ := s.Get("properties")
	patterns, _ := s.Get("patternProperties")
	others, closed := s.Get("additionalProperties")
	for i, key := range v.Keys() {
		x, here := v.Index(i), at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		known := false
		if rule, ok := properties.Get(key); ok {
			known = true
			if why := c.check(rule, x, here, depth+1); why != "" {
				return why
			}
		}
		for j, p := range patterns.Keys() {
			if re, err := regexp.Compile(p); err == nil && re.MatchString(key) {
				known = true
				if why := c.check(patterns.Index(j), x, here, depth+1); why != "" {
					return why
				}
			}
		}
		if known || !closed {
			continue
		}
		if others.Kind() == value.BoolKind && !others.Bool() {
			return wrong(at, "must not have the property %s", key)
		}
		if why := c.check(others, x, here, depth+1); why != "" {
			return why
		}
	}
	return ""
}

// combined is allOf, anyOf, oneOf, not and if.
func (c *checker) combined(s, v value.Value, at string, depth int) string {
	fits := func(rule value.Value) bool { return c.check(rule, v, at, depth+1) == "" }
	all, _ := s.Get("allOf")
	for i := range all.Len() {
		if why := c.check(all.Index(i), v, at, depth+1); why != "" {
			return why
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		list, ok := s.Get(key)
		if !ok || list.Kind() != value.ListKind {
			continue
		}
		n := 0
		for i := range list.Len() {
			if fits(list.Index(i)) {
				n++
			}
		}
		if n == 0 || key == "oneOf" && n > 1 {
			return wrong(at, "must fit %s of the schemas of %s", map[string]string{"anyOf": "one", "oneOf": "exactly one"}[key], key)
		}
	}
	if not, ok := s.Get("not"); ok && fits(not) {
		return wrong(at, "must not fit the schema of not")
	}
	if cond, ok := s.Get("if"); ok {
		branch := "else"
		if fits(cond) {
			branch = "then"
		}
		if rule, ok := s.Get(branch); ok {
			return c.check(rule, v, at, depth+1)
		}
	}
	return ""
}
