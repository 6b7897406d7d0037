package pysource

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// untyped finds the function of a tool that takes and gives what it likes: one of a dialect with dynamic data. What cannot
// be found now is looked for when the workflow runs, as the dialect's engine does.
func (r *resolver) untyped(t *ir.Tool, b *ir.PythonTool, f ref) {
	w := r.world(f, b)
	if w == nil {
		return
	}
	warn := func(message string) {
		r.report(diag.Diagnostic{Severity: diag.Warning, Code: diag.Interpreter, Span: f.span, Message: message, Help: "it is looked for when the workflow runs"})
	}
	m, wrong := w.module(f.module)
	if wrong != nil {
		warn("module `" + f.module + "` is not found here")
		return
	}
	if at, bad := m.syntaxError(); bad {
		r.report(diag.Diagnostic{Code: diag.SourceSyntax, Span: f.at(f.module, false), Message: "module `" + f.module + "` cannot be read: " + m.facts.Error,
			Related: []diag.Related{{Span: at, Message: "here"}}})
		return
	}
	sym, ok := w.resolve(m, f.function, 0)
	if !ok {
		warn("module `" + f.module + "` has no function `" + f.function + "`")
	}
	t.Def = &ir.Definition{Name: b.Ref.Name, Files: w.closure(f.module)}
	if ok && sym.stmt != nil {
		t.Def.Span, t.Def.Async = sym.stmt.At.in(sym.in.file.Source, sym.stmt.Name), sym.stmt.Async
	}
}
