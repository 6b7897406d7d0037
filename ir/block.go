package ir

import (
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Block is an order of steps that a translator knows. A Body that has one runs it, and its Edges only describe it: in
// graphs, and for what a node comes after. Names are lexical. The result of a node can be read after it, in the same block,
// in blocks inside it, and anywhere below when its zero value says that the node did not run, as dynamic and opaque ones do.
type Block []Stmt

// A Stmt is one of the statements below.
type Stmt interface{ stmt() }

// RunStmt runs a node, whose verb is a Perform.
type RunStmt struct {
	Node *Node
	Call *Expr // instead of that of its Perform, for a node that runs in several places; nil: the same
	Into Ident // the local that gets the result, for nodes that run again; empty: a new one, with the id of the node
}

// IfStmt runs Then when a condition holds, and Else when not.
type IfStmt struct {
	Cond       *Expr
	Label      string // what plans say of the condition; empty: its text
	Then, Else Block
}

// SwitchStmt runs the first arm that has the value of On, which is a text, an integer, a bool or a node; Default when none has.
type SwitchStmt struct {
	On      *Expr
	Arms    []SwitchArm
	Default Block
}

// SwitchArm is one arm of a SwitchStmt.
type SwitchArm struct {
	Value any // string, int64, bool or *Node
	Do    Block
}

// SideStmt runs blocks in parallel. None of them reads what another one does, or sets the same local.
type SideStmt struct{ Arms []Block }

// WhileStmt repeats a block as long as a condition holds. Max bounds it; when it is 0, a function that Do calls does, or every
// node in it says how often it runs.
type WhileStmt struct {
	Cond  *Expr  // nil: always
	Label string // what plans say of the condition; empty: its text
	Max   int    // rounds; reaching it is not an error
	Index Ident  // the round, from 0, for Do; empty: none
	Scope *Scope
	Do    Block
}

// RangeStmt runs a block for every item of a list, one after the other.
type RangeStmt struct {
	Over        *Expr
	Item, Index Ident  // for Do; empty: not named
	Scope       *Scope // needs Index
	Do          Block
}

// A Scope gives the nodes of each round keys below `ID[round]/`. Without one they have none, and nodes that run again are
// visits.
type Scope struct {
	ID   Ident
	Name string // what its variable is called in Go, before "_node"; empty: ID
}

// LetStmt declares a local.
type LetStmt struct {
	Name  Ident
	Type  *schema.Type // of a local without a Value: an opaque or dynamic one; nil: that of Value
	Value *Expr        // nil: the zero value of Type
}

// SetStmt sets a local, or a field of an open state.
type SetStmt struct{ Target, Value *Expr }

// DoStmt calls a function for what it does. An error of it ends the body. Nodes that its Lambdas run run once, or as often as they
// say.
type DoStmt struct{ Call *Expr }

// NextStmt goes on with the next round of the innermost WhileStmt or RangeStmt.
type NextStmt struct{ Span source.Span }

// BreakStmt ends the innermost WhileStmt or RangeStmt. It is in no SwitchStmt, of which Go would take it.
type BreakStmt struct{ Span source.Span }

// ReturnStmt ends the body, or the Lambda.
type ReturnStmt struct {
	Value *Expr // of a Lambda whose signature has a result
	Span  source.Span
}

func (*RunStmt) stmt()    {}
func (*IfStmt) stmt()     {}
func (*SwitchStmt) stmt() {}
func (*SideStmt) stmt()   {}
func (*WhileStmt) stmt()  {}
func (*RangeStmt) stmt()  {}
func (*LetStmt) stmt()    {}
func (*SetStmt) stmt()    {}
func (*DoStmt) stmt()     {}
func (*NextStmt) stmt()   {}
func (*BreakStmt) stmt()  {}
func (*ReturnStmt) stmt() {}

// Perform calls a function that may call the tools, ask the models and run the workflows whose Handles it is given, and
// does nothing else to the world. It has no soft failure: the function decides what becomes of one, and its result, whose
// zero value says that it did not run, is tested by an IfStmt.
type Perform struct {
	Call     *Expr // an Intrinsic; nil: of a node that another one runs, which uses what AtMost lists
	AtMost   []UseBound
	Inside   *Body         // the nodes that Call runs, by their Handles, in the scope of this one. Its Block says how they follow each other
	Person   bool          // it asks a user
	Agent    *PerformAgent // the model with tools that Call lets work, by its Handle; nil: none
	Times    int           // how often it runs at most, where loops without a number lead to it; 0: as often as these go round, else once
	Attempts int           // how often it tries all of it, at most; 0: once
	Items    *Inside       // the Lambda of Call that runs for the items of a list; nil: none
	Kind     string        // what plans and graphs call it: "llm", "map"; empty: "tool"
	Gives    string        // what a stand-in of its tool returns, as a JSON Schema; empty: what the tool says

	Reads, Writes []Ident // fields of the open state, of which nodes depend on each other
	ReadsAll      bool    // it reads every field
}

// PerformAgent is a model that calls tools as often as it likes. The program makes it once.
type PerformAgent struct {
	Model      *Model
	Tools      []Ident      // by their keys
	Iterations int64        // how often the model answers at most
	Type       *schema.Type // a pointer to a struct, whose fields Model and Tools are those of the agent
	Fields     []expr.Entry // its other fields, constants
}

// UseBound is how often a Perform uses a tool, a model or a workflow at most. What is not listed is used once.
type UseBound struct {
	Of any   // *Tool, *Model, *Workflow or *ToolChoice
	N  int64 // 0: nothing bounds it
}

// Inside is the Lambda of a Perform that runs for each item of a list. Calls in it have keys below `node[index]/`, and those of
// Perform.Inside, which are below `node/` where there are no items.
type Inside struct {
	Do    *expr.Node
	Most  int64 // items; 0: nothing bounds them
	Limit int   // how many run at a time; 0: all
}

// Uses are what the Handles of an expression name, each once, in order.
func Uses(n *expr.Node) []*expr.Use {
	var out []*expr.Use
	seen := map[any]bool{}
	n.Walk(func(n *expr.Node) bool {
		if n.Op == expr.Handle && !seen[n.Use.Ref] {
			switch n.Use.Kind {
			case expr.UseTool, expr.UseModel, expr.UseFlow, expr.UseChoice:
				seen[n.Use.Ref] = true
				out = append(out, n.Use)
			}
		}
		return true
	})
	return out
}

// All calls f for every statement of a block and the blocks inside it, those of Lambdas not included.
func (b Block) All(f func(Stmt)) {
	for _, s := range b {
		f(s)
		for _, inside := range blocksOf(s) {
			inside.All(f)
		}
	}
}

// blocksOf are the blocks of a statement.
func blocksOf(s Stmt) []Block {
	switch s := s.(type) {
	case *IfStmt:
		return []Block{s.Then, s.Else}
	case *SwitchStmt:
		var out []Block
		for _, a := range s.Arms {
			out = append(out, a.Do)
		}
		return append(out, s.Default)
	case *SideStmt:
		return s.Arms
	case *WhileStmt:
		return []Block{s.Do}
	case *RangeStmt:
		return []Block{s.Do}
	}
	return nil
}

// StmtExpressions are the expressions that a statement itself has, nil among them; those of blocks inside it are not included.
func StmtExpressions(s Stmt) []*Expr {
	switch s := s.(type) {
	case *RunStmt:
		return []*Expr{s.Call}
	case *IfStmt:
		return []*Expr{s.Cond}
	case *SwitchStmt:
		return []*Expr{s.On}
	case *WhileStmt:
		return []*Expr{s.Cond}
	case *RangeStmt:
		return []*Expr{s.Over}
	case *LetStmt:
		return []*Expr{s.Value}
	case *SetStmt:
		return []*Expr{s.Target, s.Value}
	case *DoStmt:
		return []*Expr{s.Call}
	case *ReturnStmt:
		return []*Expr{s.Value}
	}
	return nil
}

// Walk implements expr.Statements.
func (b Block) Walk(f func(*expr.Node) bool) {
	b.All(func(s Stmt) {
		for _, e := range StmtExpressions(s) {
			if set, ok := s.(*SetStmt); ok && e == set.Target && e != nil && e.Node != nil && e.Node.Op == expr.Name {
				continue // which is written, and not read
			}
			ValueExpressions(e, func(n *expr.Node) { n.Walk(f) })
		}
		if run, ok := s.(*RunStmt); ok {
			Expressions(run.Node, func(n *expr.Node) { n.Walk(f) })
		}
	})
}
