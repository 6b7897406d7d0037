package yamlgraph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/jinja"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// A template rewrites the statements of Jinja in one prompt: a choice becomes `?:`, a loop `map` and `join`. Only where all
// values have types does the native language mean the same.
type template struct {
	*graph
	node   *yamlgraph.Node
	locals map[string]typed // of loops around
	failed bool
}

// A typed is an expression with its type; nil: it cannot be said.
type typed struct {
	text string
	typ  *schema.Type
}

// statement is a statement or a calculation as text of the native language; false: it has no words for it.
func (g *graph) statement(n *yamlgraph.Node, p jinja.PromptNode) (string, bool) {
	t := &template{g, n, map[string]typed{}, false}
	if show, ok := p.(*jinja.PromptShow); ok && show.Spec == "" && !show.Joined {
		if v := t.value(show.X); v.typ != nil && v.typ.Kind == schema.Int {
			return "{{ " + v.text + " }}", true
		}
	}
	text := "{{ " + bare(t.text(p)) + " }}"
	return text, !t.failed
}

// templated is the text of a template that a function makes, which is written in Go.
func (g *graph) templated(n *yamlgraph.Node, t *yamlgraph.PromptTemplate, part string) string {
	a, used := n.Token.Ask, map[string]bool{}
	jinja.WalkPrompt(t.Body, func(x *jinja.PromptExpr) bool {
		used[x.Name] = used[x.Name] || x.Op == "name"
		return true
	})
	file := a.Prompt.File.Name
	name := convert.NativeID(file[strings.LastIndexByte(file, '/')+1:])
	f := convert.TextFunc{TextFunc: &ir.TextFunc{Name: convert.Name(name + "_" + part), Doc: "is the prompt " + strconv.Quote(file) + "."}}
	var variables []string
	var values []ir.Value
	for _, e := range a.Values {
		if !used[e.Key.Name] {
			continue
		}
		variables = append(variables, e.Key.Name)
		v, null := g.handedOver(n, e)
		values = append(values, v)
		if null {
			f.Null = append(f.Null, e.Key.Name)
		}
	}
	jinja.Lower(f.TextFunc, variables, []jinja.Part{{Local: "text", Body: t.Body}}, jinja.FnDone)
	var with []*ir.Entry
	for i, param := range f.Params {
		if k := slices.Index(f.Null, variables[i]); k >= 0 {
			f.Null[k] = param.Name
		}
		with = append(with, convert.Pair(param.Name, values[i]))
	}
	node := g.Template(g.fresh(g.IDs[n.ID.Name]+"_"+part), f, with...)
	g.part(n).before = append(g.part(n).before, step{Node: node})
	return "{{ " + node.ID.Name + " }}"
}

// handedOver is what a variable of a template stands for, and whether null is a value there.
func (g *graph) handedOver(n *yamlgraph.Node, e *ir.Entry) (v ir.Value, null bool) {
	if v, is := g.given[n][e.Key.Name]; is {
		return convert.Ref(v.text), false
	}
	switch v := e.Value.(type) {
	case nil:
		return &ir.Scalar{Tag: "!!null"}, false
	case *ir.Scalar:
		return v, false
	case *dialect.Reference:
		if v.Missing == dialect.MissingNull {
			null = true
		}
		if item := g.named[n]; item != "" && v.Root == "item" {
			if len(v.Path) == 0 {
				return convert.Ref(item), null
			}
			at := g.located(g.IDs[n.ID.Name]+"_"+e.Key.Name, convert.Ref(item), v.Path)
			g.part(n).before = append(g.part(n).before, step{Node: at})
			return convert.Ref(at.ID.Name), null
		}
		if v.Root != "state" || len(v.Path) == 0 {
			break
		}
		if len(v.Path) == 1 || !g.loose[v.Path[0]] {
			return convert.Ref(g.path(v, "")), null
		}
		at := g.located(g.IDs[n.ID.Name]+"_"+e.Key.Name, convert.Ref(g.path(&dialect.Reference{Root: "state", Path: v.Path[:1]}, "")), v.Path[1:])
		g.part(n).before = append(g.part(n).before, step{Node: at})
		return convert.Ref(at.ID.Name), null
	}
	g.noVariable(n, e.Key.Name)
	return convert.Literal(""), false
}

// bare is an expression without parentheses around all of it.
func bare(text string) string {
	if !strings.HasPrefix(text, "(") || !strings.HasSuffix(text, ")") {
		return text
	}
	depth, quoted := 0, false
	for i := 0; i < len(text)-1; i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case quoted:
		case text[i] == '(':
			depth++
		case text[i] == ')':
			if depth--; depth == 0 {
				return text // it closes before the end
			}
		}
	}
	return text[1 : len(text)-1]
}

