package check

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// visible are the locals that can be named.
func (s *blockScope) visible() []*Local {
	var out []*Local
	for b := s; b != nil; b = b.up {
		out = append(out, b.locals...)
	}
	return out
}

// declare adds a name. One that stands already is not hidden: two of one name in sight would be read for each other.
func (s *blockScope) declare(l *Local, at source.Span) *Local {
	if l.Name == "" || s.body.text == nil && (l.Name == "input" || l.Name == "state") {
		s.fault(at, "%q is not a valid name of a local", l.Name)
	}
	for b := s; b != nil; b = b.up {
		if slices.ContainsFunc(b.locals, func(other *Local) bool { return other.Name == l.Name }) ||
			slices.ContainsFunc(b.params, func(p *expr.Symbol) bool { return p.Name == l.Name }) {
			s.fault(at, "%q is declared twice", l.Name)
		}
		if b.lambda {
			break // those outside of a lambda may be hidden, as in Go
		}
	}
	s.locals = append(s.locals, l)
	s.body.Locals = append(s.body.Locals, l)
	return l
}

func (s *blockScope) local(name string) *Local {
	if sym := s.find(name); sym != nil {
		l, _ := sym.Ref.(*Local)
		return l
	}
	return nil
}

func (s *blockScope) find(name string) *expr.Symbol {
	for b := s; b != nil; b = b.up {
		for _, l := range b.locals {
			if l.Name == name {
				return &expr.Symbol{Name: name, Type: l.Type, Ref: l}
			}
		}
		for _, p := range b.params {
			if p.Name == name {
				return p
			}
		}
	}
	return nil
}

// Lookup implements expr.Env.
func (s *blockScope) Lookup(name string) *expr.Symbol {
	e := env{c: s.c, body: s.body}
	switch {
	case s.body.text != nil: // it has values that it is handed, and no others
	case name == "input":
		return &expr.Symbol{Name: name, Type: s.c.inputType, Ref: &Root{name}}
	case name == "state":
		return e.stateRoot()
	}
	if sym := s.find(name); sym != nil {
		return sym
	}
	if n := s.body.byID[name]; n != nil {
		return &expr.Symbol{Name: name, Type: schema.InvalidType, Problem: &expr.Problem{Code: diag.NotBefore,
			Message: fmt.Sprintf("node %q has not run here", name), Help: "only results of nodes that come before can be read"}}
	}
	return nil
}

// Names implements expr.Env.
func (s *blockScope) Names() []string {
	var out []string
	for b := s; b != nil; b = b.up {
		for _, l := range b.locals {
			out = append(out, l.Name)
		}
		for _, p := range b.params {
			out = append(out, p.Name)
		}
	}
	if s.body.text != nil {
		return out
	}
	return append(out, "input", "state")
}

// NameKind says what names are in messages.
func (s *blockScope) NameKind() string { return "name" }

// Covers implements expr.Env. No result of a block is optional.
func (s *blockScope) Covers([]*expr.Symbol) bool { return false }
