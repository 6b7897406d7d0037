package lsp

import (
	"encoding/json"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// maxHint is how long the type in a hint may be; the hover has all of it.
const maxHint = 60

// hints are the inlay hints that a client can switch off with `hints` of its initializationOptions. null is the default: on.
type hints struct {
	Types  *bool `json:"types"`  // of nodes
	Absent *bool `json:"absent"` // the ? behind a value that may be absent
}

// inlayHints are the types of the results of nodes, behind their ids, and a ? behind a value that may be absent where it is read.
func (s *server) inlayHints(params *json.RawMessage) (any, error) {
	p, err := decode[positionParams](params)
	out := []inlayHint{}
	name := nameOf(p.TextDocument.URI)
	d := s.ws.docs[name]
	if err != nil || d == nil || !isOurs(name) {
		return out, err
	}
	on := func(b *bool) bool { return b == nil || *b }
	lo, hi := d.text.offset(p.Range.Start), d.text.offset(p.Range.End)
	for _, r := range s.ws.fresh(name) {
		if r.index == nil {
			continue
		}
		for _, ref := range r.index.Refs {
			if nameOfFile(ref.At.File.Name) != name || ref.At.File.Text != d.text.s || ref.At.Lo < lo || ref.At.Hi > hi {
				continue
			}
			hint := inlayHint{Position: d.text.position(ref.At.Hi), Kind: 1}
			switch n := ref.Name; {
			case ref.Declares && n.Kind == index.Node && n.Type != nil && n.Type.Kind != schema.Invalid && on(s.hints.Types):
				label := []rune(": " + n.Type.String())
				if len(label) > maxHint {
					label = append(label[:maxHint-3], []rune("...")...)
				}
				hint.Label = string(label)
			case !ref.Declares && !ref.Writes && ref.Type != nil && ref.Type.Kind == schema.Opt && on(s.hints.Absent):
				hint.Label = "?"
				if ref.Type.Why != "" {
					hint.Tooltip = "It may be absent: " + ref.Type.Why + "."
				}
			default:
				continue
			}
			out = append(out, hint)
		}
		break
	}
	return out, nil
}
