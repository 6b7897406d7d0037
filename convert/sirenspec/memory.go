package sirenspec

import (
	"slices"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// A memory is what stays from run to run: a state field that a tool reads when a run begins, and that another one writes.
type memory struct {
	node             *sirenspec.Node // that reads it
	store            *sirenspec.Store
	field            string // of the state
	recall, remember string // the tools
}

// recalls declares the memory of the file, if something reads or writes it and it is kept.
func (s *siren) recalls() {
	i := slices.IndexFunc(s.tree.Nodes, func(n *sirenspec.Node) bool { return n.Store != nil })
	if !s.tree.Memory || i < 0 {
		return
	}
	n := s.tree.Nodes[i]
	s.memory = &memory{n, n.Store, "memory", s.FreeID("recall"), s.FreeID("remember")}
	if s.tree.Seeds != nil {
		for _, bucket := range s.tree.Seeds.Entries {
			if values, ok := bucket.Value.(*ir.Object); ok && slices.ContainsFunc(values.Entries, func(e *ir.Entry) bool { return e.Key.Name == s.memory.field }) {
				s.memory.field = "kept_memory"
			}
		}
	}
	for i, t := range []*ir.Tool{{Key: convert.Name(s.memory.recall), Effects: ir.EffectsReads}, {Key: convert.Name(s.memory.remember), Effects: ir.EffectsWrites}} {
		t.Binding, t.MaxOutput = convert.Go(guardPath+[]string{"Recalled", "Remembered"}[i]), 64<<20
		if i == 1 { // to write a value twice is to write it once
			t.Idempotency, t.InDoubt = true, &ir.Doubt{Policy: "retry_with_key"}
		}
		s.Out.Tools = append(s.Out.Tools, t)
	}
	s.Out.State = append(s.Out.State, &ir.State{Name: convert.Name(s.memory.field), Type: schema.AnyType, Init: &schema.Default{JSON: "{}"}})
}

// remembers reports whether a node writes to the memory.
func (s *siren) remembers(n *sirenspec.Node) bool {
	return s.memory != nil && len(n.Writes) > 1 && n.Writes[0] == "memory"
}

// usesMemory reports whether a node reads or writes the memory.
func (s *siren) usesMemory(n *sirenspec.Node) bool {
	found := s.remembers(n) || s.memory != nil && s.memory.node == n
	texts(n, func(r *dialect.Reference) { found = found || s.memory != nil && r.Root == "memory" })
	return found
}

// remembered is the node that writes what a node says to the memory.
func (s *siren) remembered(n *sirenspec.Node) string { return s.FreeID("remember_" + s.IDs[n.ID.Name]) }

// recall reads the memory when a run begins.
func (s *siren) recall(n *sirenspec.Node) {
	id := s.IDs[n.ID.Name]
	node := s.add(n, id, &ir.ToolCall{Name: convert.Name(s.memory.recall), With: convert.With(
		convert.Pair("dir", convert.Literal(s.memory.store.Path)), convert.Pair("ttl", convert.Number(int(s.memory.store.Seconds))))})
	node.Set = []*ir.Set{convert.Set(s.memory.field, id)}
}

// remember writes what a node says to the memory.
func (s *siren) remember(n *sirenspec.Node) {
	if s.skipped(n) {
		s.Refuse(n.ID.Span, "write it in a node of its own", "%s writes to the memory, and may fail without an end of the run", n.ID.Name)
		return
	}
	id := s.remembered(n)
	node := s.add(nil, id, &ir.ToolCall{Name: convert.Name(s.memory.remember), With: convert.With(
		convert.Pair("dir", convert.Literal(s.memory.store.Path)), convert.Pair("memory", convert.Ref("state."+s.memory.field)),
		convert.Pair("path", textList(n.Writes[1:])), convert.Pair("v", convert.Ref(s.said(n))))})
	node.Set = []*ir.Set{convert.Set(s.memory.field, id)}
}

// inMemory is the id of the node that makes the text of what is in the memory.
func (s *siren) inMemory(r *dialect.Reference, at *sirenspec.Node) string {
	if r.Filter == "" && at != nil && (at.Failure != nil || at.Skips) {
		s.Refuse(r.Text.Span, "give it a default: `| default('...')`", "%s may be missing, and the engine goes on when %s fails", r.Text.Value, at.ID.Name)
	}
	return s.part("state."+s.memory.field, r.Path, r, at)
}
