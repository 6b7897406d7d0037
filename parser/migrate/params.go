package migrate

import (
	"strings"

	"github.com/flowgen-dev/flowgen/parser/insert"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// params of requests were text: what is one expression and nothing else is a value now.
func (x *finder) params() {
	x.section("tools", func(_ string, n *yamlnode.Node) {
		http := n.Get("http")
		for _, key := range []string{"query", "headers"} {
			m := http.Get(key)
			if m == nil {
				continue
			}
			for _, e := range m.Entries {
				v := e.Value
				if v.Kind != yamlnode.Scalar || v.Anchor != "" || !v.Alias.IsZero() {
					continue
				}
				if inner, ok := alone(v.Text.Value); ok {
					x.replace(v.Span, value(inner))
				}
			}
		}
	})
}

// alone is the expression of a text that is nothing else. One with a filter, or with text in it that could hold braces, is not.
func alone(text string) (string, bool) {
	inner, opens := strings.CutPrefix(text, "{{")
	inner, closes := strings.CutSuffix(inner, "}}")
	inner = strings.TrimSpace(inner)
	if !opens || !closes || inner == "" || strings.ContainsAny(inner, "{}\"'\\\n") || strings.Contains(strings.ReplaceAll(inner, "||", ""), "|") {
		return "", false
	}
	return inner, true
}

// value writes an expression as a value.
func value(expression string) string {
	for _, c := range expression {
		if c != '_' && c != '.' && (c < '0' || '9' < c) && (c < 'a' || 'z' < c) && (c < 'A' || 'Z' < c) {
			return insert.Quote("$" + expression)
		}
	}
	return "$" + expression
}
