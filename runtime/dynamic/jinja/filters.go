package jinja

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A filter has a value and its arguments in the order of Jinja's parameters; those that are not given are absent.
type filter func(t *Text, f dynamic.Field, args []dynamic.Field) dynamic.Field

// arg is an argument, absent when it is not given.
func arg(args []dynamic.Field, i int) dynamic.Field {
	if i < len(args) {
		return args[i]
	}
	return dynamic.Field{}
}

func whether(args []dynamic.Field, i int, or bool) bool {
	if f := arg(args, i); f.Present() {
		return py.True(f)
	}
	return or
}

func number(args []dynamic.Field, i int, or int64) int64 {
	if f := arg(args, i); f.Value().Kind() == value.IntKind {
		return f.Value().Int()
	}
	return or
}

func word(args []dynamic.Field, i int, or string) string {
	if f := arg(args, i); f.Present() && !f.Value().IsNull() {
		return py.Str(f)
	}
	return or
}

// Default is f, or another value when it is undefined; with falsy when it is taken for false.
func Default(f, instead, falsy dynamic.Field) dynamic.Field {
	if f.Present() && (!py.True(falsy) || py.True(f)) {
		return f
	}
	if !instead.Present() {
		return dynamic.Text("")
	}
	return instead
}

func (t *Text) text(f dynamic.Field) string {
	if !f.Present() {
		return ""
	}
	return py.Str(f)
}

// Join is the text of items with another between them; with attribute of one attribute of each.
func (t *Text) Join(f, between, attribute dynamic.Field) dynamic.Field {
	var parts []string
	for _, x := range t.Items(f) {
		if attribute.Present() {
			x = t.path(x, attribute)
		}
		parts = append(parts, t.text(x))
	}
	return dynamic.Text(strings.Join(parts, t.text(between)))
}

// path is an attribute, or one of an attribute: a.b.
func (t *Text) path(f, name dynamic.Field) dynamic.Field {
	if name.Value().Kind() == value.IntKind {
		return t.Item(f, name)
	}
	for _, part := range strings.Split(t.text(name), ".") {
		if n, err := strconv.Atoi(part); err == nil {
			f = t.Item(f, dynamic.Whole(int64(n)))
			continue
		}
		f = t.Attr(f, part)
	}
	return f
}

// Length is how many items, entries or characters there are.
func (t *Text) Length(f dynamic.Field) dynamic.Field {
	v := f.Value()
	switch {
	case v.Kind() == value.ListKind || v.Kind() == value.MapKind:
		return dynamic.Whole(int64(v.Len()))
	case v.Kind() == value.StringKind:
		return dynamic.Whole(int64(len([]rune(v.String()))))
	case !f.Present():
		return dynamic.Whole(0)
	}
	return t.fail("object of type '%s' has no len()", class(f))
}

