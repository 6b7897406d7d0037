package mcplock

import (
	"errors"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Describe reads the description of tools that come without a server: a JSON file with the result of `tools/list`,
// {"tools": [{name, description, inputSchema, outputSchema}]}. It returns the signature of the tool called name, and nil with the
// names of all tools when there is none. An error comes with its place in the file.
func Describe(f *source.File, name string) (sig *foreign.Signature, names []string, at source.Span, err error) {
	wrong := func(at source.Span, why string) (*foreign.Signature, []string, source.Span, error) {
		return nil, nil, at, errors.New(why)
	}
	root, err := parseJSON(f.Text)
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		lo := min(syntax.at, max(len(f.Text)-1, 0))
		return wrong(source.Span{File: f, Lo: lo, Hi: min(lo+1, len(f.Text))}, "it is not JSON: "+syntax.why)
	}
	list := root.get("tools")
	if list == nil || list.kind != '[' {
		return wrong(root.span(f), "it has no list `tools`")
	}
	for _, n := range list.items {
		if n.kind != '{' || n.get("name").str() == "" {
			return wrong(n.span(f), "a tool is an object with a `name`")
		}
		for _, part := range []string{"inputSchema", "outputSchema"} {
			if s := n.get(part); s != nil && s.kind != '{' {
				return wrong(s.span(f), "`"+part+"` is an object")
			}
		}
		t := &Tool{Name: n.get("name").str(), def: n, file: f, span: n.get("name").span(f)}
		names = append(names, t.Name)
		if t.Name != name || sig != nil {
			continue
		}
		sig = &foreign.Signature{Span: t.span, Description: oneLine(t.Description())}
		if n.get("inputSchema") != nil {
			sig.In, sig.Open = t.input()
		}
		sig.Out, _ = t.output()
	}
	return sig, names, source.Span{}, nil
}
