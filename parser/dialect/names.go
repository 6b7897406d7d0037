package dialect

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// What is wrong with names reads as in the native language.

// Broken remembers a node that is in the file and was refused: nothing else is said of it.
func (r *Reader) Broken(name string) {
	if r.broken == nil {
		r.broken = map[string]bool{}
	}
	r.broken[name] = true
}

// IsBroken reports whether Broken was called for a name.
func (r *Reader) IsBroken(name string) bool { return r.broken[name] }

// UnknownNode reports a node that is not there; names are those that are.
func (r *Reader) UnknownNode(id ir.Ident, names []string) {
	if !r.broken[id.Name] {
		r.unknown(diag.UnknownName, "node", "is not defined", id, names)
	}
}

// UnknownTool reports a tool that the file does not declare.
func (r *Reader) UnknownTool(id ir.Ident, names []string) {
	r.unknown(diag.UnknownTool, "tool", "is not declared", id, names)
}

// UnknownAgent reports an agent that the file does not declare.
func (r *Reader) UnknownAgent(id ir.Ident, names []string) {
	r.unknown(diag.UnknownName, "agent", "is not declared", id, names)
}

func (r *Reader) unknown(code diag.Code, what, is string, id ir.Ident, names []string) {
	d := diag.Diagnostic{Code: code, Span: id.Span, Message: what + " \"" + clip(id.Name) + "\" " + is}
	if len(id.Name) < 100 && r.Sink.Errors() < 20 {
		diag.Suggest(&d, id.Name, names)
	}
	r.Report(d)
}

// Duplicate reports the second of two of a kind with one name.
func (r *Reader) Duplicate(what string, id ir.Ident, first source.Span) {
	d := yamlnode.Duplicate(id.Span, what, id.Name, first)
	d.Help = "choose another name"
	r.Report(d)
}
