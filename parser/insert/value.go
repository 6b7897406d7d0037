package insert

import (
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// bare is text that YAML takes for text without quotes, wherever it stands, and workflows for itself.
var bare = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

// words are those of bare that YAML, or readers of YAML, take for something else.
var words = map[string]bool{"null": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true}

// literalBraces writes the braces of a place for a value so that they stand for themselves.
var literalBraces = strings.NewReplacer("{{", `{{ "{{" }}`)

// Text writes text for a place where a workflow asks for data: as it is, and no expression or template.
func Text(s string) string {
	switch {
	case bare.MatchString(s) && !words[strings.ToLower(s)]:
		return s
	case strings.Contains(s, "{{"):
		if rest, ok := strings.CutPrefix(s, "$"); ok { // else it would be an expression
			return Quote(`{{ "$" }}` + literalBraces.Replace(rest))
		}
		return Quote(literalBraces.Replace(s))
	case strings.HasPrefix(s, "$"):
		return Quote("$" + s)
	}
	return Quote(s)
}

// Quote writes text in double quotes, as YAML and the expression language read them.
func Quote(s string) string { return yamlnode.Quote(s) }

// Key writes a key of a mapping.
func Key(s string) string {
	if bare.MatchString(s) && !words[strings.ToLower(s)] {
		return s
	}
	return Quote(s)
}

// Same writes a node of a file once more, in brackets, so that it can be elsewhere. Comments are left out.
func Same(n *yamlnode.Node) string {
	switch n.Kind {
	case yamlnode.Mapping:
		parts := make([]string, len(n.Entries))
		for i, e := range n.Entries {
			parts[i] = Key(e.Key.Text.Value) + ": " + Same(e.Value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yamlnode.Sequence:
		parts := make([]string, len(n.Items))
		for i, item := range n.Items {
			parts[i] = Same(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case yamlnode.Null:
		return "null"
	}
	if n.Style == yamlnode.Plain && n.Tag != "!!str" {
		return n.Text.Value // a number, a truth value
	}
	if bare.MatchString(n.Text.Value) || n.Style == yamlnode.Plain && !strings.ContainsAny(n.Text.Value, ",[]{}:#\n") {
		return n.Text.Value
	}
	return Quote(n.Text.Value)
}

// NodeFields returns fields of a node as they are in the file, those of the names that it has. An empty id means the
// single node of the innermost container's body.
func NodeFields(text string, containers []string, id string, names ...string) ([]Field, error) {
	var node *yamlnode.Node
	if last := len(containers) - 1; id == "" && last >= 0 {
		nodes, err := list(text, containers[:last], "nodes")
		if err != nil {
			return nil, err
		}
		node = nodes.Get(containers[last]).Get("do")
	} else {
		nodes, err := list(text, containers, "nodes")
		if err != nil {
			return nil, err
		}
		node = nodes.Get(id)
	}
	var out []Field
	for _, name := range names {
		if v := node.Get(name); v != nil {
			out = append(out, Field{Name: name, Value: Same(v)})
		}
	}
	return out, nil
}
