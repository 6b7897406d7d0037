package expr

import "github.com/flowgen-dev/flowgen/ir/schema"

// Inline reports whether the checked n lowers to one Go expression, which may be written wherever its value is needed and
// as often as that is. It is false when statements may have to come before: choices, loops, steps that can fail.
// codegen's lowering keeps this promise.
func (n *Node) Inline() bool {
	switch n.Op {
	case Lit:
		return true
	case Intrinsic:
		return n.Func.Const
	case Name, Field, OptField, Index:
		if n.Type == nil {
			return false
		}
		return n.chainInline() && (n.Type.Kind != schema.Opt || !n.guarded())
	case Call:
		return n.callInline()
	case Unary:
		return n.Kids[0].Inline() && (n.Text == "!" || n.Type != nil && n.Type.Kind == schema.Float)
	case Binary:
		return n.binaryInline()
	case ListLit:
		for _, k := range n.Kids {
			if n.Type == nil || k.Type == nil || !k.Inline() || !plain(k.Type) || !schema.Equal(k.Type, n.Type.Elem) {
				return false
			}
		}
		return true
	}
	return false
}

// chainInline: a chain of fields can be written out unless it begins with something that cannot, or looks up a key that
// may be missing.
func (n *Node) chainInline() bool {
	if n.Op == Name || n.Sym != nil {
		return true
	}
	if n.Op == Index { // one that is proved to be there
		return n.Type != nil && n.Type.Kind != schema.Opt && n.Kids[0].chainInline()
	}
	if n.Op != Field && n.Op != OptField {
		return n.Inline()
	}
	recv := n.Kids[0]
	if recv.Type == nil {
		return false
	}
	if t := recv.Type.Present(); t.Kind == schema.Map && t.Elem.Kind != schema.Opt && n.Type.Kind == schema.Opt {
		return false
	}
	return recv.chainInline()
}

// guarded: a receiver on the way may be absent.
func (n *Node) guarded() bool {
	for (n.Op == Field || n.Op == OptField) && n.Sym == nil {
		n = n.Kids[0]
		if n.Type.Kind == schema.Opt {
			return true
		}
	}
	return false
}

func (n *Node) callInline() bool {
	switch n.Text {
	case "first":
		return n.Kids[0].Type.Kind != schema.Opt && n.Kids[0].Inline()
	case "default":
		x, v := n.Kids[0], n.Kids[1]
		if x.Type.Kind != schema.Opt {
			return x.Inline()
		}
		return n.Type.Kind != schema.Opt && x.Inline() && v.Inline() && plain(x.Type.Elem) && plain(v.Type) && schema.Equal(x.Type.Elem, n.Type) &&
			schema.Equal(v.Type, n.Type)
	case "string":
		if k := n.Kids[0]; k.Type.Kind == schema.Int && !signed(k.Type) {
			return false
		}
	case "size", "contains", "startsWith", "endsWith", "matches", "lowerAscii", "upperAscii", "trim":
	default:
		return false
	}
	for _, k := range n.Kids {
		if !k.Inline() {
			return false
		}
	}
	return true
}

func (n *Node) binaryInline() bool {
	a, b := n.Kids[0], n.Kids[1]
	if tested := nullTested(n); tested != nil {
		return tested.chainInline()
	}
	if n.Text == "in" && b.Op == ListLit && len(b.Kids) <= 4 {
		for _, k := range b.Kids {
			if k.Op != Lit || isNull(k) {
				return false
			}
		}
		return (a.Op == Name || a.Op == Field || a.Op == OptField) && a.Inline() && (a.Type.Kind != schema.Int || signed(a.Type) && b.Type.Elem.Kind == schema.Int)
	}
	if !a.Inline() || !b.Inline() {
		return false
	}
	switch n.Text {
	case "/", "%": // by what may be zero
		return false
	case "&&", "||":
		return true
	case "in":
		return b.Type.Kind == schema.List && (isText(a.Type) || plain(a.Type) && plain(b.Type.Elem) && a.Type.Kind == b.Type.Elem.Kind)
	case "+", "-", "*":
		switch n.Type.Kind {
		case schema.Int, schema.Time, schema.Duration: // out of range, perhaps
			return false
		}
	}
	// An int with a float is converted, with a check; so is an unsigned one next to a signed one.
	if a.Type.Kind == schema.Int || b.Type.Kind == schema.Int {
		return a.Type.Kind == b.Type.Kind && signed(a.Type) && signed(b.Type)
	}
	return true
}

// plain types have one spelling in Go and are compared with ==.
func plain(t *schema.Type) bool {
	switch t.Kind {
	case schema.Bool, schema.Int, schema.Float, schema.String, schema.Duration:
		return t.Go == nil
	}
	return false
}

func signed(t *schema.Type) bool {
	if t.Go == nil {
		return true
	}
	switch t.Go.Name {
	case "int", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32":
		return t.Go.Path == ""
	}
	return false
}
