package insert

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Written returns the value of key in the mapping at path: the text of a scalar, other values in brackets. It is empty where the mapping
// does not have the key.
func Written(text string, path []string, key string) string {
	m, err := mapping(text, path)
	if err != nil || m.Get(key) == nil {
		return ""
	}
	if v := m.Get(key); v.Kind != yamlnode.Scalar {
		return Same(v)
	}
	return m.Get(key).Text.Value
}

// Set replaces the value of key in the mapping at path: a scalar by the text value, a mapping by the mapping that value is in YAML.
func Set(text string, path []string, key, value string) (string, error) {
	m, err := mapping(text, path)
	if err != nil {
		return "", err
	}
	v := m.Get(key)
	switch {
	case v == nil || v.Span.Lo == v.Span.Hi:
		return "", fmt.Errorf("`%s` is not written here", key)
	case !v.Alias.IsZero() || v.Anchor != "" || v.Explicit:
		return "", fmt.Errorf("`%s` has an anchor or a tag here: edit the file", key)
	case v.Kind == yamlnode.Scalar:
		value = scalar(text, m, value)
	default:
		given, problems := yamlnode.Parse(source.NewFile(key, value))
		if given == nil || len(problems) > 0 || given.Kind != v.Kind {
			return "", errors.New("`" + key + "` is not written as before: expected the same kind of YAML value")
		}
		value = Same(given)
	}
	return text[:v.Span.Lo] + value + text[v.Span.Hi:], nil
}

// versioned are names of tools with a version, which need no quotes as values.
var versioned = regexp.MustCompile(`^[a-z][a-z0-9_.]*@[A-Za-z0-9.+-]+$`)

// scalar writes a text as the value of a key of m, several lines as a block where that is the same text.
func scalar(text string, m *yamlnode.Node, value string) string {
	if versioned.MatchString(value) {
		return value
	}
	one := strings.TrimSuffix(value, "\n")
	strange := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	if m.Style == yamlnode.Flow || !strings.Contains(one, "\n") || strings.TrimLeft(one, " \n") != one || strings.HasSuffix(one, "\n") || strings.ContainsFunc(one, strange) {
		return Key(value) // not Text: prompts have placeholders
	}
	head, indent := "|", column(text, m.Entries[0].Key.Span.Lo)+"  "
	if one == value {
		head = "|-"
	}
	for line := range strings.SplitSeq(one, "\n") {
		if head += "\n"; line != "" {
			head += indent + line
		}
	}
	return head
}