// all is a part of a prompt as one expression.
func (t *template) all(body []jinja.PromptNode) string {
	var parts []string
	for _, p := range body {
		text := t.text(p)
		if k := len(parts) - 1; k >= 0 && strings.HasSuffix(parts[k], `"`) && strings.HasPrefix(text, `"`) && isLiteral(parts[k]) && isLiteral(text) {
			parts[k] = parts[k][:len(parts[k])-1] + text[1:]
			continue
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return `""`
	}
	return strings.Join(parts, " + ")
}

// isLiteral reports whether an expression is one string.
func isLiteral(text string) bool {
	return len(text) > 1 && !strings.Contains(strings.ReplaceAll(text[1:len(text)-1], `\"`, ""), `"`)
}

func (t *template) text(p jinja.PromptNode) string {
	switch p := p.(type) {
	case *jinja.PromptText:
		return doc.Escaped(p.Lit)
	case *jinja.PromptShow:
		if v := t.value(p.X); v.typ != nil && p.Spec == "" && !p.Joined {
			switch v.typ.Kind {
			case schema.String, schema.Enum:
				return parenthesised(v.text)
			case schema.Int:
				return "string(" + v.text + ")"
			case schema.Bool:
				return "(" + v.text + ` ? "True" : "False")`
			}
		}
	case *jinja.PromptIf:
		text := t.all(p.Else)
		for _, c := range slices.Backward(p.Cases) {
			cond := t.truth(c.Test)
			if cond == "" {
				return t.refuse()
			}
			text = bare(cond) + " ? " + t.all(c.Body) + " : " + text
		}
		return "(" + text + ")"
	case *jinja.PromptFor:
		if text := t.loop(p); text != "" {
			return text
		}
	}
	return t.refuse()
}

// parenthesised is an operand of a sum.
func parenthesised(text string) string {
	if strings.Contains(text, " ? ") {
		return "(" + text + ")"
	}
	return text
}

func (t *template) refuse() string {
	t.failed = true
	return `""`
}

// loop is a loop over a list whose items have a type.
func (t *template) loop(p *jinja.PromptFor) string {
	list := t.value(p.Over)
	if list.typ == nil || list.typ.Kind != schema.List || list.typ.Elem.Kind == schema.Any || len(p.Names) != 1 || p.Loop {
		return ""
	}
	name := p.Names[0].Name
	before, had := t.locals[name]
	item := t.free(convert.NativeID(name))
	t.locals[name] = typed{item, list.typ.Elem}
	text := list.text
	if p.Where != nil {
		cond := t.truth(p.Where)
		if cond == "" {
			return ""
		}
		text += ".filter(" + item + ", " + bare(cond) + ")"
	}
	each := text + ".map(" + item + ", " + t.all(p.Body) + ").join()"
	if delete(t.locals, name); had {
		t.locals[name] = before
	}
	if len(p.Else) > 0 {
		return "(size(" + text + ") > 0 ? " + each + " : " + t.all(p.Else) + ")"
	}
	return each
}

// truth is whether Python takes a value for true; empty: it cannot be said.
func (t *template) truth(x *jinja.PromptExpr) string {
	switch x.Op {
	case "not":
		switch kid := t.truth(x.Kids[0]); {
		case kid == "":
			return ""
		case strings.ContainsAny(kid, " ("):
			return "!(" + bare(kid) + ")"
		default:
			return "!" + kid
		}
	case "and", "or":
		a, b := t.truth(x.Kids[0]), t.truth(x.Kids[1])
		if a == "" || b == "" {
			return ""
		}
		return "(" + a + map[string]string{"and": " && ", "or": " || "}[x.Op] + b + ")"
	}
	v := t.value(x)
	if v.typ == nil {
		return ""
	}
	switch v.typ.Kind {
	case schema.Bool:
		return v.text
	case schema.String:
		return v.text + ` != ""`
	case schema.Int, schema.Float:
		return v.text + " != 0"
	case schema.List, schema.Map:
		return "size(" + v.text + ") > 0"
	case schema.Opt:
		if v.typ.Elem.Kind == schema.String {
			return "(" + v.text + " != null && " + v.text + ` != "")`
		}
	}
	return ""
}

// value is an expression.
func (t *template) value(x *jinja.PromptExpr) typed {
	switch x.Op {
	case "const":
		switch x.Lit.Tag {
		case "!!str":
			return typed{doc.Escaped(x.Lit.Text.Value), schema.StringType}
		case "!!int":
			return typed{x.Lit.Text.Value, schema.IntType}
		case "!!bool":
			return typed{strings.ToLower(x.Lit.Text.Value), schema.BoolType}
		}
	case "name":
		if v, ok := t.locals[x.Name]; ok {
			return v
		}
		return t.variable(x.Name)
	case "attr", "item":
		name := x.Name
		if x.Op == "item" {
			if x.Kids[1].Op != "const" || x.Kids[1].Lit.Tag != "!!str" {
				break
			}
			name = x.Kids[1].Lit.Text.Value
		}
		if of := t.value(x.Kids[0]); of.typ != nil && of.typ.Kind == schema.Struct && of.typ.Field(name) != nil {
			return typed{of.text + "." + name, of.typ.Field(name).Type}
		}
	case "filter":
		of := t.value(x.Kids[0])
		switch {
		case of.typ == nil:
		case (x.Name == "length" || x.Name == "count") && (of.typ.Kind == schema.List || of.typ.Kind == schema.Map || of.typ.Kind == schema.String):
			return typed{"size(" + of.text + ")", schema.IntType}
		case x.Name == "join" && of.typ.Kind == schema.List && of.typ.Elem.Kind == schema.String && (len(x.Kids) == 1 || len(x.Kids) == 2 && x.Kids[1] != nil && x.Kids[1].Op == "const" && x.Kids[1].Lit.Tag == "!!str"):
			if len(x.Kids) == 1 {
				return typed{of.text + ".join()", schema.StringType}
			}
			return typed{of.text + ".join(" + doc.Escaped(x.Kids[1].Lit.Text.Value) + ")", schema.StringType}
		}
	case "==", "!=", "<", "<=", ">", ">=":
		a, b := t.value(x.Kids[0]), t.value(x.Kids[1])
		if a.typ != nil && b.typ != nil && (isNumber(a.typ) && isNumber(b.typ) || a.typ.Kind == schema.String && b.typ.Kind == schema.String) {
			return typed{a.text + " " + x.Op + " " + b.text, schema.BoolType}
		}
	case "test", "in":
		if x.Op == "test" && x.Name != "in" {
			break
		}
		a, b := t.value(x.Kids[0]), t.value(x.Kids[1])
		if a.typ != nil && b.typ != nil && a.typ.Kind == schema.String && b.typ.Kind == schema.String {
			return typed{b.text + ".contains(" + a.text + ")", schema.BoolType}
		}
	case "not", "and", "or":
		if x.Op != "not" { // of other values the value is one of both
			for _, k := range x.Kids {
				if v := t.value(k); v.typ == nil || v.typ.Kind != schema.Bool {
					return typed{}
				}
			}
		}
		if text := t.truth(x); text != "" {
			return typed{text, schema.BoolType}
		}
	case "if":
		cond, a, b := t.truth(x.Kids[0]), t.value(x.Kids[1]), typed{`""`, schema.StringType}
		if x.Kids[2] != nil {
			b = t.value(x.Kids[2])
		}
		if cond != "" && a.typ != nil && b.typ != nil && schema.Equal(a.typ, b.typ) {
			return typed{bare(cond) + " ? " + a.text + " : " + b.text, a.typ}
		}
	}
	return typed{}
}

func isNumber(t *schema.Type) bool { return t.Kind == schema.Int || t.Kind == schema.Float }

// variable is what a variable of the prompt stands for, if it is certainly there.
func (t *template) variable(name string) typed {
	if v, is := t.graph.given[t.node][name]; is {
		return v
	}
	values := t.node.Token.Ask.Values
	i := slices.IndexFunc(values, func(e *ir.Entry) bool { return e.Key.Name == name })
	if i < 0 {
		return typed{}
	}
	switch v := values[i].Value.(type) {
	case *ir.Scalar:
		if v.Tag == "!!str" {
			return typed{doc.Escaped(v.Text.Value), schema.StringType}
		}
	case *dialect.Reference:
		if v.Root != "state" {
			break
		}
		field := v.Path[0]
		if sh := t.shapes[field]; sh == nil || !t.written(field) && !sh.used() || t.starts[field] && t.written(field) || t.written(field) && !t.certain(field, t.node) {
			break
		}
		place, typ := t.path(v, ""), t.fieldType(field)
		if m := t.writer(field, t.node); m != nil {
			place = strings.Join(append([]string{t.IDs[m.ID.Name]}, v.Path[1:]...), ".")
			if m.Schema != "" {
				typ = t.answerType(m)
			}
		}
		for _, key := range v.Path[1:] {
			f := typ.Field(key)
			if f == nil {
				return typed{}
			}
			typ = f.Type
		}
		return typed{place, typ}
	}
	return typed{}
}
