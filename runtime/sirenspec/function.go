package sirenspec

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Named is an argument that is given by its name, as in max(x, default=0).
func Named(name string, x Operand) Operand {
	x.name = name
	return x
}

// Star is *x: the items of a list in its place.
func (c *Condition) Star(x Operand) Operand {
	if x = x.given(); c.failed || !iterable(x) {
		return c.fail()
	}
	return Operand{v: value.List(iterated(x.v)...), spread: true}
}

// Pairs is **x: what a dict holds, in its place.
func (c *Condition) Pairs(x Operand) Operand {
	if x.dotted || x.v.Kind() != value.MapKind {
		return c.fail()
	}
	var out []value.Value
	for i, key := range x.v.Keys() {
		out = append(out, value.List(value.String(key), x.v.Index(i)))
	}
	return Operand{v: value.List(out...), spread: true}
}

// spread puts the items of lists in their places.
func spread(list []Operand) []Operand {
	if !slices.ContainsFunc(list, func(x Operand) bool { return x.spread }) {
		return list
	}
	var out []Operand
	for _, x := range list {
		if !x.spread {
			out = append(out, x)
			continue
		}
		for _, v := range items(x.v) {
			out = append(out, Operand{v: v})
		}
	}
	return out
}

// namedOf are the arguments by their place, and those by their name.
func namedOf(args []Operand) (placed []Operand, named map[string]Operand) {
	for _, x := range spread(args) {
		if x.name == "" {
			placed = append(placed, x)
			continue
		}
		if named == nil {
			named = map[string]Operand{}
		}
		name := x.name
		x.name = ""
		named[name] = x
	}
	return placed, named
}

// one is the only argument of a function.
func (c *Condition) one(args []Operand) (Operand, bool) {
	if args = spread(args); c.failed || len(args) != 1 || args[0].name != "" {
		c.fail()
		return Operand{}, false
	}
	return args[0], true
}

// Lambda is a function of n values.
func (c *Condition) Lambda(n int, f func(args []Operand) Operand) Operand {
	return Operand{call: func(args []Operand) Operand {
		placed, named := namedOf(args)
		if c.failed || len(placed) != n || len(named) > 0 {
			return c.fail()
		}
		return f(placed)
	}}
}

// Invoke calls a function.
func (c *Condition) Invoke(f Operand, args ...Operand) Operand {
	if c.failed || f.call == nil {
		return c.fail()
	}
	return f.call(args)
}

// Function is one of the functions of the engine as a value.
func (c *Condition) Function(name string) Operand {
	of := map[string]func(...Operand) Operand{"len": c.Len, "bool": c.ToBool, "str": c.ToStr, "int": c.ToInt, "float": c.ToFloat, "abs": c.Abs, "min": c.Min, "max": c.Max}[name]
	return Operand{call: func(args []Operand) Operand { return of(args...) }}
}

// Bind is name := x.
func (c *Condition) Bind(name string, x Operand) Operand {
	if c.bound == nil {
		c.bound = map[string]Operand{}
	}
	c.bound[name] = x
	return x
}

// Bound is a name that := has given to a value.
func (c *Condition) Bound(name string) Operand {
	x, ok := c.bound[name]
	if !ok {
		return c.fail()
	}
	return x
}

// Join is a text of several parts.
func (c *Condition) Join(parts ...Operand) Operand {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.v.String())
	}
	return Str(b.String())
}

// Format is {x!as:spec} in a text with the prefix f. The parts of the format are put together.
func (c *Condition) Format(x, as Operand, spec ...Operand) Operand {
	switch how := as.v.String(); how {
	case "r":
		x = Str(represented(x))
	case "a":
		x = Str(py.ASCII(represented(x)))
	case "s":
		x = Str(strOf(x))
	}
	format := c.Join(spec...).v.String()
	if format == "" {
		return Str(strOf(x))
	}
	if k := x.v.Kind(); c.failed || x.dotted || x.set || x.call != nil || x.lazy != nil || k == value.ListKind || k == value.MapKind || k == value.NullKind {
		return c.fail()
	}
	text, err := py.Spec(x.v, format)
	if err != nil {
		return c.raise(err.Error())
	}
	return Str(text)
}

// strOf is str(x).
func strOf(x Operand) string {
	if x.v.Kind() == value.StringKind {
		return x.v.String()
	}
	return represented(x)
}

