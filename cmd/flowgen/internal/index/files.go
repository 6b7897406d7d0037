package index

import (
	"path"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// files adds the files that a workflow names, and what its lock file has of its tools.
func (b *builder) files(wf *ir.Workflow) {
	for _, u := range wf.FileUses {
		b.file(ir.Ident{Name: u.File.Name, Span: u.At}, u.File)
		b.add(Ref{At: u.At, Name: b.name(File, u.File.Name, source.Span{File: u.File})})
	}
	var lock *mcplock.Lock
	if wf.Lock != nil {
		lock = mcplock.Parse(wf.Lock, &diag.Sink{}) // what is wrong with it was reported
	}
	for _, t := range wf.Tools {
		switch v := t.Binding.(type) {
		case *ir.JSTool:
			b.file(v.Path, nil)
		case *ir.StarlarkTool:
			b.file(v.Path, nil)
		case *ir.WasmTool:
			b.file(v.Path, nil)
		case *ir.PythonTool:
			if strings.Contains(v.Ref.Name, "/") {
				module, _, _ := strings.Cut(v.Ref.Name, ":")
				b.file(ir.Ident{Name: module, Span: v.Ref.Span}, nil)
			}
		case *ir.OpenAPITool:
			b.file(v.Spec, nil)
			b.locked(lock.Server(v.Spec.Name), t, v.Operation.Name)
		case *ir.HTTPTool:
			if d := v.Document; d != nil {
				b.file(d.Spec, nil)
				b.locked(lock.Server(d.Spec.Name), t, d.Operation.Name)
			}
		case *ir.SQLTool:
			b.file(v.Schema, nil)
			b.locked(lock.Server(mcplock.Database(v)), t, strings.TrimSpace(v.Query.Value))
		case *ir.MCPTool:
			b.locked(lock.Server(v.Server.Name), t, v.Tool.Name)
		}
	}
	for _, s := range wf.Servers {
		if l := lock.Server(s.Name.Name); l != nil {
			b.out.Locked = append(b.out.Locked, Ref{At: l.Span(), Name: b.name(Server, s.Name.Name, s.Name.Span)})
		}
	}
}

// locked adds the entry of a tool in the lock file.
func (b *builder) locked(server *mcplock.Server, t *ir.Tool, name string) {
	if server == nil {
		return
	}
	if l := server.Tool(name); l != nil {
		id := t.Key
		if id.Span.File == nil {
			id = t.Name
		}
		b.out.Locked = append(b.out.Locked, Ref{At: l.Span(), Name: b.name(Tool, id.Name, id.Span)})
	}
}

// file adds the name of a file, which is f, or relative to the one that names it. Modules have none of their own.
func (b *builder) file(id ir.Ident, f *source.File) {
	at := unquoted(id.Span)
	if id.Name == "" || at.File == nil || at.Lo >= at.Hi || at.File.Module != "" || f != nil && f.Module != "" {
		return
	}
	name := id.Name
	if f == nil {
		if path.IsAbs(name) {
			return
		}
		name = path.Join(path.Dir(at.File.Name), name)
	}
	b.out.Links = append(b.out.Links, Link{at, name})
}
