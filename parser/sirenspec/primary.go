package sirenspec

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// functions are the functions that the engine gives to conditions, with the most arguments that they take.
var functions = map[string]int{"len": 1, "bool": 1, "str": 3, "int": 2, "float": 1, "abs": 1, "min": 100, "max": 100}

// methods are those of Python's str, list, dict, set and numbers that are compiled.
var methods = strings.Fields("lower upper casefold strip lstrip rstrip capitalize title isdigit isdecimal isnumeric isalpha isalnum " +
	"isspace isupper islower istitle isidentifier isprintable split splitlines startswith endswith join replace count find rfind index rindex partition rpartition rsplit swapcase isascii " +
	"removeprefix removesuffix center ljust rjust zfill expandtabs format get keys values items copy bit_length is_integer " +
	"union intersection difference symmetric_difference issubset issuperset isdisjoint")

// others are the methods that values have and that are not compiled.
var others = strings.Fields("translate maketrans encode format_map append extend insert remove pop popitem clear sort reverse update setdefault fromkeys add discard " +
	"intersection_update difference_update symmetric_difference_update as_integer_ratio conjugate hex fromhex to_bytes from_bytes bit_count " +
	"isoformat strftime weekday isoweekday toordinal timestamp date time timetuple utctimetuple astimezone utcoffset dst tzname isocalendar ctime decode")

var constants = map[string]string{"true": "true", "True": "true", "false": "false", "False": "false", "null": "", "None": ""}

// primary is a value with what follows it: names behind points, indexes and arguments.
func (c *condition) primary() *dialect.Predicate {
	out := c.atom()
	for !c.failed {
		t, ok := c.peek()
		switch {
		case !ok || t.kind != "op" || t.text != "." && t.text != "[" && t.text != "(":
			return out
		case t.text == ".":
			c.at++
			out = c.member(out, t)
		case t.text == "[":
			c.at++
			out = c.index(out, t)
		case out.Op == "unknown":
			c.at++
			if _, ok := c.list(nil, ")", t); !ok {
				return nil
			}
		case out.Op == "lambda":
			c.at++
			out = c.call("invoke", []*dialect.Predicate{out}, t)
		default:
			c.fail(t.lo, t.hi, "", "this is not a function")
		}
	}
	return nil
}

// member is a name behind a point: a key of the context, or a method.
func (c *condition) member(of *dialect.Predicate, dot token) *dialect.Predicate {
	t, ok := c.peek()
	if !ok || t.kind != "name" {
		c.fail(dot.lo, dot.hi, "", "a name is missing after the point")
		return nil
	}
	c.at++
	next, called := c.peek()
	called = called && next.kind == "op" && next.text == "("
	at := source.Span{File: of.Span.File, Lo: of.Span.Lo, Hi: c.text.At(t.lo, t.hi).Hi}
	switch {
	case called && slices.Contains(methods, t.text) && of.Op != "bucket":
		c.at++
		return c.call("method "+t.text, []*dialect.Predicate{of}, next)
	case called && (of.Op == "bucket" || !slices.Contains(others, t.text) && !strings.HasPrefix(t.text, "__")):
		c.at++
		if _, ok := c.list(nil, ")", next); !ok {
			return nil
		}
		c.p.Warn(diag.ExprSyntax, c.text.At(t.lo, t.hi), "", "no value has a method `%s` here: where it is called, the condition does not hold", t.text)
		return &dialect.Predicate{Op: "unknown", Span: at}
	case called:
		c.refuse(t.lo, next.hi, "the method `%s` is not compiled in a condition", t.text)
		return nil
	case of.Op == "bucket" || of.Op == "ref":
		c.p.reads(of.Ref.Root, t.text, at)
		r := &dialect.Reference{Text: source.Text{Value: strings.ReplaceAll(at.Text(), " ", ""), Span: at}, Root: of.Ref.Root, Path: append(slices.Clip(of.Ref.Path), t.text)}
		return &dialect.Predicate{Op: "ref", Ref: r, Span: at}
	case of.Op == "unknown":
		return &dialect.Predicate{Op: "unknown", Span: at}
	}
	c.p.Warn(diag.ExprSyntax, at, "write `['"+t.text+"']`", "items of lists and what methods give have no names behind points: the condition never holds")
	return &dialect.Predicate{Op: "unknown", Span: at}
}

