package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"slices"
	"strings"
)

// members adds what an alias is, with its fields and methods, to its comment: go doc shows neither of an alias.
func (w *writer) members(b *strings.Builder, n name) {
	lines := w.definition(n)
	methods := slices.Clone(w.methods[n.core])
	slices.SortFunc(methods, func(x, y *ast.FuncDecl) int { return cmp.Compare(x.Name.Name, y.Name.Name) })
	if len(lines) > 0 && len(methods) > 0 {
		lines = append(lines, "")
	}
	for _, m := range methods {
		r := m.Recv.List[0]
		var as string
		if len(r.Names) > 0 {
			as = r.Names[0].Name + " "
		}
		lines = append(lines, fmt.Sprintf("func (%s%s) %s%s", as, w.read(r.Type), m.Name.Name, strings.TrimPrefix(w.read(m.Type), "func")))
	}
	if len(lines) == 0 {
		return
	}
	if w.docs[n.core] != nil {
		b.WriteString("\t//\n")
	}
	for _, line := range lines {
		b.WriteString(strings.TrimRight("\t//\t"+line, "\t") + "\n")
	}
}

// definition is the declaration of an interface, or of a struct that has exported fields. Others have methods alone.
func (w *writer) definition(n name) []string {
	s := w.pkg.types[n.core]
	head := "type " + n.here + w.params(s.TypeParams)
	var b strings.Builder
	switch t := s.Type.(type) {
	case *ast.InterfaceType:
		fmt.Fprintf(&b, "%s interface {\n", head)
		for _, f := range t.Methods.List {
			w.member(&b, f, strings.TrimPrefix(w.read(f.Type), "func"))
		}
	case *ast.StructType:
		fmt.Fprintf(&b, "%s struct {\n", head)
		exported := false
		for _, f := range t.Fields.List {
			if len(f.Names) > 0 && f.Names[0].IsExported() {
				w.member(&b, f, " "+w.read(f.Type))
				exported = true
			}
		}
		if !exported {
			return nil
		}
	default:
		return nil
	}
	b.WriteString("}")
	return formatted(b.String())
}

// member writes a field or method with its comments.
func (w *writer) member(b *strings.Builder, f *ast.Field, text string) {
	if f.Doc != nil {
		for _, c := range f.Doc.List {
			b.WriteString(c.Text + "\n")
		}
	}
	var names []string
	for _, id := range f.Names {
		names = append(names, id.Name)
	}
	b.WriteString(strings.Join(names, ", ") + text)
	if f.Comment != nil {
		b.WriteString(" " + f.Comment.List[0].Text)
	}
	b.WriteString("\n")
}

func formatted(decl string) []string {
	const head = "package p\n\n"
	text, err := format.Source([]byte(head + decl))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", decl, err)) // its parts were parsed
	}
	return strings.Split(strings.TrimSpace(strings.TrimPrefix(string(text), head)), "\n")
}

// read is a type of core as the reader of a facade knows it: names of other facades have their package.
func (w *writer) read(e ast.Expr) string { return w.renamed(e, nil, w.known) }

// known is a name of core as the reader of this facade knows it.
func (w *writer) known(core string) string {
	for _, f := range facades {
		for _, n := range f.names() {
			if n.core == core && f.pkg == w.facade.pkg {
				return n.here
			} else if n.core == core {
				return f.pkg + "." + n.here
			}
		}
	}
	return core
}

// receiver is the name of a method's type.
func receiver(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
