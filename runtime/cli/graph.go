package cli

import (
	"errors"
	"io"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// labelRunes bounds one line of a label of a graph.
const labelRunes = 200

// colours of the states of nodes: of the area and of the line around it.
var colours = []struct{ state, fill, stroke string }{
	{callDone, "#d9f2dd", "#2e7d32"},
	{callFailed, "#f8d7da", "#b71c1c"},
	{callWaiting, "#fff3cd", "#b58900"},
	{callInDoubt, "#ffe0cc", "#d84315"},
	{callOpen, "#d6e9ff", "#1565c0"},
	{callCancelled, "#e6e6e6", "#616161"},
	{idle, "#ffffff", "#bdbdbd"},
}

// Mermaid returns the workflow's graph as a Mermaid flowchart: bodies of maps and loops as subgraphs. The same info
// gives the same text; labels are escaped, whatever they hold.
func Mermaid(info *flow.Info) string { return drawingOf(info).mermaid() }

func (d *drawing) mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for _, v := range d.list {
		v.mermaid(&b, "  ")
	}
	for _, e := range d.edges {
		mermaidEdge(&b, "  ", d.place[e.From], d.place[e.To], e.Label)
	}
	if !d.runs {
		return b.String()
	}
	for _, c := range colours {
		if names := d.in(c.state); len(names) > 0 {
			b.WriteString("  classDef " + c.state + " fill:" + c.fill + ",stroke:" + c.stroke + ",color:#000000\n")
			b.WriteString("  class " + strings.Join(names, ",") + " " + c.state + "\n")
		}
	}
	return b.String()
}

func (v *vertex) mermaid(b *strings.Builder, indent string) {
	lines := make([]string, 0, 1+len(v.about))
	for _, l := range append([]string{v.id}, v.about...) {
		lines = append(lines, mermaidLabel(l))
	}
	label := strings.Join(lines, "<br/>")
	if len(v.parts) == 0 {
		open, closing := `["`, `"]`
		if v.end {
			open, closing = `(["`, `"])`
		}
		b.WriteString(indent + v.name + open + label + closing + "\n")
		return
	}
	b.WriteString(indent + "subgraph " + v.name + `["` + label + `"]` + "\n")
	for _, p := range v.parts {
		p.mermaid(b, indent+"  ")
	}
	for _, l := range v.links {
		mermaidEdge(b, indent+"  ", l.from, l.to, l.label)
	}
	b.WriteString(indent + "end\n")
}

func mermaidEdge(b *strings.Builder, indent string, from, to *vertex, label string) {
	b.WriteString(indent + from.name + " -->")
	if label != "" {
		b.WriteString(`|"` + mermaidLabel(label) + `"|`)
	}
	b.WriteString(" " + to.name + "\n")
}

