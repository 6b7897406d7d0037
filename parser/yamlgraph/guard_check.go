package yamlgraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// The language of guards is a part of Python's expressions: comparisons, also in chains, `in` and `not in`, `and`, `or` and
// `not`, paths that begin with `state` or `output`, lists, constants, and filters behind `|`.

// guardFilters are the filters of guards.
var guardFilters = []string{"length", "file_exists", "dir_exists", "type", "keys"}

// A guardToken is a word of a guard; kind is n(ame), s(tring), d (number), o(perator) or e(nd).
type guardToken struct {
	kind   byte
	text   string // of a string its value
	lo, hi int
}

// A guardReader reads one guard.
type guardReader struct {
	p      *parser
	text   source.Text
	toks   []guardToken
	at     int
	before bool // there is no output yet
	depth  int
	failed bool
}

// guardCheck reads the condition of a guard; nil after a mistake. before says that the node has no output yet.
func (p *parser) guardCheck(n *yamlnode.Node, before bool) *dialect.Predicate {
	t := n.Text
	r := &guardReader{p: p, text: t, before: before}
	if !p.short(n) {
		return nil
	}
	if strings.TrimSpace(t.Value) == "" {
		p.Error(diag.ExprSyntax, n.Span, "write a condition such as `state.count > 0`", "a guard has a condition")
		return nil
	}
	if !r.scan() {
		return nil
	}
	out := r.or()
	if !r.failed && r.peek().kind != 'e' {
		r.wrong(r.peek(), "unexpected text after the condition")
	}
	if r.failed {
		return nil
	}
	return out
}

func (r *guardReader) wrong(t guardToken, message string) {
	if r.failed {
		return
	}
	r.failed = true
	at := r.text.At(t.lo, max(t.hi, t.lo))
	if t.kind == 'e' {
		at = r.text.Span
	}
	r.p.Error(diag.ExprSyntax, at, "guards compare `state.path`, `output.path`, constants and lists with == != < > <= >= `in` `not in`, joined by `and`, `or`, `not`", "%s", message)
}

// scan divides the text into words.
func (r *guardReader) scan() bool {
	s := r.text.Value
	for i := 0; i < len(s); {
		c := s[i]
		from := i
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case letter(c):
			for i < len(s) && (letter(s[i]) || digit(s[i])) {
				i++
			}
			r.toks = append(r.toks, guardToken{'n', s[from:i], from, i})
		case digit(c) || c == '-' && i+1 < len(s) && digit(s[i+1]):
			for i++; i < len(s) && (digit(s[i]) || s[i] == '.' || s[i] == '_'); i++ {
			}
			r.toks = append(r.toks, guardToken{'d', strings.ReplaceAll(s[from:i], "_", ""), from, i})
		case c == '\'' || c == '"':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				r.wrong(guardToken{'o', "", from, len(s)}, "this text has no closing quote")
				return false
			}
			i += end + 2
			text := s[from+1 : i-1]
			if strings.Contains(text, "\\") {
				r.wrong(guardToken{'o', "", from, i}, "strings with a backslash are not supported")
				return false
			}
			r.toks = append(r.toks, guardToken{'s', text, from, i})
		default:
			for _, op := range []string{"==", "!=", "<=", ">=", "<", ">", "|", "(", ")", "[", "]", ",", "."} {
				if strings.HasPrefix(s[i:], op) {
					i += len(op)
					r.toks = append(r.toks, guardToken{'o', op, from, i})
					break
				}
			}
			if i == from {
				r.wrong(guardToken{'o', "", from, from + 1}, "guards do not support this character")
				return false
			}
		}
	}
	r.toks = append(r.toks, guardToken{'e', "", len(s), len(s)})
	return true
}

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

func (r *guardReader) peek() guardToken { return r.toks[r.at] }

// take goes on when the next word is the one asked for.
func (r *guardReader) take(text string) bool {
	if t := r.peek(); (t.kind == 'o' || t.kind == 'n') && t.text == text {
		r.at++
		return true
	}
	return false
}

func (r *guardReader) span(from int) source.Span { return r.text.At(from, r.toks[max(r.at-1, 0)].hi) }

func (r *guardReader) or() *dialect.Predicate {
	return r.joined("or", "||", func() *dialect.Predicate { return r.joined("and", "&&", r.not) })
}

func (r *guardReader) joined(word, op string, part func() *dialect.Predicate) *dialect.Predicate {
	from := r.peek().lo
	out := part()
	for !r.failed && r.take(word) {
		right := part()
		out = &dialect.Predicate{Op: op, Kids: []*dialect.Predicate{out, right}, Span: r.span(from)}
	}
	return out
}

func (r *guardReader) not() *dialect.Predicate {
	if r.depth++; r.depth > 100 {
		r.wrong(r.peek(), "this condition is too deep")
	}
	defer func() { r.depth-- }()
	from := r.peek().lo
	if !r.failed && r.take("not") {
		return &dialect.Predicate{Op: "not", Kids: []*dialect.Predicate{r.not()}, Span: r.span(from)}
	}
	return r.comparison()
}