// represented is repr(x).
func represented(x Operand) string {
	text := string(appendRepr(nil, x.v, 0))
	switch {
	case x.call != nil:
		return "<function>"
	case x.lazy != nil:
		return "<generator>"
	case x.tuple && x.v.Len() == 1:
		return "(" + text[1:len(text)-1] + ",)"
	case x.tuple:
		return "(" + text[1:len(text)-1] + ")"
	case x.set && x.v.Len() == 0:
		return "set()"
	case x.set:
		return "{" + text[1:len(text)-1] + "}"
	}
	return text
}

// inBase is int(text, base).
func (c *Condition) inBase(x, base Operand) Operand {
	n, ok := whole(base.v)
	if !ok || x.v.Kind() != value.StringKind || x.name != "" {
		return c.fail()
	}
	if n != 0 && n < 2 || n > 36 {
		return c.raise("int() base must be >= 2 and <= 36, or 0")
	}
	text := strings.ToLower(digits(strings.TrimFunc(x.v.String(), unicode.IsSpace)))
	sign := ""
	if text != "" && strings.Contains("+-", text[:1]) {
		sign, text = text[:1], text[1:]
	}
	for prefix, b := range map[string]int64{"0x": 16, "0o": 8, "0b": 2} {
		if n == b || n == 0 {
			if rest, cut := strings.CutPrefix(text, prefix); cut {
				text, n = rest, b
			}
		}
	}
	if n == 0 {
		n = 10
	}
	v, err := strconv.ParseInt(sign+text, int(n), 64)
	if err != nil || strings.ContainsAny(text, "+-") {
		b, _ := whole(base.v)
		return c.raise("invalid literal for int() with base " + strconv.FormatInt(b, 10) + ": " + repr(x.v))
	}
	return Int(v)
}

// percent is the operator % of text.
func (c *Condition) percent(s string, y Operand) Operand {
	values := []value.Value{y.v}
	if y.tuple {
		values = items(y.v)
	}
	var b strings.Builder
	for rest := s; rest != ""; {
		plain, after, found := strings.Cut(rest, "%")
		b.WriteString(plain)
		if !found {
			break
		}
		n := strings.IndexFunc(after, func(r rune) bool { return !strings.ContainsRune("#0- +.123456789", r) })
		switch {
		case n < 0:
			return c.raise("incomplete format")
		case after[n] == '%':
			b.WriteByte('%')
		case strings.IndexByte("sradiouxXeEfFgGc", after[n]) < 0 || y.set || y.dotted:
			return c.refused(after[n])
		case len(values) == 0:
			return c.fail() // not enough arguments
		default:
			v := values[0]
			values = values[1:]
			if strings.IndexByte("sra", after[n]) < 0 && v.Kind() != value.IntKind && v.Kind() != value.FloatKind && v.Kind() != value.BoolKind {
				return c.fail()
			}
			text, ok := py.Percent(after[:n], after[n], v)
			if !ok {
				return c.fail()
			}
			b.WriteString(text)
		}
		rest = after[n+1:]
	}
	if len(values) > 0 && (y.tuple || y.v.Kind() != value.MapKind) && !(y.v.Kind() == value.ListKind && !y.tuple) {
		return c.fail() // not all arguments converted
	}
	return Str(b.String())
}

func (c *Condition) refused(verb byte) Operand {
	return c.raise("unsupported format character " + strconv.QuoteRune(rune(verb)))
}

// ofNumber are the methods of numbers.
func (c *Condition) ofNumber(v value.Value, name string, args []Operand) Operand {
	n, isWhole := whole(v)
	switch {
	case len(args) > 0:
	case name == "is_integer" && v.Kind() == value.FloatKind:
		return Bool(v.Float() == math.Trunc(v.Float()))
	case name == "is_integer":
		return Bool(true)
	case name == "bit_length" && isWhole:
		if n < 0 {
			n = -n
		}
		return Int(int64(len(strings.TrimLeft(strconv.FormatInt(n, 2), "0"))))
	case name == "bit_length" && v.Digits() != "":
		return Int(int64(py.Big(v).BitLen()))
	}
	return c.fail()
}

