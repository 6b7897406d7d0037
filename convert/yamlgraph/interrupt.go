package yamlgraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// interrupt says what a node that asks a user reads, and what it writes. The answer is text, and so is the question.
func (g *graph) interrupt(n *yamlgraph.Node) {
	t := n.Token
	if a := t.Ask; a != nil {
		g.Only(n.ID.Span, "the node "+n.ID.Name, a, "Prompt Values Needs Model Fail")
		if n.Schema != "" {
			g.Refuse(n.ID.Span, "ask the model in a node before it, and write a native `human` node with its answer", "the question of %s is an answer with a schema", n.ID.Name)
		}
		g.variables(n)
	}
	if m, ok := t.Payload.(*dialect.Mixed); ok {
		for _, s := range m.Segments {
			switch {
			case s.Ref == nil || g.shapes[s.Ref.Path[0]] == nil:
			case len(s.Ref.Path) == 1 && g.shapes[s.Ref.Path[0]].declared.Kind == schema.String: // it may be missing
				g.reads[n] = append(g.reads[n], s.Ref.Path[0])
			default:
				g.use(s.Ref, nil)
			}
		}
	}
	g.asText(n, t.Resume)
	if t.Key.Name != "" {
		if !t.Fresh {
			g.reads[n] = append(g.reads[n], g.held(t.Key.Name)...)
		}
		if _, mapping := t.Payload.(*ir.Object); !mapping {
			g.asText(n, t.Key)
		} else if sh := g.shapes[t.Key.Name]; sh != nil {
			sh.declared = schema.AnyType // which the engine does not mind
		}
	}
	g.writes[n] = append(g.held(t.Resume.Name), g.held(t.Key.Name)...)
}

// asText refuses a field that cannot hold text. One without a type becomes text.
func (g *graph) asText(n *yamlgraph.Node, field ir.Ident) {
	sh := g.shapes[field.Name]
	switch {
	case sh == nil:
	case sh.declared.Kind == schema.Any && (sh.wants == nil || sh.wants.Kind == schema.String):
		sh.wants = schema.StringType
	case sh.declared.Kind != schema.String:
		g.Refuse(n.ID.Span, "declare it as `str`, or write `out` on a native `human` node", "%s writes text to the state field %s, which is declared as another type", n.ID.Name, field.Name)
	}
}

// human rewrites a node that asks a user.
func (g *graph) human(n *yamlgraph.Node, out *ir.Node) {
	t := n.Token
	g.Note(n.ID.Span, "", "the native node asks again after an empty answer, which the engine takes")
	if t.Ask != nil {
		g.composed(n, out)
		return
	}
	text, sum := g.message(n)
	if t.Key.Name != "" && !t.Fresh {
		sum = "default(state." + t.Key.Name + ", " + sum + ")"
		if g.certain(t.Key.Name, n) && !g.starts[t.Key.Name] && !g.Opt[t.Key.Name] {
			sum = "state." + t.Key.Name
		}
		text = "{{ " + sum + " }}"
	}
	if o, mapping := t.Payload.(*ir.Object); mapping && t.Key.Name != "" && !t.Fresh {
		asking := g.call(out.ID.Name+"_question", "Asking", convert.Pair("held", convert.Ref("state."+t.Key.Name)), convert.Pair("message", o))
		g.part(n).before = append(g.part(n).before, step{Node: asking})
		out.Verb = &ir.Human{Prompt: convert.Text("{{ " + asking.ID.Name + ".text }}")}
		out.Set = append(out.Set, convert.Set(t.Key.Name, asking.ID.Name+".payload"), convert.Set(t.Resume.Name, out.ID.Name))
		return
	}
	out.Verb = &ir.Human{Prompt: convert.Text(text)}
	if len(g.held(t.Key.Name)) > 0 {
		var asked ir.Value = convert.Text(text)
		switch o, mapping := t.Payload.(*ir.Object); {
		case mapping:
			asked = o
		case !t.Fresh:
			asked = convert.Ref(sum)
		}
		out.Set = append(out.Set, &ir.Set{Field: t.Key, Value: asked})
	}
	out.Set = append(out.Set, convert.Set(t.Resume.Name, out.ID.Name))
}

