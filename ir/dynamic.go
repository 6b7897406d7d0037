package ir

import (
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/ir/source"
)

// Dynamic is what a workflow of a public dialect has besides the parts that it shares with the native language: rules for
// data whose shape is known only when it runs. Its nodes are those of the workflow's Body, each with a Node.Dynamic; its
// state is Workflow.State; its tools are Workflow.Tools. A native workflow has none.
type Dynamic struct {
	Dialect     string // its name
	Upstream    bool   // --compat upstream: what the engine does wins over what the page says
	Concurrency int    // nodes at a time; 1: one after the other
	Phases      []*Phase
	Tokens      *Tokens // nil: nodes run in phases
	Seeds       *Object // what the state begins with
}

// A Phase is a part of the workflow that begins when the one before it has ended.
type Phase struct {
	Kind  PhaseKind
	ID    Ident
	Nodes []*Node // in the order of the file for PhaseGraph, else in the order in which they run

	Over  *Reference // PhasePipeline: the list
	Until *Predicate // PhaseLoop: looked at before each round; nil: never
	Max   int        // PhaseLoop
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

// DynamicNode is what a node of a dialect says about its data and its place in the graph.
type DynamicNode struct {
	Args      *Object // constants and references; nil: none
	Reads     []Ident
	ReadsSome bool // reads is written
	Writes    []Ident
	Routes    []*Route     // that lead to the node, in file order
	Whens     []*Predicate // that have to hold besides
	Each      *Each        // nil: it runs once
	OnSpent   Spent
	Attempts  int           // in total; 0 and 1: one
	Base      time.Duration // the first wait between attempts
	Double    bool          // each wait is twice the one before; else it grows by Base
	Times     int           // how often the node runs at most; 0: once, -1: nothing bounds it
	Prompt    *Mixed
	System    *Mixed
	JSON      bool   // the output of a command is JSON whose keys are written
	Schema    string // JSON of the schema that a model's answer has to fit; empty: text
	AnswerAs  string // the tool whose arguments an answer that has a Schema is; empty: the provider's own way
	Token     *Token // nil: nodes run in phases
}

// Spent is what becomes of a node whose attempts are spent.
type Spent uint8

// The run ends, or goes on without the node.
const (
	SpentFail Spent = iota
	SpentSkip
)

// A Route leads from a node to another, when its condition holds.
type Route struct {
	From, To Ident
	When     *Predicate // nil: always
	Span     source.Span
}

// Each runs a node for every item of a list.
type Each struct {
	Over        *Reference
	Concurrency int
	Span        source.Span
}

// A Reference is a place in dynamic data.
type Reference struct {
	Text source.Text
	Root string // state, item, index, ...: what the dialect's reader knows
	Path []string
	// Filter is a function that the value goes through; empty: none.
	Filter  string
	Default string // what the filter puts in place of a value that is missing
	Missing Missing
}

// Missing is what stands for a value that is not there.
type Missing uint8

// It is left out, stays as it is written, is null, or is an error.
const (
	MissingAbsent Missing = iota
	MissingKeep
	MissingNull
	MissingError
)

// Mixed is text with references in it.
type Mixed struct {
	Text     source.Text
	Segments []MixedSegment
}

// A MixedSegment is literal text or a reference.
type MixedSegment struct {
	Lit string
	Ref *Reference // nil: Lit
}

// Source is the place of the value.
func (r *Reference) Source() source.Span { return r.Text.Span }

// Source is the place of the value.
func (m *Mixed) Source() source.Span { return m.Text.Span }

// A Predicate is a test on dynamic data: a comparison, a combination, a constant or a value that is taken for true or
// false.
type Predicate struct {
	Op   string // && || == != < <= > >= ref const length, and what else the reader of a dialect and its translator know
	Kids []*Predicate
	Ref  *Reference // ref
	Lit  *Scalar    // const
	Span source.Span
}

// String is the condition in the spelling of the native language.
func (c *Predicate) String() string {
	switch c.Op {
	case "ref":
		return c.Ref.Text.Value
	case "length":
		return "length(" + c.Kids[0].String() + ")"
	}
	side := func(k *Predicate) string {
		if k.Op == "||" && c.Op == "&&" {
			return "(" + k.String() + ")"
		}
		return k.String()
	}
	if !slices.Contains([]string{"&&", "||", "==", "!=", "<", "<=", ">", ">="}, c.Op) {
		return c.Span.Text()
	}
	return side(c.Kids[0]) + " " + c.Op + " " + side(c.Kids[1])
}

// Refs calls f for every reference of the condition.
func (c *Predicate) Refs(f func(*Reference)) {
	if c == nil {
		return
	}
	if c.Ref != nil {
		f(c.Ref)
	}
	for _, k := range c.Kids {
		k.Refs(f)
	}
}

// ValueReferences calls f for every reference of a value.
func ValueReferences(v Value, f func(*Reference)) {
	switch v := v.(type) {
	case *Reference:
		f(v)
	case *Mixed:
		for _, s := range v.Segments {
			if s.Ref != nil {
				f(s.Ref)
			}
		}
	case *Calc:
		ValueReferences(v.Left, f)
		ValueReferences(v.Right, f)
	case *List:
		for _, x := range v.Items {
			ValueReferences(x, f)
		}
	case *Object:
		for _, e := range v.Entries {
			ValueReferences(e.Value, f)
		}
	}
}
