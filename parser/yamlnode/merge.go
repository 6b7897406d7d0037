package yamlnode

// Merge puts the entries of merged mappings before those of the mapping that merges them, as readers of YAML 1.1 do: its own
// entries win, then those of the mapping that is named first. The tree is changed, and nothing else may read it meanwhile.
func Merge(root *Node) { merge(root, map[*Node]bool{}) }

func merge(n *Node, done map[*Node]bool) {
	if n == nil || done[n] {
		return
	}
	done[n] = true
	for _, m := range n.Merges {
		merge(m, done)
	}
	if len(n.Merges) > 0 {
		n.Entries = append(inherited(n), n.Entries...)
		n.Merges = nil
	}
	for _, e := range n.Entries {
		merge(e.Value, done)
	}
	for _, x := range n.Items {
		merge(x, done)
	}
}

func inherited(n *Node) []Entry {
	seen := map[string]bool{}
	for _, e := range n.Entries {
		seen[e.Key.Text.Value] = true
	}
	var out []Entry
	for _, m := range n.Merges {
		for _, e := range m.Entries {
			if name := e.Key.Text.Value; !seen[name] {
				seen[name] = true
				out = append(out, e)
			}
		}
	}
	return out
}
