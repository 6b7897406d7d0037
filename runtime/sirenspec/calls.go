package sirenspec

import (
	"go/token"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Len is len(x).
func (c *Condition) Len(args ...Operand) Operand {
	x, ok := c.one(args)
	if !ok {
		return Operand{}
	}
	switch x.v.Kind() {
	case value.StringKind:
		return Int(int64(utf8.RuneCountInString(x.v.String())))
	case value.ListKind:
		return Int(int64(x.v.Len()))
	case value.MapKind:
		if !x.dotted {
			return Int(int64(x.v.Len()))
		}
	}
	return c.fail()
}

// ToBool is bool(x).
func (c *Condition) ToBool(args ...Operand) Operand {
	if len(args) == 0 {
		return Bool(false)
	}
	x, ok := c.one(args)
	return Bool(ok && truth(x))
}

// ToStr is str(x).
func (c *Condition) ToStr(args ...Operand) Operand {
	if args = spread(args); len(args) == 1 && args[0].name == "object" {
		args[0].name = ""
	}
	if len(args) == 0 {
		return Str("")
	}
	x, ok := c.one(args)
	if !ok {
		return Operand{}
	}
	return Str(strOf(x))
}

// ToInt is int(x), or of a text int(x, base).
func (c *Condition) ToInt(args ...Operand) Operand {
	if args = spread(args); len(args) == 0 {
		return Int(0)
	}
	if len(args) == 2 && (args[1].name == "" || args[1].name == "base") {
		return c.inBase(args[0], args[1])
	}
	x, ok := c.one(args)
	if !ok {
		return Operand{}
	}
	switch x.v.Kind() {
	case value.BoolKind, value.IntKind:
		n, _ := whole(x.v)
		return Int(n)
	case value.FloatKind:
		f := math.Trunc(x.v.Float())
		switch {
		case x.v.Digits() != "":
			return Operand{v: x.v}
		case math.IsNaN(f):
			return c.raise("cannot convert float NaN to integer")
		case math.IsInf(f, 0):
			return c.raise("cannot convert float infinity to integer")
		case math.Abs(f) < 1<<63:
			return Int(int64(f))
		}
		n, _ := big.NewFloat(f).Int(nil)
		return Digits(n.String())
	case value.StringKind:
		text := strings.TrimFunc(x.v.String(), unicode.IsSpace)
		if n, err := strconv.ParseInt(digits(text), 10, 64); err == nil {
			return Int(n)
		}
		if n, ok := new(big.Int).SetString(digits(text), 10); ok {
			return Digits(n.String())
		}
		return c.raise("invalid literal for int() with base 10: " + repr(x.v))
	}
	return c.fail()
}

// digits is a number without the underscores that may be between digits.
func digits(s string) string {
	if strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") {
		return ""
	}
	return strings.ReplaceAll(s, "_", "")
}

// ToFloat is float(x).
func (c *Condition) ToFloat(args ...Operand) Operand {
	if len(args) == 0 {
		return Float(0)
	}
	x, one := c.one(args)
	if !one {
		return Operand{}
	}
	if f, ok := number(x.v); ok {
		return Float(f)
	}
	if x.v.Kind() != value.StringKind {
		return c.fail()
	}
	text := digits(strings.ToLower(strings.TrimFunc(x.v.String(), unicode.IsSpace)))
	f, err := strconv.ParseFloat(text, 64)
	if strings.ContainsAny(text, "xp") || err != nil && !math.IsInf(f, 0) {
		return c.raise("could not convert string to float: " + repr(x.v))
	}
	return Float(f)
}

// Abs is abs(x).
func (c *Condition) Abs(args ...Operand) Operand {
	x, one := c.one(args)
	if !one {
		return Operand{}
	}
	if n, ok := number(x.v); !ok || n >= 0 {
		if !ok {
			return c.fail()
		}
		return c.Plus(x)
	}
	return c.Minus(x)
}

// Min is min of one list or of several values.
func (c *Condition) Min(x ...Operand) Operand { return c.extreme("min", x, -1) }

// Max is max of one list or of several values.
func (c *Condition) Max(x ...Operand) Operand { return c.extreme("max", x, 1) }

