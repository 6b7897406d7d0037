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
	g.Only(n.ID.Span, "the node "+n.ID.Name, a, "Agent Routes Route Other Fail Limit Retries Fallback JSON Prompt Values Needs Model Skips SkipsSet")
	g.variables(n)
	g.writes[n] = g.held(key)
	if len(g.writes[n]) == 0 {
		return
	}
	if sh := g.shapes[key]; a.JSON || n.Schema == "" && sh.declared.Kind != schema.String {
		sh.declared = schema.AnyType // which the engine does not mind
	}
	if g.resumed && a.Skips {
		g.reads[n] = append(g.reads[n], key)
	}
}

// variables says what a prompt reads.
func (g *graph) variables(n *yamlgraph.Node) {
	a := n.Token.Ask
	for _, v := range a.Values {
		if r, is := v.Value.(*dialect.Reference); is && r.Root == "state" && len(r.Path) == 1 && g.shapes[r.Path[0]] != nil && g.shapes[r.Path[0]].declared.Kind == schema.Map {
			g.shapes[r.Path[0]].declared = schema.AnyType // a native map has no order of its keys
		}
		if r, is := v.Value.(*dialect.Reference); is && r.Missing == dialect.MissingAbsent && len(r.Path) == 1 && g.shapes[r.Path[0]] != nil && !slices.Contains(a.Needs, v) {
			g.reads[n] = append(g.reads[n], r.Path[0]) // the template asks whether it is there
			continue
		}
		if r, is := v.Value.(*dialect.Reference); is && a.Fail == yamlgraph.AskRaise && len(r.Path) == 1 && g.shapes[r.Path[0]] != nil && slices.Contains(a.Needs, v) {
			g.reads[n] = append(g.reads[n], r.Path[0]) // the node fails without
			continue
		}
		dialect.ValueReferences(v.Value, func(r *dialect.Reference) { g.use(r, nil) })
	}
	for _, name := range n.Token.Requires {
		if g.shapes[name.Name] != nil {
			g.reads[n] = append(g.reads[n], name.Name)
		}
	}
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
	if _, human := n.Verb.(*ir.Human); human {
		return false
	}
	if t.Ask != nil {
		return slices.Contains([]yamlgraph.AskFail{yamlgraph.AskKeep, yamlgraph.AskRetry, yamlgraph.AskFallback}, t.Ask.Fail)
	}
	return t.OnError != yamlgraph.TokenRaise
}

// failing finds the fields that functions empty when they fail, and that had a value before.
func (g *graph) failing() {
	for _, n := range g.tree.Nodes {
		key := n.Token.Key.Name
		if _, call := n.Verb.(*ir.ToolCall); call && n.Token.OnError == yamlgraph.TokenNull && (g.writers(key) > 1 || g.cyclic(n) || g.starts[key]) {
			g.nulls(n, key)
		}
	}
}

// ask rewrites a node that asks a model.
func (g *graph) ask(n *yamlgraph.Node, out *ir.Node) {
	a := n.Token.Ask
	g.skips(n)
	g.needs(n)
	llm := g.question(n)
	if n.Schema != "" {
		llm.Out = g.answerType(n)
	}
	out.Verb = llm
	out.Retry = again(n.Retry)
	if a.Fail == yamlgraph.AskSkip {
		out.OnError = &ir.OnError{Kind: ir.OnErrorSkip}
	}
	last := g.attempts(n, out)
	g.caught(n, last)
}

// question is what a node asks a model.
func (g *graph) question(n *yamlgraph.Node) *ir.LLM {
	a := n.Token.Ask
	llm := &ir.LLM{Model: convert.Name(modelName(a.Model.Name)), Prompt: &ir.Prompt{}}
	if t := a.Prompt.System; t != nil && len(t.Body) > 0 {
		llm.System = convert.Text(g.prompt(n, t, "system"))
	}
	if t := a.Prompt.User; t != nil {
		llm.Prompt.Text = convert.Text(g.prompt(n, t, "prompt"))
	}
	return llm
}

