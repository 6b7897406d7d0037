package lsp

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
)

// A callItem is a workflow, or a tool or function that workflows call.
type callItem struct {
	Name      string   `json:"name"`
	Kind      int      `json:"kind"`
	Detail    string   `json:"detail,omitempty"`
	URI       string   `json:"uri"`
	Range     span     `json:"range"`
	Selection span     `json:"selectionRange"`
	Data      callData `json:"data"`
}

// callData tells items apart; clients send it back.
type callData struct {
	Flow string `json:"flow,omitempty"` // a workflow: the name of its file
	Key  string `json:"key,omitempty"`  // anything else: index.Name.Key
}

type callParams struct {
	Item callItem `json:"item"`
}

type incomingCall struct {
	From   callItem `json:"from"`
	Ranges []span   `json:"fromRanges"`
}

type outgoingCall struct {
	To     callItem `json:"to"`
	Ranges []span   `json:"fromRanges"`
}

// prepareCalls is what has callers at the cursor: the workflow that is named or run there, a tool or a function.
func (s *server) prepareCalls(params *json.RawMessage) (any, error) {
	c, _, err := s.at(params)
	if err != nil || c.doc == nil {
		return nil, err
	}
	if ref := c.ref(); ref != nil {
		s.ws.settle() // what is run there may not have been looked at
		if item, ok := s.callee(ref.Name); ok {
			return []callItem{item}, nil
		}
	}
	return nil, nil
}

// callee is the item of a name; not ok: it is nothing that can be called.
func (s *server) callee(n *index.Name) (item callItem, ok bool) {
	if n.At.File == nil {
		return item, false
	}
	switch n.Kind {
	case index.Flow, index.File:
		return s.flowItem(nameOfFile(n.At.File.Name))
	case index.Tool, index.Function:
		at := s.ws.location(n.At)
		return callItem{Name: n.Text, Kind: symbolKinds[n.Kind], Detail: nameOfFile(n.At.File.Name), URI: at.URI, Range: at.Range, Selection: at.Range, Data: callData{Key: n.Key()}}, true
	}
	return item, false
}

// flowItem is the item of the workflow in a file.
func (s *server) flowItem(file string) (item callItem, ok bool) {
	r := s.ws.roots[file]
	if r == nil || r.index == nil {
		return item, false
	}
	for _, n := range r.index.Names {
		if n.Kind == index.Flow && n.At.File != nil && nameOfFile(n.At.File.Name) == file {
			at := s.ws.location(n.At)
			return callItem{Name: n.Text, Kind: symbolKinds[index.Flow], Detail: file, URI: at.URI, Range: at.Range, Selection: at.Range, Data: callData{Flow: file}}, true
		}
	}
	return item, false
}

// is reports whether a reference leads to what an item is of.
func (d callData) is(ref index.Ref) bool {
	n := ref.Name
	if d.Flow != "" {
		return n.Kind == index.File && n.At.File != nil && nameOfFile(n.At.File.Name) == d.Flow
	}
	return d.Key != "" && n.Key() == d.Key && !ref.Declares
}

// incomingCalls are the workflows that run a workflow, or call a tool or function, each with the places where it does.
func (s *server) incomingCalls(params *json.RawMessage) (any, error) {
	p, err := decode[callParams](params)
	out := []incomingCall{}
	if err != nil {
		return out, err
	}
	s.ws.settle()
	for _, r := range sortedRoots(s.ws.roots) {
		if r.index == nil {
			continue
		}
		from, ok := s.flowItem(r.name)
		if !ok {
			continue
		}
		call := incomingCall{From: from}
		for _, ref := range r.index.Refs {
			if nameOfFile(ref.At.File.Name) == r.name && p.Item.Data.is(ref) {
				call.Ranges = append(call.Ranges, s.ws.span(ref.At))
			}
		}
		if len(call.Ranges) > 0 {
			out = append(out, call)
		}
	}
	return out, nil
}

// outgoingCalls are the workflows that a workflow runs, and the tools and functions that it calls.
func (s *server) outgoingCalls(params *json.RawMessage) (any, error) {
	p, err := decode[callParams](params)
	s.ws.settle()
	out := []outgoingCall{}
	r := s.ws.roots[p.Item.Data.Flow]
	if err != nil || r == nil || r.index == nil {
		return out, err
	}
	for _, ref := range r.index.Refs {
		if ref.Declares || nameOfFile(ref.At.File.Name) != r.name {
			continue
		}
		to, ok := s.callee(ref.Name)
		if !ok {
			continue
		}
		i := slices.IndexFunc(out, func(o outgoingCall) bool { return o.To.Data == to.Data })
		if i < 0 {
			i = len(out)
			out = append(out, outgoingCall{To: to})
		}
		out[i].Ranges = append(out[i].Ranges, s.ws.span(ref.At))
	}
	slices.SortStableFunc(out, func(a, b outgoingCall) int { return cmp.Compare(a.To.Kind, b.To.Kind) })
	return out, nil
}
