package native

import (
	"path"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// What is said of a run's journal: how it is kept, and what a resumed run does with a call that the journal does not know
// the end of.

var (
	syncWords  = []string{"off", "buffered", "effect"}
	doubtWords = []string{"fail", "retry_with_key", "ask", "assume_done"}
)

var doubtForm = oneOf(word(doubtWords...), shape(shapeDoubt))

var shapeDoubt = &Shape{
	Name: "on_in_doubt", What: "`on_in_doubt`", Doc: "The result of a call in doubt, which is taken to have happened.",
	Keys: []Key{{Name: "assume_done", Value: Form{Kind: FormConst}, Required: true, Doc: "the result"}},
}

var doubtKey = Key{Name: "on_in_doubt", Value: doubtForm, Doc: "what a resumed run does with a call that had begun: fail (default), retry_with_key, ask, assume_done or {assume_done: value}"}

// doubt reads a policy, or {assume_done: value}.
func (p *parser) doubt(n *yamlnode.Node) *ir.Doubt {
	switch {
	case n == nil:
		return nil
	case n.Kind == yamlnode.Mapping:
		m, _ := p.mapping(n, shapeDoubt)
		v := m.get("assume_done")
		if v == nil {
			return nil
		}
		d := &ir.Doubt{Policy: "assume_done", Span: n.Span}
		var ok bool
		if d.JSON, ok = p.constant(v, "the result of a call in doubt"); !ok {
			return nil
		}
		d.Value = p.literal(v)
		return d
	}
	if w := p.word(n, "`on_in_doubt`", doubtWords...); w != "" {
		return &ir.Doubt{Policy: w, Span: n.Place()}
	}
	return nil
}

// journaling reads `defaults.journal`.
func (p *parser) journaling(n *yamlnode.Node) *ir.Journaling {
	if n == nil {
		return nil
	}
	m, ok := p.mapping(n, shapeJournal)
	if !ok {
		return nil
	}
	j := &ir.Journaling{Span: n.Span}
	if v := m.get("dir"); v != nil {
		j.Dir = p.runsFolder(v)
	}
	if v := m.get("sync"); v != nil {
		j.Sync = p.word(v, "`sync`", syncWords...)
	}
	return j
}

// runsFolder reads the name of a folder below the working directory of whoever runs the workflow.
func (p *parser) runsFolder(n *yamlnode.Node) string {
	t, ok := p.text(n, "a folder")
	if !ok {
		return ""
	}
	dir := path.Clean(t.Value)
	switch at := textSpan(t); {
	case strings.Contains(t.Value, `\`):
		p.report(diag.BadLiteral, at, "replace with `"+strings.ReplaceAll(t.Value, `\`, "/")+"`", "folder names use `/` on every system")
	case t.Value == "" || dir == ".":
		p.report(diag.BadLiteral, at, "write the name of a folder of their own: `.flowgen/runs`", "journals are not written directly in the working directory")
	case path.IsAbs(dir) || dir == ".." || strings.HasPrefix(dir, "../") || strings.HasPrefix(dir, "~"):
		p.report(diag.BadLiteral, at, "name a folder below it, as in `.flowgen/runs`; `--runs` can select any folder at run time", "the folder of the journals is outside the working directory")
	case strings.Contains(dir, ":") || strings.ContainsFunc(dir, func(r rune) bool { return !unicode.IsPrint(r) }):
		p.report(diag.BadLiteral, at, "", "`%s` is not the name of a folder on every system", shorten(t.Value))
	default:
		return dir
	}
	return ""
}
