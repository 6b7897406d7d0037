package sirenspec

import (
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// The engine's own patterns: a placeholder ends on its line, and a filter is the last part of it. The engine knows no filter
// with an empty text.
var (
	placeholder = lazyregexp.New(`\{\{\s*(.+?)\s*\}\}`)
	filter      = lazyregexp.New(`^(.+?)\s*\|\s*(default|json_or_default)\(\s*['"](.*?)['"]\s*\)\s*$`)
)

// template reads text with placeholders; nil when there is none.
func (p *parser) template(n *yamlnode.Node, what string) *dialect.Mixed {
	if _, ok := p.Text(n, what); !ok {
		return nil
	}
	return p.mixed(n.Text)
}

func (p *parser) mixed(t source.Text) *dialect.Mixed {
	m := &dialect.Mixed{Text: t}
	at := 0
	for _, loc := range placeholder.FindAllStringSubmatchIndex(t.Value, -1) {
		if loc[0] > at {
			m.Segments = append(m.Segments, dialect.MixedSegment{Lit: t.Value[at:loc[0]]})
		}
		at = loc[1]
		if r := p.reference(source.Text{Value: t.Value[loc[2]:loc[3]], Span: t.At(loc[2], loc[3])}); r != nil {
			m.Segments = append(m.Segments, dialect.MixedSegment{Ref: r})
		}
	}
	if at < len(t.Value) {
		m.Segments = append(m.Segments, dialect.MixedSegment{Lit: t.Value[at:]})
	}
	return m
}

// reference reads what is in a placeholder; nil after a mistake.
func (p *parser) reference(t source.Text) *dialect.Reference {
	r := &dialect.Reference{Text: t, Missing: dialect.MissingError}
	expr := t.Value
	m := filter.FindStringSubmatch(expr)
	switch {
	case m != nil && m[3] == "" && p.opts.Upstream:
		p.Warn(diag.ExprSyntax, t.Span, "write at least one character, such as a space", "the engine knows no empty default: it takes `%s` for a name, and the node fails", clip(expr))
	case m != nil && m[3] == "":
		p.Differs(t.Span, "write at least one character, such as a space", "the engine knows no empty default, and the node fails there")
		fallthrough
	case m != nil:
		expr, r.Filter, r.Default = m[1], m[2], m[3]
	case strings.Contains(expr, "|"):
		p.Warn(diag.ExprSyntax, t.Span, "the filters are `default('text')` and `json_or_default('text')`", "the engine takes `%s` for a name, which nothing has: the node fails when it runs", clip(expr))
		return p.noName(r)
	}
	if m != nil && r.Filter == "" {
		return p.noName(r)
	}
	path := strings.Split(expr, ".")
	for i := range path {
		path[i] = strings.TrimSpace(path[i])
	}
	r.Root, r.Path = path[0], path[1:]
	switch r.Root {
	case "item", "index", "total":
		return p.loopValue(r)
	case "memory":
		return p.memoryValue(r)
	case "inputs":
		return p.inputValue(r)
	case "env":
		return p.variable(r)
	default:
		r.Path, r.Root = path, "working"
		p.reads("working", path[0], t.Span)
	}
	return r
}

// noName is a placeholder for a name that nothing can have.
func (p *parser) noName(r *dialect.Reference) *dialect.Reference {
	r.Root, r.Path = "nothing", strings.Split(r.Text.Value, ".")
	return r
}

// variable is an environment variable.
func (p *parser) variable(r *dialect.Reference) *dialect.Reference {
	if len(r.Path) == 0 {
		p.Error(diag.UnknownName, r.Text.Span, "write `env.NAME`", "`env` is not a value")
		return nil
	}
	r.Path = r.Path[:1] // the engine ignores the rest
	return r
}