// in names the vertices in a state.
func (d *drawing) in(state string) []string {
	var names []string
	var walk func(list []*vertex)
	walk = func(list []*vertex) {
		for _, v := range list {
			if v.state == state {
				names = append(names, v.name)
			}
			walk(v.parts)
		}
	}
	walk(d.list)
	return names
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

// DOT returns the workflow's graph in Graphviz's language: bodies of maps and loops as clusters. The same info gives
// the same text; labels are escaped, whatever they hold.
func DOT(info *flow.Info) string { return drawingOf(info).dot() }

func (d *drawing) dot() string {
	var b strings.Builder
	b.WriteString("digraph " + dotString(d.name) + " {\n")
	for _, v := range d.list {
		if len(v.parts) > 0 {
			b.WriteString("  compound=true;\n") // edges end at clusters
			break
		}
	}
	b.WriteString("  node [shape=box];\n")
	for _, v := range d.list {
		v.dot(&b, "  ")
	}
	for _, e := range d.edges {
		dotEdge(&b, "  ", d.place[e.From], d.place[e.To], e.Label)
	}
	b.WriteString("}\n")
	return b.String()
}

func (v *vertex) dot(b *strings.Builder, indent string) {
	lines := make([]string, 0, 1+len(v.about))
	for _, l := range append([]string{v.id}, v.about...) {
		line := dotString(l)
		lines = append(lines, line[1:len(line)-1])
	}
	label := dotString(v.id)
	if len(v.about) > 0 {
		label = `"` + strings.Join(lines, `\n`) + `"`
	}
	paint := ""
	for _, c := range colours {
		if c.state == v.state {
			paint = `style=filled, fillcolor="` + c.fill + `", color="` + c.stroke + `"`
		}
	}
	if len(v.parts) == 0 {
		b.WriteString(indent + v.name + " [label=" + label)
		if v.end {
			b.WriteString(", shape=oval")
		}
		if paint != "" {
			b.WriteString(", " + paint)
		}
		b.WriteString("];\n")
		return
	}
	b.WriteString(indent + "subgraph cluster_" + v.name + " {\n" + indent + "  label=" + label + ";\n")
	if paint != "" {
		b.WriteString(indent + "  " + strings.ReplaceAll(paint, ", ", "; ") + ";\n")
	}
	for _, p := range v.parts {
		p.dot(b, indent+"  ")
	}
	for _, l := range v.links {
		dotEdge(b, indent+"  ", l.from, l.to, l.label)
	}
	b.WriteString(indent + "}\n")
}

// dotEdge writes an edge. Graphviz has none between clusters: it leads between nodes in them, and is cut at their borders.
func dotEdge(b *strings.Builder, indent string, from, to *vertex, label string) {
	var words []string
	if label != "" {
		words = append(words, "label="+dotString(label))
	}
	if len(from.parts) > 0 && from != to {
		words = append(words, "ltail=cluster_"+from.name)
	}
	if len(to.parts) > 0 && from != to {
		words = append(words, "lhead=cluster_"+to.name)
	}
	first, last := to, from
	for len(first.parts) > 0 {
		first = first.parts[0]
	}
	for len(last.parts) > 0 {
		last = last.parts[len(last.parts)-1]
	}
	b.WriteString(indent + last.name + " -> " + first.name)
	if len(words) > 0 {
		b.WriteString(" [" + strings.Join(words, ", ") + "]")
	}
	b.WriteString(";\n")
}

// dotString quotes s. A doubled backslash keeps Graphviz from reading \N or \l
// in a label as an escape; & would begin an HTML entity.
func dotString(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, "&amp;").Replace(plain.Line(s, labelRunes))
	return `"` + s + `"`
}

// Graph answers `flowgen graph`, as compiled programs answer `graph`. It returns the exit code.
func Graph(stdout, stderr io.Writer, info *flow.Info, args []string) int {
	s := hostSystem()
	s.args, s.stdout, s.stderr = args, stdout, stderr
	return graphCommand(s, info, args)
}

var graphFlagNames = []string{"format", "help", "run", "runs"}

func graphCommand(s *system, info *flow.Info, args []string) int {
	set := newFlagSet()
	format := set.String("format", "mermaid", "")
	run := set.String("run", "", "")
	dir := set.String("runs", "", "")
	rest, err := parseFlags(set, args)
	switch {
	case isHelp(err):
		return s.print(help(info))
	case err != nil:
		s.complain(flagMistake(graphFlagNames, err))
		return ExitUsage
	case len(rest) > 0:
		s.complain(mistake{"unexpected argument " + rest[0], "write graph --format mermaid or graph --format dot"})
		return ExitUsage
	case *format != "mermaid" && *format != "dot":
		s.complain(mistake{"unknown format " + *format, "write --format mermaid or --format dot"})
		return ExitUsage
	case *run == "" && *dir != "":
		s.complain(mistake{"--runs names the folder of --run, which is not given", "write --run latest, or leave --runs out"})
		return ExitUsage
	}
	d := drawingOf(info)
	if *run != "" {
		in, code := runOf(s, info, *run, *dir)
		if in == nil {
			return code
		}
		d.paint(in)
	}
	if *format == "dot" {
		return s.print(d.dot())
	}
	return s.print(d.mermaid())
}

// runOf reads a run of a workflow.
func runOf(s *system, info *flow.Info, name, dir string) (*inspection, int) {
	folder, _, wrong := (&keepFlags{dir: dir}).folder(s, info)
	if wrong == nil && folder == nil {
		wrong = &mistake{"FLOWGEN_RUNS is off, so no runs are recorded", "--runs DIR names the folder"}
	}
	if wrong != nil {
		s.complain(*wrong)
		return nil, ExitUsage
	}
	run, err := (&inspector{folder: folder}).named(info.Name, name, false)
	switch {
	case errors.Is(err, runs.ErrNoRun):
		s.complain(mistake{err.Error(), "inspect without a name lists the runs; --runs names their folder"})
		return nil, ExitUsage
	case err != nil:
		s.complain(mistake{err.Error(), ""})
		return nil, ExitFault
	}
	in := run.inspection()
	if info.Name != "" && in.Workflow != info.Name {
		s.complain(mistake{"run " + run.id + " is one of workflow " + in.Workflow + ", not of " + info.Name, "draw the graph of that workflow"})
		return nil, ExitUsage
	}
	return in, ExitOK
}
