package check

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// value checks a value of the file against the type it stands for; with want nil the type is inferred. It returns the
// type the value has, which is poison after a mistake.
func (c *checker) value(v ir.Value, want *schema.Type, e *env) *schema.Type {
	switch v := v.(type) {
	case *ir.Expr:
		return c.expression(v, want, e)
	case *ir.Template:
		if v.Tmpl != nil && len(v.Tmpl.Segments) == 1 && v.Tmpl.Segments[0].Expr == nil {
			c.secretText(v.Tmpl.Segments[0].Lit, v.Source())
		}
		c.template(v, e)
		return c.fits(schema.StringType, want, v.Source(), "text")
	case *ir.Scalar:
		if v.Tag == "!!str" {
			c.secretText(v.Text.Value, v.Source())
			if c.noDollar(v, want, e) {
				return schema.InvalidType
			}
		} else if !c.cases && untyped(want) && wide(v.Text.Value) != "" { // Go has no type for it, and a float would round it silently
			c.report(diag.Diagnostic{Code: diag.BadLiteral, Span: v.Source(), Message: "`" + v.Text.Value + "` does not fit into 64 bits",
				Help: "write it with an exponent, as a float, or in quotes, as text"})
			return schema.InvalidType
		}
		return c.scalar(v, want)
	case *ir.List:
		return c.list(v, want, e)
	case *ir.Object:
		return c.object(v, want, e)
	}
	return schema.InvalidType
}