// comparison reads a chain of comparisons: all of them hold.
func (r *guardReader) comparison() *dialect.Predicate {
	from := r.peek().lo
	left := r.piped()
	var out *dialect.Predicate
	for !r.failed {
		op := ""
		switch t := r.peek(); {
		case t.kind == 'o' && strings.Contains(" == != < > <= >= ", " "+t.text+" "):
			op = t.text
			r.at++
		case r.take("in"):
			op = "in"
		case t.kind == 'n' && t.text == "not" && r.toks[r.at+1].text == "in":
			op = "not in"
			r.at += 2
		case t.kind == 'n' && t.text == "is":
			r.wrong(t, "guards compare with == and !=, not with `is`")
		}
		if op == "" {
			break
		}
		right := r.piped()
		next := &dialect.Predicate{Op: op, Kids: []*dialect.Predicate{left, right}, Span: r.span(from)}
		if out == nil {
			out = next
		} else {
			out = &dialect.Predicate{Op: "&&", Kids: []*dialect.Predicate{out, next}, Span: r.span(from)}
		}
		left = right
	}
	if out != nil {
		return out
	}
	return left
}

// piped reads a value with filters.
func (r *guardReader) piped() *dialect.Predicate {
	from := r.peek().lo
	out := r.value()
	for !r.failed && r.take("|") {
		t := r.peek()
		if t.kind != 'n' {
			r.wrong(t, "expected a filter name after |")
			return out
		}
		r.at++
		known := false
		for _, name := range guardFilters {
			known = known || name == t.text
		}
		if !known {
			r.failed = true
			d := diag.Diagnostic{Code: diag.UnknownName, Span: r.text.At(t.lo, t.hi), Message: "unknown filter `" + clipped(t.text) + "`"}
			if len(t.text) < 60 {
				diag.Suggest(&d, t.text, guardFilters)
			}
			r.p.Report(d)
			return out
		}
		out = &dialect.Predicate{Op: t.text, Kids: []*dialect.Predicate{out}, Span: r.span(from)}
	}
	return out
}

func (r *guardReader) value() *dialect.Predicate {
	t := r.peek()
	at := r.text.At(t.lo, t.hi)
	constant := func(tag, value string) *dialect.Predicate {
		return &dialect.Predicate{Op: "const", Lit: &ir.Scalar{Text: source.Text{Value: value, Span: at}, Tag: tag}, Span: at}
	}
	switch {
	case r.failed:
		return nil
	case r.take("("):
		out := r.or()
		if !r.failed && !r.take(")") {
			r.wrong(r.peek(), "a parenthesis is not closed")
		}
		return out
	case r.take("["):
		return r.list(t)
	case t.kind == 's':
		r.at++
		return constant("!!str", t.text)
	case t.kind == 'd':
		r.at++
		text, whole, ok := yamlnode.Number(t.text)
		if !ok {
			r.wrong(t, dialect.NoNumber)
			return nil
		}
		if whole {
			return constant("!!int", text)
		}
		return constant("!!float", text)
	case t.kind == 'n' && (t.text == "True" || t.text == "False"):
		r.at++
		return constant("!!bool", strings.ToLower(t.text))
	case t.kind == 'n' && t.text == "None":
		r.at++
		return constant("!!null", "null")
	case t.kind == 'n':
		return r.path()
	case t.kind == 'e':
		r.wrong(t, "expected a value at the end of the condition")
		return nil
	}
	r.wrong(t, "expected a value")
	return nil
}

func (r *guardReader) list(open guardToken) *dialect.Predicate {
	out := &dialect.Predicate{Op: "list"}
	for !r.failed && !r.take("]") {
		out.Kids = append(out.Kids, r.or())
		if !r.take(",") && r.peek().text != "]" {
			r.wrong(r.peek(), "list items are separated by commas")
		}
	}
	out.Span = r.span(open.lo)
	return out
}

// path reads state.a.b, or output.a.b.
func (r *guardReader) path() *dialect.Predicate {
	root := r.peek()
	r.at++
	if root.text != "state" && root.text != "output" {
		message := "a path begins with `state.` or `output.`"
		if low := strings.ToLower(root.text); low == "true" || low == "false" || low == "none" || low == "null" {
			message = "write Python's True, False or None"
		}
		r.wrong(root, message)
		return nil
	}
	var path []string
	for r.take(".") {
		t := r.peek()
		if t.kind != 'n' {
			r.wrong(t, dialect.PathForm)
			return nil
		}
		r.at++
		path = append(path, t.text)
	}
	if t := r.peek(); t.kind == 'o' && (t.text == "(" || t.text == "[") {
		r.wrong(t, "guards support no calls and no indexes: count with `| length`")
		return nil
	}
	span := r.span(root.lo)
	ref := &dialect.Reference{Text: source.Text{Value: r.text.Value[root.lo:r.toks[r.at-1].hi], Span: span}, Root: root.text, Path: path, Missing: dialect.MissingNull}
	if root.text == "output" && r.before {
		r.p.Warn(diag.IgnoredKey, span, "look at it in `post`", "the output does not exist here: this is null")
	}
	if root.text == "state" && len(path) > 0 {
		if path[0] == r.p.item && r.p.item != "" {
			ref.Root, ref.Path = "item", path[1:]
		} else {
			r.p.named(path[0], span)
		}
	}
	return &dialect.Predicate{Op: "ref", Ref: ref, Span: span}
}
