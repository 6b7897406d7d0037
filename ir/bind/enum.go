package bind

import (
	"cmp"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
)

// constants are the values of the exported constants that the package of a named string type declares of that type, in
// order of file, line and name (export data knows no columns). Export data of another package holds only the constants
// that package itself uses, so the type's own package is loaded if it was not.
func (c *converter) constants(n *types.Named) []string {
	obj := n.Obj()
	path := obj.Pkg().Path()
	pkg := c.byPath(path)
	if pkg == nil {
		if err := c.query([]string{path}); err != nil {
			return nil
		}
		if pkg = c.byPath(path); pkg == nil {
			return nil
		}
	}
	type value struct {
		pos  token.Position
		name string
		text string
	}
	var found []value
	scope := pkg.Types.Scope()
	for _, name := range scope.Names() {
		k, ok := scope.Lookup(name).(*types.Const)
		if !ok || !k.Exported() || k.Val().Kind() != constant.String {
			continue
		}
		t, ok := types.Unalias(k.Type()).(*types.Named)
		if !ok || t.Obj().Name() != obj.Name() || t.Obj().Pkg().Path() != path {
			continue
		}
		pos := pkg.Fset.Position(k.Pos())
		pos.Filename = filepath.Base(pos.Filename)
		found = append(found, value{pos, name, constant.StringVal(k.Val())})
	}
	slices.SortFunc(found, func(a, b value) int {
		return cmp.Or(cmp.Compare(a.pos.Filename, b.pos.Filename), cmp.Compare(a.pos.Line, b.pos.Line), cmp.Compare(a.name, b.name))
	})
	var values []string
	for _, v := range found {
		if !slices.Contains(values, v.text) {
			values = append(values, v.text)
		}
	}
	return values
}
