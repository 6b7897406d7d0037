package lsp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser"
)

type signatureHelp struct {
	Signatures []signature `json:"signatures"`
	Signature  int         `json:"activeSignature"`
	Parameter  int         `json:"activeParameter"`
}

type signature struct {
	Label         string      `json:"label"`
	Documentation *markup     `json:"documentation,omitempty"`
	Parameters    []parameter `json:"parameters"`
}

// A parameter is a part of the label of its signature.
type parameter struct {
	Label         string  `json:"label"`
	Documentation *markup `json:"documentation,omitempty"`
}

// signatures says how the function is called, or what the node takes, whose parentheses or `with` the cursor is in.
func (s *server) signatures(params *json.RawMessage) (any, error) {
	p, err := decode[positionParams](params)
	name := nameOf(p.TextDocument.URI)
	d := s.ws.docs[name]
	if err != nil || d == nil || !isOurs(name) {
		return nil, err
	}
	off := d.text.offset(p.Position)
	at := outline(d.text.s, off)
	if _, ok := inExpression(d.text.s[:off], at, isYAML(name)); ok || strings.Contains(at.word, "$") {
		if help := ofFunction(d.text.s[max(0, off-maxTemplate):off]); help != nil {
			return help, nil
		}
	}
	if isYAML(name) {
		if help := ofCall(cursor{name: name, doc: d, off: off, roots: s.ws.rootsOf(name)}, at); help != nil {
			return help, nil
		}
	}
	return nil, nil
}

// ofFunction is the function of the language whose parentheses a text ends in.
func ofFunction(before string) *signatureHelp {
	depth, commas := 0, 0
	var quoted byte
	for i := len(before) - 1; i >= 0; i-- {
		c := before[i]
		switch {
		case c == '\n', strings.HasSuffix(before[:i+1], "{{"):
			return nil
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '"' || c == '\'':
			quoted = c
		case c == ')' || c == ']':
			depth++
		case c == '[' && depth > 0:
			depth--
		case c == ',' && depth == 0:
			commas++
		case c == '(' && depth > 0:
			depth--
		case c == '(':
			return usage(before[word(before[:i]):i], commas)
		}
	}
	return nil
}

func usage(name string, active int) *signatureHelp {
	for _, u := range expr.Usages() {
		if u.Name != name || u.Text == "" {
			continue
		}
		sig := signature{Label: u.Text, Parameters: []parameter{}}
		if open, shut := strings.IndexByte(u.Text, '('), strings.LastIndexByte(u.Text, ')'); open >= 0 && open < shut {
			for part := range strings.SplitSeq(u.Text[open+1:shut], ",") {
				if part = strings.TrimSpace(part); part != "" {
					sig.Parameters = append(sig.Parameters, parameter{Label: part})
				}
			}
		}
		return &signatureHelp{Signatures: []signature{sig}, Parameter: min(active, max(0, len(sig.Parameters)-1))}
	}
	return nil
}

// ofCall is what the node takes whose `with` the cursor is in.
func ofCall(c cursor, at spot) *signatureHelp {
	i := slices.IndexFunc(at.steps, func(s parser.Step) bool { return s.Key == "with" })
	if i < 1 || len(at.steps) > i+2 {
		return nil
	}
	id, key := at.steps[i-1].Key, ""
	if len(at.steps) > i+1 {
		key = at.steps[i+1].Key
	}
	for _, r := range c.roots {
		if r.index == nil {
			continue
		}
		for _, n := range r.index.Names {
			if n.Kind == index.Node && n.Text == id && n.In != nil {
				return callSignature(n, key)
			}
		}
	}
	return nil
}

func callSignature(n *index.Name, key string) *signatureHelp {
	sig := signature{Parameters: []parameter{}}
	active := 0
	var labels []string
	for i, f := range n.In.Fields {
		label := f.Name
		if !f.Required() {
			label += "?"
		}
		label += ": " + f.Type.Present().String()
		p := parameter{Label: label}
		if f.Description != "" {
			p.Documentation = &markup{"markdown", f.Description}
		}
		if f.Name == key {
			active = i
		}
		sig.Parameters = append(sig.Parameters, p)
		labels = append(labels, label)
	}
	sig.Label = n.Text + "(" + strings.Join(labels, ", ") + ")"
	if n.Type != nil && n.Type.Kind != schema.Invalid {
		sig.Label += ": " + n.Type.String()
	}
	if len(n.Notes) > 0 {
		sig.Documentation = &markup{"markdown", strings.Join(n.Notes, "; ")}
	}
	return &signatureHelp{Signatures: []signature{sig}, Parameter: active}
}
