// Package starsource parses and resolves the Starlark files of tools, and reads the parameters of their functions.
package starsource

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Options say where the sources of the tools are.
type Options struct {
	Files  *foreign.Files
	Folder func(*source.File) foreign.Folder // of a workflow file
}

// Resolve fills the Starlark tools among tools: the function is the one of the file that is named like the tool, or main.
// Nothing is run.
func Resolve(tools []*ir.Tool, opts Options, sink *diag.Sink) {
	r := &resolver{opts: opts, sink: sink}
	for _, t := range tools {
		if b, ok := t.Binding.(*ir.StarlarkTool); ok && b.Path.Name != "" {
			r.tool(t, b)
		}
		if _, ok := t.Binding.(*ir.StarlarkTool); ok {
			foreign.Poison(t)
		}
	}
}

type resolver struct {
	opts Options
	sink *diag.Sink
}

// dialect is that of package startool: the specification's, with sets.
var dialect = &syntax.FileOptions{Set: true}

func (r *resolver) tool(t *ir.Tool, b *ir.StarlarkTool) {
	home := r.opts.Folder(t.File)
	rel := path.Clean(filepath.ToSlash(b.Path.Name))
	f, err := r.opts.Files.Read(home, rel)
	if err != nil {
		r.sink.Report(foreign.Unreadable(b.Path.Span, b.Path.Name, err))
		return
	}
	file, err := dialect.Parse(rel, strings.TrimPrefix(f.Source.Text, "\ufeff"), 0)
	if err == nil {
		err = resolve.File(file, func(string) bool { return false }, starlark.Universe.Has)
	}
	if err != nil {
		r.broken(b, f, err)
		return
	}
	for _, s := range file.Stmts {
		if load, ok := s.(*syntax.LoadStmt); ok {
			r.report(diag.SourceSyntax, b, b.Path.Name+" loads another file, and a Starlark tool is one file", "copy what it needs from there",
				position(f, load.Load, len("load")), "here")
			return
		}
	}
	def := r.function(t, b, f, file)
	if def == nil {
		return
	}
	b.Function = def.Name.Name
	in, open := parameters(f, def)
	foreign.Fill(t, foreign.Signature{
		Name: b.Path.Name + ":" + b.Function, Span: position(f, def.Name.NamePos, len(b.Function)), In: in, Open: open,
		Description: description(def), Files: []ir.SourceFile{f.For(rel)},
	}, r.sink)
}

// function is the function of the file that is named like the tool, or main.
func (r *resolver) function(t *ir.Tool, b *ir.StarlarkTool, f *foreign.File, file *syntax.File) *syntax.DefStmt {
	name := t.Name.Name[strings.LastIndexByte(t.Name.Name, '.')+1:]
	var names []string
	found := map[string]*syntax.DefStmt{}
	for _, s := range file.Stmts {
		if def, ok := s.(*syntax.DefStmt); ok {
			found[def.Name.Name] = def
			names = append(names, def.Name.Name)
		}
	}
	for _, n := range []string{name, "main"} {
		if def := found[n]; def != nil {
			return def
		}
	}
	help := "define it, or `main`"
	at, message := source.Span{}, ""
	if near := diag.Nearest(name, names); near != "" {
		help = "rename `" + near + "` there to `" + name + "` or `main`, or the tool here to `" + near + "`"
		at, message = position(f, found[near].Name.NamePos, len(near)), near+" is defined here"
	}
	r.report(diag.SourceName, b, b.Path.Name+" has no function `"+name+"`", help, at, message)
	return nil
}

// broken reports the first error of a file.
func (r *resolver) broken(b *ir.StarlarkTool, f *foreign.File, err error) {
	msg, pos := err.Error(), syntax.Position{}
	var parse syntax.Error
	var list resolve.ErrorList
	switch {
	case errors.As(err, &parse):
		msg, pos = parse.Msg, parse.Pos
	case errors.As(err, &list) && len(list) > 0:
		msg, pos = list[0].Msg, list[0].Pos
	}
	at := source.Span{}
	if pos.Line > 0 {
		at = position(f, pos, 1)
	}
	r.report(diag.SourceSyntax, b, foreign.CannotRead(diag.SourceSyntax, b.Path.Span, b.Path.Name, msg).Message, "", at, "here")
}

func (r *resolver) report(code diag.Code, b *ir.StarlarkTool, message, help string, at source.Span, there string) {
	d := diag.Diagnostic{Code: code, Span: b.Path.Span, Message: message, Help: help}
	if !at.IsZero() {
		d.Related = []diag.Related{{Span: at, Message: there}}
	}
	r.sink.Report(d)
}

// position is a place in a file, whose columns Starlark counts in characters.
func position(f *foreign.File, p syntax.Position, length int) source.Span {
	lo := f.Source.Offset(int(p.Line), int(p.Col))
	return source.Span{File: f.Source, Lo: lo, Hi: min(lo+length, len(f.Source.Text))}
}

// parameters is the input of a function. Starlark has no types: every parameter is any.
func parameters(f *foreign.File, def *syntax.DefStmt) (in *schema.Type, open bool) {
	in = &schema.Type{Kind: schema.Struct}
	add := func(id *syntax.Ident, t *schema.Type, omit bool) {
		in.Fields = append(in.Fields, &schema.Field{Name: id.Name, Type: t, Omit: omit, Span: position(f, id.NamePos, len(id.Name))})
	}
	for _, p := range def.Params {
		switch p := p.(type) {
		case *syntax.Ident:
			add(p, schema.AnyType, false)
		case *syntax.BinaryExpr: // with a default
			if id, ok := p.X.(*syntax.Ident); ok {
				add(id, schema.OptOf(schema.AnyType, "it has a default"), true)
			}
		case *syntax.UnaryExpr:
			open = open || p.Op == syntax.STARSTAR
		}
	}
	return in, open
}

// description is the first line of a docstring.
func description(def *syntax.DefStmt) string {
	if len(def.Body) == 0 {
		return ""
	}
	if e, ok := def.Body[0].(*syntax.ExprStmt); ok {
		if l, ok := e.X.(*syntax.Literal); ok && l.Token == syntax.STRING {
			text, _ := l.Value.(string)
			return foreign.Summary(text)
		}
	}
	return ""
}