func (c *Condition) extreme(name string, args []Operand, sign int) Operand {
	x, named := namedOf(args)
	key, hasKey := named["key"]
	instead, hasDefault := named["default"]
	known := 0
	for _, has := range []bool{hasKey, hasDefault} {
		if has {
			known++
		}
	}
	if c.failed || len(named) != known || len(x) == 0 || hasDefault && len(x) > 1 || hasKey && key.call == nil && !key.v.IsNull() {
		return c.fail()
	}
	if len(x) == 1 {
		list := x[0].given()
		if c.failed || !iterable(list) {
			return c.fail()
		}
		x = nil
		for _, v := range iterated(list.v) {
			x = append(x, Operand{v: v})
		}
	}
	switch {
	case len(x) == 0 && hasDefault:
		return instead
	case len(x) == 0:
		return c.raise(name + "() arg is an empty sequence")
	}
	by := func(v Operand) Operand {
		if key.call == nil {
			return v
		}
		return key.call([]Operand{v})
	}
	best, rank := x[0], by(x[0])
	for _, y := range x[1:] {
		other := by(y)
		n, ok := compare(other.v, rank.v, 0)
		if !ok || c.failed {
			return c.fail()
		}
		if n*sign > 0 && n != unordered {
			best, rank = y, other
		}
	}
	return best
}

// Method is x.name(args...): a method of Python's str, list or dict.
func (c *Condition) Method(x Operand, name string, args ...Operand) Operand {
	args = spread(args)
	switch {
	case x.dotted || c.failed:
	case x.set:
		return c.ofSet(x, name, args)
	case x.call != nil || x.lazy != nil:
	case x.v.Kind() == value.IntKind || x.v.Kind() == value.FloatKind || x.v.Kind() == value.BoolKind:
		return c.ofNumber(x.v, name, args)
	case x.v.Kind() == value.StringKind:
		return c.ofText(x.v.String(), name, args)
	case x.v.Kind() == value.ListKind:
		return c.ofList(x.v, name, args)
	case x.v.Kind() == value.MapKind:
		return c.ofMap(x.v, name, args)
	}
	return c.fail()
}

func (c *Condition) ofList(v value.Value, name string, args []Operand) Operand {
	if name == "copy" && len(args) == 0 {
		return Operand{v: v}
	}
	if len(args) != 1 || args[0].name != "" {
		return c.fail()
	}
	var found []int
	for i, x := range items(v) {
		if equal(x, args[0].v, 0) {
			found = append(found, i)
		}
	}
	switch {
	case name == "count":
		return Int(int64(len(found)))
	case name == "index" && len(found) > 0:
		return Int(int64(found[0]))
	case name == "index":
		return c.raise(repr(args[0].v) + " is not in list")
	}
	return c.fail()
}

func (c *Condition) ofMap(v value.Value, name string, args []Operand) Operand {
	switch {
	case name == "copy" && len(args) == 0:
		return Operand{v: v}
	case name == "get" && (len(args) == 1 || len(args) == 2):
		if x, ok := v.Get(args[0].v.String()); ok && args[0].v.Kind() == value.StringKind {
			return Operand{v: x}
		}
		if len(args) == 2 {
			return args[1]
		}
		return None()
	case len(args) > 0:
		return c.fail()
	}
	var out []value.Value
	for i, key := range v.Keys() {
		switch name {
		case "keys":
			out = append(out, value.String(key))
		case "values":
			out = append(out, v.Index(i))
		case "items":
			out = append(out, value.List(value.String(key), v.Index(i)))
		default:
			return c.fail()
		}
	}
	return Operand{v: value.List(out...)}
}

// plain are the methods of text without arguments that give text.
var plain = map[string]func(string) string{
	"lower":      strings.ToLower,
	"upper":      func(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "ß", "SS")) },
	"casefold":   func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "ß", "ss") },
	"strip":      func(s string) string { return strings.TrimFunc(s, unicode.IsSpace) },
	"lstrip":     func(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) },
	"rstrip":     func(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) },
	"capitalize": capitalized,
	"title":      titled,
	"swapcase": func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsUpper(r) {
				return unicode.ToLower(r)
			}
			return unicode.ToUpper(r)
		}, s)
	},
}

func capitalized(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + strings.ToLower(s[n:])
}

func titled(s string) string {
	inside := false
	return strings.Map(func(r rune) rune {
		was := inside
		inside = unicode.IsLetter(r)
		if was {
			return unicode.ToLower(r)
		}
		return unicode.ToTitle(r)
	}, s)
}

// tests are the methods of text that ask something of all of its characters.
var tests = map[string]func(rune) bool{
	"isdigit":   unicode.IsDigit,
	"isdecimal": unicode.IsDigit,
	"isnumeric": unicode.IsNumber,
	"isalpha":   unicode.IsLetter,
	"isalnum":   func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) },
	"isspace":   unicode.IsSpace,
}

