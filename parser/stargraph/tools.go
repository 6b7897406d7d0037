package stargraph

import (
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

var registryKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)+@[^@\s]+$`)

// tool finds what a registry key is bound to: what flowgen.bindings.yaml says, or a tool that comes with the runtime. The
// key becomes empty when there is none, which is reported.
func (p *parser) tool(key *ir.Ident) *ir.Tool {
	if p.form == authoring && key.Name != "" && !strings.Contains(key.Name, "@") {
		key.Name += "@1"
	}
	for _, t := range p.wf.Tools {
		if t.FullName() == key.Name {
			return t
		}
	}
	if t := p.builtin(*key); t != nil {
		p.wf.Tools = append(p.wf.Tools, t)
		return t
	}
	d := diag.Diagnostic{Code: diag.UnknownTool, Span: key.Span, Message: "no tool is bound to the registry key `" + key.Name + "`"}
	var keys []string
	for _, t := range p.wf.Tools {
		keys = append(keys, t.FullName())
	}
	diag.Suggest(&d, key.Name, append(keys, broker))
	if !registryKey.MatchString(key.Name) {
		d.Message = "`" + key.Name + "` is no registry key"
		d.Help, d.Fixes = "a key is namespace.name@version, as in "+broker, nil
	} else if len(d.Fixes) == 0 {
		d.Help = "bind it in flowgen.bindings.yaml beside this file: `flowgen: 1`, and below `tools:` a line like `" + key.Name + ": {go: ./tools.Function, effects: reads}`"
	}
	p.Report(d)
	key.Name = ""
	return nil
}

// broker is the registry key of the one tool that the page describes.
const broker = "nautilus.broker_request@1"

// builtin is a tool that comes with the runtime. Stargraph page, "Nautilus broker tool".
func (p *parser) builtin(key ir.Ident) *ir.Tool {
	if key.Name != broker {
		return nil
	}
	const path = "github.com/flowgen-dev/flowgen/runtime/nautilus"
	in := &schema.Type{Kind: schema.Struct, Fields: []*schema.Field{{Name: "agent_id", Type: schema.StringType}, {Name: "intent", Type: schema.StringType}}}
	b := &ir.GoBinding{Path: path, Func: "BrokerRequest", Package: "nautilus", Doc: "Asks the broker of the program.", Context: true, Err: true, In: in, Out: schema.AnyType,
		Params: []*ir.GoParam{{Name: "agent_id", Type: schema.StringType}, {Name: "intent", Type: schema.StringType}}}
	return &ir.Tool{Name: ir.Ident{Name: "nautilus.broker_request", Span: key.Span}, Version: "1", Key: key, Description: b.Doc, Effects: ir.EffectsReads, EffectsSpan: key.Span,
		In: in, Out: schema.AnyType, OutSpan: key.Span, Replay: "recorded-result", Permissions: []string{"tools:broker_request"},
		Binding: &ir.GoTool{Func: &ir.GoFunc{Ref: ir.Ident{Name: path + ".BrokerRequest", Span: source.Span{File: p.File}}, Bind: b}}, File: p.File, Span: key.Span}
}
