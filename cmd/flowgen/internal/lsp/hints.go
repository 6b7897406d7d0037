package lsp

import (
	"encoding/json"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// maxHint is how long the type in a hint may be; the hover has all of it.
const maxHint = 60

// inlayHints are the types of the results of nodes, behind their ids.
func (s *server) inlayHints(params *json.RawMessage) (any, error) {
	p, err := decode[positionParams](params)
	out := []inlayHint{}
	name := nameOf(p.TextDocument.URI)
	d := s.ws.docs[name]
	if err != nil || d == nil {
		return out, err
	}
	lo, hi := d.text.offset(p.Range.Start), d.text.offset(p.Range.End)
	for _, r := range s.ws.fresh(name) {
		if r.index == nil {
			continue
		}
		for _, n := range r.index.Names {
			if n.Kind != index.Node || n.Type == nil || n.Type.Kind == schema.Invalid || n.At.File == nil || nameOfFile(n.At.File.Name) != name ||
				n.At.File.Text != d.text.s || n.At.Lo < lo || n.At.Hi > hi {
				continue
			}
			label := []rune(": " + n.Type.String())
			if len(label) > maxHint {
				label = append(label[:maxHint-3], []rune("...")...)
			}
			out = append(out, inlayHint{Position: d.text.position(n.At.Hi), Label: string(label), Kind: 1})
		}
		break
	}
	return out, nil
}
