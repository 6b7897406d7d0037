package yamlnode

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir/source"
	"go.yaml.in/yaml/v4"
)

// This file finds templates and expressions without quotes that YAML reads as something else without complaint.
// What YAML complains about is in explain.go.

// maxExpression is how far the end of a cut expression is looked for. Lines may be megabytes long and hold thousands.
const maxExpression = 4096

const templateHelp = "put the text in quotes: YAML reads `{` as the start of a mapping"

// unquoted turns a mapping that was meant to be text into that text: `{{ a }}`, which is a mapping with a mapping as its
// key, and `- $a ? b : c`, whose `: ` makes a key. reported is the number of problems before the mapping.
func (p *parser) unquoted(made part, n *yaml.Node, all extent, at place, reported int) part {
	lo := made.node.Span.Lo
	switch {
	case made.node.Style == Flow && all.any && all.first.lo == lo+1 && strings.HasPrefix(p.src[lo:made.hi], "{{") &&
		strings.HasSuffix(p.src[lo:made.hi], "}}"):
		// What was said about its inside was about a mapping that nobody meant.
		p.problems = p.problems[:min(reported, len(p.problems))]
		span := p.span(lo, made.hi)
		pr := *unquoted(span)
		if !at.key {
			pr.Fix = quoted(span)
		}
		if pr.Fix != nil {
			pr.Help = quoteHelp(pr.Fix)
		}
		p.report(pr)
		made.cut = true
	case all.cut && len(n.Content) == 2 && !at.key && !strings.ContainsAny(p.src[lo:made.hi], "\r\n"):
	default:
		return made
	}
	p.join(&made, lo, made.hi)
	return made
}

// join makes the node the plain scalar that is in [lo, hi).
func (p *parser) join(made *part, lo, hi int) {
	span := p.span(lo, hi)
	n := &Node{Kind: Scalar, Style: Plain, Tag: "!!str", Span: span}
	n.Text.Value, n.Text.Span = span.Text(), span
	made.node, made.hi, made.joined, made.nodes, made.height = n, hi, hi, 1, 0
}

// checkCut looks at what ended an unquoted expression or template. If it was not complete, YAML cut it: at a comment, at
// a comma in flow style, or at the `: ` of a condition.
func (p *parser) checkCut(made *part, at place) {
	lo, hi, v := made.node.Span.Lo, made.node.Span.Hi, made.node.Text.Value
	dollar := strings.HasPrefix(v, "$") && !strings.HasPrefix(v, "$$")
	if !dollar && !strings.Contains(v, "{{") {
		return
	}
	open := unfinished(v)
	next := skipBlanks(p.src, hi)
	if next >= len(p.src) {
		return
	}
	end := hi
	pr := Problem{Kind: CutText, Span: p.span(next, next+1)}
	switch c := p.src[next]; {
	case at.key && c == ':' && (open || dollar && strings.Contains(v, " ? ")):
		pr.Message = "`: ` ends this unquoted expression and makes it a key"
		made.cut = true
		text := p.lineText(lo)
		if e, ok := balanced(p.src[:text.Hi], lo+1, ","); at.inFlow && ok {
			text = p.span(lo, e)
		}
		if !unfinished(text.Text()) && !strings.Contains(text.Text(), " #") {
			pr.Fix = quoted(text)
		}
		pr.Help = quoteHelp(pr.Fix)
		p.report(pr)
		return
	case !at.key && open && c == '#' && next > hi:
		pr.Message = "` #` starts a comment and cuts this unquoted expression"
		end = p.trimmed(lo, EndOfLine(p.src, lo)).Hi
	case !at.key && open && c == ',' && at.inFlow && dollar:
		pr.Message = "`,` ends this unquoted expression: it is inside [ ] or { }"
		e, ok := balanced(p.src[:p.lineText(lo).Hi], lo+1, ",")
		if !ok {
			return
		}
		end = e
	default:
		return
	}
	if p.span(lo, hi).Text() != v { // on several lines
		pr.Help = quoteHelp(nil)
		p.report(pr)
		return
	}
	if whole := p.span(lo, end); !unfinished(whole.Text()) {
		pr.Fix = quoted(whole)
	}
	pr.Help = quoteHelp(pr.Fix)
	p.report(pr)
	tagged := made.node
	p.join(made, lo, end)
	if tagged.Explicit {
		made.node.Tag, made.node.Explicit = tagged.Tag, true
	}
}

// unfinished reports whether an expression or a template in text lacks its end: an open string, bracket or `{{`.
func unfinished(v string) bool {
	if strings.HasPrefix(v, "$") && !strings.HasPrefix(v, "$$") {
		if _, ok := balanced(v, 1, ""); !ok {
			return true
		}
	}
	for i := strings.Index(v, "{{"); i >= 0; i = strings.Index(v, "{{") {
		end, ok := balanced(v, i+2, "}}")
		if !ok {
			return true
		}
		v = v[end:]
	}
	return false
}

// balanced scans the expression at s[i:] for its end: the end of s (stop ""), the offset after `}}` (stop "}}"), or that
// of the separator or bracket that ends an item in flow style, blanks before it not included (stop ","). It is not ok
// if that does not come outside of string literals and brackets.
func balanced(s string, i int, stop string) (end int, ok bool) {
	depth := 0
	for ; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\'':
			for i++; i < len(s) && s[i] != c; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			if i >= len(s) {
				return i, false
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}', ',':
			if depth == 0 && stop == "}}" && strings.HasPrefix(s[i:], stop) {
				return i + 2, true
			}
			if depth == 0 && stop == "," {
				for i > 0 && (s[i-1] == ' ' || s[i-1] == '\t') {
					i--
				}
				return i, true
			}
			if c != ',' && depth > 0 {
				depth--
			}
		}
	}
	return i, stop == "" && depth == 0
}

// unquoted is the mistake of a template that YAML takes for a mapping.
func unquoted(at source.Span) *Problem {
	return &Problem{Kind: UnquotedTemplate, Span: at, Message: "`{{` needs quotes", Help: templateHelp}
}
