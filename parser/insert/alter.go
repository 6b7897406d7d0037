package insert

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Put gives key of the mapping at path a value, which is YAML: in place of the one that is written, or as a new entry behind the others. A
// mapping that is missing is added to the one around it.
func Put(text string, path []string, key, value string) (string, error) {
	given, problems := yamlnode.Parse(source.NewFile(key, value))
	if given == nil || len(problems) > 0 || strings.ContainsAny(value, "\r\n#") {
		return "", fmt.Errorf("%q is not a one-line YAML value", value)
	}
	value = Same(given)
	if len(path) > 0 && !Has(text, path[:len(path)-1], path[len(path)-1]) {
		m, err := mapping(text, path[:len(path)-1])
		if err != nil {
			return "", err
		}
		return last(text, m, path[len(path)-1], []Field{{Name: key, Value: value}})
	}
	m, err := mapping(text, path)
	if err != nil {
		return "", err
	}
	v := m.Get(key)
	switch {
	case v == nil:
		return lastValue(text, m, key, value)
	case !v.Alias.IsZero() || v.Anchor != "" || v.Explicit || v.Span.Lo == v.Span.Hi:
		return "", fmt.Errorf("`%s` has an anchor, a tag or no value here: edit the file", key)
	case v.Style != yamlnode.Flow && v.Kind != yamlnode.Scalar:
		return "", fmt.Errorf("`%s` is written over several lines: edit the file", key)
	}
	return text[:v.Span.Lo] + value + text[v.Span.Hi:], nil
}

// Remove takes key out of the mapping at path. A mapping that has nothing else is removed with it; path cannot be empty.
func Remove(text string, path []string, key string) (string, error) {
	m, err := mapping(text, path)
	if err != nil {
		return "", err
	}
	at := -1
	for i := range m.Entries {
		if m.Entries[i].Key.Text.Value == key {
			at = i
		}
	}
	switch {
	case at < 0:
		return "", fmt.Errorf("`%s` is not written here", key)
	case len(m.Entries) == 1:
		return Remove(text, path[:len(path)-1], path[len(path)-1])
	case m.Style == yamlnode.Flow:
		return withoutFlow(text, m, at)
	}
	return withoutBlock(text, m, at)
}

// endOf is behind the value of an entry.
func endOf(e *yamlnode.Entry) int { return max(e.Value.Place().Hi, e.Key.Span.Hi) }

// withoutFlow is the text without an entry in brackets, and without one comma.
func withoutFlow(text string, m *yamlnode.Node, at int) (string, error) {
	e := &m.Entries[at]
	lo, hi := e.Key.Span.Lo, endOf(e)
	between := ""
	if at == 0 {
		hi = m.Entries[1].Key.Span.Lo
		between = text[endOf(e):hi]
	} else {
		lo = endOf(&m.Entries[at-1])
		between = text[lo:e.Key.Span.Lo]
	}
	if strings.Contains(between, "#") {
		return "", errors.New("there is a comment between the entries: edit the file")
	}
	return text[:lo] + text[hi:], nil
}

// withoutBlock is the text without the lines of an entry. Comments around them stay.
func withoutBlock(text string, m *yamlnode.Node, at int) (string, error) {
	e := &m.Entries[at]
	lo := strings.LastIndexByte(text[:e.Key.Span.Lo], '\n') + 1
	if strings.TrimLeft(text[lo:e.Key.Span.Lo], " ") != "" {
		return "", errors.New("the entry does not begin its line: edit the file")
	}
	hi := endOf(e)
	if text[hi-1] != '\n' { // a block of text ends with its line
		if end := strings.IndexByte(text[hi:], '\n'); end >= 0 {
			hi += end + 1
		} else {
			hi = len(text)
		}
	}
	for i, line := range strings.Split(text[lo:hi], "\n") {
		if i > 0 && strings.HasPrefix(strings.TrimLeft(line, " "), "#") {
			return "", errors.New("there is a comment in what would be removed: edit the file")
		}
	}
	return text[:lo] + text[hi:], nil
}

// lastValue adds an entry with a value behind the last one of a mapping.
func lastValue(text string, m *yamlnode.Node, key, value string) (string, error) {
	line := key + ": " + value
	if len(m.Entries) == 0 {
		lo := m.Span.Lo + 1
		return text[:lo] + line + text[lo:], nil
	}
	e := &m.Entries[len(m.Entries)-1]
	if m.Style == yamlnode.Flow {
		return text[:endOf(e)] + ", " + line + text[endOf(e):], nil
	}
	return behindLine(text, endOf(e), column(text, e.Key.Span.Lo)+line), nil
}
