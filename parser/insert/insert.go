// Package insert adds a node or an edge to the text of a workflow. It is the smallest edit: every other byte stays as it
// is, and what is added is written as what is next to it, in a block or in brackets.
package insert

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// wide is how many columns a line in brackets has at most, as in the canonical layout.
const wide = 120

// Node adds a node behind the node after, in the body of the innermost of containers, which are the ids of maps and loops
// from the outside in. Without containers it is the body of the workflow.
func Node(text string, containers []string, after, id string, fields []Field) (string, error) {
	nodes, err := list(text, containers, "nodes")
	if err != nil {
		return "", err
	}
	e := nodes.Entry(after)
	switch {
	case e == nil:
		return "", fmt.Errorf("the file has no node %s to insert it after", after)
	case nodes.Get(id) != nil:
		return "", fmt.Errorf("node %s already exists", id)
	}
	end := max(e.Value.Place().Hi, e.Key.Span.Hi)
	line := id + ": " + Flow(fields)
	if nodes.Style == yamlnode.Flow {
		return text[:end] + ", " + line + text[end:], nil
	}
	indent := column(text, e.Key.Span.Lo)
	if len([]rune(indent+line)) > wide {
		line = block(id, fields, indent)
	}
	return behindLine(text, end, indent+line), nil
}

// Edge adds an edge behind the last one of a body.
func Edge(text string, containers []string, from, to string) (string, error) {
	edges, err := list(text, containers, "edges")
	if err != nil {
		return "", err
	}
	if len(edges.Items) == 0 {
		return "", errors.New("`edges` is not a list")
	}
	last := edges.Items[len(edges.Items)-1].Place()
	edge := from + " -> " + to
	if edges.Style == yamlnode.Flow {
		return text[:last.Hi] + ", " + edge + text[last.Hi:], nil
	}
	indent := text[strings.LastIndexByte(text[:last.Lo], '\n')+1 : last.Lo]
	if i := strings.IndexByte(indent, '-'); i >= 0 { // of the dash
		indent = indent[:i] + "- "
	}
	return behindLine(text, last.Hi, indent+edge), nil
}

// A Field is a key of a new node. Value is YAML that can be used in brackets; Fields, when there are some, are a mapping.
type Field struct {
	Name   string
	Value  string
	Fields []Field
}

// Flow writes fields in brackets.
func Flow(fields []Field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		value := f.Value
		if f.Fields != nil {
			value = Flow(f.Fields)
		}
		parts[i] = f.Name + ": " + value
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// block writes a node whose fields do not fit into one line.
func block(id string, fields []Field, indent string) string {
	var b strings.Builder
	b.WriteString(id + ":")
	var put func(fields []Field, indent string)
	put = func(fields []Field, indent string) {
		for _, f := range fields {
			b.WriteString("\n" + indent + f.Name + ":")
			switch {
			case f.Fields == nil:
				b.WriteString(" " + f.Value)
			case len([]rune(indent+f.Name+": "+Flow(f.Fields))) <= wide:
				b.WriteString(" " + Flow(f.Fields))
			default:
				put(f.Fields, indent+"  ")
			}
		}
	}
	put(fields, indent+"  ")
	return b.String()
}

// list finds nodes or edges of a body.
func list(text string, containers []string, key string) (*yamlnode.Node, error) {
	body, problems := yamlnode.Parse(source.NewFile("workflow", text))
	if body == nil || len(problems) > 0 {
		return nil, errors.New("the file is not valid YAML")
	}
	where := "the workflow"
	for _, id := range containers {
		body = body.Get("nodes").Get(id).Get("do")
		where = "node " + id
		if body == nil {
			return nil, fmt.Errorf("%s has no body", where)
		}
		if !body.Alias.IsZero() {
			return nil, fmt.Errorf("the body of %s is an alias of an anchor", where)
		}
	}
	n := body.Get(key)
	switch {
	case n == nil:
		return nil, fmt.Errorf("%s has no %s", where, key)
	case !n.Alias.IsZero():
		return nil, fmt.Errorf("%s of %s are aliases of an anchor", key, where)
	}
	return n, nil
}

// column is the white space before a key that begins its line.
func column(text string, at int) string {
	before := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	return before[:len(before)-len(strings.TrimLeft(before, " "))]
}

// behindLine puts lines behind the line that has the byte at.
func behindLine(text string, at int, lines string) string {
	eol := "\n"
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		eol = "\r\n"
	}
	lines = strings.ReplaceAll(lines, "\n", eol)
	if at > 0 && text[at-1] == '\n' { // a block of text ends with its line
		return text[:at] + lines + eol + text[at:]
	}
	end := strings.IndexByte(text[at:], '\n')
	if end < 0 {
		return text + eol + lines + eol
	}
	return text[:at+end+1] + lines + eol + text[at+end+1:]
}