// ofSet are the methods of sets.
func (c *Condition) ofSet(x Operand, name string, args []Operand) Operand {
	op := map[string]string{"union": "|", "intersection": "&", "difference": "-", "symmetric_difference": "^"}[name]
	others := make([]Operand, len(args))
	for i, a := range args {
		a = a.given()
		if a.name != "" || c.failed || !iterable(a) {
			return c.fail()
		}
		var all []Operand
		for _, v := range iterated(a.v) {
			all = append(all, Operand{v: v})
		}
		others[i] = c.Set(all...)
	}
	switch {
	case c.failed:
	case name == "copy" && len(args) == 0:
		return x
	case op == "^" && len(args) != 1:
	case op != "":
		for _, y := range others {
			x = c.combined(op, x, y)
		}
		return x
	case len(args) != 1:
	case name == "issubset":
		return Bool(within(x.v, others[0].v))
	case name == "issuperset":
		return Bool(within(others[0].v, x.v))
	case name == "isdisjoint":
		return Bool(c.combined("&", x, others[0]).v.Len() == 0)
	}
	return c.fail()
}

// byName puts arguments that are given by their names in their places; ok is false for others.
func byName(args []Operand, names ...string) (out []Operand, ok bool) {
	placed, named := namedOf(args)
	out = make([]Operand, len(names))
	if len(placed) > len(names) {
		return nil, false
	}
	copy(out, placed)
	for _, name := range slices.Sorted(maps.Keys(named)) {
		i := slices.Index(names, name)
		if i < len(placed) {
			return nil, false
		}
		out[i] = named[name]
	}
	return out, true
}

// ofTextFurther are the methods of text with arguments by name, with numbers, and those that few use.
func (c *Condition) ofTextFurther(s, name string, args []Operand) (out Operand, done bool) {
	switch name {
	case "split", "rsplit":
		return c.split(s, name, args), true
	case "center", "ljust", "rjust", "zfill", "expandtabs":
		return c.padded(s, name, args), true
	case "format":
		return c.formatText(s, args), true
	case "find", "rfind", "index", "rindex", "count", "startswith", "endswith":
		if len(args) == 2 || len(args) == 3 {
			return c.within(s, name, args), true
		}
	case "splitlines":
		a, ok := byName(args, "keepends")
		if !ok {
			return c.fail(), true
		}
		if truth(a[0]) {
			return listOf(slices.Collect(strings.Lines(s))), true
		}
		return listOf(slices.Collect(splitLines(s))), true
	case "replace":
		if len(args) == 3 && args[0].v.Kind() == value.StringKind && args[1].v.Kind() == value.StringKind {
			n, ok := whole(args[2].v)
			if !ok || args[2].name != "" {
				return c.fail(), true
			}
			return Str(strings.Replace(s, args[0].v.String(), args[1].v.String(), int(max(n, -1)))), true
		}
	case "strip", "lstrip", "rstrip":
		if len(args) == 1 && args[0].v.IsNull() && args[0].name == "" && args[0].call == nil {
			return Str(plain[name](s)), true
		}
	}
	if slices.ContainsFunc(args, func(x Operand) bool { return x.name != "" }) {
		return c.fail(), true
	}
	return Operand{}, false
}

// split is s.split(sep, maxsplit), and rsplit.
func (c *Condition) split(s, name string, args []Operand) Operand {
	a, ok := byName(args, "sep", "maxsplit")
	if !ok || c.failed {
		return c.fail()
	}
	most := int64(-1)
	if !a[1].v.IsNull() {
		if most, ok = whole(a[1].v); !ok {
			return c.fail()
		}
	}
	right := name == "rsplit"
	switch {
	case a[0].v.IsNull():
		return listOf(spaced(s, most, right))
	case a[0].v.Kind() != value.StringKind:
		return c.fail()
	case a[0].v.String() == "":
		return c.raise("empty separator")
	}
	words := strings.Split(s, a[0].v.String())
	if extra := len(words) - 1 - int(most); most >= 0 && extra > 0 {
		if right {
			words = append([]string{strings.Join(words[:extra+1], a[0].v.String())}, words[extra+1:]...)
		} else {
			words = append(words[:most:most], strings.Join(words[most:], a[0].v.String()))
		}
	}
	return listOf(words)
}

