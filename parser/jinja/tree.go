package jinja

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A PromptNode is a part of a template: PromptText, PromptShow, PromptIf, PromptFor or PromptSet.
type PromptNode interface{ promptNode() }

// PromptText is text as it is.
type PromptText struct{ Lit string }

// PromptShow puts a value into the text.
type PromptShow struct {
	X       *PromptExpr
	Spec    string // of Python's format, after the colon
	Joined, // lists are joined with ", ", as in prompts without Jinja
	Kept bool // a value that is missing leaves the placeholder as it is
}

// PromptIf is a choice: the body of the first case whose test holds, else Else.
type PromptIf struct {
	Cases []PromptCase
	Else  []PromptNode
}

// A PromptCase is a test with what is written when it holds.
type PromptCase struct {
	Test *PromptExpr
	Body []PromptNode
}

// PromptFor repeats its body for the items of a value; Else is for none of them.
type PromptFor struct {
	Names []ir.Ident // one, or two for pairs
	Over  *PromptExpr
	Where *PromptExpr // nil: all items
	Loop  bool        // the body asks where it is
	Body  []PromptNode
	Else  []PromptNode
}

// PromptSet gives a value a name.
type PromptSet struct {
	Name ir.Ident
	X    *PromptExpr
	Body []PromptNode // instead of X: the text that it makes
}

func (*PromptText) promptNode() {}
func (*PromptShow) promptNode() {}
func (*PromptIf) promptNode()   {}
func (*PromptFor) promptNode()  {}
func (*PromptSet) promptNode()  {}

// A PromptExpr is an expression of a template.
type PromptExpr struct {
	// Op is name, const, loop, attr, item, slice, filter, test, call, method, list, dict, if, not, neg, and, or, in, a comparison
	// or an operator of arithmetic.
	Op   string
	Name string        // of a variable, attribute, filter, test, function or method
	Lit  *ir.Scalar    // const
	Kids []*PromptExpr // operands; of slice three, each of which may be nil; of if the test, the value and the other one
	Span source.Span
}

// WalkPrompt calls f for every expression of nodes, in the order of the text. It goes into an expression's parts when f says so.
func WalkPrompt(nodes []PromptNode, f func(*PromptExpr) bool) {
	for _, n := range nodes {
		switch n := n.(type) {
		case *PromptShow:
			n.X.Walk(f)
		case *PromptIf:
			for _, c := range n.Cases {
				c.Test.Walk(f)
				WalkPrompt(c.Body, f)
			}
			WalkPrompt(n.Else, f)
		case *PromptFor:
			n.Over.Walk(f)
			n.Where.Walk(f)
			WalkPrompt(n.Body, f)
			WalkPrompt(n.Else, f)
		case *PromptSet:
			n.X.Walk(f)
			WalkPrompt(n.Body, f)
		}
	}
}

// Walk calls f for x and, when f says so, for its parts.
func (x *PromptExpr) Walk(f func(*PromptExpr) bool) {
	if x == nil || !f(x) {
		return
	}
	for _, k := range x.Kids {
		k.Walk(f)
	}
}
