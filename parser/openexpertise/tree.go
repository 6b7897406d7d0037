package openexpertise

import (
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// A Tree is what a file says, before it is translated.
type Tree struct {
	*ir.Workflow // its sections besides those below

	Nodes       []*Node  // in the order of the file
	Phases      []*Phase // one after the other
	Upstream    bool     // --compat upstream: the engine's behaviour wins over the page's
	Concurrency int      // nodes at a time; 1: one after the other
}

// names are the names of the nodes.
func (t *Tree) names() []string {
	var names []string
	for _, n := range t.Nodes {
		names = append(names, n.ID.Name)
	}
	return names
}

// A Phase is a part of an experience that begins when the one before it has ended.
type Phase struct {
	Kind  PhaseKind
	ID    ir.Ident
	Nodes []*Node // as they run; of PhaseGraph in the order of the file, until the experience is translated

	Over  *dialect.Reference // PhasePipeline: the list
	Until *dialect.Predicate // PhaseLoop: looked at before each round; nil: never
	Max   int                // PhaseLoop
	Span  source.Span
}

// PhaseKind is how the nodes of a phase follow each other.
type PhaseKind uint8

// Along edges; all nodes for each item of a list; or all nodes again and again.
const (
	PhaseGraph PhaseKind = iota
	PhasePipeline
	PhaseLoop
)

// A Node is what a file says about a node: its call, its data, and its place in the graph.
type Node struct {
	ID      ir.Ident
	Span    source.Span
	Verb    ir.Verb // *ir.ToolCall, *ir.LLM or *ir.Flow; nil after a mistake
	Timeout *ir.Duration

	Args      *ir.Object // constants and references; nil: none
	Reads     []ir.Ident
	ReadsSome bool // reads is written
	Writes    []ir.Ident
	Routes    []*dialect.Route     // that lead to the node, in file order
	Whens     []*dialect.Predicate // further conditions
	Each      *Each                // nil: it runs once
	Skips     bool                 // a node whose attempts are spent is skipped; else the run ends
	Attempts  int                  // in total; 0 and 1: one
	Base      time.Duration        // the first wait between attempts
	Double    bool                 // each wait is twice the one before; else it grows by Base
	Times     int                  // how often the node runs at most; 0: once, -1: unbounded
	Prompt    *dialect.Mixed
	System    *dialect.Mixed
	JSON      bool   // the output of a command is JSON whose keys are written
	Schema    string // JSON schema of a model's answer; empty: text
	AnswerAs  string // the tool whose arguments an answer that has a Schema is; empty: the provider's own way
}

// made is the node as one of a Block.
func (n *Node) made() *ir.Node {
	out := &ir.Node{ID: n.ID, Span: n.Span, Verb: n.Verb}
	out.BoundAttempts(n.Timeout)
	return out
}

// Each runs a node for every item of a list.
type Each struct {
	Over        *dialect.Reference
	Concurrency int
	Span        source.Span
}
