package native

import (
	"slices"
	"testing"
)

// TestShapes holds the tables together: what they refer to exists, and no key is explained away that exists.
func TestShapes(t *testing.T) {
	byName := map[string]*Shape{"node": shapeNode}
	for _, s := range Shapes() {
		if byName[s.Name] != nil {
			t.Errorf("two shapes are called %s", s.Name)
		}
		byName[s.Name] = s
	}
	var form func(s *Shape, key string, f Form)
	form = func(s *Shape, key string, f Form) {
		if f.Kind == FormShape && byName[f.Shape] == nil {
			t.Errorf("%s.%s: no shape %q", s.Name, key, f.Shape)
		}
		if f.Kind == FormWord && len(f.Words) == 0 || slices.Contains(f.Words, "") {
			t.Errorf("%s.%s: no words", s.Name, key)
		}
		if f.Elem != nil {
			form(s, key, *f.Elem)
		}
		for _, a := range f.Any {
			form(s, key, a)
		}
	}
	for _, s := range byName {
		if s.What == "" || s.Doc == "" || len(s.Keys) == 0 {
			t.Errorf("shape %s says nothing", s.Name)
		}
		seen := map[string]bool{}
		for _, k := range s.Keys {
			if seen[k.Name] {
				t.Errorf("%s: two keys %s", s.Name, k.Name)
			}
			seen[k.Name] = true
			if k.Doc == "" {
				t.Errorf("%s.%s has no doc", s.Name, k.Name)
			}
			form(s, k.Name, k.Value)
			if s.Name[:min(4, len(s.Name))] != "node" && s.Instead[k.Name] != "" {
				t.Errorf("%s.%s is a key and is explained as none", s.Name, k.Name)
			}
		}
	}
	for _, v := range verbs {
		if nodeShapes[v] == nil || !nodeShapes[v].Keys[0].Required || nodeShapes[v].Keys[0].Name != v {
			t.Errorf("the shape of verb %s", v)
		}
	}
}
