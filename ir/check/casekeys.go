package check

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// keyPart is one part of the key of a call: an id, the visit, and the number of an item, iteration or turn.
var keyPart = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*)(?:#([1-9][0-9]{0,8}|\*))?(?:\[([0-9]{1,9}|\*)\])?$`)

// called is what the calls with a key are.
type called struct {
	in, out  *schema.Type
	question *schema.Type // of a human node: what is answered
	wild     bool         // the key stands for several calls
}

// resolve finds what a key calls: `fetch`, `probe[3]/search`, `pub/notify`, `review[0]/model`. It reports what is wrong and
// then returns nil.
func (c *caseChecker) resolve(id ir.Ident) *called {
	body := c.p.Body
	parts := strings.Split(id.Name, "/")
	out := &called{}
	var rounds []string // headers of the back edges that the key is inside of, in body
	var in scope
	for i, part := range parts {
		m := keyPart.FindStringSubmatch(part)
		if m == nil {
			return c.noKey(id, "write the id of a node; inside of a map or loop `node[2]/inner`, of a sub-workflow `node/inner`; `node#2` is its second run, and `*` any number")
		}
		out.wild = out.wild || strings.Contains(part, "*")
		last, numbered := i == len(parts)-1, m[3] != ""
		if numbered && !last && in.enter(body, m[1], parts[i+1]) {
			continue
		}
		name, undo := strings.CutSuffix(m[1], ir.UndoSuffix)
		s := body.byID[name]
		if s == nil || undo && s.Undo == nil {
			c.reportUnknown(diag.UnknownName, fmt.Sprintf("unknown node %q%s", m[1], within(parts[:i])), id.Span, m[1], idsOf(body))
			return nil
		}
		if help := in.missing(body, s); help != "" {
			return c.noKey(id, help)
		}
		around := body.headers()[s]
		switch {
		case len(around) > len(rounds) && slices.Equal(around[:len(rounds)], rounds) && around[len(rounds)] == m[1] && numbered && !last:
			rounds = append(rounds, m[1])
			continue
		case !slices.Equal(around, rounds):
			return c.outside(id, s, around, rounds)
		}
		if undo {
			s = s.Undo
		}
		if i == len(parts)-2 && parts[i+1] == ir.ApproveID && !numbered && s.Approves() {
			out.out, out.question = schema.BoolType, schema.BoolType
			return out
		}
		if s.Agent != nil && !numbered && i == len(parts)-2 && s.Agent.stalePin(parts[i+1]) {
			out.in, out.out = schema.AnyType, schema.AnyType
			return out
		}
		if need := s.Body != nil && !s.once() || s.Agent != nil; numbered != need {
			return c.unfit(id, s, need, parts[:i])
		}
		switch {
		case s.Agent != nil:
			return c.ofAgent(id, s, parts[i+1:], out)
		case s.Body != nil && !last:
			body, rounds = s.Body, nil
		case s.Flow != nil && !last:
			body, rounds, in = s.Flow.Body, nil, scope{}
		case s.Body != nil || s.Flow != nil:
			return c.noKey(id, "say which node inside of `"+part+"` is meant: `"+id.Name+"/...`")
		case !last:
			return c.noKey(id, "there is nothing inside of `"+strings.Join(parts[:i+1], "/")+"`")
		default:
			return c.ofStep(id, s, out)
		}
	}
	return nil
}

func (c *caseChecker) noKey(id ir.Ident, help string) *called {
	c.report(diag.Diagnostic{Code: diag.BadName, Span: id.Span, Message: fmt.Sprintf("%q is not a call key", id.Name), Help: help})
	return nil
}

// outside reports a key that leaves out the rounds of a back edge, or has some that the node is not part of.
func (c *caseChecker) outside(id ir.Ident, s *Step, around, rounds []string) *called {
	name := s.Node.ID.Name
	if len(around) == 0 {
		return c.noKey(id, fmt.Sprintf("node `%s` is not part of the rounds that begin with `%s`", name, rounds[0]))
	}
	return c.noKey(id, fmt.Sprintf("node `%s` runs in rounds: write `%s[0]/%s` for the first one", name, strings.Join(around, "[0]/"), name))
}

// headers are those of the back edges around each step, the outermost first.
func (b *Body) headers() map[*Step][]string {
	out := map[*Step][]string{}
	var walk func(p *Plan, in []string)
	walk = func(p *Plan, in []string) {
		if p.Step != nil {
			out[p.Step] = in
		}
		if p.Loop != nil {
			in = append(slices.Clone(in), p.Loop.Header.Node.ID.Name)
		}
		for _, k := range p.Kids {
			walk(k, in)
		}
	}
	if b.Plan != nil {
		walk(b.Plan, nil)
	}
	return out
}

// unfit reports a number where there is none, or none where there is one.
func (c *caseChecker) unfit(id ir.Ident, s *Step, need bool, before []string) *called {
	name := s.Node.ID.Name
	d := diag.Diagnostic{Code: diag.BadName, Span: id.Span, Message: fmt.Sprintf("node %q%s runs once: it has no numbers", name, within(before)), Help: "write `" + name + "`; its second run would be `" + name + "#2`"}
	if need {
		d.Message = fmt.Sprintf("which item, iteration or turn of %q%s is meant?", name, within(before))
		d.Help = "write `" + name + "[0]/...` for the first, `" + name + "[*]/...` for all"
	}
	c.report(d)
	return nil
}

func within(before []string) string {
	if len(before) == 0 {
		return ""
	}
	return " in " + strings.Join(before, "/")
}

func idsOf(b *Body) []string {
	var out []string
	for _, s := range b.Steps {
		out = append(out, s.Node.ID.Name)
	}
	return out
}

// ofAgent is a call that an agent makes: of its model, or of a tool.
func (c *caseChecker) ofAgent(id ir.Ident, s *Step, rest []string, out *called) *called {
	names := []string{"model"}
	for _, x := range s.Agent.Tools {
		names = append(names, x.Name)
	}
	help := "an agent calls `" + strings.Join(names, "`, `") + "`: write `" + s.Node.ID.Name + "[0]/" + names[len(names)-1] + "`"
	m, asked := []string(nil), len(rest) == 2 && rest[1] == ir.ApproveID
	if len(rest) == 1 || asked {
		m = keyPart.FindStringSubmatch(rest[0])
	}
	if m == nil || m[3] != "" {
		return c.noKey(id, help)
	}
	out.wild = out.wild || strings.Contains(rest[0], "*")
	if m[1] == "model" && !asked {
		out.in, out.out = schema.AnyType, schema.AnyType
		return out
	}
	for _, x := range s.Agent.Tools {
		if x.Name == m[1] && asked {
			if !s.Agent.Approves(x.Tool) {
				return c.noKey(id, "no approval is asked for calls of `"+x.Name+"`")
			}
			out.out, out.question = schema.BoolType, schema.BoolType
			return out
		}
		if x.Name == m[1] {
			out.in, out.out = toolIn(x.Tool), toolOut(x.Tool)
			return out
		}
	}
	c.reportUnknown(diag.UnknownName, fmt.Sprintf("the agent of %s has no tool %q", s.Node.ID.Name, m[1]), id.Span, m[1], names)
	return nil
}

// stalePin reports whether an earlier run is asked for a pin with this name.
func (a *Agent) stalePin(name string) bool {
	return slices.ContainsFunc(a.Pins, func(p *Pin) bool { return p.IR.Name.Name == name && p.Stale() })
}

// ofStep is the call that a step makes.
func (c *caseChecker) ofStep(id ir.Ident, s *Step, out *called) *called {
	out.in, out.out = schema.AnyType, schema.AnyType
	switch {
	case s.Tool != nil:
		out.in, out.out = toolIn(s.Tool), toolOut(s.Tool)
	case s.Question != nil:
		out.out, out.question = s.Question.Out, s.Question.Out
	case s.Ask != nil, s.Pick != nil, len(s.Models()) > 0, len(s.Tools()) > 1:
	case len(s.Tools()) == 1:
		out.in, out.out = toolIn(s.Tools()[0]), toolOut(s.Tools()[0])
	default:
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: id.Span, Message: fmt.Sprintf("node %q makes no calls, so it has no recorded result", s.Node.ID.Name),
			Help: "look at the output or the state that it leads to"})
		return nil
	}
	return out
}

