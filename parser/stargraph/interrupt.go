package stargraph

import (
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var interruptConfig = &dialect.Shape{What: "the config of an interrupt node", Keys: []dialect.Key{
	{Name: "prompt", Required: true, Doc: "the question"},
	{Name: "interrupt_payload", Doc: "what the user is shown next to the question"},
	{Name: "requested_capability", Doc: "what the user has to be allowed"},
	{Name: "timeout", Doc: "how long the question is open, as in PT30M"},
	{Name: "on_timeout", Doc: "halt, or goto:NODE"},
}}

// interruptNode reads a question to a user. The engine hands the answer to nobody: the run goes on.
func (p *parser) interruptNode(x *node, m dialect.Mapping) {
	id, ok := p.Text(m.Get("prompt"), "`prompt`")
	if !ok {
		return
	}
	question := source.Text{Value: strings.TrimRight(id.Name, "\n"), Span: id.Span, Opaque: true}
	if n := m.Get("interrupt_payload"); n != nil {
		if !p.IsMapping(n, "`interrupt_payload`") {
		} else if len(n.Entries) > 0 {
			question.Value += "\n" + dialect.JSON(p.value(n))
		}
	}
	if m.Get("requested_capability") != nil {
		p.Differs(m.Key("requested_capability"), "", "the user who runs the program decides who may answer: anybody who can type at its terminal, or pass it a file of answers")
	}
	h := &ir.Human{Prompt: mixed(question, []segment{{lit: question.Value}}), Timeout: p.isoDuration(m.Get("timeout")), Span: x.at.Span}
	target := p.afterTimeout(m)
	if h.Timeout != nil && target != nil {
		x.late = target
	}
	x.lower = func() []*ir.Node {
		n := &ir.Node{ID: x.id, Verb: h, Span: x.at.Span}
		if x.late != nil {
			to := orEnd(*x.late, x.late.Span)
			n.Catch = []*ir.Catch{{Code: ir.Ident{Name: "TIMEOUT", Span: x.late.Span}, Target: to}}
		}
		return []*ir.Node{n}
	}
}

// afterTimeout is where a run goes when nobody answers; its name is empty for the end.
func (p *parser) afterTimeout(m dialect.Mapping) *ir.Ident {
	n := m.Get("on_timeout")
	if n == nil {
		return &ir.Ident{Span: dialect.Head(m.Node)}
	}
	id, ok := p.Text(n, "`on_timeout`")
	if !ok {
		return nil
	}
	if id.Name == "halt" {
		return &ir.Ident{Span: id.Span}
	}
	to, ok := strings.CutPrefix(id.Name, "goto:")
	if !ok {
		p.Error(diag.UnknownWord, id.Span, "write `halt`, or `goto:` and the id of a node", "`on_timeout` is `halt` or `goto:NODE`, not `%s`", id.Name)
		return nil
	}
	target := ir.Ident{Name: strings.TrimSpace(to), Span: id.Span}
	p.later = append(p.later, func() {
		if x := p.from(target); x != nil {
			target = x.target(id.Span)
		}
	})
	return &target
}

var isoForm = lazyregexp.New(`^P(?:([0-9]+)W)?(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?)?$`)

// isoDuration reads a duration of ISO 8601; nil after a mistake and when there is none.
func (p *parser) isoDuration(n *yamlnode.Node) *ir.Duration {
	id, ok := p.Text(n, "`timeout`")
	if !ok {
		return nil
	}
	m := isoForm.FindStringSubmatch(id.Name)
	if m == nil || strings.Join(m[1:], "") == "" || strings.HasSuffix(id.Name, "T") {
		p.Error(diag.BadLiteral, id.Span, "write it as in PT30M or P1D", "`%s` is not an ISO 8601 duration", id.Name)
		return nil
	}
	total := 0.0
	for i, unit := range []time.Duration{7 * 24 * time.Hour, 24 * time.Hour, time.Hour, time.Minute, time.Second} {
		if v, err := strconv.ParseFloat(m[i+1], 64); err == nil {
			total += v * float64(unit)
		}
	}
	if total <= 0 || total > float64(100*365*24*time.Hour) {
		p.Error(diag.BadLiteral, id.Span, "", "a timeout is longer than nothing, and shorter than 100 years")
		return nil
	}
	return &ir.Duration{Value: time.Duration(total), Span: id.Span}
}
