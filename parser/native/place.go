package native

import "slices"

// A Step leads from a mapping or a list into it: the key, and the keys written next to it, which say what kind of mapping it is.
// The key of a step into a list is "-".
type Step struct {
	Key    string
	Beside []string
}

// Place is what a workflow file can have where steps from its top lead to: the keys of mappings, and the forms of values. beside are
// the keys that are there.
func Place(steps []Step, beside []string) (keys []Key, forms []Form) {
	return place(Form{Kind: FormShape, Shape: shapeWorkflow.Name}, steps, beside)
}

// CasesPlace is Place for files of test cases.
func CasesPlace(steps []Step, beside []string) (keys []Key, forms []Form) {
	return place(Form{Kind: FormShape, Shape: shapeCaseFile.Name}, steps, beside)
}

func place(top Form, steps []Step, beside []string) (keys []Key, forms []Form) {
	at := []Form{top}
	for _, s := range steps {
		var next []Form
		for _, f := range alternatives(at) {
			switch {
			case f.Kind == FormShape && s.Key != "-":
				for _, k := range keysOf(f.Shape, s.Beside) {
					if k.Name == s.Key {
						next = append(next, k.Value)
					}
				}
			case f.Kind == FormMap && s.Key != "-", f.Kind == FormList && s.Key == "-":
				next = append(next, *f.Elem)
			}
		}
		at = next
	}
	forms = alternatives(at)
	for _, f := range forms {
		if f.Kind == FormShape {
			for _, k := range keysOf(f.Shape, beside) {
				if !slices.ContainsFunc(keys, func(o Key) bool { return o.Name == k.Name }) {
					keys = append(keys, k)
				}
			}
		}
	}
	return keys, forms
}

// alternatives are forms without FormOneOf.
func alternatives(list []Form) []Form {
	var out []Form
	for _, f := range list {
		if f.Kind == FormOneOf {
			out = append(out, alternatives(f.Any)...)
		} else {
			out = append(out, f)
		}
	}
	return out
}

// keysOf are the keys of a shape; of a node those of its verb, or while it has none, those of all.
func keysOf(name string, beside []string) []Key {
	if name == shapeNode.Name {
		for _, v := range verbs {
			if slices.Contains(beside, v) {
				return nodeShapes[v].Keys
			}
		}
		var out []Key
		for _, v := range verbs {
			k := *nodeShapes[v].key(v)
			k.Required, k.Doc = false, nodeShapes[v].Doc
			out = append(out, k)
		}
		return append(out, nodeKeys...)
	}
	for _, s := range slices.Concat(Shapes(), CaseShapes()) {
		if s.Name == name {
			return s.Keys
		}
	}
	return nil
}

// TypeWords are the names of types that are built in, and those with parameters as they are written.
func TypeWords() []string {
	return append(sortedKeys(builtin), "list<>", "map<>", "opt<>", "enum<>")
}
