package insert

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Path is where a node is in a file, from the top: that of the node id in the innermost of containers.
func Path(containers []string, id string) []string {
	var path []string
	for _, c := range containers {
		path = append(path, "nodes", c, "do")
	}
	return append(path, "nodes", id)
}

// Has reports whether the mapping at path has the key.
func Has(text string, path []string, key string) bool {
	m, err := mapping(text, path)
	return err == nil && m.Get(key) != nil
}

// Entry adds id with its fields to the mapping that the mapping at path has under key, which is added where it is missing.
func Entry(text string, path []string, key, id string, fields []Field) (string, error) {
	m, err := mapping(text, path)
	if err != nil {
		return "", err
	}
	inner := m.Get(key)
	switch {
	case inner == nil:
		return last(text, m, key, []Field{{Name: id, Fields: fields}})
	case inner.Kind != yamlnode.Mapping || !inner.Alias.IsZero():
		return "", fmt.Errorf("`%s` is not a mapping here, or it is an alias of an anchor", key)
	}
	return last(text, inner, id, fields)
}

// last adds an entry behind the last one of a mapping.
func last(text string, m *yamlnode.Node, key string, fields []Field) (string, error) {
	line := key + ": " + Flow(fields)
	if len(m.Entries) == 0 {
		lo := m.Span.Lo + 1 // an empty mapping is in brackets
		return text[:lo] + line + text[lo:], nil
	}
	e := m.Entries[len(m.Entries)-1]
	end := max(e.Value.Place().Hi, e.Key.Span.Hi)
	if m.Style == yamlnode.Flow {
		return text[:end] + ", " + line + text[end:], nil
	}
	indent := column(text, e.Key.Span.Lo)
	if len([]rune(indent+line)) > wide {
		line = block(key, fields, indent)
	}
	return behindLine(text, end, indent+line), nil
}

func mapping(text string, path []string) (*yamlnode.Node, error) {
	n, problems := yamlnode.Parse(source.NewFile("workflow", text))
	if n == nil || len(problems) > 0 {
		return nil, errors.New("the file is not valid YAML")
	}
	for i, key := range path {
		n = n.Get(key)
		switch where := strings.Join(path[:i+1], "."); {
		case n == nil || n.Kind != yamlnode.Mapping:
			return nil, fmt.Errorf("the file has no mapping %s", where)
		case !n.Alias.IsZero():
			return nil, fmt.Errorf("%s is an alias of an anchor", where)
		}
	}
	return n, nil
}
