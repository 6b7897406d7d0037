package stargraph

import (
	"html"
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
)

var (
	controls = regexp.MustCompile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\u009f]")
	markers  = regexp.MustCompile(`(?i)__system__|<\|im_start\|>|<\|im_end\|>`)
)

// Sanitize makes of all texts of a value what the engine makes of what tools return: without control characters, escaped for
// HTML, and without marks of a system prompt, in this order, so that those with angle brackets stay, escaped. Keys are left as
// they are.
func Sanitize(v runtime.Value) runtime.Value {
	switch v.Kind() {
	case runtime.StringKind:
		// Python's html.escape writes &quot; and &#x27;.
		escaped := strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(html.EscapeString(controls.ReplaceAllString(v.String(), "")))
		return runtime.StringValue(markers.ReplaceAllString(escaped, ""))
	case runtime.ListKind:
		items := make([]runtime.Value, v.Len())
		for i := range items {
			items[i] = Sanitize(v.Index(i))
		}
		return runtime.ListValue(items...)
	case runtime.MapKind:
		var entries []runtime.Entry
		for _, k := range v.Keys() {
			item, _ := v.Get(k)
			entries = append(entries, runtime.Entry{Key: k, Value: Sanitize(item)})
		}
		return runtime.MapValue(entries...)
	}
	return v
}
