package sirenspec

import (
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// bindings reads flowgen.bindings.yaml next to the workflow: tools of the native language that take the place of functions
// of Python, by the names of their modules and their own, and those that a placeholder may stand for.
func (p *parser) bindings() {
	if p.load != nil {
		p.load.Bindings(p.wf)
	}
}

// chosen makes a choice of a python tool whose function is bound to something else, or is known only when it runs. ok is
// false when it is neither.
func (p *parser) chosen(module, function source.Text, out *Node) (ok bool) {
	open := strings.Contains(module.Value+function.Value, "{{")
	name := p.mixed(module)
	for _, s := range append([]dialect.MixedSegment{{Lit: "."}}, p.mixed(function).Segments...) {
		if n := len(name.Segments); s.Ref == nil && n > 0 && name.Segments[n-1].Ref == nil {
			name.Segments[n-1].Lit += s.Lit
			continue
		}
		name.Segments = append(name.Segments, s)
	}
	var form strings.Builder
	for _, s := range name.Segments {
		if s.Ref != nil {
			form.WriteString(`[\pL\pN_.]+`)
		} else {
			form.WriteString(regexp.QuoteMeta(s.Lit))
		}
	}
	fits := regexp.MustCompile(`^` + form.String() + `$`)
	var allow []ir.Ident
	for _, t := range p.wf.Tools {
		if key, _, _ := strings.Cut(t.Key.Name, "@"); t.File != p.File && fits.MatchString(key) {
			allow = append(allow, ir.Ident{Name: key, Span: module.Span})
		}
	}
	switch {
	case len(allow) == 0 && !open:
		return false
	case len(allow) == 0:
		p.Error(diag.NotSupported, module.Span, "name the functions that it can be in flowgen.bindings.yaml, as in `tools: {plugins.first.run: {python: \"plugins.first:run\"}}`", "a function that only a run knows is not compiled")
		return true
	case len(variables(out.Args)) > 0:
		p.Error(diag.NotSupported, module.Span, "read them in the function", "environment variables are not passed to tools of flowgen.bindings.yaml, as they would be recorded")
		return true
	}
	out.Verb = &ir.ToolChoice{Tool: name, Allow: allow, Span: module.Span}
	return true
}
