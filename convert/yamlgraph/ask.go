package yamlgraph

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/jinja"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
	"github.com/flowgen-dev/flowgen/runtime/yamlgraph/providers"
)

// asks says what a node that asks a model reads, and what it writes.
func (g *graph) asks(n *yamlgraph.Node, key string) {
	a := n.Token.Ask
	if a.Agent != nil || len(a.Routes) > 0 || a.Fail == yamlgraph.AskFallback || a.Fail == yamlgraph.AskRetry || a.Limit > 0 {
		what := map[bool]string{true: "works with tools, whose conversation the engine keeps in the state", false: "leads on by a label, has a limit, or asks again after an error"}[a.Agent != nil]
		g.Refuse(n.ID.Span, "write it in the native language: `agent`, `switch`, an edge with `max`, or `catch`", "the node %s %s: this is not converted", n.ID.Name, what)
	}
	if a.JSON {
		g.Refuse(n.ID.Span, "give the prompt a `schema`", "JSON is looked for in the answer of %s, and a native `out` takes an answer that is JSON as a whole", n.ID.Name)
	}
	g.Only(n.ID.Span, "the node "+n.ID.Name, a, "Agent Routes Route Other Fail Limit Retries JSON Prompt Values Needs Model Skips SkipsSet")
	for _, v := range a.Values {
		dialect.ValueReferences(v.Value, func(r *dialect.Reference) { g.use(r, nil) })
	}
	g.writes[n] = g.held(key)
}

// plainValue reports whether a value is a name, or a part of one.
func plainValue(x *jinja.PromptExpr) bool {
	switch x.Op {
	case "name":
		return true
	case "const":
		return x.Lit != nil && x.Lit.Tag == "!!str"
	case "attr":
		return plainValue(x.Kids[0]) && x.Kids[0].Op != "const"
	case "item":
		return plainValue(x.Kids[0]) && x.Kids[0].Op != "const" && x.Kids[1].Op == "const" && x.Kids[1].Lit.Tag == "!!str"
	}
	return false
}

// keeps reports whether an error of a node goes into the state, and the run goes on.
func (g *graph) keeps(n *yamlgraph.Node) bool {
	t := n.Token
	if t.Ask != nil {
		return t.Ask.Fail == yamlgraph.AskKeep
	}
	return t.OnError != yamlgraph.TokenRaise
}

// ask rewrites a node that asks a model.
func (g *graph) ask(n *yamlgraph.Node, out *ir.Node) {
	a := n.Token.Ask
	llm := &ir.LLM{Model: convert.Name(modelName(a.Model.Name)), Prompt: &ir.Prompt{}}
	if t := a.Prompt.System; t != nil && len(t.Body) > 0 {
		llm.System = convert.Text(g.prompt(n, t))
	}
	if t := a.Prompt.User; t != nil {
		llm.Prompt.Text = convert.Text(g.prompt(n, t))
	}
	if n.Schema != "" {
		llm.Out = g.answerType(n)
	}
	out.Verb = llm
	if r := n.Retry; r != nil {
		out.Retry = &ir.Retry{Attempts: r.Attempts, Base: r.Base}
		if r.Cap != nil && r.Cap.Value != 30*time.Second {
			out.Retry.Cap = r.Cap
		}
	}
	if a.Fail == yamlgraph.AskSkip {
		out.OnError = &ir.OnError{Kind: ir.OnErrorSkip}
	}
	g.caught(n, out)
}

// modelErrors are the codes of errors of a question that are not about the answer's type.
var modelErrors = []string{"TIMEOUT", "RATE_LIMIT", "AUTH_REQUIRED", "PROVIDER_ERROR", "NETWORK_ERROR"}

// caught leads errors that the state keeps to a node that writes them there. An answer that does not fit its type ends the
// run: that the native workflow is stricter must not go on as an error that the engine has not had.
func (g *graph) caught(n *yamlgraph.Node, out *ir.Node) {
	if !g.keeps(n) {
		return
	}
	to := g.failed(n)
	codes := modelErrors
	if n.Token.Ask == nil {
		codes = []string{"UNKNOWN", "SANDBOX_ERROR", "TIMEOUT", "PROVIDER_ERROR"}
	} else if n.Schema == "" {
		codes = []string{"any"}
	}
	for _, code := range codes {
		out.Catch = append(out.Catch, &ir.Catch{Code: convert.Name(code), Target: convert.Name(to)})
	}
}

