package lsp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
)

// tokenTypes is the legend: a token names its type by its place here.
var tokenTypes = []string{"variable", "property", "function", "type", "parameter", "class", "namespace", "enumMember"}

var tokenModifiers = []string{"declaration", "modification"}

// tokenKinds are the types of names.
var tokenKinds = map[index.Kind]string{
	index.Node: "variable", index.Variable: "parameter", index.Tool: "function", index.Function: "function", index.Type: "type",
	index.Model: "class", index.Agent: "class", index.Server: "namespace", index.Secret: "enumMember", index.Flow: "namespace",
	index.Input: "property", index.State: "property", index.Output: "property", index.Field: "property",
}

// A token is a coloured range in bytes.
type token struct {
	lo, hi    int
	kind      string
	modifiers int
}

// semanticTokens are the names in a file and the functions of the language that are called, which a grammar for YAML cannot tell from
// text.
func (s *server) semanticTokens(params *json.RawMessage) (any, error) {
	c, p, err := s.at(params)
	out := semanticTokens{Data: []int{}}
	if err != nil || c.doc == nil || !isOurs(c.name) {
		return out, err
	}
	lo, hi := 0, len(c.doc.text.s)
	if p.Range != (span{}) {
		lo, hi = c.doc.text.offset(p.Range.Start), c.doc.text.offset(p.Range.End)
	}
	list := slices.DeleteFunc(c.tokens(), func(t token) bool { return t.hi <= lo || hi <= t.lo })
	last := position{}
	for _, t := range list {
		from, to := c.doc.text.position(t.lo), c.doc.text.position(t.hi)
		delta := from.Character
		if from.Line == last.Line {
			delta -= last.Character
		}
		out.Data = append(out.Data, from.Line-last.Line, delta, to.Character-from.Character, slices.Index(tokenTypes, t.kind), t.modifiers)
		last = from
	}
	return out, nil
}

// tokens are those of a file in their order; none overlap, and none goes over a line.
func (c cursor) tokens() []token {
	var list []token
	text := c.doc.text.s
	for _, r := range c.roots {
		if r.index == nil {
			continue
		}
		for _, ref := range r.index.Refs {
			kind := tokenKinds[ref.Name.Kind]
			if kind == "" || nameOfFile(ref.At.File.Name) != c.name || ref.At.File.Text != text {
				continue
			}
			t := token{lo: ref.At.Lo, hi: ref.At.Hi, kind: kind}
			switch {
			case ref.Declares:
				t.modifiers = 1
			case ref.Writes:
				t.modifiers = 2
			}
			if t.lo > 0 && text[t.lo-1] == '$' {
				t.lo--
			}
			list = append(list, t)
		}
		for _, at := range r.index.Calls {
			if nameOfFile(at.File.Name) == c.name && at.File.Text == text {
				list = append(list, token{lo: at.Lo, hi: at.Hi, kind: "function"})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b token) int { return a.lo - b.lo })
	end := 0
	return slices.DeleteFunc(list, func(t token) bool {
		if t.lo < end || strings.ContainsAny(text[t.lo:t.hi], "\r\n") {
			return true
		}
		end = t.hi
		return false
	})
}