// composed rewrites a node whose question is made when it is asked: by a model, or by a template. What the field holds already
// is asked as it is.
func (g *graph) composed(n *yamlgraph.Node, out *ir.Node) {
	t, p := n.Token, g.part(n)
	id, place := out.ID.Name, "state."+t.Key.Name
	held := t.Key.Name != "" && !t.Fresh
	if held && g.certain(t.Key.Name, n) && !g.starts[t.Key.Name] && !g.Opt[t.Key.Name] {
		out.Verb = &ir.Human{Prompt: convert.Text("{{ " + place + " }}")}
		out.Set = append(out.Set, convert.Set(t.Resume.Name, id))
		return
	}
	question := &ir.Node{ID: convert.Name(g.fresh(id + "_question")), Verb: &ir.Let{}}
	if held {
		look := &ir.Node{ID: convert.Name(g.fresh(id + "_held")), Verb: &ir.Let{Fields: []*ir.Entry{convert.Pair("value", convert.Ref(place))}}}
		p.before = append(p.before, step{Node: look, ok: look.ID.Name + ".value == null", other: question.ID.Name})
	}
	var text *ir.Template
	if t.Ask.Model.Name != "" {
		g.needs(n)
		made := &ir.Node{ID: convert.Name(g.fresh(id + "_made")), Verb: g.question(n), Retry: again(n.Retry)}
		p.before = append(p.before, step{Node: made})
		text = convert.Text("{{ " + made.ID.Name + " }}")
		if held {
			text = convert.Text("{{ default(" + made.ID.Name + ", default(" + place + `, "")) }}`)
		}
	} else {
		text = convert.Text(g.prompt(n, t.Ask.Prompt.User, "question"))
		if held {
			made := &ir.Node{ID: convert.Name(g.fresh(id + "_made")), Verb: &ir.Let{Fields: []*ir.Entry{convert.Pair("text", text)}}}
			p.before = append(p.before, step{Node: made})
			text = convert.Text("{{ default(" + made.ID.Name + "?.text, default(" + place + `, "")) }}`)
		}
	}
	question.Verb.(*ir.Let).Fields = []*ir.Entry{convert.Pair("text", text)}
	p.before = append(p.before, step{Node: question})
	asked := question.ID.Name + ".text"
	out.Verb = &ir.Human{Prompt: convert.Text("{{ " + asked + " }}")}
	if len(g.held(t.Key.Name)) > 0 {
		out.Set = append(out.Set, convert.Set(t.Key.Name, asked))
	}
	out.Set = append(out.Set, convert.Set(t.Resume.Name, id))
}

// message is the message of a node, as text with expressions and as one expression.
func (g *graph) message(n *yamlgraph.Node) (text, sum string) {
	switch v := n.Token.Payload.(type) {
	case *ir.Scalar:
		return doc.Braces(v.Text.Value), doc.Escaped(v.Text.Value)
	case *ir.Object:
		return doc.Braces(dialect.JSON(v)), doc.Escaped(dialect.JSON(v))
	case *dialect.Mixed:
		var list []string
		last := "" // the literal text at the end of list
		for _, s := range v.Segments {
			lit, place := s.Lit, ""
			if s.Ref != nil {
				if lit = s.Ref.Text.Value; g.shapes[s.Ref.Path[0]] != nil {
					place = g.shown(n, s.Ref)
				} else if s.Ref.Missing != dialect.MissingKeep {
					continue
				}
			}
			switch {
			case place != "":
				inText := place
				if of, is := strings.CutPrefix(place, "string("); is {
					inText = strings.TrimSuffix(of, ")")
				}
				text, list, last = text+"{{ "+inText+" }}", append(list, place), ""
			case last != "":
				text, last = text+doc.Braces(lit), last+lit
				list[len(list)-1] = doc.Escaped(last)
			default:
				text, last = text+doc.Braces(lit), lit
				list = append(list, doc.Escaped(lit))
			}
		}
		return text, strings.Join(list, " + ")
	}
	g.Refuse(n.ID.Span, "write `message` as text", "the question of %s is not converted", n.ID.Name)
	return "", `""`
}

// shown is a field that a question names, as text.
func (g *graph) shown(n *yamlgraph.Node, r *dialect.Reference) string {
	field := r.Path[0]
	typ := g.shapes[field].declared
	if w := g.shapes[field].wants; typ.Kind == schema.Any && w != nil {
		typ = w
	}
	switch {
	case len(r.Path) > 1 || typ.Kind != schema.String && typ.Kind != schema.Int:
		g.Refuse(r.Text.Span, "declare the field as `str` or `int`", "%s is of a type that Python and the native language write in different ways", r.Text.Value)
	case g.starts[field] && g.written(field) || g.written(field) && !g.certain(field, n):
		g.Refuse(r.Text.Span, "let a node before it write the field", "state.%s may be missing when %s asks", field, n.ID.Name)
	case typ.Kind == schema.Int:
		return "string(" + g.path(r, "") + ")"
	case !g.written(field) && !g.shapes[field].used():
		written := r.Text.Value
		if r.Missing != dialect.MissingKeep {
			written = ""
		}
		return "default(" + g.path(r, "") + ", " + doc.Escaped(written) + ")"
	}
	return g.path(r, "")
}
