package native

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// maxErrors is how many mistakes of one workflow are reported: nobody reads more, and a hostile file could make millions.
const maxErrors = 500

// say adds a diagnostic.
func (p *parser) say(d diag.Diagnostic) {
	if p.sink.Errors()-p.before < maxErrors {
		p.sink.Report(d)
	}
}

// report adds an error.
func (p *parser) report(code diag.Code, at source.Span, help, format string, args ...any) {
	p.say(diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
}

// replace adds an error that goes away when at becomes text.
func (p *parser) replace(code diag.Code, at source.Span, text, format string, args ...any) {
	p.say(diag.Diagnostic{
		Code: code, Span: at, Message: fmt.Sprintf(format, args...), Help: "replace with `" + text + "`",
		Fixes: []diag.Fix{diag.Replace(at, text)},
	})
}

// migrates ends the help for what was written otherwise in earlier versions.
const migrates = "`flowgen fmt --migrate` does it in all files"

// old reports a spelling of an earlier version. It is read as what it is now.
func (p *parser) old(at source.Span, was, now string) {
	p.say(diag.Diagnostic{
		Code: diag.OldSpelling, Span: at, Message: "`" + shorten(was) + "` is written `" + now + "` now", Help: "replace with `" + now + "`; " + migrates,
		Fixes: []diag.Fix{diag.Replace(at, now)},
	})
}

// oldWords are words of earlier versions that have another form now, by what they were said of.
var oldWords = map[string]map[string]string{
	"`effects`":       {"read": "reads", "write": "writes"},
	"an effect":       {"read": "reads", "write": "writes"},
	"`on_item_error`": {"drop": "skip"},
	"`on_missing`":    {"null": "skip", "error": "fail", "stale_last_success": "keep"},
}

// rewrite is replace with text of YAML that is not a word: it gets no quotes, whatever is there.
func (p *parser) rewrite(code diag.Code, at source.Span, text, format string, args ...any) {
	title := "replace with `" + text + "`"
	p.say(diag.Diagnostic{
		Code: code, Span: at, Message: fmt.Sprintf(format, args...), Help: title,
		Fixes: []diag.Fix{{Title: title, Edits: []diag.Edit{{Span: at, New: text}}}},
	})
}

// duplicate reports a name that was taken before.
func (p *parser) duplicate(what string, id ir.Ident, first source.Span, help string) {
	d := yamlnode.Duplicate(id.Span, what, id.Name, first)
	d.Help = help
	p.say(d)
}

// wrongShape reports that n is not the kind of YAML value that is asked for.
func (p *parser) wrongShape(n *yamlnode.Node, want, help string) {
	if n == nil {
		return // the key without a value was reported
	}
	d := yamlnode.WrongShape(headSpan(n), n, want)
	d.Help = help
	p.say(d)
}

// shorten keeps quoted file content from flooding a message.
func shorten(s string) string { return yamlnode.Shorten(s) }

// headSpan is where a message about the whole of n points: the first key of a block mapping, the first dash of a block
// sequence, the bracket of a collection of several lines, the first line of the rest.
func headSpan(n *yamlnode.Node) source.Span {
	s := n.Span
	switch {
	case n.Kind == yamlnode.Mapping && n.Style != yamlnode.Flow && len(n.Entries) > 0:
		return n.Entries[0].Key.Span
	case n.Kind == yamlnode.Sequence && n.Style != yamlnode.Flow:
		return s.Sub(0, 1)
	case n.Kind != yamlnode.Scalar && strings.ContainsAny(s.Text(), "\r\n"):
		return s.Sub(0, 1)
	}
	for i, c := range s.Text() {
		if c == '\n' || c == '\r' {
			return s.Sub(0, i)
		}
	}
	return s
}

func isNull(n *yamlnode.Node) bool { return n != nil && n.Kind == yamlnode.Null }

func isScalar(n *yamlnode.Node) bool { return n != nil && n.Kind == yamlnode.Scalar }

// cut is the part [lo, hi) of a text, mapped to the file as the whole is.
func cut(t source.Text, lo, hi int) source.Text {
	if t.Opaque || t.Span.File == nil {
		return source.Text{Value: t.Value[lo:hi], Span: t.Span, Opaque: true, Quote: t.Quote}
	}
	whole := t
	return source.Text{Value: t.Value[lo:hi], Span: t.At(lo, hi), Quote: t.Quote, Offsets: func() []int {
		if whole.Offsets == nil {
			out := make([]int, hi-lo+1)
			for i := range out {
				out[i] = whole.Span.Lo + lo + i
			}
			return out
		}
		m := whole.Offsets()
		if len(m) != len(whole.Value)+1 {
			return nil
		}
		return m[lo : hi+1]
	}}
}

// nearest is diag.Nearest while there is somebody to read it.
func (p *parser) nearest(name string, candidates []string) string {
	if p.sink.Errors()-p.before >= maxErrors {
		return ""
	}
	return diag.Nearest(name, candidates)
}
