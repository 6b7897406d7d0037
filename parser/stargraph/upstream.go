package stargraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// sanitized adds the step that the engine makes of what a tool returns before it becomes state.
func (p *parser) sanitized(x *node, call *ir.Node, f *field, out ir.Ident) []*ir.Node {
	fn := runtimeFunc(out.Span, runtimePackage, "Sanitize", "escapes texts as the engine does.", schema.AnyType, param("v", schema.AnyType))
	fn.Bind.Err = false
	with := &ir.With{Span: out.Span, Entries: []*ir.Entry{{Key: ir.Ident{Name: "v", Span: out.Span}, Value: result(out.Span, x.id.Name)}}}
	clean := &ir.Node{ID: p.part(x, "sanitized"), Verb: &ir.GoCall{Func: fn, With: with}, Span: call.Span}
	clean.Set = []*ir.Set{p.set(f, out.Span, result(out.Span, clean.ID.Name), schema.AnyType)}
	call.Set = nil
	return []*ir.Node{call, clean}
}

// denied notes with --compat upstream that `stargraph run` grants no tool what it needs.
func (p *parser) denied(key ir.Ident, tool *ir.Tool) {
	if p.opts.Upstream && tool != nil && len(tool.Permissions) > 0 {
		p.Differs(key.Span, "", "`stargraph run` grants nothing, and this tool needs %s: its run fails here", strings.Join(tool.Permissions, ", "))
	}
}

// unread notes with --compat upstream that a node which does nothing reads the field `message` there.
func (p *parser) unread(kind ir.Ident) {
	if p.opts.Upstream && p.fields["message"] == nil && !p.open {
		p.Differs(kind.Span, "declare the field `message`", "the engine's nodes of the kind %s read the field `message`, which the state does not have: its run fails here", kind.Name)
	}
}

// unmirrored notes with --compat upstream that a field is not a fact of the engine.
func (p *parser) unmirrored(f *field, at source.Span) {
	switch {
	case !p.opts.Upstream || p.form != document || !f.declared:
	case p.stateRef == "":
		p.Differs(at, "annotate the field in a `state_class`", "the engine refuses a rule over a field of `state_schema`")
	case !f.route:
		p.Differs(at, "annotate the field: `Annotated[..., Mirror()]`", "the engine refuses a rule over a field without the marker Mirror")
	}
}
