package stargraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// isNodeBase reports whether a base is the engine's own, which has no method execute that runs.
func isNodeBase(name string) bool {
	return strings.HasPrefix(name, "stargraph.") && strings.HasSuffix(name, ".NodeBase")
}

// made reports whether the config of a node is what its class is made with.
func (p *parser) made(x *node, c *ir.PythonClass) bool {
	if !c.Made || c.Config {
		return true
	}
	ok := true
	related := []diag.Related{{Span: c.Def.Span, Message: "it is defined here"}}
	var names []string
	for _, a := range c.Init {
		names = append(names, a.Name)
		if !a.Optional && x.config.Get(a.Name) == nil {
			p.Report(diag.Diagnostic{Code: diag.SourceShape, Span: x.kind.Span, Message: "the class " + x.kind.Name + " is made with `" + a.Name + "`, which the node does not give",
				Help: "write it in the config of the node, or give it a default in Python", Related: related})
			ok = false
		}
	}
	if x.config == nil {
		return ok
	}
	for _, e := range x.config.Entries {
		if name := e.Key.Text.Value; !slices.Contains(names, name) {
			d := diag.Diagnostic{Code: diag.SourceShape, Span: e.Key.Span, Message: "the class " + x.kind.Name + " is not made with `" + name + "`", Related: related}
			diag.Suggest(&d, name, names)
			p.Report(d)
			ok = false
		}
	}
	return ok
}

var (
	asksItself = lazyregexp.New(`(?m)^\s*(import dspy|from dspy)\b`)
	hasModel   = lazyregexp.New(`\bLM\(`)
)

// askingItself warns of a class that asks models through DSPy without saying which.
func (p *parser) askingItself(at source.Span, c *ir.PythonClass) {
	asks := false
	for _, f := range c.Def.Files {
		if hasModel.MatchString(f.Text) {
			return
		}
		asks = asks || asksItself.MatchString(f.Text)
	}
	if asks {
		p.Warn(diag.DialectDiffers, at, "call `dspy.configure(lm=dspy.LM(...))` in the module, or use a node of the kind dspy",
			"the class asks models with dspy, for which flowgen loads none: it fails with `No LM is loaded`")
	}
}

// writes is use with the fields whose names the config gives.
func (p *parser) writes(x *node, c *ir.PythonClass, use *ir.PythonUse) *ir.PythonUse {
	out := *use
	out.Writes = nil
	for _, name := range use.Writes {
		if path, ok := strings.CutPrefix(name, "self."); ok {
			if name = configured(x, c, path); name == "" {
				out.WritesAny = true
				continue
			}
		}
		if !slices.Contains(out.Writes, name) {
			out.Writes = append(out.Writes, name)
		}
	}
	return &out
}

// configured is the text that an attribute of the instance has; empty: it is not known.
func configured(x *node, c *ir.PythonClass, path string) string {
	attribute, key, nested := strings.Cut(path, ".")
	for _, a := range c.Init {
		if a.Attribute != attribute || nested != c.Config {
			continue
		}
		if !nested {
			key = a.Name
		}
		if v := x.config.Get(key); v != nil {
			return v.Text.Value
		}
		return a.Default
	}
	return ""
}