// failed is the name of the node that writes down the error of another.
func (g *graph) failed(n *yamlgraph.Node) string { return g.free(g.IDs[n.ID.Name] + "_failed") }

// failure is that node.
func (g *graph) failure(n *yamlgraph.Node) *ir.Node {
	e := g.IDs[n.ID.Name] + ".error."
	record := convert.Object(convert.Pair("type", convert.Ref(e+"code")), convert.Pair("message", convert.Ref(e+"message")), convert.Pair("node", convert.Literal(n.ID.Name)))
	return &ir.Node{ID: convert.Name(g.failed(n)), Verb: &ir.Let{}, Set: []*ir.Set{{Field: convert.Name("errors"), Value: record}}}
}

// keepsErrors reports whether any node keeps its error.
func (g *graph) keepsErrors() bool {
	return slices.ContainsFunc(g.tree.Nodes, g.keeps)
}

// modelName is the key of a model.
func modelName(name string) string { return convert.NativeID(strings.ReplaceAll(name, "-", "_")) }

// models declares the models that nodes ask. What the file leaves to the environment is written down as the engine has it when
// the environment says nothing.
func (g *graph) models() {
	for _, m := range g.tree.Models {
		own := *m
		if c, ok := g.tree.Choices[m.Name.Name]; ok {
			own.New, own.BaseURL, own.Key = nil, ir.Ident{}, ir.Ident{}
			provider := c.Provider
			if provider == "" {
				provider = providers.All[0].Name
				g.Note(m.Span, "", "the engine asks the provider that the variable PROVIDER names; here it is %s", provider)
			}
			g.provide(&own, providers.Find(provider), c.Model)
		}
		own.Name, own.Span = convert.Name(modelName(m.Name.Name)), source.Span{}
		g.Out.Models = append(g.Out.Models, &own)
	}
}

// provide says whom a model of the engine is in the native language.
func (g *graph) provide(m *ir.Model, p *providers.Provider, id string) {
	if p == nil {
		g.Refuse(m.Span, "name a provider", "the provider of this model is not known")
		return
	}
	if id == "" {
		id = p.Model
	}
	name := p.Name
	if name == "google" {
		name = "gemini"
	}
	known := slices.IndexFunc(ir.ModelProviders, func(x ir.ModelProvider) bool { return x.Name == name })
	if known < 0 {
		m.Model.Name, m.BaseURL.Name, m.BaseEnv, m.Key.Name = "openai:"+id, p.Address, p.BaseEnv, p.Key
	} else {
		m.Model.Name = name + ":" + id
		if own := ir.ModelProviders[known].Key; own != p.Key {
			m.Key.Name = p.Key
		}
	}
	if p.Key != "" && !slices.ContainsFunc(g.Out.Secrets, func(s *ir.Secret) bool { return s.Name.Name == p.Key }) {
		g.Out.Secrets = append(g.Out.Secrets, &ir.Secret{Name: convert.Name(p.Key)})
	}
}

// prompt is a text of a prompt.
func (g *graph) prompt(n *yamlgraph.Node, t *yamlgraph.PromptTemplate) string {
	var b strings.Builder
	for _, p := range t.Body {
		switch p := p.(type) {
		case *jinja.PromptText:
			b.WriteString(doc.Braces(p.Lit))
		case *jinja.PromptShow:
			if p.Spec == "" && plainValue(p.X) {
				b.WriteString(g.shownValue(n, p))
				continue
			}
			b.WriteString(g.part(n, p))
		default:
			b.WriteString(g.part(n, p))
		}
	}
	return b.String()
}

