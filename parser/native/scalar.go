package native

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// text reads n as literal text: neither an expression nor a template.
func (p *parser) text(n *yamlnode.Node, what string) (source.Text, bool) {
	if !isScalar(n) {
		p.wrongShape(n, what+" is text", "")
		return source.Text{}, false
	}
	v := n.Text.Value
	switch {
	case strings.HasPrefix(v, "$$"):
		return cut(n.Text, 1, len(v)), true
	case strings.HasPrefix(v, "$"), strings.Contains(v, "{{"):
		p.report(diag.NotConstant, textSpan(n.Text), "write the value itself", "%s is a constant: an expression is not allowed here", what)
		return source.Text{}, false
	}
	return n.Text, true
}

// str is text as a string; "" after a mistake.
func (p *parser) str(n *yamlnode.Node, what string) string {
	t, _ := p.text(n, what)
	return t.Value
}

// strs reads a list of texts; a single text is a list of one.
func (p *parser) strs(n *yamlnode.Node, what string) []string {
	var out []string
	for _, id := range p.refs(n, what) {
		out = append(out, id.Name)
	}
	return out
}

// refs reads a list of names; a single name is a list of one.
func (p *parser) refs(n *yamlnode.Node, what string) []ir.Ident {
	if n == nil {
		return nil
	}
	items := n.Items
	if n.Kind == yamlnode.Scalar {
		items = []*yamlnode.Node{n}
	} else if n.Kind != yamlnode.Sequence {
		p.wrongShape(n, "expected a list", "")
		return nil
	}
	var out []ir.Ident
	for _, it := range items {
		if it.Kind == yamlnode.Null {
			p.wrongShape(it, what+" is text", "")
		} else if t, ok := p.text(it, what); ok {
			out = append(out, ir.Ident{Name: t.Value, Span: textSpan(t)})
		}
	}
	return out
}

// word reads one of a closed set of words; "" after a mistake.
func (p *parser) word(n *yamlnode.Node, what string, words ...string) string {
	if now := oldWords[what]["null"]; isNull(n) && now != "" {
		p.old(n.Span, "null", now)
		return now
	}
	t, ok := p.text(n, what)
	if !ok {
		return ""
	}
	return p.oneOf(ir.Ident{Name: t.Value, Span: textSpan(t)}, what, words)
}

func (p *parser) oneOf(id ir.Ident, what string, words []string) string {
	if slices.Contains(words, id.Name) {
		return id.Name
	}
	if now := oldWords[what][id.Name]; now != "" {
		p.old(id.Span, id.Name, now)
		return now
	}
	d := yamlnode.UnknownWord(id.Span, id.Name, what)
	d.Help = "use " + list(quoted(words), "or")
	if id.Name == "keep" && (what == "`on_error`" || what == "`on_timeout`") {
		d.Message = "`keep` does not apply to " + what + ": a failure leaves no result, and earlier runs are not read"
		d.Help = "write `skip` for no result, or `{default: value}`"
		p.say(d)
		return ""
	}
	if near := p.nearest(id.Name, words); near != "" {
		d.Help, d.Fixes = "replace with `"+near+"`", []diag.Fix{diag.Replace(id.Span, near)}
	}
	p.say(d)
	return ""
}

// maxCount bounds counts so that they fit an int32 and their products an int64.
const maxCount = math.MaxInt32

// count reads an integer of at least least. ok is false after a mistake.
func (p *parser) count(n *yamlnode.Node, what string, least int64) (int64, bool) {
	t, ok := p.text(n, what)
	if !ok {
		return 0, false
	}
	v, isInt := int64(0), false
	if n.Tag == "!!int" {
		v, isInt = parseInt(t.Value)
	}
	switch {
	case !isInt && n.Tag != "!!int" && strings.TrimLeft(t.Value, "0123456789") == "" && t.Value != "":
		p.rewrite(diag.BadLiteral, n.Span, t.Value, "%s is a number, this is text", what)
	case !isInt:
		p.say(yamlnode.NotWhole(textSpan(t), t.Value, what))
	case v < least || v > maxCount:
		p.say(yamlnode.OutOfRange(textSpan(t), what, least, maxCount))
	default:
		return v, true
	}
	return 0, false
}

// bound reads a count or the word unbounded, which is 0.
func (p *parser) bound(n *yamlnode.Node, what string) (int, bool) {
	if isScalar(n) && n.Text.Value == "unbounded" {
		return 0, true
	}
	if isScalar(n) && n.Tag != "!!int" {
		if near := p.nearest(n.Text.Value, []string{"unbounded"}); near != "" {
			p.replace(diag.BadLiteral, textSpan(n.Text), near, "%s is an integer or `unbounded`", what)
			return 0, false
		}
	}
	v, ok := p.count(n, what, 1)
	return int(v), ok
}