// index is x[i] or x[from:to].
func (c *condition) index(of *dialect.Predicate, open token) *dialect.Predicate {
	if of.Op == "bucket" || of.Op == "ref" {
		if t, ok := c.peek(); ok && t.kind == "string" {
			c.p.Warn(diag.ExprSyntax, c.text.At(open.lo, t.hi), "write `."+t.text+"`", "keys of the context are behind points: the condition holds only when this is a list")
		}
	}
	none := c.constant("", "!!null", c.text.At(open.lo, open.hi))
	from, to := none, none
	if !c.takes(":") {
		from = c.choice()
		if c.failed {
			return nil
		}
		if !c.takes(":") {
			if !c.wants("]", open) {
				return nil
			}
			return c.upTo(predicate("item", of, from))
		}
	}
	step := none
	if t, ok := c.peek(); !ok || t.kind == "string" || t.text != "]" && t.text != ":" {
		to = c.choice()
	}
	if !c.failed && c.takes(":") {
		if t, ok := c.peek(); !ok || t.kind == "string" || t.text != "]" {
			step = c.choice()
		}
	}
	if c.failed || !c.wants("]", open) {
		return nil
	}
	return c.upTo(predicate("part", of, from, to, step))
}

// upTo makes a predicate end where the last token does.
func (c *condition) upTo(p *dialect.Predicate) *dialect.Predicate {
	if last := c.tokens[c.at-1]; p != nil {
		p.Span.Hi = c.text.At(last.lo, last.hi).Hi
	}
	return p
}

// call reads arguments behind a parenthesis.
func (c *condition) call(op string, args []*dialect.Predicate, open token) *dialect.Predicate {
	args, ok := c.list(args, ")", open)
	if !ok {
		return nil
	}
	out := &dialect.Predicate{Op: op, Kids: args, Span: c.text.At(open.lo, open.hi)}
	if len(args) > 0 {
		out.Span.Lo = args[0].Span.Lo
	}
	return c.upTo(out)
}

// list reads values up to the closing bracket.
func (c *condition) list(out []*dialect.Predicate, end string, open token) ([]*dialect.Predicate, bool) {
	for !c.failed && !c.takes(end) {
		if loop, ok := c.loop(); !ok {
			out = append(out, c.argument(end == ")"))
		} else if begin := c.at; len(out) == 0 || len(out) == 1 && end == ")" {
			c.at = loop
			out = append(out, c.comprehension(begin, end == ")"))
		} else {
			c.amongOthers(c.tokens[loop], "parentheses")
		}
		if c.failed {
			break
		}
		if c.takes(",") {
			continue
		}
		return out, c.wants(end, open)
	}
	return out, !c.failed
}

// atom is a constant, a name, a list, or a condition in parentheses.
func (c *condition) atom() *dialect.Predicate {
	t, ok := c.peek()
	if !ok {
		end := len(c.text.Value)
		c.fail(end, end, "", "a value is missing at the end")
		return nil
	}
	c.at++
	at := c.text.At(t.lo, t.hi)
	switch {
	case t.kind == "int":
		return c.constant(t.text, "!!int", at)
	case t.kind == "float":
		return c.constant(t.text, "!!float", at)
	case t.kind == "string" || t.kind == "fstring":
		return c.literal(t, at)
	case t.kind == "name":
		return c.name(t, at)
	case t.text == "(":
		return c.parentheses(t)
	case t.text == "[":
		items, ok := c.list(nil, "]", t)
		if !ok {
			return nil
		}
		return c.upTo(displayed("list", items, at))
	case t.text == "{":
		return c.braces(t)
	}
	c.unfinished(t)
	return nil
}