// shownValue is a value in a prompt, as Python's str writes it.
func (g *graph) shownValue(n *yamlgraph.Node, p *jinja.PromptShow) string {
	var path []string
	x := p.X
	for x.Op == "attr" || x.Op == "item" {
		name := x.Name
		if x.Op == "item" {
			name = x.Kids[1].Lit.Text.Value
		}
		path, x = append([]string{name}, path...), x.Kids[0]
	}
	if x.Op == "const" {
		return doc.Braces(x.Lit.Text.Value)
	}
	i := slices.IndexFunc(n.Token.Ask.Values, func(e *ir.Entry) bool { return e.Key.Name == x.Name })
	if i < 0 || n.Token.Ask.Values[i].Value == nil {
		if p.Kept {
			return doc.Braces("{" + x.Name + "}")
		}
		g.Refuse(n.ID.Span, "remove it from the prompt", "nothing gives the prompt of %s the variable %s", n.ID.Name, x.Name)
		return ""
	}
	switch v := n.Token.Ask.Values[i].Value.(type) {
	case *ir.Scalar:
		if len(path) == 0 && v.Tag == "!!str" {
			return doc.Braces(v.Text.Value)
		}
	case *dialect.Reference:
		if v.Root != "state" {
			break
		}
		field := v.Path[0]
		if len(path) > 0 {
			if !g.answered(field) || p.Joined {
				break
			}
			own := *v
			own.Path = append(slices.Clone(v.Path), path...)
			v = &own
		}
		sh := g.shapes[field]
		if sh == nil || g.given[field] && g.written(field) || g.written(field) && !g.certain(field, n) {
			g.Refuse(n.ID.Span, "let a node before it write the field", "state.%s may be missing when the prompt of %s is made", field, n.ID.Name)
			return ""
		}
		typ, place := sh.declared, g.path(v, "")
		if m := g.writer(field, n); m != nil {
			place = strings.Join(append([]string{g.IDs[m.ID.Name]}, v.Path[1:]...), ".")
			if len(v.Path) > 1 {
				typ = g.answerType(m)
			}
		}
		for _, key := range v.Path[1:] {
			f := typ.Field(key)
			if f == nil {
				typ = schema.AnyType
				break
			}
			typ = f.Type
		}
		switch root, _, _ := strings.Cut(place, "."); {
		case p.Joined && (typ.Kind == schema.List || typ.Kind == schema.Any):
			g.Refuse(n.ID.Span, "write it with `join` where its items are text", "%s may be a list, which the engine writes with commas", strings.Join(v.Path, "."))
			return ""
		case (root == "state" || root == "input") && !convert.Plain(typ):
			g.Refuse(n.ID.Span, "make its text in a node before it: `go: "+convert.PyText+"`", "%s is no text, and the prompt of %s shows it as Python writes it", place, n.ID.Name)
			return ""
		}
		return g.Shown(place, typ)
	}
	g.Refuse(n.ID.Span, "write it in the native file", "the variable %s of the prompt of %s is of a form that is not converted", x.Name, n.ID.Name)
	return ""
}

// writer is the node that asks a model and alone has written a field when n runs, whose result is read instead of the state; nil
// when there is none.
func (g *graph) writer(field string, n *yamlgraph.Node) *yamlgraph.Node {
	var found *yamlgraph.Node
	for _, m := range g.tree.Nodes {
		if !slices.Contains(g.writes[m], field) {
			continue
		}
		if found != nil || m.Token.Ask == nil || !g.sure[n][m] {
			return nil
		}
		found = m
	}
	return found
}

// answered reports whether a field is the answer of a model that has a schema.
func (g *graph) answered(field string) bool {
	return slices.ContainsFunc(g.tree.Nodes, func(n *yamlgraph.Node) bool {
		return n.Token.Ask != nil && n.Schema != "" && slices.Contains(g.writes[n], field)
	})
}

// answerType is the type of an answer that has a schema: with its name, and where the schema says nothing of a part that the
// graph looks into, as it is used.
func (g *graph) answerType(n *yamlgraph.Node) *schema.Type {
	if t := g.answers[n]; t != nil {
		return t
	}
	root, problems := yamlnode.Parse(source.NewFile("schema.json", n.Schema))
	if root == nil || len(problems) > 0 {
		g.Refuse(n.ID.Span, "write `out` on the native `llm` node", "the schema of the answer of %s is not converted", n.ID.Name)
		return schema.AnyType
	}
	key := n.Token.Key.Name
	name := titled(key)
	for _, other := range []*yamlnode.Node{root.Get("title"), g.Root.Get("state").Get(key)} {
		if other != nil && typeName.MatchString(other.Text.Value) {
			name = other.Text.Value
		}
	}
	g.answers[n] = g.schemaType(root, g.shapes[key], name, n)
	return g.answers[n]
}

var schemaTypes = map[string]*schema.Type{"string": schema.StringType, "boolean": schema.BoolType, "integer": schema.IntType, "number": schema.FloatType}

