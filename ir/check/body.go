package check

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Body is an ir.Body with what was proved about it: which steps run when, in which order, and how to write that down.
type Body struct {
	IR     *ir.Body
	Steps  []*Step // in file order
	Plan   *Plan   // how to emit it
	Result *schema.Type

	Locals  []*Local                 // of a Block, in order
	Lambdas map[*expr.Function]*Plan // of a Block: what the statements of its Lambdas are

	text   *ir.TextFunc // whose statements these are; nil: those of a workflow
	scope  *blockScope  // of a Block: what can be named at its end
	ends   [][]*Local   // of a Block: what can be named where it returns
	visits bool         // of a Block: data decides which node comes next

	start *Step // what edges from `start` leave: it has always run, and is not among Steps; nil: no edge does

	parent  *Step // the map or loop this is the inside of; nil for a workflow
	outer   *Body
	arcs    []*arc
	byID    map[string]*Step
	diagram *diagram
	order   []*Step  // topological
	failing []*Step  // of order those that end what they are in
	reach   []bitset // reach[i] has the place in order of every step that comes after step i
	loops   []*backEdge
	loose   bool // a mistake in the edges: nothing is proved about order
	limit   int  // of the diagram
	weak    bool // the diagram was too large: dominators instead of formulas
	doms    []bitset
	failed  []bitset
	proofs  map[string][]proof // by name, in topological order
	rounds  map[*Step]expr.Facts
	byIndex map[int][]*Decision // those that share a place agree, and the first is the earliest
	conds   map[condition]*Decision
	asks    map[string]*Decision // conditions of nodes and edges by what they ask, those that come out the same wherever they stand
	leaves  map[string]*leaf     // tests for null inside conditions, by path
	tested  map[string]bool      // the paths that conditions of several tests compare with null; nil: not looked for yet
	setters map[string][]*Step   // by state field, in topological order: the steps that surely set it when they succeed
	vars    []*Var               // names the enclosing verb brings in: `as`, `index`
}

// condition is what makes two `when`s one decision: that they fall after the same step, and ask the same but for
// negations.
type condition struct {
	from *Step
	key  string
}

// A Step is a node with what was proved about it.
type Step struct {
	Node  *ir.Node
	Table int // place in the program's node table

	Read  bool // something reads the result
	Maybe bool // the result is held as a pointer: somebody needs to know whether there is one
	Flag  bool // a separate "ran" variable is needed: something asks whether it ran and the result cannot tell
	Catch bool // errors of some codes are handled in the workflow

	ErrorRead    bool // something reads the step's .error
	FailuresRead bool
	ReceiptsRead bool      // something reads outputs of an agent that failed
	DefaultExpr  *Expected // on_error: {default: ...}
	ItemDefault  *Expected // on_item_error: {default: ...}

	Tool     *ir.Tool  // tool nodes
	Pick     *Pick     // tool_call nodes
	Ask      *Ask      // llm nodes
	Question *Question // human nodes
	Body     *Body     // map, loop
	Flow     *Program  // flow nodes
	Agent    *Agent    // agent nodes
	Undo     *Step     // what undoes it, a tool node that is among the steps of no body; nil: nothing does
	Uses     []Use     // nodes that perform

	Sandbox string // how the tools run: native (in the program), wasm, process, gvisor, or none for a process that is not isolated

	Vars    []*Var      // map: as, index
	InOrder []*ir.State // map: state that its items, one after the other, write where they run

	undoes *Step // of a step that undoes another one

	With   []*Argument // arguments in the order of the input's fields
	Over   *Expected   // map
	Data   *Expected   // parse
	Until  *expr.Node  // loop
	Fields []*Argument // let
	Sets   []*SetState

	body     *Body
	defaults *ir.Defaults
	index    int // in body.Steps
	pos      int // in body.order
	effects  ir.Effects
	in, out  []*arc
	back     []*backEdge // that leave it
	when     *Decision   // of a step with a condition of its own
	outcome  *Decision   // of a step with catch
	after    []*Decision
	gate     formula // when its turn comes: it runs then, unless its own condition does not hold
	act      formula // when it runs
	ok       formula // when it runs and its result is there
	passed   formula // when its turn came, and what comes after it goes on
	known    formula // what holds where it runs besides: that the steps whose results its condition has found have run
}

