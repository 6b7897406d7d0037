package migrate

import "github.com/flowgen-dev/flowgen/parser/yamlnode"

// Names are the files that a workflow includes, those of its prompts, and its secrets, as they are written.
func Names(root *yamlnode.Node) (includes, prompts, secrets []string) {
	x := &finder{root: root}
	for _, it := range items(root.Get("include")) {
		includes = append(includes, it.Text.Value)
	}
	files := func(n *yamlnode.Node) {
		for _, key := range []string{"prompt", "system"} {
			if file := n.Get(key).Get("file"); file != nil {
				prompts = append(prompts, file.Text.Value)
			}
		}
	}
	x.nodes(files)
	x.section("agents", func(_ string, n *yamlnode.Node) { files(n) })
	return includes, prompts, x.secretNames()
}

// secretNames are the secrets that the file declares, in a list or a mapping.
func (x *finder) secretNames() []string {
	var out []string
	declared := x.root.Get("secrets")
	if declared == nil {
		return nil
	}
	for _, it := range items(declared) {
		out = append(out, it.Text.Value)
	}
	for _, e := range declared.Entries {
		out = append(out, e.Key.Text.Value)
	}
	return out
}
