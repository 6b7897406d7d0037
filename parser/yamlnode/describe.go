package yamlnode

import "unicode/utf8"

// Describe is what messages call a node that is something else than asked for: a mapping, a list, empty, or its value.
func (n *Node) Describe() string {
	switch n.Kind {
	case Mapping:
		return "a mapping"
	case Sequence:
		return "a list"
	case Null:
		return "empty"
	}
	return "the value `" + Shorten(n.Text.Value) + "`"
}

// Shorten is text for a message: its first line, and not more than fits there.
func Shorten(s string) string {
	const most = 40
	for i, c := range s {
		if c < ' ' || i > most {
			return s[:i] + "…"
		}
	}
	if !utf8.ValidString(s) {
		return "…"
	}
	return s
}
