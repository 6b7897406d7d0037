package pysource

import (
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// describe reads a `@tool(...)` decorator: a ToolSpec, as far as it is literal. What the workflow
// declares itself stands.
func (r *resolver) describe(rd *reader, t *ir.Tool, f ref, sym symbol) {
	for _, mark := range sym.stmt.Marks {
		if mark == nil || mark.T != "call" || mark.X == nil || mark.X.S != "tool" || mark.X.T != "name" && mark.X.T != "attr" {
			continue
		}
		s := &spec{resolver: r, reader: rd, tool: t, ref: f, in: sym.in, words: mark.K}
		s.read()
		return
	}
}

type spec struct {
	*resolver
	reader *reader
	tool   *ir.Tool
	ref    ref
	in     *module
	words  []keyword
}

var (
	partForm    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	versionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+-]{0,63}$`)
	moneyForm   = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})(\.[0-9]{1,12})?$`)

	effects = map[string]ir.Effects{
		"none": ir.EffectsNone, "read": ir.EffectsReads, "reads": ir.EffectsReads, "write": ir.EffectsWrites, "writes": ir.EffectsWrites,
		"external": ir.EffectsExternal,
	}
	replays = map[string]bool{"must-stub": true, "fail-loud": true, "recorded-result": true}
)

func (s *spec) read() {
	t := s.tool
	s.name()
	if text, ok := s.text("description"); ok && t.Description == "" {
		t.Description = foreign.Summary(text)
	}
	if v, ok := s.choice("side_effects", func(v string) bool { _, ok := effects[v]; return ok }); ok && t.EffectsSpan.IsZero() {
		t.Effects = effects[v]
	}
	if v, ok := s.choice("replay_policy", func(v string) bool { return replays[strings.ReplaceAll(v, "_", "-")] }); ok && t.Replay == "" {
		t.Replay = strings.ReplaceAll(v, "_", "-")
	}
	if list, ok := s.texts("requires_capability"); ok && t.Permissions == nil {
		t.Permissions = list
	}
	if list, ok := s.texts("tags"); ok && t.Tags == nil {
		t.Tags = list
	}
	if text, ok := s.text("idempotency_key"); ok && !t.Idempotency {
		t.Idempotency = true
		t.IdempotencyKey = &ir.Template{Text: source.Text{Value: text}, Tmpl: &expr.Template{Segments: []expr.Segment{{Lit: text}}}}
	}
	if n := word(s.words, "cost_estimate"); n != nil && n.T != "none" {
		s.cost(n)
	}
	if n := word(s.words, "deprecated"); n != nil && n.T == "bool" && n.S == "true" && t.State == "" {
		t.State = "deprecated"
	}
}

// name takes over name, namespace and version where the workflow gives the tool a bare key.
func (s *spec) name() {
	t := s.tool
	name, ok := s.text("name")
	namespace, spaced := s.text("namespace")
	version, versioned := s.text("version")
	if !ok && !spaced && !versioned || strings.ContainsAny(t.Key.Name, ".@") {
		return
	}
	full, key := t.Name.Name, t.Name.Name[strings.LastIndexByte(t.Name.Name, '.')+1:]
	if !ok {
		name = key
	}
	if spaced {
		for _, part := range strings.Split(namespace+"."+name, ".") {
			if !partForm.MatchString(part) {
				s.cannot("the name `"+namespace+"."+name+"` is not made of lower-case letters, digits and `_`", "name")
				return
			}
		}
		full = namespace + "." + name
	}
	if !versioned {
		version = t.Version
	} else if !versionForm.MatchString(version) {
		s.cannot("the version `"+version+"` is not made of letters, digits, `.`, `+` and `-`", "version")
		return
	}
	if s.names[full+"@"+version] {
		return // of two tools that run one function, one has its name
	}
	s.names[full+"@"+version] = true
	t.Name.Name, t.Version = full, version
}

// value is a keyword's value; a name stands for the constant that the module gives it.
func (s *spec) value(key string) *node {
	n := word(s.words, key)
	if n != nil && n.T == "name" {
		if sym, ok := s.reader.resolve(s.in, n.S, 0); ok && sym.stmt != nil && sym.stmt.Kind == "value" {
			return sym.stmt.Value
		}
	}
	if n != nil && n.T == "none" {
		return nil
	}
	return n
}

func (s *spec) text(key string) (string, bool) {
	n := s.value(key)
	switch {
	case n == nil:
		return "", false
	case n.T == "str":
		return n.S, true
	}
	s.cannot("`"+key+"` is not a literal text", key)
	return "", false
}

func (s *spec) texts(key string) ([]string, bool) {
	n := s.value(key)
	switch {
	case n == nil:
		return nil, false
	case n.T == "str":
		return []string{n.S}, true
	case n.T == "list":
		var out []string
		for _, e := range n.E {
			if e == nil || e.T != "str" {
				s.cannot("`"+key+"` is not a list of literal texts", key)
				return nil, false
			}
			out = append(out, e.S)
		}
		return out, true
	}
	s.cannot("`"+key+"` is neither a literal text nor a list of them", key)
	return nil, false
}

// choice is a member of an enum, SideEffects.read, or its text.
func (s *spec) choice(key string, ok func(string) bool) (string, bool) {
	n := s.value(key)
	switch {
	case n == nil:
		return "", false
	case (n.T == "str" || n.T == "attr") && ok(n.S):
		return n.S, true
	}
	s.cannot("`"+key+"` is none of its values", key)
	return "", false
}

// cost is a decimal: text, or Decimal("0.002"). A float is not one.
func (s *spec) cost(n *node) {
	if n.T == "call" && n.X != nil && n.X.S == "Decimal" && len(n.E) == 1 {
		n = n.E[0]
	}
	switch {
	case n == nil || n.T != "str" && n.T != "int" || !moneyForm.MatchString(n.S):
		s.cannot("`cost_estimate` is not a decimal, such as Decimal(\"0.002\")", "cost_estimate")
	case s.tool.CostUSD == "":
		s.tool.CostUSD = n.S
	}
}

// cannot warns that a part of the decorator is left out.
func (s *spec) cannot(why, key string) {
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.SourceSpec, Span: s.ref.at(s.ref.function, true),
		Message: "the decorator of " + s.ref.module + ":" + s.ref.function + " is not used: " + why, Help: "write a literal there, or declare it in the workflow"}
	if n := word(s.words, key); n != nil {
		d.Related = []diag.Related{{Span: n.At.in(s.in.file.Source, ""), Message: "it is here"}}
	}
	s.report(d)
}
