package yamlgraph

import (
	"encoding/json"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var (
	schemaShape = &dialect.Shape{What: "a schema", Open: true, Keys: []dialect.Key{
		{Name: "name", Doc: "what the answer is called"},
		{Name: "description", Doc: "what it is"},
		{Name: "fields", Required: true, Doc: "its fields"},
	}}
	answerFieldShape = &dialect.Shape{What: "a field of a schema", Any: true, Keys: []dialect.Key{
		{Name: "type", Required: true, Doc: "`str`, `int`, `float`, `bool`, `Any`, `list[...]` or `dict[...]`"},
		{Name: "description", Doc: "what it is"},
		{Name: "default", Doc: "its value when the model gives none"},
		{Name: "optional", Doc: "whether it may be missing"},
		{Name: "constraints", Doc: "bounds of its value"},
	}}
)

// promptSchema makes a JSON Schema of what a prompt file says about the answer.
func (p *parser) promptSchema(q *prompt) {
	if n := q.m.Get("schema"); n != nil {
		q.schema = p.fieldsSchema(n)
		return
	}
	if n := q.m.Get("output_schema"); n != nil {
		q.schema = p.outputSchema(n)
	}
}

// A property is a field of an answer.
type property struct {
	name     string
	schema   string // JSON
	required bool
}

// objectSchema is the schema of an object.
func objectSchema(title string, props []property) string {
	var b strings.Builder
	b.WriteString(`{"type":"object"`)
	if title != "" {
		b.WriteString(`,"title":` + jsonText(title))
	}
	b.WriteString(`,"properties":{`)
	var required []string
	for i, x := range props {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(jsonText(x.name) + ":" + x.schema)
		if x.required {
			required = append(required, jsonText(x.name))
		}
	}
	b.WriteString(`},"required":[` + strings.Join(required, ",") + `],"additionalProperties":false}`)
	return b.String()
}

func jsonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// fieldsSchema reads `schema`: fields with the types of Python.
func (p *parser) fieldsSchema(n *yamlnode.Node) string {
	m, ok := p.Mapping(n, schemaShape)
	if !ok {
		return ""
	}
	title := ""
	if id, ok := p.Text(m.Get("name"), "the name of a schema"); ok {
		title = id.Name
	}
	fields := m.Get("fields")
	if fields == nil {
		return ""
	}
	if !p.IsMapping(fields, "`fields`") {
		return ""
	}
	var props []property
	for _, e := range fields.Entries {
		value := e.Value
		if value.Kind == yamlnode.Scalar { // the type alone
			props = append(props, property{e.Key.Text.Value, p.typeSchema(value, ""), true})
			continue
		}
		f, ok := p.Mapping(value, answerFieldShape)
		if !ok || f.Get("type") == nil {
			continue
		}
		props = append(props, p.fieldSchema(e.Key.Text.Value, f))
	}
	return objectSchema(title, props)
}

func (p *parser) fieldSchema(name string, f dialect.Mapping) property {
	var more strings.Builder
	if d, ok := p.Text(f.Get("description"), "a description"); ok {
		more.WriteString(`,"description":` + jsonText(strings.TrimSpace(d.Name)))
	}
	if c := f.Get("constraints"); c != nil {
		p.constraints(c, f.Get("type").Text.Value, &more)
	}
	required := true
	if e := f.Node.Entry("default"); e != nil {
		required = false
		more.WriteString(`,"default":` + dialect.JSON(p.constant(e.Value)))
	}
	schema := p.typeSchema(f.Get("type"), more.String())
	if o := f.Get("optional"); o != nil && is(o, "true") {
		if required {
			more.WriteString(`,"default":null`)
		}
		required = false
		inner := p.typeSchema(f.Get("type"), "")
		if strings.HasPrefix(inner, `{"type":"`) {
			inner = strings.Replace(p.typeSchema(f.Get("type"), more.String()), `{"type":`, `{"type":[`, 1)
			inner = strings.Replace(inner, `",`, `","null"],`, 1)
			schema = inner
		}
	}
	return property{name, schema, required}
}

var constraintWords = map[string]string{"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum", "pattern": "pattern"}

// constraints reads the bounds of a field.
func (p *parser) constraints(n *yamlnode.Node, typ string, b *strings.Builder) {
	if !p.IsMapping(n, "`constraints`") {
		return
	}
	for _, e := range n.Entries {
		word := constraintWords[e.Key.Text.Value]
		switch key := e.Key.Text.Value; {
		case (key == "min_length" || key == "max_length") && strings.HasPrefix(typ, "list"):
			word = map[string]string{"min_length": "minItems", "max_length": "maxItems"}[key]
		case key == "min_length" || key == "max_length":
			word = map[string]string{"min_length": "minLength", "max_length": "maxLength"}[key]
		case word == "":
			p.Warn(diag.IgnoredKey, e.Key.Span, "the constraints are ge, le, gt, lt, min_length, max_length and pattern", "nothing reads the constraint `%s`", key)
			continue
		}
		if e.Value.Kind == yamlnode.Scalar {
			b.WriteString("," + jsonText(word) + ":" + dialect.JSON(p.constant(e.Value)))
		}
	}
}

var (
	listType = lazyregexp.New(`^(?:list|List)\[(.+)\]$`)
	dictType = lazyregexp.New(`^(?:dict|Dict)\[\s*str\s*,\s*(.+)\]$`)
	simple   = map[string]string{"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
)

// typeSchema is the schema of a type of Python, with more keys behind it.
func (p *parser) typeSchema(n *yamlnode.Node, more string) string {
	id, ok := p.Text(n, "the type of a field")
	if !ok {
		return "{}"
	}
	return p.typeOf(n, strings.TrimSpace(id.Name), more, 0)
}

func (p *parser) typeOf(n *yamlnode.Node, typ, more string, depth int) string {
	if s := simple[typ]; s != "" {
		return `{"type":"` + s + `"` + more + "}"
	}
	lax := func() {
		if p.laxTypes == nil {
			p.laxTypes = map[*yamlnode.Node]bool{}
		}
		if !p.laxTypes[n] {
			p.laxTypes[n] = true
			p.Warn(diag.UnknownWord, n.Span, "write `str`, `int`, `float`, `bool`, `Any`, or `list[...]` and `dict[str, ...]` of one of them", "the engine does not know the type `%s`", clipped(id(n)))
		}
	}
	if depth > 0 && typ != "Any" {
		lax() // one level deep is what the engine reads
	}
	if m := listType.FindStringSubmatch(typ); m != nil && depth < 8 {
		return `{"type":"array","items":` + p.inner(n, m[1], depth, lax) + more + "}"
	}
	if m := dictType.FindStringSubmatch(typ); m != nil && depth < 8 {
		return `{"type":"object","additionalProperties":` + p.inner(n, m[1], depth, lax) + more + "}"
	}
	switch strings.ToLower(typ) {
	case "any":
		if typ != "Any" {
			lax()
		}
		return "{" + strings.TrimPrefix(more, ",") + "}"
	case "list", "array":
		lax()
		return `{"type":"array","items":{}` + more + "}"
	case "dict", "object":
		lax()
		return `{"type":"object","additionalProperties":{}` + more + "}"
	case "string", "integer", "number", "boolean":
		lax()
		return `{"type":"` + strings.ToLower(typ) + `"` + more + "}"
	}
	p.Error(diag.UnknownWord, n.Span, "write `str`, `int`, `float`, `bool`, `Any`, or `list[...]` and `dict[str, ...]` of one of them", "unknown type `%s`", clipped(typ))
	return "{}"
}

func (p *parser) inner(n *yamlnode.Node, typ string, depth int, lax func()) string {
	typ = strings.TrimSpace(typ)
	if simple[typ] != "" || typ == "Any" {
		return p.typeOf(n, typ, "", 0)
	}
	lax()
	return p.typeOf(n, typ, "", depth+1)
}

func id(n *yamlnode.Node) string { return n.Text.Value }

func clipped(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}

// outputSchema reads `output_schema`: what the engine reads of JSON Schema. What is not required may be null.
func (p *parser) outputSchema(n *yamlnode.Node) string {
	if !p.IsMapping(n, "`output_schema`") {
		return ""
	}
	if t := n.Get("type"); t != nil && !is(t, "object") {
		p.Error(diag.UnknownWord, t.Span, "write `type: object`", "the schema of an answer is that of an object")
		return ""
	}
	title := ""
	if t := n.Get("title"); t != nil && t.Kind == yamlnode.Scalar {
		title = t.Text.Value
	}
	fields := n.Get("properties")
	if fields == nil || fields.Kind != yamlnode.Mapping {
		p.Error(diag.MissingKey, dialect.Head(n), "add `properties`", "the schema of an answer needs the key `properties`")
		return ""
	}
	required := map[string]bool{}
	for _, r := range p.Idents(n.Get("required"), "`required`") {
		required[r.Name] = true
		if fields.Get(r.Name) == nil {
			p.Warn(diag.UnknownName, r.Span, "", "unknown property `%s`", r.Name)
		}
	}
	var props []property
	for _, e := range fields.Entries {
		name := e.Key.Text.Value
		if !p.IsMapping(e.Value, "a property") {
			continue
		}
		props = append(props, property{name, p.propertySchema(e.Value, !required[name]), required[name]})
	}
	return objectSchema(title, props)
}

// propertySchema is one property. The engine takes the values of an enum for text, and looks one level into arrays.
func (p *parser) propertySchema(n *yamlnode.Node, null bool) string {
	typ := "string"
	if t := n.Get("type"); t != nil && t.Kind == yamlnode.Scalar {
		typ = p.Word(t, "the type of a property", "string", "integer", "number", "boolean", "array", "object")
	}
	var b strings.Builder
	if null {
		b.WriteString(`{"type":["` + typ + `","null"]`)
	} else {
		b.WriteString(`{"type":"` + typ + `"`)
	}
	if d := n.Get("description"); d != nil && d.Kind == yamlnode.Scalar {
		b.WriteString(`,"description":` + jsonText(strings.TrimSpace(d.Text.Value)))
	}
	if e := n.Get("enum"); e != nil && e.Kind == yamlnode.Sequence && typ == "string" {
		var words []string
		for _, it := range e.Items {
			if it.Kind == yamlnode.Scalar {
				words = append(words, jsonText(it.Text.Value))
			}
		}
		if null {
			words = append(words, "null")
		}
		b.WriteString(`,"enum":[` + strings.Join(words, ",") + `]`)
	}
	switch typ {
	case "array":
		items := "{}"
		if it := n.Get("items"); it != nil && it.Kind == yamlnode.Mapping {
			items = p.propertySchema(it, false)
		}
		b.WriteString(`,"items":` + items)
	case "object":
		b.WriteString(`,"additionalProperties":{}`)
	}
	if null {
		b.WriteString(`,"default":null`)
	}
	return b.String() + "}"
}