// Effects is the worst the step itself can do, its body included.
func (s *Step) Effects() ir.Effects { return s.effects }

// A Var is a name that a verb brings into its body.
type Var struct {
	Name string
	Type *schema.Type
	Step *Step
	Used bool
	Over *schema.Type // of `as`: the list whose items it holds
}

// An Argument is a checked value for a named field.
type Argument struct {
	Field *schema.Field
	Value *Expected
}

// Expected is a value of the file with the type it stands for.
type Expected struct {
	Value ir.Value // nil: Field.Default
	Type  *schema.Type
}

// SetState is a checked `set:` entry.
type SetState struct {
	State *ir.State
	Value *Expected
	One   bool // merge append: the value is one element, not a list

	// Deferred: other branches write the field at the same time, so that the write is applied at the join, in file order.
	Deferred bool
}

// A Decision is something that happens at run time and that edges depend on: a switch, a condition, or how a step with
// catch ended.
type Decision struct {
	Step  *Step // after which it is decided
	Kind  DecisionKind
	Expr  *expr.Node // switch value or condition
	Value *ir.Expr
	Edge  *ir.Edge
	Cases []Case
	Open  bool // Switch: a value without a case is possible, and an error at run time
	Used  int  // how many places of the plan ask for it
	Hoist bool // it must be evaluated right after its step: what it reads may change, or it is more than an expression

	also     []*ir.Expr // conditions of other edges that ask the same, or the opposite
	key      string     // of a condition: its canonical form; empty: it is alone
	flip     bool       // its cases are those of its place in the diagram the other way round
	positive bool       // whether Expr is its canonical form, or the opposite of that
	index    int        // in the diagram
	ended    bool       // it ends a loop that must not spend its bound: seen from outside, it has not taken the case repeats
	repeats  int
}

// own reports whether this is the condition of a step itself, which is asked there.
func (d *Decision) own() bool { return d == d.Step.when }

// DecisionKind tells the three apart.
type DecisionKind uint8

// The kinds. A condition has the cases true and false; an outcome has ok and one per catch clause.
const (
	Switch DecisionKind = iota
	When
	Outcome
)

// A Case of a decision.
type Case struct {
	Value   *Expected // Switch
	Default bool      // Switch: none of the others
	Code    string    // Outcome: a code, or "any"
	Label   string    // for people
}

// An arc is one edge between two steps, with the case under which it is active.
type arc struct {
	from, to  *Step
	decision  *Decision // nil: whenever from has run
	cases     int       // index into decision.Cases
	orderOnly bool      // order alone: decides nothing
	exhausted bool      // taken when a loop has spent its bound
	edge      *ir.Edge
	why       Reason      // of one that is not written
	at        source.Span // the target, where it is written
}

// A backEdge closes a loop written with edges.
type backEdge struct {
	edge      *ir.Edge
	from      *Step
	header    *Step
	when      *Decision // nil: always
	repeat    int       // the case of when that repeats
	members   []*Step
	exhausted *Step // nil: end, or an error when edge.Exhausted is nil
}

// bitset is a set of step indices.
type bitset []uint64

func newBitset(n int) bitset    { return make(bitset, (n+63)/64) }
func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) union(o bitset) {
	for i, w := range o {
		b[i] |= w
	}
}
func (b bitset) intersect(o bitset) {
	for i, w := range o {
		b[i] &= w
	}
}

// Decisions are what is decided after the step, in the order of the edges.
func (s *Step) Decisions() []*Decision { return s.after }

// Start is what edges from `start` leave, which holds the decisions that fall before any step; nil when there are none.
func (b *Body) Start() *Step { return b.start }

// before reports whether edges lead from s to t.
func (b *Body) before(s, t *Step) bool {
	if s == b.start || t == b.start {
		return s != t && s == b.start
	}
	return b.reach[s.index].has(t.pos)
}
