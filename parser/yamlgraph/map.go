package yamlgraph

import (
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var mapShape = nodeShape("a map node", dialect.Key{Name: "over", Required: true, Doc: "the list"}, dialect.Key{Name: "as", Required: true, Doc: "what an item is called"},
	dialect.Key{Name: "node", Required: true, Doc: "the node that runs for each item"}, dialect.Key{Name: "collect", Required: true, Doc: "the field of the results"},
	dialect.Key{Name: "max_items", Doc: "so many items are looked at"}, dialect.Key{Name: "timeout", Doc: "seconds for each item"}, dialect.Key{Name: "failures", Doc: "the field of the failures"},
	dialect.Key{Name: "min_success", Doc: "so many items, or such a part of them, have to do well"}, dialect.Key{Name: "on_overflow", Doc: "error or truncate, for more than `max_items`"}, dialect.Key{Name: "flatten_output", Doc: "whether results that are lists are added item by item"})

// mapNode reads a node that runs another for every item of a list.
func (p *parser) mapNode(m dialect.Mapping, out *Node) {
	if m.Get("state_key") != nil {
		p.Warn(diag.IgnoredKey, m.Key("state_key"), "remove it: the results go into `collect`", "the engine does not read the state_key of a map node")
	}
	as, ok1 := p.Text(m.Get("as"), "`as`")
	collect, ok2 := p.Text(m.Get("collect"), "`collect`")
	over := p.items(m.Get("over"))
	node := m.Get("node")
	if !ok1 || !ok2 || node == nil {
		return
	}
	if !idForm.MatchString(as.Name) {
		p.Error(diag.BadName, as.Span, "", "the name of an item is made of letters, digits and _")
		return
	}
	p.grow(collect)
	p.item = as.Name
	kind := "llm"
	if t := node.Get("type"); t != nil {
		kind = t.Text.Value
	}
	sub := p.node(ir.Ident{Name: kind, Span: m.Key("node")}, node, true)
	p.item = ""
	if sub == nil || sub.Verb == nil || over == nil {
		return
	}
	if kind != "tool_call" && kind != "passthrough" { // whose errors are part of its result; it has none
		p.field(ir.Ident{Name: "errors", Span: p.wf.Name.Span}, always["errors"])
	}
	sub.Inline = true
	t := out.Token
	t.Key = collect
	written := node.Get("state_key")
	if written == nil && kind != "tool_call" { // the update goes into the list as a whole
		sub.Token.Key = ir.Ident{Name: "_map_" + out.ID.Name + "_sub", Span: out.ID.Span}
	}
	key := "result"
	if written != nil && written.Kind == yamlnode.Scalar {
		key = written.Text.Value
	}
	if t.Gather = p.gather(m, collect, kind); t.Gather != nil {
		t.Gather.Key = key
	} else if key != "result" && kind != "tool_call" {
		t.Gather = &Gather{Key: key}
	}
	if n := m.Get("timeout"); n != nil && sub.Timeout == nil {
		sub.Timeout = p.seconds(n, "the timeout of a map")
	}
	out.Verb = &Map{Over: over, As: as, Parallel: p.width, Do: sub, Span: m.Node.Span}
}

// grow declares a field of a list that nodes add to.
func (p *parser) grow(id ir.Ident) {
	p.field(id, schema.ListOf(schema.AnyType)).Merge.Kind = ir.MergeAppend
}

// gather reads what becomes of the results; nil when nothing is said.
func (p *parser) gather(m dialect.Mapping, collect ir.Ident, kind string) *Gather {
	g := Gather{MaxItems: int(p.Count(m.Get("max_items"), "`max_items`", 1, 1_000_000, 0))}
	p.least(m.Get("min_success"), &g)
	if g.MaxItems == 0 {
		g.MaxItems = p.maxItems
	}
	cut := p.setting(m, "on_overflow")
	word := ""
	if cut != nil {
		word = p.Word(cut, "`on_overflow`", "error", "truncate")
	}
	g.Strict = g.MaxItems > 0 && word != "truncate" && !p.opts.Upstream
	if n := m.Get("failures"); n != nil {
		if id, ok := p.Text(n, "`failures`"); ok {
			p.grow(id)
			g.Failures = id.Name
		}
	} else if m.Get("min_success") != nil {
		id := ir.Ident{Name: collect.Name + "_failures", Span: m.Key("min_success")}
		p.grow(id)
		g.Failures = id.Name
	}
	g.Flat = p.Flag(m.Get("flatten_output"), "`flatten_output`", false)
	if n := m.Get("on_error"); n != nil {
		switch p.Word(n, "`on_error`", "skip", "fail", "retry", "fallback") {
		case "fail":
			g.Fail = !p.opts.Upstream
			p.Differs(n.Span, "", "an item that fails ends the run; YAMLGraph 0.4 does not read the on_error of a map node")
		case "retry", "fallback":
			p.Warn(diag.IgnoredKey, n.Span, "put it on the node inside", "the engine does not read this on_error of a map node")
		}
	}
	if g == (Gather{}) {
		return nil
	}
	return &g
}

// least reads how many items have to do well: a number, or a part of them with a point.
func (p *parser) least(n *yamlnode.Node, g *Gather) {
	if n == nil || n.Kind != yamlnode.Scalar || p.Schema.Tag(n) != "!!float" {
		g.Least = int(p.Count(n, "`min_success`", 0, 1_000_000, 0))
		return
	}
	v, err := strconv.ParseFloat(n.Text.Value, 64)
	if err != nil || v < 0 || v > 1 {
		p.Error(diag.BadLiteral, n.Span, "", "`min_success` is an integer, or a part from 0.0 to 1.0")
		return
	}
	g.Share = v
}

// seconds reads a time in seconds; nil after a mistake.
func (p *parser) seconds(n *yamlnode.Node, what string) *ir.Duration {
	if tag := p.Schema.Tag(n); n.Kind == yamlnode.Scalar && (tag == "!!int" || tag == "!!float") {
		if d, err := time.ParseDuration(n.Text.Value + "s"); err == nil && d > 0 && d <= 24*365*time.Hour {
			return &ir.Duration{Value: d, Span: n.Span}
		}
	}
	p.Error(diag.BadLiteral, dialect.Head(n), "", "%s is a number of seconds above 0", what)
	return nil
}

// items reads the list of a map, which can be there itself; nil after a mistake.
func (p *parser) items(n *yamlnode.Node) ir.Value {
	if n != nil && n.Kind == yamlnode.Sequence {
		return p.constant(n)
	}
	if r := p.over(n); r != nil {
		return r
	}
	return nil
}

// over reads the list of a map: a path, with or without `state.`, with or without braces.
func (p *parser) over(n *yamlnode.Node) *dialect.Reference {
	id, ok := p.Text(n, "`over`")
	if !ok {
		return nil
	}
	if !strings.HasPrefix(id.Name, "{") || !strings.HasSuffix(id.Name, "}") {
		p.Differs(id.Span, "write `{state."+strings.TrimPrefix(id.Name, "state.")+"}`", "this is read as a path; the engine reads it as text, which is not a list")
	}
	path := strings.TrimPrefix(strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(id.Name, "{"), "}")), "state.")
	for _, part := range strings.Split(path, ".") {
		if !idForm.MatchString(part) {
			p.Error(diag.BadLiteral, id.Span, "write it as `{state.field}`", "`over` is a path into the state")
			return nil
		}
	}
	r := p.reference(n.Text, path)
	r.Missing = dialect.MissingError
	return r
}