// again is how often a question is asked, and how long the node waits.
func again(r *ir.Retry) *ir.Retry {
	if r == nil {
		return nil
	}
	out := &ir.Retry{Attempts: r.Attempts, Base: r.Base}
	if r.Cap != nil && r.Cap.Value != 30*time.Second {
		out.Cap = r.Cap
	}
	return out
}

// modelErrors are the codes of errors of a question that are not about the answer's type.
var modelErrors = []string{"TIMEOUT", "RATE_LIMIT", "AUTH_REQUIRED", "PROVIDER_ERROR", "NETWORK_ERROR"}

// caught leads errors that the state keeps to a node that writes them there. An answer that does not fit its type ends the
// run: that the native workflow is stricter must not go on as an error that the engine has not had.
func (g *graph) caught(n *yamlgraph.Node, out *ir.Node) {
	if g.keeps(n) {
		g.catches(n, out, g.failed(n))
	}
}

// catches leads the errors of a node to another one.
func (g *graph) catches(n *yamlgraph.Node, out *ir.Node, to string) {
	codes := modelErrors
	if n.Token.Ask == nil {
		codes = []string{"UNKNOWN", "SANDBOX_ERROR", "TIMEOUT", "PROVIDER_ERROR"}
	} else if n.Schema == "" {
		codes = []string{"any"}
	}
	for _, code := range codes {
		out.Catch = append(out.Catch, &ir.Catch{Code: convert.Name(code), Target: convert.Name(to)})
	}
	g.part(n).last = out.ID.Name
}

// failed is the name of the node that writes down the error of another.
func (g *graph) failed(n *yamlgraph.Node) string { return g.free(g.IDs[n.ID.Name] + "_failed") }

// failure adds that node.
func (g *graph) failure(n *yamlgraph.Node) {
	p := g.part(n)
	e := p.last + ".error."
	id := g.failed(n)
	record := g.record(id, n, convert.Ref(e+"code"), convert.Ref(e+"message"))
	if call, is := n.Verb.(*ir.ToolCall); is && g.command(call.Tool) != nil { // it is what the command has said
		seconds := ""
		if n.Timeout != nil {
			seconds = strconv.FormatFloat(n.Timeout.Value.Seconds(), 'f', -1, 64)
		}
		record = &ir.Node{ID: record.ID, Verb: convert.Call(enginePath+"CommandFailed", convert.Pair("code", convert.Ref(e+"code")), convert.Pair("message", convert.Ref(e+"message")), convert.Pair("details", convert.Ref(e+"details")), convert.Pair("seconds", convert.Literal(seconds)), convert.Pair("node", convert.Literal(g.title(n)))), Set: []*ir.Set{convert.Set("errors", id)}}
	} else if n.Token.Ask == nil { // what a function raises has the name of its class in front
		record = &ir.Node{ID: record.ID, Verb: convert.Call(enginePath+"Failed", convert.Pair("code", convert.Ref(e+"code")), convert.Pair("message", convert.Ref(e+"message")), convert.Pair("node", convert.Literal(g.title(n)))), Set: []*ir.Set{convert.Set("errors", id)}}
	}
	g.empties(n, record)
	p.more = append([]*ir.Node{record}, p.more...)
	p.ways = append([]way{{id: id}}, p.ways...)
}

// record is a node that adds an error to those of the state.
func (g *graph) record(id string, n *yamlgraph.Node, code, message ir.Value) *ir.Node {
	record := convert.Object(convert.Pair("type", code), convert.Pair("message", message), convert.Pair("node", convert.Literal(g.title(n))))
	return &ir.Node{ID: convert.Name(id), Verb: &ir.Let{}, Set: []*ir.Set{{Field: convert.Name("errors"), Value: record}}}
}

