package value

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Validate checks a value against the flow tags of its structs, and that its floats are numbers. The error is a
// *ToolError with VALIDATION_ERROR that names the path: "findings[2].sev: ...", and whose details have every violation. Tags are flow:"enum=low|high",
// flow:"min=0,max=10" and flow:"pattern=RE", a pattern being last and taking the rest. enum and pattern apply to the
// strings in lists, maps and optionals too; min and max apply to numbers, and to the length of strings (in code points),
// lists and maps.
func Validate(v any) error {
	w := walker{}
	rv := reflect.ValueOf(v)
	if !rv.IsValid() {
		return nil
	}
	if err := w.all(rv, nil); err != nil {
		return err
	}
	return nil
}

// ValidateEnum checks that the strings of a value are among those of an enum, in lists, maps and optionals too. The error is that of
// Validate.
func ValidateEnum(v any, values []string) error {
	w := walker{}
	if err := w.all(reflect.ValueOf(v), &rule{enum: values}); err != nil {
		return err
	}
	return nil
}

// Checker does what Validate does for values of one type.
type Checker struct {
	sound *sound // nil: values have to be walked
}

// CheckerFor returns the Checker of a type, nil when its values cannot be wrong.
func CheckerFor[T any]() *Checker {
	if !checked(reflect.TypeFor[T]()) {
		return nil
	}
	return &Checker{soundOf(reflect.TypeFor[T]())}
}

// Check validates what ptr points to.
func (c *Checker) Check(ptr any) *ToolError {
	if c.sound != nil && c.sound.holds(reflect.ValueOf(ptr).UnsafePointer()) {
		return nil
	}
	w := walker{}
	return w.all(reflect.ValueOf(ptr).Elem(), nil)
}

// Pattern is a compiled regular expression.
type Pattern interface {
	MatchString(s string) bool
	String() string
}

var compile func(re string) (Pattern, error)

// UsePatterns says how patterns are compiled. The package runtime/pattern calls it when a program begins.
func UsePatterns(f func(re string) (Pattern, error)) { compile = f }

// rule is a parsed flow tag.
type rule struct {
	enum     []string
	min, max *bound
	pattern  Pattern
	broken   string // what is wrong with the tag itself
}

// bound is a number as an int when it is one, and as a float.
type bound struct {
	text    string
	integer bool
	n       int64
	f       float64
}

func ruleOf(tag string) *rule {
	if tag == "" {
		return nil
	}
	r := &rule{}
	for tag != "" {
		if re, ok := strings.CutPrefix(tag, "pattern="); ok {
			if compile == nil {
				r.broken = "the program does not import runtime/pattern"
				return r
			}
			var err error
			if r.pattern, err = compile(re); err != nil {
				r.broken = err.Error()
			}
			return r
		}
		var part string
		part, tag, _ = strings.Cut(tag, ",")
		name, arg, _ := strings.Cut(part, "=")
		switch name {
		case "enum":
			r.enum = strings.Split(arg, "|")
		case "min":
			r.min = r.bound(arg)
		case "max":
			r.max = r.bound(arg)
		default:
			r.broken = fmt.Sprintf("%q is not a rule", part)
		}
	}
	return r
}

func (r *rule) bound(text string) *bound {
	b := &bound{text: text}
	var err error
	if b.n, err = strconv.ParseInt(text, 10, 64); err == nil {
		b.integer = true
	}
	if b.f, err = strconv.ParseFloat(text, 64); err != nil {
		r.broken = fmt.Sprintf("%q is not a number", text)
	}
	return b
}

// inner is what of the rule applies to the elements of a list or map.
func (r *rule) inner() *rule {
	if r == nil || r.enum == nil && r.pattern == nil {
		return nil
	}
	return &rule{enum: r.enum, pattern: r.pattern}
}

// walker checks one value.
type walker struct {
	at    path
	wrong []violation
}

// all checks a value, and returns the first violation with all others in its details.
func (w *walker) all(v reflect.Value, r *rule) *ToolError {
	err := w.walk(v, r)
	w.keep(err)
	if len(w.wrong) == 0 {
		return nil
	}
	return violations(w.wrong)
}

// keep notes what is wrong, and reports whether there is enough of it.
func (w *walker) keep(err *ToolError) bool {
	if err != nil {
		w.wrong = append(w.wrong, violation{pathOf(err), err.Message})
	}
	return len(w.wrong) >= maxViolations
}