// pattern checks a regular expression.
func (c *caseChecker) pattern(v ir.Value) {
	s, ok := v.(*ir.Scalar)
	if !ok {
		c.mismatch(v.Source(), schema.StringType, "no text")
		return
	}
	if _, err := regexp.Compile(s.Text.Value); err != nil {
		c.report(diag.Diagnostic{Code: diag.BadPattern, Span: v.Source(), Message: "invalid regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")})
	}
}

// writeJSON is a checked value as JSON of its type: what text means in YAML depends on it.
func writeJSON(v ir.Value, t *schema.Type) string {
	t = declared(t)
	if name, arg := ir.Condition(v); arg != nil {
		elem := schema.AnyType
		if (name.Name == "$contains" && t.Present().Kind == schema.List) || name.Name == "$has" {
			elem = t
			if name.Name == "$contains" {
				elem = t.Present().Elem
			}
		} else if name.Name == "$matches" {
			elem = schema.StringType
		}
		return "{" + quoteText(name.Name) + ":" + writeJSON(arg, elem) + "}"
	}
	var parts []string
	switch v := v.(type) {
	case *ir.List:
		for _, it := range v.Items {
			parts = append(parts, writeJSON(it, partOf(t, "")))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *ir.Object:
		for _, e := range v.Entries {
			parts = append(parts, quoteText(e.Key.Name)+":"+writeJSON(e.Value, partOf(t, e.Key.Name)))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case *ir.Scalar:
		return scalarJSON(v, t.Present().Kind)
	}
	return "null"
}

func partOf(t *schema.Type, name string) *schema.Type {
	to := t.Present()
	switch {
	case to.Kind == schema.Struct && to.Field(name) != nil:
		return to.Field(name).Type
	case to.Elem != nil:
		return to.Elem
	}
	return schema.AnyType
}

func scalarJSON(s *ir.Scalar, k schema.Kind) string {
	text := s.Text.Value
	switch {
	case s.Tag == "!!null":
		return "null"
	case k == schema.Duration:
		d, _ := time.ParseDuration(text) // checked
		return strconv.FormatInt(int64(d), 10)
	case k == schema.Bytes:
		return quoteText(strings.Join(strings.Fields(text), ""))
	case k == schema.String, k == schema.Enum, k == schema.Time:
		return quoteText(text)
	case s.Tag == "!!bool":
		return strings.ToLower(text)
	case (s.Tag == "!!int" || s.Tag == "!!float") && k != schema.Float && wide(text) != "": // as a value of another type it is exact
		return wide(text)
	case s.Tag == "!!int" && k != schema.Float:
		n, _ := ParseInt(text)
		return strconv.FormatInt(n, 10)
	case s.Tag == "!!int", s.Tag == "!!float":
		f, _ := ParseFloat(text)
		b, err := json.Marshal(f)
		if err == nil {
			return string(b)
		}
	}
	return quoteText(text)
}

func quoteText(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // text cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// once reports whether what is inside of a step runs once, so that keys of it have no number.
func (s *Step) once() bool {
	v, ok := s.Node.Verb.(*ir.Perform)
	return ok && v.Items == nil
}