// schemaType is the type that a JSON Schema describes.
func (g *graph) schemaType(s *yamlnode.Node, sh *shape, name string, n *yamlgraph.Node) *schema.Type {
	if values := s.Get("enum"); values != nil {
		var words []string
		for _, v := range values.Items {
			words = append(words, v.Text.Value)
		}
		return schema.EnumOf(words...)
	}
	typ := s.Get("type")
	switch {
	case typ == nil && sh != nil && (len(sh.parts) > 0 || sh.item != nil):
		return g.shaped(sh, name, n.ID.Span)
	case typ == nil:
		return schema.AnyType
	case typ.Kind == yamlnode.Sequence: // with null
		one := &yamlnode.Node{Kind: s.Kind, Entries: slices.Clone(s.Entries)}
		for i, e := range one.Entries {
			if e.Key.Text.Value == "type" {
				one.Entries[i].Value = typ.Items[0]
			}
		}
		return optional(g.schemaType(one, sh, name, n))
	case schemaTypes[typ.Text.Value] != nil:
		return schemaTypes[typ.Text.Value]
	case typ.Text.Value == "array":
		var item *shape
		if sh != nil {
			item = sh.item
		}
		word := name + "Item"
		if item != nil && item.name != "" {
			word = titled(item.name)
		}
		items := s.Get("items")
		if items == nil {
			items = &yamlnode.Node{Kind: yamlnode.Mapping}
		}
		return schema.ListOf(g.schemaType(items, item, word, n))
	case typ.Text.Value == "object" && s.Get("properties") == nil:
		return schema.MapOf(schema.AnyType)
	case typ.Text.Value == "object":
		return g.structType(s.Get("properties"), sh, name, n)
	}
	g.Refuse(n.ID.Span, "write `out` on the native `llm` node", "the schema of the answer of %s has a part that is not converted", n.ID.Name)
	return schema.AnyType
}

// structType is the type of an object with properties, which gets a name.
func (g *graph) structType(props *yamlnode.Node, sh *shape, name string, n *yamlgraph.Node) *schema.Type {
	t := convert.Struct()
	for _, p := range props.Entries {
		field := p.Key.Text.Value
		if !doc.FieldForm.MatchString(field) {
			g.Refuse(n.ID.Span, "rename it", "the field %q of the answer of %s cannot have this name", field, n.ID.Name)
			continue
		}
		f := convert.Field(field, g.schemaType(p.Value, sh.part(field), name+titled(field), n))
		for _, e := range p.Value.Entries {
			text := e.Value.Text.Value
			bound, _ := strconv.ParseFloat(text, 64)
			switch e.Key.Text.Value {
			case "description":
				f.Description = text
			case "default":
				f.Default = &schema.Default{JSON: e.Value.Span.Text()}
			case "minimum", "minLength":
				f.Min = &bound
			case "maximum", "maxLength":
				f.Max = &bound
			case "pattern":
				f.Pattern = text
			}
		}
		t.Fields = append(t.Fields, f)
	}
	return g.declare(name, t)
}

// afterFailure says where the run goes on when the error of a node was kept: conditions on what it has not written do not
// hold.
func (g *graph) afterFailure(n *yamlgraph.Node) {
	led := false
	for _, x := range n.Token.Exits {
		if x.When == nil {
			led = true // beside the node itself
			continue
		}
		x.When.Refs(func(r *dialect.Reference) {
			if r.Root != "state" || !slices.Contains(g.writes[n], r.Path[0]) {
				g.Refuse(r.Text.Span, "write `on_error: fail`", "this condition may hold although %s has failed: where the run goes on then is not converted", n.ID.Name)
			}
		})
	}
	if !led {
		g.Out.Body.Edges = append(g.Out.Body.Edges, convert.Edge(g.failed(n), source.Span{}, "end"))
	}
}

// answerPart is a part of an answer that has a schema, where an edge out of n looks at it.
func (g *graph) answerPart(r *dialect.Reference, n *yamlgraph.Node) (string, *schema.Type) {
	field, part := r.Path[0], r.Path[1]
	for _, m := range g.tree.Nodes {
		if m.Token.Ask == nil || m.Schema == "" || !slices.Contains(g.writes[m], field) || m != n && !g.certain(field, n) {
			continue
		}
		root, _ := yamlnode.Parse(source.NewFile("schema.json", m.Schema))
		s := root.Get("properties").Get(part)
		if s == nil || s.Get("type") == nil || s.Get("type").Text.Value == "boolean" {
			return "", nil
		}
		typ := schemaTypes[s.Get("type").Text.Value]
		if m == n {
			return g.IDs[n.ID.Name] + "." + part, typ
		}
		return g.path(r, ""), typ
	}
	return "", nil
}
