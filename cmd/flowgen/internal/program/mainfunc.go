package program

import (
	"go/ast"
	"go/token"
)

// mainFunc is the place of the name in `func main()`.
func mainFunc(d ast.Decl) (token.Pos, bool) {
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Recv != nil || f.Name.Name != "main" {
		return token.NoPos, false
	}
	return f.Name.Pos(), true
}
