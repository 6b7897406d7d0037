package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/parser/jinja"
)

// A finder collects the variables that a prompt takes.
type finder struct {
	out   []variable
	bound []string // names that the text itself gives a value
	safe  []string // names whose value a test around has found to be there
}

// freeVariables are the names that a prompt takes, in the order of its texts.
func freeVariables(r *Rendering) []variable {
	f := &finder{}
	for _, t := range []*PromptTemplate{r.System, r.User} {
		if t != nil {
			f.bound = nil
			f.nodes(t.Body)
		}
	}
	return f.out
}

func (f *finder) nodes(list []jinja.PromptNode) {
	for _, n := range list {
		switch n := n.(type) {
		case *jinja.PromptShow:
			f.expr(n.X, false)
		case *jinja.PromptIf:
			for _, c := range n.Cases {
				f.expr(c.Test, true)
				saved := len(f.safe)
				f.tested(c.Test)
				f.nodes(c.Body)
				f.safe = f.safe[:saved]
			}
			f.nodes(n.Else)
		case *jinja.PromptFor:
			f.expr(n.Over, false)
			saved := len(f.bound)
			for _, id := range n.Names {
				f.bound = append(f.bound, id.Name)
			}
			f.bound = append(f.bound, "loop")
			f.expr(n.Where, true)
			f.nodes(n.Body)
			f.bound = f.bound[:saved]
			f.nodes(n.Else)
		case *jinja.PromptSet:
			f.expr(n.X, false)
			f.nodes(n.Body)
			f.bound = append(f.bound, n.Name.Name)
		}
	}
}

// expr looks at an expression; guarded says that a missing value does no harm there: it is tested, or has a default.
func (f *finder) expr(x *jinja.PromptExpr, guarded bool) {
	if x == nil {
		return
	}
	switch x.Op {
	case "name":
		f.use(x, guarded)
		return
	case "filter":
		if x.Name == "default" || x.Name == "d" {
			f.expr(x.Kids[0], guarded || x.Kids[0].Op == "name")
			for _, k := range x.Kids[1:] {
				f.expr(k, guarded)
			}
			return
		}
	case "test":
		if x.Name == "defined" || x.Name == "undefined" {
			f.expr(x.Kids[0], guarded || x.Kids[0].Op == "name")
			return
		}
	case "and", "or", "not":
		saved := len(f.safe)
		for _, k := range x.Kids {
			f.expr(k, guarded || k.Op == "name")
			if x.Op == "and" {
				f.tested(k)
			}
		}
		f.safe = f.safe[:saved]
		return
	case "if":
		f.expr(x.Kids[0], true)
		saved := len(f.safe)
		f.tested(x.Kids[0])
		f.expr(x.Kids[1], guarded)
		f.safe = f.safe[:saved]
		f.expr(x.Kids[2], guarded)
		return
	case "attr", "item", "slice", "method":
		f.expr(x.Kids[0], false) // an undefined value has none
		for _, k := range x.Kids[1:] {
			f.expr(k, guarded)
		}
		return
	}
	for _, k := range x.Kids {
		f.expr(k, guarded)
	}
}

// tested notes the names that are there when a test holds.
func (f *finder) tested(x *jinja.PromptExpr) {
	switch {
	case x.Op == "name":
		f.safe = append(f.safe, x.Name)
	case x.Op == "and":
		for _, k := range x.Kids {
			f.tested(k)
		}
	case x.Op == "test" && x.Name == "defined", x.Op == "attr", x.Op == "item", x.Op == "filter" && (x.Name == "length" || x.Name == "count"), x.Op == ">" || x.Op == "==":
		f.tested(x.Kids[0])
	}
}

func (f *finder) use(x *jinja.PromptExpr, guarded bool) {
	if slices.Contains(f.bound, x.Name) {
		return
	}
	guarded = guarded || slices.Contains(f.safe, x.Name)
	for i := range f.out {
		if v := &f.out[i]; v.name == x.Name {
			if v.guarded && !guarded {
				v.guarded, v.at = false, x.Span
			}
			return
		}
	}
	f.out = append(f.out, variable{name: x.Name, at: x.Span, guarded: guarded})
}
