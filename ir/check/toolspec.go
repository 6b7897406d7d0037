package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// toolSpec checks what a tool's declaration says beyond its binding (ToolSpec): the idempotency key, and the examples,
// which are held to the schemas that calls are held to.
func (c *checker) toolSpec(t *ir.Tool) {
	c.longBound(t.Timeout, "`timeout`")
	if t.IdempotencyKey != nil {
		c.value(t.IdempotencyKey, schema.StringType, &env{c: c, params: toolIn(t)})
		c.certain(t.IdempotencyKey)
	}
	if t.Replay == "recorded-result" && effectsOf(t) >= ir.EffectsWrites {
		c.warn(diag.Diagnostic{Code: diag.ReplayRuns, Span: t.Key.Span, Message: fmt.Sprintf("a replay without a record would call tool %q, which has effects %s", t.Key.Name, effectsOf(t)),
			Help: "`replay: recorded-result` is for tools that compute or read; without it the tool is stubbed in a replay"})
	}
	c.doubt(t.InDoubt, t.Key.Name, []*ir.Tool{t})
	for _, x := range t.Examples {
		c.example(t, x)
	}
}

// certain reports what may fail in the text of an idempotency key: a call whose key is not known can neither be made nor
// recognized as one that was made.
func (c *checker) certain(t *ir.Template) {
	if t.Tmpl == nil {
		return
	}
	for _, s := range t.Tmpl.Segments {
		if s.Expr == nil {
			continue
		}
		s.Expr.Walk(func(n *expr.Node) bool {
			switch n.Op {
			case expr.Bad, expr.Lit, expr.Name, expr.Field, expr.OptField, expr.Cond, expr.Index:
				return true
			case expr.Binary:
				if !strings.Contains("+-*/%", n.Text) || n.Type != nil && n.Type.Kind == schema.String {
					return true
				}
			case expr.Unary:
				if n.Text == "!" {
					return true
				}
			case expr.Call:
				if slices.Contains([]string{"string", "default", "first", "size", "contains", "startsWith", "endsWith"}, n.Text) {
					return true
				}
			}
			c.report(diag.Diagnostic{Code: diag.Misplaced, Span: t.Text.At(n.Lo, n.Hi), Message: "an idempotency key cannot be calculated, as this may fail",
				Help: "give the tool a parameter for it, and calculate its value in `with`"})
			return false
		})
	}
}

func (c *checker) example(t *ir.Tool, x *ir.Example) {
	e := &env{c: c}
	in, out := toolIn(t), toolOut(t)
	switch v := x.In.(type) {
	case *ir.Object:
		if in.Kind != schema.Invalid {
			c.arguments(v.Entries, in, v.Span, e, t.Key.Name, "input")
		}
	case nil:
		if missing := required(in); len(missing) > 0 {
			c.report(diag.Diagnostic{Code: diag.MissingField, Span: x.Span, Message: fmt.Sprintf("an example of %s needs `in`: its input %s is required", t.Key.Name, strings.Join(missing, ", ")),
				Help: "add `in: {" + missing[0] + ": ...}`"})
		}
	}
	if x.Out != nil && out.Kind != schema.Invalid {
		c.value(x.Out, out, e)
	}
}

// longBound warns of a bound of calls that bounds nothing in practice.
func (c *checker) longBound(d *ir.Duration, key string) {
	switch {
	case d == nil:
	case d.Value == ir.UnboundedTime:
		c.warn(diag.Diagnostic{Code: diag.LongBound, Span: d.Span, Message: key + " is unbounded: a hanging call blocks its run forever",
			Help: "write the maximum duration, as in `10m`"})
	case d.Value > time.Hour:
		c.warn(diag.Diagnostic{Code: diag.LongBound, Span: d.Span, Message: key + " is longer than an hour: a hanging call blocks its run for " + d.Value.String(),
			Help: "write the maximum duration, as in `10m`; start longer work in one call and poll it with others"})
	}
}

func required(t *schema.Type) []string {
	var out []string
	for _, f := range t.Fields {
		if f.Required() {
			out = append(out, f.Name)
		}
	}
	return out
}

// capabilities checks that the policy grants what a tool claims. Without a policy nothing is asked; with one, nothing is
// granted by itself. at is where the tool is used.
func (c *checker) capabilities(t *ir.Tool, at source.Span) {
	p := c.wf.Policy
	if p == nil {
		return
	}
	for _, claim := range t.Permissions {
		if ir.Granted(p.Grants, claim) {
			continue
		}
		d := diag.Diagnostic{Code: diag.NotGranted, Span: at, Message: fmt.Sprintf("tool %q needs the capability %q, which the policy does not grant", t.Key.Name, claim),
			Help: "add `" + claim + "` to `policy.grants`", Related: related(p.Span, "the policy is here")}
		for _, g := range p.Grants {
			if strings.EqualFold(g, claim) {
				d.Help += "; it grants `" + g + "`, which differs: case matters"
			}
		}
		c.report(d)
	}
}

// ungranted is the first capability that a tool claims and the policy does not grant, or "".
func ungranted(p *ir.Policy, t *ir.Tool) string {
	if p == nil {
		return ""
	}
	for _, claim := range t.Permissions {
		if !ir.Granted(p.Grants, claim) {
			return claim
		}
	}
	return ""
}

// idempotent reports whether every tool of a step that changes the world can tell a repeated call from a new one.
func (s *Step) idempotent() bool {
	return !slices.ContainsFunc(s.Tools(), func(t *ir.Tool) bool { return effectsOf(t) >= ir.EffectsWrites && !t.Idempotency })
}

// Replay is what a replay does with a call of the tool that has no record: as declared, or ToolSpec's default mapping.
func Replay(t *ir.Tool) string {
	switch {
	case t.Replay != "":
		return t.Replay
	case effectsOf(t) <= ir.EffectsReads:
		return "recorded-result"
	}
	return "must-stub"
}
