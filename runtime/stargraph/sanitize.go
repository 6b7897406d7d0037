package stargraph

import (
	"html"
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

var (
	controls = regexp.MustCompile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\u009f]")
	markers  = regexp.MustCompile(`(?i)__system__|<\|im_start\|>|<\|im_end\|>`)
)

// Sanitize makes of all texts of a value what the engine makes of what tools return: without control characters, escaped for
// HTML, and without marks of a system prompt, in this order, so that those with angle brackets stay, escaped. Keys are left as
// they are.
func Sanitize(v value.Value) value.Value {
	switch v.Kind() {
	case value.StringKind:
		// Python's html.escape writes &quot; and &#x27;.
		escaped := strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(html.EscapeString(controls.ReplaceAllString(v.String(), "")))
		return value.String(markers.ReplaceAllString(escaped, ""))
	case value.ListKind:
		items := make([]value.Value, v.Len())
		for i := range items {
			items[i] = Sanitize(v.Index(i))
		}
		return value.List(items...)
	case value.MapKind:
		var entries []value.Entry
		for _, k := range v.Keys() {
			item, _ := v.Get(k)
			entries = append(entries, value.Entry{Key: k, Value: Sanitize(item)})
		}
		return value.Map(entries...)
	}
	return v
}
