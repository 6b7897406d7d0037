package convert

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// PyText is the Go function that writes a value as Python's str() does.
const PyText = schema.RuntimePath + "/dynamic/py.Text"

// Plain reports whether an expression can write values of a type as Python does.
func Plain(t *schema.Type) bool {
	switch t.Kind {
	case schema.String, schema.Enum, schema.Int, schema.Bool:
		return true
	}
	return false
}

// Shown is a place of the native file in text, as Python writes it. If its type is not Plain the place is the result of a node,
// or a part of it: the text is made by a node that Shown adds behind that one.
func (c *Converter) Shown(place string, t *schema.Type) string {
	if t.Kind == schema.Bool {
		place += ` ? "True" : "False"`
	} else if !Plain(t) {
		place = c.written(place)
	}
	return "{{ " + place + " }}"
}

// A written is a node that writes a place as text.
type written struct{ id, place string }

// written is the id of the node that writes a place, one for all its readers.
func (c *Converter) written(place string) string {
	if i := slices.IndexFunc(c.texts, func(w written) bool { return w.place == place }); i >= 0 {
		return c.texts[i].id
	}
	id := Free(NativeID(strings.ReplaceAll(place, ".", "_")+"_text"), func(id string) bool {
		return c.FreeID(id) != id || slices.ContainsFunc(c.texts, func(w written) bool { return w.id == id })
	})
	c.texts = append(c.texts, written{id, place})
	return id
}

// addTexts puts the nodes that write places behind those whose results they read, on all ways that lead on from there.
func (c *Converter) addTexts() {
	body := &c.Out.Body
	for _, w := range slices.Backward(c.texts) {
		of, _, _ := strings.Cut(w.place, ".")
		i := slices.IndexFunc(body.Nodes, func(n *ir.Node) bool { return n.ID.Name == of })
		if i < 0 {
			c.Refuse(c.Workflow.Name.Span, "make its text in a node: `go: "+PyText+"`", "%s is written as Python writes it, and no node gives it", w.place)
			continue
		}
		body.Nodes = slices.Insert(body.Nodes, i+1, &ir.Node{ID: Name(w.id), Verb: Call(PyText, Pair("v", Ref(w.place)))})
		first := -1
		for k, e := range body.Edges {
			if e.From.Name == of {
				own := *e
				own.From, body.Edges[k] = Name(w.id), &own
				if first < 0 {
					first = k
				}
			}
		}
		if first >= 0 {
			body.Edges = slices.Insert(body.Edges, first, &ir.Edge{From: Name(of), To: Names(w.id)})
		}
	}
}
