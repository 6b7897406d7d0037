package stargraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// pythonType is the type of an annotation of Python; nil after a mistake.
func (p *parser) pythonType(id ir.Ident) *schema.Type {
	t := annotation(strings.TrimSpace(id.Name), 0)
	if t == nil {
		p.Error(diag.UnknownWord, id.Span, "write str, int, float, bool, list, dict, list[...], dict[str, ...], Optional[...] or Literal[...]", "`%s` is not a supported answer type", id.Name)
	}
	return t
}

var plainTypes = map[string]*schema.Type{
	"str": schema.StringType, "string": schema.StringType, "int": schema.IntType, "integer": schema.IntType, "float": schema.FloatType, "number": schema.FloatType,
	"bool": schema.BoolType, "boolean": schema.BoolType, "list": schema.ListOf(schema.AnyType), "dict": schema.MapOf(schema.AnyType), "List": schema.ListOf(schema.AnyType),
	"Dict": schema.MapOf(schema.AnyType), "object": schema.AnyType, "Any": schema.AnyType, "any": schema.AnyType,
}

// annotation reads a type; nil when it is none that is known.
func annotation(s string, depth int) *schema.Type {
	if t := plainTypes[s]; t != nil || depth > 8 {
		return t
	}
	s = strings.TrimPrefix(s, "typing.")
	for _, none := range []string{"|None", "| None"} {
		if rest, ok := strings.CutSuffix(s, none); ok {
			return optional(annotation(strings.TrimSpace(rest), depth+1))
		}
	}
	name, inside, ok := strings.Cut(s, "[")
	if !ok || !strings.HasSuffix(inside, "]") {
		return nil
	}
	args := split(inside[:len(inside)-1])
	switch strings.TrimSpace(name) {
	case "list", "List", "set", "Sequence", "tuple":
		if t := annotation(args[0], depth+1); t != nil && (len(args) == 1 || len(args) == 2 && args[1] == "...") {
			return schema.ListOf(t)
		}
	case "dict", "Dict", "Mapping":
		if len(args) == 2 && args[0] == "str" {
			if t := annotation(args[1], depth+1); t != nil {
				return schema.MapOf(t)
			}
		}
	case "Optional":
		if len(args) == 1 {
			return optional(annotation(args[0], depth+1))
		}
	case "Literal":
		return literals(args)
	}
	return nil
}

func optional(t *schema.Type) *schema.Type {
	if t == nil {
		return nil
	}
	return schema.OptOf(t, "the model may leave it out")
}

func literals(args []string) *schema.Type {
	var values []string
	seen := map[string]bool{}
	for _, a := range args {
		if len(a) < 2 || a[0] != a[len(a)-1] || a[0] != '"' && a[0] != '\'' || strings.ContainsAny(a[1:len(a)-1], `\"'`) || seen[a] {
			return nil
		}
		seen[a] = true
		values = append(values, a[1:len(a)-1])
	}
	return schema.EnumOf(values...)
}

// split cuts at the commas that are in no brackets and no quotes.
func split(s string) []string {
	var out []string
	depth, last := 0, 0
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '(' || c == '{':
			depth++
		case c == ']' || c == ')' || c == '}':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(s[last:i]))
			last = i + 1
		}
	}
	return append(out, strings.TrimSpace(s[last:]))
}
