package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// era notes, when a graph is read as its older engine does, the first thing in it that only the newer one has.
func (p *parser) era(root *yamlnode.Node) {
	if !p.opts.Upstream {
		return
	}
	what, at := newer(root)
	if what == "" {
		return
	}
	p.Differs(at, "read it without `--compat`, or with `--compat 0.6`", "%s: this file is for YAMLGraph 0.6, which 0.4 refuses or reads in part", what)
}

// newer finds what only the newer engine has.
func newer(root *yamlnode.Node) (what string, at source.Span) {
	for _, key := range []string{"loop_exits", "verify", "data_files"} {
		if e := root.Entry(key); e != nil {
			return "`" + key + "`", e.Key.Span
		}
	}
	if tools := root.Get("tools"); tools != nil {
		for _, e := range tools.Entries {
			for _, key := range []string{"manifest", "slot"} {
				if k := e.Value.Entry(key); k != nil {
					return "the `" + key + "` of a tool", k.Key.Span
				}
			}
			if t := e.Value.Get("type"); is(t, "graph") {
				return "a tool of the type graph", t.Span
			}
		}
	}
	nodes := root.Get("nodes")
	if nodes == nil {
		return "", source.Span{}
	}
	for _, e := range nodes.Entries {
		t := e.Value.Get("type")
		for _, kind := range []string{"race", "copilot", "pipeline", "interactive_tool"} {
			if is(t, kind) {
				return "a " + kind + " node", t.Span
			}
		}
		for _, key := range []string{"guards", "candidates"} {
			if k := e.Value.Entry(key); k != nil {
				return "`" + key + "` of a node", k.Key.Span
			}
		}
	}
	return "", source.Span{}
}