func (w *walker) walk(v reflect.Value, r *rule) *ToolError {
	if r != nil && r.broken != "" {
		return w.at.fault("broken flow tag: %s", r.broken)
	}
	if len(w.at) > maxDepth {
		return Invalid("nested more than %d deep", maxDepth)
	}
	if Opaque(v.Type()) {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() && unionOf(v.Type()) != nil {
			return w.at.fault("a value expected, nil given")
		}
		if v.IsNil() {
			return nil
		}
		return w.walk(v.Elem(), r)
	case reflect.Float32, reflect.Float64:
		return w.float(v.Float(), r)
	case reflect.String:
		return w.text(v.String(), r)
	case reflect.Slice, reflect.Array:
		return w.list(v, r)
	case reflect.Map:
		return w.dict(v, r)
	case reflect.Struct:
		return w.fields(v)
	}
	if r == nil {
		return nil
	}
	switch {
	case v.CanInt():
		return w.int(v.Int(), r)
	case v.CanUint():
		if u := v.Uint(); u > math.MaxInt64 {
			return w.float(float64(u), r)
		}
		return w.int(int64(v.Uint()), r)
	}
	return nil
}

func (w *walker) fields(v reflect.Value) *ToolError {
	fs := fieldsOf(v.Type())
	for i := range fs {
		f := &fs[i]
		if !f.deep {
			continue
		}
		if w.keep(w.down(step{key: f.name, named: true}, v.FieldByIndex(f.index), f.rule)) {
			break
		}
	}
	return nil
}

func (w *walker) down(s step, v reflect.Value, r *rule) *ToolError {
	if w.at == nil {
		w.at = make(path, 0, 4)
	}
	w.at = append(w.at, s)
	err := w.walk(v, r)
	w.at = w.at[:len(w.at)-1]
	return err
}

func (w *walker) list(v reflect.Value, r *rule) *ToolError {
	if w.keep(w.length(v.Len(), "item", r)) {
		return nil
	}
	r = r.inner()
	if r == nil && !checked(v.Type().Elem()) {
		return nil
	}
	for i := range v.Len() {
		if w.keep(w.down(step{index: i}, v.Index(i), r)) {
			break
		}
	}
	return nil
}

func (w *walker) dict(v reflect.Value, r *rule) *ToolError {
	if w.keep(w.length(v.Len(), "entry", r)) {
		return nil
	}
	r = r.inner()
	if r == nil && !checked(v.Type().Elem()) {
		return nil
	}
	keys := v.MapKeys() // sorted: the same fault each time
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for _, k := range keys {
		if w.keep(w.down(step{key: fmt.Sprint(k), named: true}, v.MapIndex(k), r)) {
			break
		}
	}
	return nil
}

func (w *walker) text(s string, r *rule) *ToolError {
	if r == nil {
		return nil
	}
	if r.enum != nil && !slices.Contains(r.enum, s) {
		return w.at.fault("%s is not one of %s", strconv.Quote(Clip(s, 80)), strings.Join(r.enum, ", "))
	}
	if r.pattern != nil && !r.pattern.MatchString(s) {
		return w.at.fault("%s does not match %s", strconv.Quote(Clip(s, 80)), r.pattern)
	}
	if r.min == nil && r.max == nil {
		return nil
	}
	return w.length(utf8.RuneCountInString(s), "character", r)
}

func (w *walker) length(n int, unit string, r *rule) *ToolError {
	if r == nil {
		return nil
	}
	if r.min != nil && float64(n) < r.min.f {
		return w.at.fault("has %s, at least %s needed", count(n, unit), r.min.text)
	}
	if r.max != nil && float64(n) > r.max.f {
		return w.at.fault("has %s, at most %s allowed", count(n, unit), r.max.text)
	}
	return nil
}

func count(n int, unit string) string {
	switch {
	case n == 1:
	case unit == "entry":
		unit = "entries"
	default:
		unit += "s"
	}
	return strconv.Itoa(n) + " " + unit
}

func (w *walker) int(n int64, r *rule) *ToolError {
	if b := r.min; b != nil && (b.integer && n < b.n || !b.integer && float64(n) < b.f) {
		return w.at.fault("%d is less than %s", n, b.text)
	}
	if b := r.max; b != nil && (b.integer && n > b.n || !b.integer && float64(n) > b.f) {
		return w.at.fault("%d is more than %s", n, b.text)
	}
	return nil
}

func (w *walker) float(f float64, r *rule) *ToolError {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return w.at.fault("%s is not a number", FormatFloat(f))
	}
	if r == nil {
		return nil
	}
	if b := r.min; b != nil && f < b.f {
		return w.at.fault("%s is less than %s", FormatFloat(f), b.text)
	}
	if b := r.max; b != nil && f > b.f {
		return w.at.fault("%s is more than %s", FormatFloat(f), b.text)
	}
	return nil
}