func (c *Condition) ofText(s, name string, args []Operand) Operand {
	if v, done := c.ofTextFurther(s, name, args); done {
		return v
	}
	if len(args) == 0 {
		return c.ofPlainText(s, name)
	}
	words := make([]string, len(args))
	for i, a := range args {
		if a.lazy != nil {
			a = a.given()
			args[i] = a
		}
		if a.v.Kind() == value.StringKind {
			words[i] = a.v.String()
		} else if i > 0 || name != "startswith" && name != "endswith" && name != "join" {
			return c.fail()
		}
	}
	switch first := args[0].v; {
	case len(args) == 2 && name == "replace":
		return Str(strings.ReplaceAll(s, words[0], words[1]))
	case len(args) > 1:
		return c.fail()
	case name == "startswith" || name == "endswith":
		return c.affix(s, name, first)
	case name == "join":
		return c.join(s, first)
	}
	return c.ofTextAndWord(s, name, words[0])
}

// ofTextAndWord are the methods of text that take one text.
func (c *Condition) ofTextAndWord(s, name, word string) Operand {
	at := strings.Index(s, word)
	if at > 0 {
		at = utf8.RuneCountInString(s[:at])
	}
	switch name {
	case "count":
		return Int(int64(strings.Count(s, word)))
	case "find":
		return Int(int64(at))
	case "index":
		if at < 0 {
			return c.raise("substring not found")
		}
		return Int(int64(at))
	case "strip":
		return Str(strings.Trim(s, word))
	case "lstrip":
		return Str(strings.TrimLeft(s, word))
	case "rstrip":
		return Str(strings.TrimRight(s, word))
	case "removeprefix":
		return Str(strings.TrimPrefix(s, word))
	case "removesuffix":
		return Str(strings.TrimSuffix(s, word))
	case "rfind", "rindex":
		last := strings.LastIndex(s, word)
		if last < 0 && name == "rindex" {
			return c.raise("substring not found")
		}
		return Int(int64(utf8.RuneCountInString(s[:max(last, 0)]) + min(last, 0)))
	case "partition", "rpartition":
		return c.partition(s, name, word)
	case "split", "rsplit":
		if word == "" {
			return c.raise("empty separator")
		}
		return listOf(strings.Split(s, word))
	}
	return c.fail()
}

// partition is a text in three parts: before a word, the word and after it.
func (c *Condition) partition(s, name, word string) Operand {
	if word == "" {
		return c.raise("empty separator")
	}
	at := strings.Index(s, word)
	if name == "rpartition" {
		at = strings.LastIndex(s, word)
	}
	switch {
	case at >= 0:
		return Tuple(Str(s[:at]), Str(word), Str(s[at+len(word):]))
	case name == "rpartition":
		return Tuple(Str(""), Str(""), Str(s))
	}
	return Tuple(Str(s), Str(""), Str(""))
}

func (c *Condition) ofPlainText(s, name string) Operand {
	if f := plain[name]; f != nil {
		return Str(f(s))
	}
	if holds := tests[name]; holds != nil {
		return Bool(s != "" && strings.IndexFunc(s, func(r rune) bool { return !holds(r) }) < 0)
	}
	switch name {
	case "istitle":
		return Bool(titled(s) == s && strings.IndexFunc(s, unicode.IsLetter) >= 0)
	case "isidentifier":
		return Bool(token.IsIdentifier(s) || token.IsKeyword(s))
	case "isprintable":
		return Bool(strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0)
	case "isascii":
		return Bool(strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0)
	case "split", "rsplit":
		return listOf(strings.FieldsFunc(s, unicode.IsSpace))
	case "splitlines":
		return listOf(slices.Collect(splitLines(s)))
	case "isupper":
		return Bool(strings.ToUpper(s) == s && strings.ToLower(s) != s)
	case "islower":
		return Bool(strings.ToLower(s) == s && strings.ToUpper(s) != s)
	}
	return c.fail()
}

// splitLines are the lines of text without their ends.
func splitLines(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(s) {
			if !yield(strings.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

// affix is startswith and endswith, which take one text or a tuple of them.
func (c *Condition) affix(s, name string, word value.Value) Operand {
	list := []value.Value{word}
	if word.Kind() == value.ListKind {
		list = items(word)
	}
	has := strings.HasPrefix
	if name == "endswith" {
		has = strings.HasSuffix
	}
	for _, w := range list {
		if w.Kind() != value.StringKind {
			return c.fail()
		}
		if has(s, w.String()) {
			return Bool(true)
		}
	}
	return Bool(false)
}

func (c *Condition) join(s string, list value.Value) Operand {
	var words []string
	for _, w := range elements(list) {
		if w.Kind() != value.StringKind {
			return c.fail()
		}
		words = append(words, w.String())
	}
	return Str(strings.Join(words, s))
}

func listOf(words []string) Operand {
	list := make([]value.Value, len(words))
	for i, w := range words {
		list[i] = value.String(w)
	}
	return Operand{v: value.List(list...)}
}