// literal is a text, perhaps in several parts behind each other.
func (c *condition) literal(t token, at source.Span) *dialect.Predicate {
	var parts []*dialect.Predicate
	for ; t.kind == "string" || t.kind == "fstring"; t, _ = c.peek() {
		if len(parts) > 0 {
			c.at++
		}
		at.Hi = c.text.At(t.lo, t.hi).Hi
		if t.kind == "fstring" {
			p := c.fstring(t)
			if c.failed {
				return nil
			}
			parts = append(parts, p)
		} else if last := len(parts) - 1; last >= 0 && parts[last].Op == "const" {
			parts[last] = c.constant(parts[last].Lit.Text.Value+t.text, "!!str", at)
		} else {
			parts = append(parts, c.constant(t.text, "!!str", at))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return &dialect.Predicate{Op: "text", Kids: parts, Span: at}
}

// parentheses hold a condition, or with a comma a tuple.
func (c *condition) parentheses(open token) *dialect.Predicate {
	if c.takes(")") {
		return &dialect.Predicate{Op: "tuple", Span: c.text.At(open.lo, open.hi)}
	}
	if loop, ok := c.loop(); ok {
		begin := c.at
		c.at = loop
		made := c.comprehension(begin, true)
		if c.failed || !c.wants(")", open) {
			return nil
		}
		return c.upTo(made)
	}
	inner := c.argument(false)
	if c.failed {
		return nil
	}
	if c.takes(",") {
		items, ok := c.list([]*dialect.Predicate{inner}, ")", open)
		if !ok {
			return nil
		}
		return c.upTo(&dialect.Predicate{Op: "tuple", Kids: items, Span: c.text.At(open.lo, open.hi)})
	}
	if !c.wants(")", open) {
		return nil
	}
	inner.Span.Lo = c.text.At(open.lo, open.hi).Lo
	return c.upTo(inner)
}

var keywords = strings.Fields("and or not in is if else for lambda await yield async import from class def del pass return while with try raise global as assert except finally nonlocal break continue elif")

// name is a constant, a function, a bucket of the context, or a mistake.
func (c *condition) name(t token, at source.Span) *dialect.Predicate {
	if v := c.local(t.text, at); v != nil {
		return v
	}
	next, _ := c.peek()
	called := next.kind == "op" && next.text == "("
	word, isConstant := constants[t.text]
	most, isFunction := functions[t.text]
	switch {
	case isConstant && word != "":
		return c.constant(word, "!!bool", at)
	case isConstant:
		return c.constant("", "!!null", at)
	case isFunction && called:
		c.at++
		out := c.call("call "+t.text, nil, next)
		if c.failed {
			return nil
		}
		out.Span.Lo = at.Lo
		if n := len(out.Kids); n > most || n == 0 && (t.text == "len" || most > 10 || t.text == "abs") {
			c.p.Warn(diag.ExprSyntax, out.Span, "", "`%s` does not take %d values: the condition never holds", t.text, n)
			return &dialect.Predicate{Op: "unknown", Span: out.Span}
		}
		return out
	case isFunction:
		return c.function(t, at)
	case slices.Contains(c.bound, t.text):
		return &dialect.Predicate{Op: "bound", Lit: &ir.Scalar{Text: source.Text{Value: t.text, Span: at}, Tag: "!!str"}, Span: at}
	case t.text == "working" || t.text == "output":
		return &dialect.Predicate{Op: "bucket", Ref: &dialect.Reference{Text: source.Text{Value: t.text, Span: at}, Root: t.text}, Span: at}
	case t.text == "_budget":
		return c.budget(at)
	case slices.Contains(keywords, t.text):
		c.unfinished(t)
		return nil
	}
	return c.unknown(t, at, called)
}

// budget is the bare name of the budget, which the pages use and the engine does not know.
func (c *condition) budget(at source.Span) *dialect.Predicate {
	if c.p.opts.Upstream {
		c.p.Differs(at, "write `working._budget`", "the pages write `_budget`, which the engine does not know: the condition never holds")
		return &dialect.Predicate{Op: "unknown", Span: at}
	}
	c.p.Differs(at, "write `working._budget`", "the engine does not know `_budget`, so that the condition never holds there; here it is what the pages say")
	c.p.reads("working", "_budget", at)
	return &dialect.Predicate{Op: "ref", Ref: &dialect.Reference{Text: source.Text{Value: "_budget", Span: at}, Root: "working", Path: []string{"_budget"}}, Span: at}
}

// unknown is a name that the engine does not know, with what is behind it.
func (c *condition) unknown(t token, at source.Span, called bool) *dialect.Predicate {
	help := "put text in quotes; values of the context are below `working` and `output`, as in `working." + t.text + "`"
	if called {
		help = "the functions are len, bool, str, int, float, abs, min and max"
		open, _ := c.peek()
		c.at++
		if _, ok := c.list(nil, ")", open); !ok {
			return nil
		}
	}
	c.p.Warn(diag.ExprSyntax, at, help, "the engine does not know `%s`: where it is looked at, the condition does not hold", t.text)
	return &dialect.Predicate{Op: "unknown", Span: at}
}
