package cli

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
)

// labelRunes bounds one label of a graph.
const labelRunes = 200

// vertex is a node of the drawing. The drawing names vertices n0, n1, ... so
// that no id of the workflow can be a word of the drawing's language.
type vertex struct {
	id  string
	end bool // or the start
}

// vertices returns the workflow's nodes in the order of the node table, then
// what only edges mention, and where each id stands.
func vertices(info *flow.Info) (list []vertex, place map[string]int) {
	place = map[string]int{}
	add := func(v vertex) {
		if _, ok := place[v.id]; !ok {
			place[v.id] = len(list)
			list = append(list, v)
		}
	}
	for _, n := range info.Nodes {
		add(vertex{id: n.ID})
	}
	for _, e := range info.Edges {
		add(vertex{id: e.From, end: e.From == "start"}) // no native node may be called start, and none at all end
		add(vertex{id: e.To, end: e.To == "end"})
	}
	return list, place
}

// Mermaid returns the workflow's graph as a Mermaid flowchart. The same info
// gives the same text; labels are escaped, whatever they hold.
func Mermaid(info *flow.Info) string {
	list, place := vertices(info)
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for i, v := range list {
		open, closing := `["`, `"]`
		if v.end {
			open, closing = `(["`, `"])`
		}
		b.WriteString("  n" + itoa(i) + open + mermaidLabel(v.id) + closing + "\n")
	}
	for _, e := range info.Edges {
		b.WriteString("  n" + itoa(place[e.From]) + " -->")
		if e.Label != "" {
			b.WriteString(`|"` + mermaidLabel(e.Label) + `"|`)
		}
		b.WriteString(" n" + itoa(place[e.To]) + "\n")
	}
	return b.String()
}

// mermaidLabel writes every character that Mermaid, its Markdown or HTML could
// read as something else as a character reference.
func mermaidLabel(s string) string {
	var b strings.Builder
	for _, r := range plain.Line(s, labelRunes) {
		if r > 0x7f || r == ' ' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("_.,:()=?!/", r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString("#" + itoa(int(r)) + ";")
	}
	if b.Len() == 0 {
		return " " // an empty label is a syntax error
	}
	return b.String()
}

// DOT returns the workflow's graph in Graphviz's language. The same info gives
// the same text; labels are escaped, whatever they hold.
func DOT(info *flow.Info) string {
	list, place := vertices(info)
	var b strings.Builder
	b.WriteString("digraph " + dotString(info.Name) + " {\n  node [shape=box];\n")
	for i, v := range list {
		b.WriteString("  n" + itoa(i) + " [label=" + dotString(v.id))
		if v.end {
			b.WriteString(", shape=oval")
		}
		b.WriteString("];\n")
	}
	for _, e := range info.Edges {
		b.WriteString("  n" + itoa(place[e.From]) + " -> n" + strconv.Itoa(place[e.To]))
		if e.Label != "" {
			b.WriteString(" [label=" + dotString(e.Label) + "]")
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// dotString quotes s. A doubled backslash keeps Graphviz from reading \N or \l
// in a label as an escape; & would begin an HTML entity.
func dotString(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, "&amp;").Replace(plain.Line(s, labelRunes))
	return `"` + s + `"`
}

func graphCommand(s *system, info *flow.Info, args []string) int {
	format, code, ok := formatOf(s, info, "graph", args, "mermaid", "dot")
	switch {
	case !ok:
		return code
	case format == "dot":
		return s.print(DOT(info))
	}
	return s.print(Mermaid(info))
}
