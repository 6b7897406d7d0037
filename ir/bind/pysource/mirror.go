package pysource

// mirror reports whether an annotation has the marker Mirror(...), and the name that it gives to the facts of the
// field.
func (r *reader) mirror(m *module, n *node, depth int) (template string, marked bool) {
	switch {
	case n == nil || depth > maxDepth:
		return "", false
	case n.T == "str":
		return r.mirror(m, n.X, depth+1)
	case n.T == "name" || n.T == "attr":
		if sym := r.qualify(m, n, 0); sym.stmt != nil && sym.stmt.Kind == "value" {
			return r.mirror(sym.in, sym.stmt.Value, depth+1)
		}
		return "", false
	case n.T != "sub" || len(n.E) == 0 || !r.is(m, n.X, "Annotated"):
		return "", false
	}
	for _, e := range n.E[1:] {
		if e == nil || e.T != "call" {
			continue
		}
		sym := r.qualify(m, e.X, 0)
		if _, name := split(sym.name); name != "Mirror" && (sym.stmt == nil || sym.stmt.Kind != "class" || sym.stmt.Name != "Mirror") {
			continue
		}
		given := word(e.K, "template")
		if len(e.E) > 0 {
			given = e.E[0]
		}
		if given != nil && given.T == "str" {
			template = given.S
		}
		return template, true
	}
	return r.mirror(m, n.E[0], depth+1)
}