// path is what looks like an expression that reads a value.
var path = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,100}(?:\.[A-Za-z_][A-Za-z0-9_]{0,100}){0,10}$`)

// noDollar looks for text without quotes that reads a value if a `$` is before it. Where text cannot be, that is the mistake, and
// it reports so; else a value of text is what is certainly not meant.
func (c *checker) noDollar(v *ir.Scalar, want *schema.Type, e *env) bool {
	at, text := v.Text.Span, v.Text.Value
	if c.wf.Public || e == nil || e.params != nil || e.scope != nil || at.File == nil || at.Text() != text || !path.MatchString(text) {
		return false
	}
	fits := want == nil || want.Present().Kind == schema.String || want.Present().Kind == schema.Any
	if fits && !strings.Contains(text, ".") || want != nil && want.Present().Kind == schema.Invalid || want != nil && want.Present().Kind == schema.Enum {
		return false
	}
	if !e.reads(text) {
		return false
	}
	if fits {
		c.warn(diag.Diagnostic{Code: diag.NotExpression, Span: at, Message: "this is the text `" + text + "`, not the value", Help: "write `$" + text + "`, or put the text in quotes"})
		return false
	}
	d := misfit(at, want, "text")
	d.Help, d.Fixes = "replace with `$"+text+"`", []diag.Fix{diag.Replace(at, "$"+text)}
	c.report(d)
	return true
}

// reads reports whether a path has a value where e stands, or would have one if the node that it reads came before.
func (e *env) reads(path string) bool {
	root, field, dot := strings.Cut(path, ".")
	sym := e.Lookup(root)
	if sym == nil {
		return false
	}
	if s, ok := sym.Ref.(*Step); ok && sym.Problem != nil && sym.Problem.Code == diag.NotBefore && s != e.step {
		field, _, _ = strings.Cut(field, ".")
		t := s.Node.Result
		return !dot || t == nil || t.Kind != schema.Invalid && t.Present().Field(field) != nil
	}
	n, problems := expr.Parse(path)
	if len(problems) > 0 || sym.Problem != nil || sym.Type.Kind == schema.Invalid {
		return false
	}
	return len(expr.Check(n, e, e.facts(n))) == 0 && n.Type.Kind != schema.Invalid
}

func (c *checker) expression(v *ir.Expr, want *schema.Type, e *env) *schema.Type {
	if v.Node == nil {
		return schema.InvalidType
	}
	var problems []expr.Problem
	if want != nil && c.wf.Casts && c.casts(v.Node, want, e) {
		return want
	}
	if want == nil {
		problems = expr.Check(v.Node, e, e.facts(v.Node))
	} else {
		problems = expr.CheckExpect(v.Node, e, e.facts(v.Node), want)
	}
	if c.look != nil {
		c.look(v.Node, e)
	}
	if len(problems) == 0 {
		problems = c.wholeState(v.Node, e)
	}
	c.problems(v.Text, problems)
	if len(problems) > 0 || v.Node.Type == nil {
		return schema.InvalidType
	}
	return v.Node.Type
}

// casts reports whether a value becomes one of the type that is asked for when the workflow runs: a dynamic one, text where
// an enum is asked for, an int where a float is, and one that may be absent.
func (c *checker) casts(n *expr.Node, want *schema.Type, e *env) bool {
	for part := n; part.Op != expr.Name; part = part.Kids[0] {
		if part.Op != expr.Field {
			return false
		}
	}
	if len(expr.Check(n, e, e.facts(n))) > 0 || n.Type == nil || len(c.wholeState(n, e)) > 0 {
		return false
	}
	have := n.Type
	if have.Kind == schema.Opt && want.Kind != schema.Opt && want.Kind != schema.Any {
		n.Must, have = true, have.Elem
		return schema.Assignable(have, want) || castable(have, want)
	}
	return castable(have, want.Present())
}

func castable(have, want *schema.Type) bool {
	switch have.Kind {
	case schema.Any:
		return want.Kind != schema.Any
	case schema.String:
		return want.Kind == schema.Enum
	case schema.Int:
		return want.Kind == schema.Float
	}
	return false
}

func (c *checker) template(v *ir.Template, e *env) {
	var list []*expr.Node
	for _, s := range v.Tmpl.Segments {
		if s.Expr != nil {
			list = append(list, s.Expr)
		}
	}
	problems := expr.CheckTemplate(v.Tmpl, e, e.facts(list...))
	for _, n := range list {
		if c.look != nil {
			c.look(n, e)
		}
		if len(problems) == 0 {
			problems = c.wholeState(n, e)
		}
	}
	c.problems(v.Text, problems)
}

// problems reports what the expression checker found, at its exact place in the file.
func (c *checker) problems(text source.Text, list []expr.Problem) {
	for _, p := range list {
		if p.Fault {
			panic(&Fault{At: text.At(p.Lo, p.Hi), Message: p.Message})
		}
		d := diag.Diagnostic{Code: p.Code, Message: p.Message, Span: text.At(p.Lo, p.Hi), Help: p.Help, Related: p.Related}
		if p.Replace != nil {
			d.Fixes = []diag.Fix{diag.ReplaceIn(text, d.Span, *p.Replace)}
			if d.Help == "" {
				d.Help = d.Fixes[0].Title
			}
		}
		if p.Warning {
			d.Severity = diag.Warning
		}
		c.report(d)
	}
}

// fits reports a value of type have where want is asked for.
func (c *checker) fits(have, want *schema.Type, at source.Span, what string) *schema.Type {
	if want == nil || schema.Assignable(have, want) {
		return have
	}
	c.mismatch(at, want, what)
	return schema.InvalidType
}

func (c *checker) mismatch(at source.Span, want *schema.Type, what string) {
	d := misfit(at, want, what)
	if want.Decl != nil {
		d.Related = []diag.Related{{Span: want.Decl.Span, Message: want.Decl.Name + " is declared here"}}
	}
	c.report(d)
}

func misfit(at source.Span, want *schema.Type, what string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.TypeMismatch, Span: at, Message: fmt.Sprintf("this is %s, but %s is needed here", what, want)}
}

// untyped reports whether a literal keeps the type that its text says.
func untyped(want *schema.Type) bool {
	return want == nil || want.Present().Kind == schema.Invalid || want.Present().Kind == schema.Any
}

// scalar checks a literal.
func (c *checker) scalar(v *ir.Scalar, want *schema.Type) *schema.Type {
	have, ok := literalTypes[v.Tag]
	if !ok {
		have = schema.StringType
	}
	if untyped(want) {
		return have
	}
	if have == schema.NullType {
		return c.fits(have, want, v.Source(), "null")
	}
	to := want.Present()
	text := v.Text.Value
	switch to.Kind {
	case schema.String:
		if have != schema.StringType {
			d := misfit(v.Source(), want, have.String())
			d.Help, d.Fixes = "quote it", []diag.Fix{diag.Replace(v.Source(), strconv.Quote(v.Source().Text()))}
			c.report(d)
			return schema.InvalidType
		}
		return want
	case schema.Enum:
		if have != schema.StringType && have != schema.BoolType && have != schema.IntType {
			break
		}
		for _, e := range to.Values {
			if e == text {
				return want
			}
		}
		c.reportUnknown(diag.EnumValue, expr.NotAValue(text, to), v.Source(), text, to.Values)
		return schema.InvalidType
	default:
		if fits, wrong := literal(have, to, text); wrong != "" {
			c.report(diag.Diagnostic{Code: diag.BadLiteral, Span: v.Source(), Message: wrong})
			return schema.InvalidType
		} else if fits {
			return want
		}
	}
	what := have.String()
	if have == schema.StringType {
		what = "text"
		if meant := unquoted(to, text); meant != "" {
			d := misfit(v.Source(), want, what)
			d.Help = "write `" + meant + "` without quotes"
			d.Fixes = []diag.Fix{{Title: d.Help, Edits: []diag.Edit{{Span: v.Source(), New: meant}}}}
			c.report(d)
			return schema.InvalidType
		}
	}
	c.mismatch(v.Source(), want, what)
	return schema.InvalidType
}

// unquoted is the literal of type to that text says in other words, "" when it says none: a number or a truth in quotes, and the
// truths of YAML 1.1, which are text here.
func unquoted(to *schema.Type, text string) string {
	switch to.Kind {
	case schema.Bool:
		switch strings.ToLower(text) {
		case "yes", "on", "true":
			return "true"
		case "no", "off", "false":
			return "false"
		}
	case schema.Int:
		if n, err := ParseInt(text); err == nil {
			return strconv.FormatInt(n, 10)
		}
	case schema.Float:
		if f, err := ParseFloat(text); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
	}
	return ""
}

// literal reports whether text of the type have is a literal of the type to; wrong says what keeps it from being one although
// it looks like one.
func literal(have, to *schema.Type, text string) (fits bool, wrong string) {
	switch to.Kind {
	case schema.Int:
		if have == schema.IntType {
			if _, err := ParseInt(text); err != nil {
				return false, fmt.Sprintf("%s does not fit into 64 bits", text)
			}
			return true, ""
		}
		if _, err := ParseInt(text); err != nil && strings.Trim(text, "+-0123456789") == "" {
			return false, fmt.Sprintf("%s does not fit into 64 bits", text)
		}
	case schema.Float:
		if have == schema.IntType || have == schema.FloatType {
			if f, err := ParseFloat(text); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
				return false, fmt.Sprintf("%s is not a finite number", text)
			}
			return true, ""
		}
	case schema.Bool:
		if have == schema.BoolType {
			return true, ""
		}
	case schema.Duration:
		if have == schema.StringType {
			if _, err := time.ParseDuration(text); err != nil {
				return false, fmt.Sprintf("%q is not a duration such as 1h30m or 500ms", text)
			}
			return true, ""
		}
	case schema.Time:
		if have == schema.StringType || have == schema.TimeType {
			if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
				return false, fmt.Sprintf("%q is not a time such as 2026-01-31T12:00:00Z", text)
			}
			return true, ""
		}
	case schema.Bytes:
		if have == schema.StringType || have == schema.BytesType {
			if _, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), "")); err != nil {
				return false, "this is not base64, the text form of bytes"
			}
			return true, ""
		}
	}
	return false, ""
}

var literalTypes = map[string]*schema.Type{
	"!!str": schema.StringType, "!!int": schema.IntType, "!!float": schema.FloatType, "!!bool": schema.BoolType,
	"!!null": schema.NullType, "!!binary": schema.BytesType, "!!timestamp": schema.StringType,
}

// ParseInt reads a YAML integer: decimal, or with 0x, 0o, 0b.
func ParseInt(text string) (int64, error) {
	return strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 0, 64)
}

// wide is the decimal form of a YAML integer that needs more than 64 bits, whose tag is !!int or !!float by its size; "" is all else.
func wide(text string) string {
	if _, err := ParseInt(text); err == nil || len(text) > 400 { // no float has that many digits, and big.Int takes the square of their time
		return ""
	}
	if n, ok := new(big.Int).SetString(strings.ReplaceAll(text, "_", ""), 0); ok {
		return n.String()
	}
	return ""
}

// ParseFloat reads a YAML number.
func ParseFloat(text string) (float64, error) {
	text = strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return float64(n), nil
	}
	if digits := wide(text); digits != "" {
		text = digits
	}
	return strconv.ParseFloat(text, 64)
}

func (c *checker) list(v *ir.List, want *schema.Type, e *env) *schema.Type {
	var elem *schema.Type
	if want != nil {
		switch to := want.Present(); to.Kind {
		case schema.List:
			if len(to.Known) > 0 && len(v.Items) > 0 { // what a filter has proved of others
				c.mismatch(v.Span, want, "a list of other items")
				return schema.InvalidType
			}
			elem = to.Elem
		case schema.Any, schema.Invalid:
			elem = to
		default:
			c.mismatch(v.Span, want, "a list")
			return schema.InvalidType
		}
		for _, item := range v.Items {
			c.value(item, elem, e)
		}
		return want
	}
	for _, item := range v.Items {
		t := c.value(item, nil, e)
		if elem == nil {
			elem = t
		} else if j := schema.Join(elem, t); j != nil {
			elem = j
		} else {
			c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: item.Source(), Message: fmt.Sprintf("this is %s, but the items before it are %s", t, elem),
				Help: "the items of a list have one type"})
			return schema.InvalidType
		}
	}
	if elem != nil && elem.Kind == schema.Null {
		c.report(diag.Diagnostic{Code: diag.UntypedValue, Span: v.Span, Message: "the type of this list of nulls is not known",
			Help: "give the field a `type`, or leave it out"})
		return schema.InvalidType
	}
	if elem == nil {
		c.report(diag.Diagnostic{Code: diag.UntypedValue, Span: v.Span, Message: "the type of this empty list is not known",
			Help: "give the field a `type`, or leave it out"})
		return schema.InvalidType
	}
	return schema.ListOf(elem)
}

func (c *checker) object(v *ir.Object, want *schema.Type, e *env) *schema.Type {
	if want == nil {
		t := &schema.Type{Kind: schema.Struct}
		for _, entry := range v.Entries {
			t.Fields = append(t.Fields, &schema.Field{Name: entry.Key.Name, Span: entry.Key.Span, Type: c.inferred(entry.Value, e)})
		}
		return t
	}
	switch to := want.Present(); to.Kind {
	case schema.Union:
		x := Tagged(v, to)
		if x == nil {
			c.poisonEntries(v.Entries, e)
			c.report(diag.Diagnostic{Code: diag.MissingField, Span: v.Span, Message: fmt.Sprintf("this does not say which %s it is", to), Help: "write `" + to.By + ": " + strings.Join(to.Tags(), "` or `"+to.By+": ") + "`"})
			return schema.InvalidType
		}
		c.arguments(v.Entries, x, v.Span, e, x.String(), "field")
	case schema.Struct:
		c.arguments(v.Entries, to, v.Span, e, to.String(), "field")
	case schema.Map, schema.Any, schema.Invalid:
		elem := to
		if to.Kind == schema.Map {
			elem = to.Elem
		}
		for _, entry := range v.Entries {
			c.value(entry.Value, elem, e)
		}
	default:
		c.mismatch(v.Span, want, "a mapping")
		return schema.InvalidType
	}
	return want
}

// Tagged is the variant of a union that a mapping says it is; nil when it says none.
func Tagged(v *ir.Object, union *schema.Type) *schema.Type {
	for _, x := range v.Entries {
		if s, ok := x.Value.(*ir.Scalar); ok && x.Key.Name == union.By {
			if variant := union.Variant(s.Text.Value); variant != nil {
				return variant.Type
			}
		}
	}
	return nil
}

// inferred is the type of a value that nothing asks for. Null alone has none.
func (c *checker) inferred(v ir.Value, e *env) *schema.Type {
	t := c.value(v, nil, e)
	if t.Kind == schema.Null {
		c.report(diag.Diagnostic{Code: diag.UntypedValue, Span: v.Source(), Message: "the type of null is not known here", Help: "put a value here, or leave the field out"})
		return schema.InvalidType
	}
	return t
}

// arguments checks named values against the fields of a struct and returns them in the order of its fields. owner and
// kind name what asks for them, for messages: "search" has an "input", "Finding" a "field".
func (c *checker) arguments(entries []*ir.Entry, to *schema.Type, at source.Span, e *env, owner, kind string) []*Argument {
	given := map[string]*Argument{}
	var unknown []ir.Ident
	for _, entry := range entries {
		f := to.Field(entry.Key.Name)
		if f == nil {
			unknown = append(unknown, entry.Key)
			c.value(entry.Value, schema.InvalidType, e)
			continue
		}
		given[f.Name] = &Argument{Field: f, Value: &Expected{Value: entry.Value, Type: f.Type}}
		before := c.sink.Errors()
		c.value(entry.Value, f.Type, e)
		if c.sink.Errors() > before {
			c.blame(f)
		} else if s, ok := entry.Value.(*ir.Scalar); ok {
			c.bounds(s, f)
		}
	}
	var out []*Argument
	var missing []string
	for _, f := range to.Fields {
		switch a := given[f.Name]; {
		case a != nil:
			out = append(out, a)
		case f.Required():
			missing = append(missing, f.Name)
		case f.Default != nil:
			out = append(out, &Argument{Field: f, Value: &Expected{Type: f.Type}})
		}
	}
	missing = c.unknownFields(unknown, missing, to, owner, kind)
	if len(missing) > 0 {
		c.missing(missing, at, to, owner, kind)
	}
	return out
}

// bounds checks a literal against the field's constraints.
func (c *checker) bounds(s *ir.Scalar, f *schema.Field) {
	report := func(format string, args ...any) {
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: s.Source(), Message: fmt.Sprintf(format, args...)})
	}
	n := math.NaN()
	switch f.Type.Present().Kind {
	case schema.Int, schema.Float:
		n, _ = ParseFloat(s.Text.Value)
	case schema.String:
		n = float64(len([]rune(s.Text.Value)))
		if re, err := regexp.Compile(f.Pattern); f.Pattern != "" && err == nil && !re.MatchString(s.Text.Value) {
			report("%q does not match the pattern %s of %s", s.Text.Value, f.Pattern, f.Name)
		}
	}
	if f.Min != nil && n < *f.Min {
		report("%s is below %s's minimum %v", s.Text.Value, f.Name, *f.Min)
	}
	if f.Max != nil && n > *f.Max {
		report("%s is above %s's maximum %v", s.Text.Value, f.Name, *f.Max)
	}
}
