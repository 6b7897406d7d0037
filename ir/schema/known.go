package schema

// knows reports whether t, or a part of it that is not a field, is a list with Known.
func (t *Type) knows() bool {
	switch t.Kind {
	case List:
		return len(t.Known) > 0 || t.Elem.knows()
	case Map, Opt:
		return t.Elem.knows()
	}
	return false
}

// Plain is t without what filters have proved of lists: the type as a file writes it.
func (t *Type) Plain() *Type {
	if !t.knows() {
		return t
	}
	out := *t
	out.Known, out.Elem = nil, t.Elem.Plain()
	return &out
}
