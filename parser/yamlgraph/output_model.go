package yamlgraph

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// outputModel is the JSON Schema of the class of Python that the answer of a node has to fit; empty when there is none.
func (p *parser) outputModel(m dialect.Mapping) string {
	n := m.Get("output_model")
	if n == nil {
		return ""
	}
	id, ok := p.Text(n, "`output_model`")
	if !ok {
		return ""
	}
	if s := builtIn(id.Name); s != "" {
		return s
	}
	help := "write the module and the class of a model of Pydantic, as in `models.schemas.Report`, or describe the answer in the prompt file, with `schema`"
	i := strings.LastIndexByte(id.Name, '.')
	switch {
	case i <= 0 || i == len(id.Name)-1 || strings.ContainsAny(id.Name, ":/ "):
		p.Error(diag.BadLiteral, id.Span, help, "`output_model` is the name of a class with its module")
		return ""
	case p.opts.Python == nil:
		p.Error(diag.SourceMissing, id.Span, help, "there is nothing to read Python with")
		return ""
	}
	if done, ok := p.answers[id.Name]; ok {
		return done
	}
	c, why := p.opts.Python.Answer(p.File, ir.Ident{Name: id.Name[:i] + ":" + id.Name[i+1:], Span: id.Span})
	if c == nil {
		p.Error(diag.SourceMissing, id.Span, help, "the class of the answer is not read: %s", why)
		return ""
	}
	if f := c.Def.Span.File; f != nil {
		p.wf.Includes = append(p.wf.Includes, source.NewFile(f.Name, f.Text))
	}
	s := answerSchema(c.Fields, id.Name[i+1:], "", 0)
	p.answers[id.Name] = s
	return s
}

// answerSchema is a type as the JSON Schema of an answer, with more keys behind it.
func answerSchema(t *schema.Type, title, more string, depth int) string {
	simple := map[schema.Kind]string{schema.String: "string", schema.Int: "integer", schema.Float: "number", schema.Bool: "boolean", schema.Bytes: "string"}[t.Kind]
	switch {
	case depth > 20 || t.Kind == schema.Any:
		return "{" + strings.TrimPrefix(more, ",") + "}"
	case simple != "":
		return `{"type":"` + simple + `"` + more + "}"
	}
	switch t.Kind {
	case schema.Opt:
		inner := answerSchema(t.Elem, "", more, depth)
		if rest, ok := strings.CutPrefix(inner, `{"type":"`); ok {
			word, rest, _ := strings.Cut(rest, `"`)
			inner = `{"type":["` + word + `","null"]` + rest
		}
		return inner
	case schema.Enum:
		var words []string
		for _, v := range t.Values {
			words = append(words, jsonText(v))
		}
		return `{"type":"string","enum":[` + strings.Join(words, ",") + "]" + more + "}"
	case schema.List:
		return `{"type":"array","items":` + answerSchema(t.Elem, "", "", depth+1) + more + "}"
	case schema.Map:
		return `{"type":"object","additionalProperties":` + answerSchema(t.Elem, "", "", depth+1) + more + "}"
	case schema.Struct:
		var props []property
		for _, f := range t.Fields {
			props = append(props, property{f.Name, answerSchema(f.Type, "", answerWords(f), depth+1), f.Default == nil})
		}
		s := objectSchema(title, props)
		return s[:len(s)-1] + more + "}"
	}
	return `{"type":"string"` + more + "}" // a time, an address and the like
}

// answerWords are the keys of a schema that a field brings along.
func answerWords(f *schema.Field) string {
	var b strings.Builder
	if f.Description != "" {
		b.WriteString(`,"description":` + jsonText(f.Description))
	}
	low, high := "minimum", "maximum"
	t := f.Type
	if t.Kind == schema.Opt {
		t = t.Elem
	}
	switch t.Kind {
	case schema.String:
		low, high = "minLength", "maxLength"
	case schema.List:
		low, high = "minItems", "maxItems"
	}
	for _, x := range []struct {
		word string
		v    *float64
	}{{low, f.Min}, {high, f.Max}} {
		if x.v != nil {
			b.WriteString("," + jsonText(x.word) + ":" + strconv.FormatFloat(*x.v, 'g', -1, 64))
		}
	}
	if f.Pattern != "" {
		b.WriteString(`,"pattern":` + jsonText(f.Pattern))
	}
	if f.Default != nil {
		b.WriteString(`,"default":` + f.Default.JSON)
	}
	return b.String()
}
