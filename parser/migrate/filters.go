package migrate

import (
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var pyFilter = lazyregexp.New(`\{\{\s*((?:input|state)\.[a-z0-9_]+)(\s*\|\s*python)\s*\}\}`)

// pyFilters drops `| python` behind inputs and fields of the state that Python writes as flowgen does.
func (x *finder) pyFilters() {
	plain := map[string]bool{}
	for _, root := range []string{"input", "state"} {
		m := x.root.Get(root)
		if m == nil {
			continue
		}
		for _, e := range m.Entries {
			typ := e.Value
			if typ.Kind == yamlnode.Mapping {
				typ = typ.Get("type")
			}
			if typ != nil && (typ.Text.Value == "string" || typ.Text.Value == "int" || strings.HasPrefix(typ.Text.Value, "enum<")) {
				plain[root+"."+e.Key.Text.Value] = true
			}
		}
	}
	for _, n := range []*yamlnode.Node{x.root.Get("nodes"), x.root.Get("output")} {
		if n == nil {
			continue
		}
		for _, m := range pyFilter.FindAllStringSubmatchIndex(x.file.Text[n.Span.Lo:n.Span.Hi], -1) {
			if lo := n.Span.Lo; plain[x.file.Text[lo+m[2]:lo+m[3]]] {
				x.replace(source.Span{Lo: lo + m[4], Hi: lo + m[5]}, "")
			}
		}
	}
}
