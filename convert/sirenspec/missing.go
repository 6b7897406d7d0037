package sirenspec

import (
	"encoding/json"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// missing reports whether a placeholder has no value in any run.
func (s *siren) missing(r *dialect.Reference) bool {
	switch r.Root {
	case "nothing":
		return true
	case "inputs":
		return len(r.Path) > 0 && !slices.ContainsFunc(s.tree.Input, func(f *schema.Field) bool { return f.Name == r.Path[0] })
	case "working":
		if len(r.Path) == 0 {
			return false
		}
		if s.tree.StateField("working."+r.Path[0]) == nil {
			return true
		}
		v, rest := s.begun(r.Path)
		scalar, is := v.(*ir.Scalar)
		_, object := v.(*ir.Object)
		return len(rest) > 0 && (object || is && scalar.Tag == "!!str")
	}
	return false
}

// begun is what the context begins with at a path that no node writes, and what is left of the path below it; nil: not known.
func (s *siren) begun(path []string) (v ir.Value, rest []string) {
	if len(path) == 0 || s.overwritten(path[0]) || s.tree.Seeds == nil {
		return nil, path
	}
	for _, bucket := range s.tree.Seeds.Entries {
		if bucket.Key.Name == "working" {
			v = bucket.Value
		}
	}
	for rest = path; len(rest) > 0; rest = rest[1:] {
		o, is := v.(*ir.Object)
		if !is {
			break
		}
		i := slices.IndexFunc(o.Entries, func(e *ir.Entry) bool { return e.Key.Name == rest[0] })
		if i < 0 {
			break
		}
		v = o.Entries[i].Value
	}
	if len(rest) == len(path) {
		return nil, path
	}
	return v, rest
}

// overwritten reports whether a node writes below a name of `working`.
func (s *siren) overwritten(name string) bool {
	return slices.ContainsFunc(s.tree.Nodes, func(n *sirenspec.Node) bool {
		w := n.Writes
		return n.ID.Name == name || len(w) > 1 && w[0] == "working" && w[1] == name
	})
}

// orJSON is a placeholder whose filter stands for what is not JSON, where the file itself says what that is. ok is false
// where it depends on the run.
func (s *siren) orJSON(r *dialect.Reference) (expr string, missing, ok bool) {
	if s.missing(r) {
		return "", true, true
	}
	v, rest := s.begun(r.Path)
	text, is := v.(*ir.Scalar)
	expr, typ, seeded := s.seeded(r.Path)
	if r.Root != "working" || len(rest) > 0 || !is || text.Tag != "!!str" || !seeded || typ.Kind != schema.String {
		return "", false, false
	}
	return expr, !json.Valid([]byte(text.Text.Value)), true
}
