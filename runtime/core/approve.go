package core

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// approveNode is the id of the question that asks for a call, in a scope of the call's own: deploy/approve,
// review[0]/restart#2/approve. It is a call as that of a human node.
const approveNode = "approve"

// maxShown bounds what a user is shown of the arguments, in bytes.
const maxShown = 4 << 10

// Approved requires a user's approval before every call of the tool; the question shows the arguments. Undos need no
// approval. A call that is refused, or that no user is available to approve, fails with POLICY_DENIED and does not reach
// the tool. It returns t.
func (t *Tool[In, Out]) Approved() *Tool[In, Out] {
	t.approve, t.gated, t.floats = true, true, false
	return t
}

// approves reports whether a user has to be asked for a call.
func (r *Run) approves(h *Head, o *toolOptions) bool {
	if strings.HasSuffix(h.Node.ID, UndoSuffix) {
		return false
	}
	if o.approve {
		return true
	}
	for g := r.guard; g != nil; g = g.outer {
		if g.policy.Approve != nil && slices.Contains(g.policy.Approve, h.Effects) {
			return o.meter == nil && h.Tool != HumanTool && h.Tool != LastTool
		}
	}
	return false
}

// approved asks a user for a call, once for all of its attempts. refused says why it must not be made; err is a run error.
// What the policy or the input's type refuses anyway nobody is asked.
func (r *Run) approved(h *Head, o typed, t *toolOptions) (refused *value.ToolError, err error) {
	if !r.approves(h, t) || r.denied(h, t) != nil || o.checkIn() != nil {
		return nil, nil
	}
	args, err := o.EncodeIn(nil)
	if err != nil {
		return nil, nil // it is refused for that
	}
	q := Question{Type: "bool", Text: fmt.Sprintf("Allow call %s of tool %s (%s)?\n%s", h.Key(), h.Tool, h.Effects, shown(args))}
	asking := *r.Scoped().open(h.Node, -1, h.Visit)
	for asking.receiver = nil; asking.guard != nil && asking.guard.turns; asking.guard = asking.guard.outer {
	} // what an agent may do is not about it
	n := &Node{ID: approveNode, Pos: h.Node.Pos, Index: -1}
	yes, err := Call(&asking, n, Bind(HumanTool, Reads, func(ctx context.Context, q Question) (bool, error) { return ask[bool](ctx, &asking, n, q) }), q)
	switch te := value.ToolErrorOf(err); {
	case te != nil:
		return value.Errorf(value.PolicyDenied, "no one approved this call: %s", te.Message), nil
	case err != nil:
		return nil, err
	case !yes:
		return value.Errorf(value.PolicyDenied, "a user denied this call"), nil
	}
	return nil, nil
}

// shown is JSON as a user can read it anywhere: without characters that a terminal obeys or that hide or reorder others.
func shown(b []byte) string {
	whole := len(b)
	if whole > maxShown {
		b = b[:maxShown]
		for !utf8.Valid(b) {
			b = b[:len(b)-1]
		}
	}
	var out strings.Builder
	for _, c := range string(b) {
		switch {
		case unicode.IsPrint(c):
			out.WriteRune(c)
		case c > 0xFFFF:
			hi, lo := utf16.EncodeRune(c)
			fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&out, `\u%04x`, c)
		}
	}
	if whole > len(b) {
		fmt.Fprintf(&out, " [cut: %d bytes in all]", whole)
	}
	return out.String()
}