// JSON is the JSON of a value as Jinja writes it: keys in order, and what means something in HTML as escapes.
func (t *Text) JSON(f, indent dynamic.Field) dynamic.Field {
	if !f.Present() {
		return t.fail("an undefined value cannot be JSON")
	}
	n := -1
	if v := indent.Value(); v.Kind() == value.IntKind {
		n = int(min(max(v.Int(), 0), 40))
	}
	s := py.JSON(f.Value(), n, true)
	return dynamic.Text(strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`).Replace(s))
}

// Filter applies the filter of a name.
func (t *Text) Filter(name string, f dynamic.Field, args ...dynamic.Field) dynamic.Field {
	if g := filters[name]; g != nil {
		return g(t, f, args)
	}
	return t.fail("unknown filter %q", name)
}

// texts makes a filter of a function of text.
func texts(g func(string) string) filter {
	return func(t *Text, f dynamic.Field, _ []dynamic.Field) dynamic.Field { return dynamic.Text(g(t.text(f))) }
}

var filters map[string]filter

func init() {
	filters = map[string]filter{
		"upper": texts(strings.ToUpper), "lower": texts(strings.ToLower), "title": texts(title), "capitalize": texts(capitalize),
		"escape": texts(escaper.Replace), "e": texts(escaper.Replace), "safe": texts(func(s string) string { return s }), "string": texts(func(s string) string { return s }),
		"trim": func(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
			return dynamic.Text(strip(t.text(f), arg(a, 0), true, true))
		},
		"replace": func(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
			return dynamic.Text(strings.Replace(t.text(f), word(a, 0, ""), word(a, 1, ""), int(number(a, 2, -1))))
		},
		"first": func(t *Text, f dynamic.Field, _ []dynamic.Field) dynamic.Field { return edge(t.Items(f), true) },
		"last":  func(t *Text, f dynamic.Field, _ []dynamic.Field) dynamic.Field { return edge(t.Items(f), false) },
		"list":  func(t *Text, f dynamic.Field, _ []dynamic.Field) dynamic.Field { return dynamic.List(t.Items(f)...) },
		"items": func(t *Text, f dynamic.Field, _ []dynamic.Field) dynamic.Field { return t.pairs(f) },
		"abs": func(t *Text, f dynamic.Field, _ []dynamic.Field) dynamic.Field {
			if numeric(f) && f.Value().Float() < 0 {
				return t.Negative(f)
			}
			return f
		},
		"int": toInt, "float": toFloat, "round": round, "sum": sum, "sort": sorted, "unique": unique, "reverse": reverse, "indent": indent, "truncate": truncate, "dictsort": dictsort,
		"min": func(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field { return t.extreme(f, arg(a, 1), -1) },
		"max": func(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field { return t.extreme(f, arg(a, 1), 1) },
		"wordcount": func(t *Text, f dynamic.Field, _ []dynamic.Field) dynamic.Field {
			return dynamic.Whole(int64(len(strings.FieldsFunc(t.text(f), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }))))
		},
		"pprint": func(t *Text, f dynamic.Field, _ []dynamic.Field) dynamic.Field {
			return dynamic.Text(py.Repr(f.Value()))
		},
		"format": func(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
			return t.Format(f, dynamic.List(a...))
		},
		"map": mapped, "length": func(t *Text, f dynamic.Field, _ []dynamic.Field) dynamic.Field { return t.Length(f) },
		"count":  func(t *Text, f dynamic.Field, _ []dynamic.Field) dynamic.Field { return t.Length(f) },
		"tojson": func(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field { return t.JSON(f, arg(a, 0)) },
		"join": func(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
			return t.Join(f, arg(a, 0), arg(a, 1))
		},
		"select": func(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
			return t.chosen(f, a, true, false)
		},
		"reject": func(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
			return t.chosen(f, a, false, false)
		},
		"selectattr": func(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field { return t.chosen(f, a, true, true) },
		"rejectattr": func(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
			return t.chosen(f, a, false, true)
		},
	}
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

func capitalize(s string) string {
	r := []rune(strings.ToLower(s))
	if len(r) > 0 {
		r[0] = unicode.ToUpper(r[0])
	}
	return string(r)
}

// title begins each word with a capital, as Jinja does: words end at white space, - and brackets.
func title(s string) string {
	first := true
	return strings.Map(func(r rune) rune {
		begins := first
		first = unicode.IsSpace(r) || strings.ContainsRune("-([{<", r)
		if begins {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, s)
}

func strip(s string, chars dynamic.Field, left, right bool) string {
	cut := unicode.IsSpace
	if chars.Present() && !chars.Value().IsNull() {
		set := py.Str(chars)
		cut = func(r rune) bool { return strings.ContainsRune(set, r) }
	}
	if left {
		s = strings.TrimLeftFunc(s, cut)
	}
	if right {
		s = strings.TrimRightFunc(s, cut)
	}
	return s
}

func edge(items []dynamic.Field, first bool) dynamic.Field {
	switch {
	case len(items) == 0:
		return dynamic.Field{}
	case first:
		return items[0]
	}
	return items[len(items)-1]
}

// pairs are the entries of a map as pairs.
func (t *Text) pairs(f dynamic.Field) dynamic.Field {
	v := f.Value()
	if !f.Present() {
		return dynamic.List()
	}
	if v.Kind() != value.MapKind {
		return t.fail("%s has no items", kind(f))
	}
	var out []dynamic.Field
	for i, k := range v.Keys() {
		out = append(out, dynamic.List(dynamic.Text(k), dynamic.Of(v.Index(i))))
	}
	return dynamic.List(out...)
}

func toInt(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	or := dynamic.Whole(0)
	if x := arg(a, 0); x.Present() {
		or = x
	}
	switch v := f.Value(); v.Kind() {
	case value.IntKind:
		return f
	case value.BoolKind:
		if v.Bool() {
			return dynamic.Whole(1)
		}
		return dynamic.Whole(0)
	case value.FloatKind:
		if math.Abs(v.Float()) < 1<<63 {
			return dynamic.Whole(int64(v.Float()))
		}
	case value.StringKind:
		s := strings.TrimSpace(v.String())
		if n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), int(number(a, 1, 10)), 64); err == nil {
			return dynamic.Whole(n)
		}
		if n, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(n) < 1<<63 {
			return dynamic.Whole(int64(n))
		}
	}
	return or
}

func toFloat(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	switch v := f.Value(); v.Kind() {
	case value.IntKind, value.FloatKind:
		return dynamic.Number(v.Float())
	case value.BoolKind:
		return dynamic.Number(toInt(t, f, nil).Value().Float())
	case value.StringKind:
		if n, err := strconv.ParseFloat(strings.TrimSpace(v.String()), 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
			return dynamic.Number(n)
		}
	}
	if x := arg(a, 0); x.Present() {
		return x
	}
	return dynamic.Number(0)
}

func round(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	if !numeric(f) {
		return t.fail("type %s doesn't define __round__ method", class(f))
	}
	places := min(max(number(a, 0, 0), -300), 300)
	v := f.Value().Float()
	switch word(a, 1, "common") {
	case "ceil":
		p := math.Pow(10, float64(places))
		return t.finite(math.Ceil(v*p) / p)
	case "floor":
		p := math.Pow(10, float64(places))
		return t.finite(math.Floor(v*p) / p)
	}
	if places < 0 {
		p := math.Pow(10, float64(-places))
		return t.finite(math.RoundToEven(v/p) * p)
	}
	n, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', int(places), 64), 64) // rounds as Python does: exact halves to even
	if err != nil {
		n = v
	}
	return t.finite(n)
}

func sum(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	total := dynamic.Whole(0)
	if x := arg(a, 1); x.Present() {
		total = x
	}
	for _, x := range t.Items(f) {
		if by := arg(a, 0); by.Present() && !by.Value().IsNull() {
			x = t.path(x, by)
		}
		total = t.Plus(total, x)
	}
	return total
}

// ordering orders items by an attribute; text without regard to case unless it matters.
func (t *Text) ordering(attribute dynamic.Field, sensitive bool) func(a, b dynamic.Field) int {
	key := func(f dynamic.Field) dynamic.Field {
		if attribute.Present() && !attribute.Value().IsNull() {
			f = t.path(f, attribute)
		}
		if f.Value().Kind() == value.StringKind && !sensitive {
			f = dynamic.Text(strings.ToLower(f.Value().String()))
		}
		return f
	}
	return func(a, b dynamic.Field) int { return t.ordered(key(a), key(b)) }
}

func (t *Text) extreme(f, attribute dynamic.Field, sign int) dynamic.Field {
	items := t.Items(f)
	order := t.ordering(attribute, false)
	out := edge(items, true)
	for _, x := range items {
		if order(x, out)*sign > 0 {
			out = x
		}
	}
	return out
}

func sorted(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	items := slices.Clone(t.Items(f))
	order := t.ordering(arg(a, 2), whether(a, 1, false))
	down := whether(a, 0, false)
	slices.SortStableFunc(items, func(x, y dynamic.Field) int {
		if down {
			return order(y, x)
		}
		return order(x, y)
	})
	return dynamic.List(items...)
}

func dictsort(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	by := dynamic.Whole(0)
	if word(a, 1, "key") == "value" {
		by = dynamic.Whole(1)
	}
	return sorted(t, t.pairs(f), []dynamic.Field{arg(a, 2), arg(a, 0), by})
}

func unique(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	var out []dynamic.Field
	seen := map[string]bool{}
	for _, x := range t.Items(f) {
		k := x
		if by := arg(a, 1); by.Present() {
			k = t.path(x, by)
		}
		s := py.Repr(k.Value())
		if k.Value().Kind() == value.StringKind && !whether(a, 0, false) {
			s = strings.ToLower(s)
		}
		if !seen[s] {
			seen[s] = true
			out = append(out, x)
		}
	}
	return dynamic.List(out...)
}

func reverse(t *Text, f dynamic.Field, _ []dynamic.Field) dynamic.Field {
	if f.Value().Kind() == value.StringKind {
		r := []rune(f.Value().String())
		slices.Reverse(r)
		return dynamic.Text(string(r))
	}
	items := slices.Clone(t.Items(f))
	slices.Reverse(items)
	return dynamic.List(items...)
}

func indent(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	by := strings.Repeat(" ", int(min(max(number(a, 0, 4), 0), 1000)))
	if x := arg(a, 0); x.Value().Kind() == value.StringKind {
		by = x.Value().String()
	}
	lines := strings.Split(t.text(f), "\n")
	for i, line := range lines {
		if (i > 0 || whether(a, 1, false)) && (line != "" || whether(a, 2, false)) {
			lines[i] = by + line
		}
	}
	return dynamic.Text(strings.Join(lines, "\n"))
}

func truncate(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	s, n, end := []rune(t.text(f)), int(number(a, 0, 255)), word(a, 2, "...")
	if len(s) <= n+int(number(a, 3, 5)) {
		return dynamic.Text(string(s))
	}
	cut := max(n-len([]rune(end)), 0)
	head := string(s[:min(cut, len(s))])
	if !whether(a, 1, false) {
		if i := strings.LastIndex(head, " "); i >= 0 {
			head = head[:i]
		}
	}
	return dynamic.Text(head + end)
}

// mapped takes an attribute of every item, or puts every item through a filter.
func mapped(t *Text, f dynamic.Field, a []dynamic.Field) dynamic.Field {
	var out []dynamic.Field
	for _, x := range t.Items(f) {
		switch by := arg(a, 1); {
		case by.Present():
			if x = t.path(x, by); !x.Present() {
				x = arg(a, 2)
			}
		default:
			x = t.Filter(word(a, 0, ""), x)
		}
		out = append(out, x)
	}
	return dynamic.List(out...)
}

// chosen are the items that a test holds for, or those that it does not hold for; with attribute the test is about one of
// theirs.
func (t *Text) chosen(f dynamic.Field, a []dynamic.Field, keep, attribute bool) dynamic.Field {
	var out []dynamic.Field
	for _, x := range t.Items(f) {
		v, rest := x, a
		if attribute {
			v, rest = t.path(x, arg(a, 0)), a[min(1, len(a)):]
		}
		holds := py.True(v)
		if len(rest) > 0 {
			holds = t.Test(v, t.text(rest[0]), rest[1:]...)
		}
		if holds == keep {
			out = append(out, x)
		}
	}
	return dynamic.List(out...)
}

// Test is a test by its name.
func (t *Text) Test(f dynamic.Field, name string, args ...dynamic.Field) bool {
	x := arg(args, 0)
	switch name {
	case "eq", "equalto", "==", "sameas":
		return Equal(f, x)
	case "ne", "!=":
		return !Equal(f, x)
	case "gt", "greaterthan", ">":
		return t.Greater(f, x)
	case "ge", ">=":
		return t.GreaterOrEqual(f, x)
	case "lt", "lessthan", "<":
		return t.Less(f, x)
	case "le", "<=":
		return t.LessOrEqual(f, x)
	case "in":
		return t.In(f, x)
	case "divisibleby":
		return t.Divisible(f, x)
	}
	return t.Is(f, name)
}