// parseInt reads the integers of YAML's core schema.
func parseInt(s string) (int64, bool) {
	neg := strings.HasPrefix(s, "-")
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 {
		return 0, false
	}
	base := 10
	switch {
	case strings.HasPrefix(digits, "0x"):
		base, digits = 16, digits[2:]
	case strings.HasPrefix(digits, "0o"):
		base, digits = 8, digits[2:]
	}
	if neg {
		digits = "-" + digits
	}
	v, err := strconv.ParseInt(digits, base, 64)
	return v, err == nil && !strings.Contains(digits, "_")
}

// number reads a finite number.
func (p *parser) number(n *yamlnode.Node, what string) (float64, bool) {
	t, ok := p.text(n, what)
	if !ok {
		return 0, false
	}
	var v float64
	switch n.Tag {
	case "!!int":
		var i int64
		i, ok = parseInt(t.Value)
		v = float64(i)
	case "!!float":
		var err error
		v, err = strconv.ParseFloat(t.Value, 64)
		ok = err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
	default:
		ok = false
	}
	if !ok {
		p.report(diag.BadLiteral, textSpan(t), "", "%s is a number, not `%s`", what, shorten(t.Value))
	}
	return v, ok
}

// duration reads Go's syntax with d for days of 24 hours: 500ms, 1h30m, 2d12h. Nil after a mistake.
func (p *parser) duration(n *yamlnode.Node, what string) *ir.Duration {
	if n == nil {
		return nil
	}
	t, ok := p.text(n, what)
	if !ok {
		return nil
	}
	at := textSpan(t)
	d, ok := ir.ParseDuration(t.Value)
	switch {
	case !ok && isScalar(n) && (n.Tag == "!!int" || n.Tag == "!!float"):
		p.replace(diag.BadLiteral, at, t.Value+"s", "%s needs a unit: ms, s, m, h or d", what)
	case !ok:
		p.report(diag.BadLiteral, at, "write a duration like `500ms`, `30s`, `1h30m` or `2d`", "%s is a duration, not `%s`", what, shorten(t.Value))
	case d <= 0:
		p.report(diag.BadLiteral, at, "", "%s is more than zero", what)
	default:
		return &ir.Duration{Value: d, Span: at}
	}
	return nil
}

// timeout reads a duration or the word unbounded.
func (p *parser) timeout(n *yamlnode.Node) *ir.Duration {
	if n != nil && isScalar(n) && n.Text.Value == "unbounded" {
		return &ir.Duration{Value: ir.UnboundedTime, Span: textSpan(n.Text)}
	}
	return p.duration(n, "`timeout`")
}

// size reads a number of bytes: 2MiB, 500kB, 1024.
func (p *parser) size(n *yamlnode.Node, what string) int64 {
	t, ok := p.text(n, what)
	if !ok {
		return 0
	}
	if v, ok := ir.ParseSize(t.Value); ok {
		return v
	}
	p.report(diag.BadLiteral, textSpan(t), "write a size like `64KiB`, `2MiB` or `1GiB`", "%s is a size of more than zero, not `%s`", what, shorten(t.Value))
	return 0
}

// money reads a decimal from its text, quoted or not: it never is a float, which cannot hold cents.
func (p *parser) money(n *yamlnode.Node, what string) string {
	t, ok := p.text(n, what)
	if !ok {
		return ""
	}
	if !ir.MoneyForm.MatchString(t.Value) {
		p.report(diag.BadLiteral, textSpan(t), "write a decimal like `0.50`", "%s is an amount of dollars, not `%s`", what, shorten(t.Value))
		return ""
	}
	return t.Value
}

// rate reads calls per time: 5/s.
func (p *parser) rate(n *yamlnode.Node, what string) string {
	t, ok := p.text(n, what)
	if ok && !ir.RateForm.MatchString(t.Value) {
		p.report(diag.BadLiteral, textSpan(t), "write a rate like `5/s`, `100/m` or `1000/h`", "%s is a number of calls per time, not `%s`", what, shorten(t.Value))
		return ""
	}
	return t.Value
}

// queue reads the name of a queue of workers.
func (p *parser) queue(n *yamlnode.Node) string {
	if n == nil {
		return ""
	}
	t, ok := p.text(n, "`queue`")
	if ok && !ir.QueueForm.MatchString(t.Value) {
		p.report(diag.BadLiteral, textSpan(t), "write a name of letters, digits, `.`, `_`, `/` and `-`, like `gpu`", "`queue` is the name of a queue of workers, not `%s`", shorten(t.Value))
		return ""
	}
	return t.Value
}