// keepsErrors reports whether any node keeps its error.
func (g *graph) keepsErrors() bool {
	return g.records || slices.ContainsFunc(g.tree.Nodes, g.keeps)
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

// prompt is a text of a prompt. What the native language cannot say of a template a function does.
func (g *graph) prompt(n *yamlgraph.Node, t *yamlgraph.PromptTemplate, part string) string {
	texts := map[jinja.PromptNode]string{}
	if g.named[n] != "" && slices.ContainsFunc(t.Body, func(p jinja.PromptNode) bool { _, plain := p.(*jinja.PromptText); return !plain }) {
		return g.templated(n, t, part)
	}
	for _, p := range t.Body {
		if show, is := p.(*jinja.PromptShow); is && show.Spec == "" && plainValue(show.X) {
			continue
		}
		if _, plain := p.(*jinja.PromptText); plain {
			continue
		}
		text, ok := g.statement(n, p)
		if !ok {
			return g.templated(n, t, part)
		}
		texts[p] = text
	}
	var b strings.Builder
	for _, p := range t.Body {
		if lit, plain := p.(*jinja.PromptText); plain {
			b.WriteString(doc.Braces(lit.Lit))
		} else if text, is := texts[p]; is {
			b.WriteString(text)
		} else if show, is := p.(*jinja.PromptShow); is {
			b.WriteString(g.shownValue(n, show))
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
	if v, is := g.given[n][x.Name]; is && len(path) == 0 && !(p.Joined && (v.typ.Kind == schema.List || v.typ.Kind == schema.Any)) {
		return g.Shown(v.text, v.typ)
	}
	i := slices.IndexFunc(n.Token.Ask.Values, func(e *ir.Entry) bool { return e.Key.Name == x.Name })
	written := "None" // for a value that is missing
	if p.Kept {
		written = "{" + x.Name + "}"
	}
	if i < 0 || n.Token.Ask.Values[i].Value == nil {
		if p.Kept {
			return doc.Braces(written)
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
		if g.shapes[field] == nil {
			break
		}
		typ, place := g.fieldType(field), g.path(v, "")
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
		root, _, _ := strings.Cut(place, ".")
		missing := root == "state" && (g.starts[field] || !g.certain(field, n)) || root == "input" && !g.shapes[field].used()
		switch {
		case p.Joined && (typ.Kind == schema.List || typ.Kind == schema.Any):
			return g.shownBy(n, "Joined", place, convert.Pair("of", convert.Ref(place)))
		case missing && typ.Kind == schema.String:
			return "{{ default(" + place + ", " + doc.Escaped(written) + ") }}"
		case missing || (root == "state" || root == "input") && !convert.Plain(typ):
			return g.shownBy(n, "Filled", place, convert.Pair("of", convert.Ref(place)), convert.Pair("written", convert.Literal(written)))
		}
		return g.Shown(place, typ)
	}
	g.noVariable(n, x.Name)
	return ""
}

func (g *graph) noVariable(n *yamlgraph.Node, name string) {
	g.Refuse(n.ID.Span, "write it in the native file", "the variable %s of the prompt of %s is of a form that is not converted", name, n.ID.Name)
}

// shownBy is a value in a prompt that a node before it writes as text.
func (g *graph) shownBy(n *yamlgraph.Node, function, place string, with ...*ir.Entry) string {
	p := g.part(n)
	for _, s := range p.before {
		if c, is := s.Verb.(*ir.GoCall); is && c.Func.Ref.Name == enginePath+function && sameEntries(c.With.Entries, with) {
			return "{{ " + s.ID.Name + " }}"
		}
	}
	text := g.call(g.IDs[n.ID.Name]+"_"+place[strings.LastIndexByte(place, '.')+1:], function, with...)
	p.before = append(p.before, step{Node: text})
	return "{{ " + text.ID.Name + " }}"
}

// writer is the node that asks a model and alone has written a field when n runs, whose result is read instead of the state; nil
// when there is none.
func (g *graph) writer(field string, n *yamlgraph.Node) *yamlgraph.Node {
	var found *yamlgraph.Node
	for _, m := range g.tree.Nodes {
		if !slices.Contains(g.writes[m], field) {
			continue
		}
		if _, human := m.Verb.(*ir.Human); found != nil || human || m.Token.Ask == nil || !g.sure[n][m] {
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