// spaced are the words between spaces, of which at most so many are split off.
func spaced(s string, most int64, right bool) []string {
	if most < 0 {
		return strings.FieldsFunc(s, unicode.IsSpace)
	}
	var out []string
	for ; most > 0; most-- {
		if right {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
			at := strings.LastIndexFunc(s, unicode.IsSpace)
			if at < 0 {
				break
			}
			_, n := decodeAt(s, at)
			out, s = append(out, s[at+n:]), s[:at]
			continue
		}
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		at := strings.IndexFunc(s, unicode.IsSpace)
		if at < 0 {
			break
		}
		out, s = append(out, s[:at]), s[at:]
	}
	trim := strings.TrimLeftFunc
	if right {
		trim = strings.TrimRightFunc
	}
	if s = trim(s, unicode.IsSpace); s != "" {
		out = append(out, s)
	}
	if right {
		slices.Reverse(out)
	}
	return out
}

func decodeAt(s string, at int) (rune, int) {
	for _, r := range s[at:] {
		return r, len(string(r))
	}
	return 0, 0
}

// padded are the methods that make text longer.
func (c *Condition) padded(s, name string, args []Operand) Operand {
	if name == "expandtabs" {
		return c.tabs(s, args)
	}
	if len(args) == 0 || len(args) > 2 || args[0].name != "" || name == "zfill" && len(args) > 1 {
		return c.fail()
	}
	width, ok := whole(args[0].v)
	fill := " "
	if len(args) == 2 {
		fill = args[1].v.String()
		ok = ok && args[1].name == "" && args[1].v.Kind() == value.StringKind && len([]rune(fill)) == 1
	}
	switch {
	case !ok:
		return c.fail()
	case width > maxRepeated:
		return c.raise("the value is too large")
	}
	n := int(width) - len([]rune(s))
	if n <= 0 {
		return Str(s)
	}
	switch name {
	case "ljust":
		return Str(s + strings.Repeat(fill, n))
	case "rjust":
		return Str(strings.Repeat(fill, n) + s)
	case "zfill":
		sign := ""
		if s != "" && (s[0] == '-' || s[0] == '+') {
			sign, s = s[:1], s[1:]
		}
		return Str(sign + strings.Repeat("0", n) + s)
	}
	left := n/2 + n&int(width)&1
	return Str(strings.Repeat(fill, left) + s + strings.Repeat(fill, n-left))
}

func (c *Condition) tabs(s string, args []Operand) Operand {
	a, ok := byName(args, "tabsize")
	size := int64(8)
	if ok && !a[0].v.IsNull() {
		size, ok = whole(a[0].v)
	}
	if !ok || size > 1000 {
		return c.fail()
	}
	var b strings.Builder
	column := int64(0)
	for _, r := range s {
		switch {
		case r == '\t' && size > 0:
			n := size - column%size
			b.WriteString(strings.Repeat(" ", int(n)))
			column += n
		case r == '\t':
		default:
			b.WriteRune(r)
			if column++; r == '\n' || r == '\r' {
				column = 0
			}
		}
	}
	return Str(b.String())
}

// formatText is s.format(...): values by their place or their name, without what is behind points or in brackets.
func (c *Condition) formatText(s string, args []Operand) Operand {
	placed, named := namedOf(args)
	values := make([]dynamic.Field, 0, len(args))
	for _, x := range placed {
		values = append(values, dynamic.Of(x.v))
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		at := strconv.Itoa(len(values))
		for _, end := range []string{"}", ":", "!"} {
			s = strings.ReplaceAll(s, "{"+name+end, "{"+at+end)
		}
		values = append(values, dynamic.Of(named[name].v))
	}
	text, err := py.Format(s, values...)
	if err != nil {
		return c.raise(err.Error())
	}
	return Str(text)
}

// within are the methods that look at a part of a text only.
func (c *Condition) within(s, name string, args []Operand) Operand {
	all := []rune(s)
	ends := [2]int64{0, int64(len(all))}
	for i, a := range args[1:] {
		if a.v.IsNull() {
			continue
		}
		n, ok := whole(a.v)
		if !ok || a.name != "" {
			return c.fail()
		}
		if n < 0 {
			n = max(n+int64(len(all)), 0)
		}
		ends[i] = n
	}
	lo, hi := ends[0], min(ends[1], int64(len(all)))
	part := ""
	switch {
	case lo <= hi:
		part = string(all[lo:hi])
	case name == "startswith" || name == "endswith":
		return Bool(false)
	}
	out := c.ofText(part, name, args[:1])
	if n, found := whole(out.v); !c.failed && found && strings.Contains("find rfind index rindex", name) && n >= 0 {
		return Int(n + lo)
	}
	return out
}
