// Package convert turns workflows of the public dialects into files of flowgen's own language.
//
// The file that is written does the same as the one it was made from, or it is not written: what the native language
// cannot say is a diagnostic at its place. Where the native workflow is stricter, because its data has types, it ends with
// an error where the other would go on with data that its own declarations do not describe; it never gives another result.
// RATIONALE.md says what "the same" means.
package convert

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/native"
	"github.com/flowgen-dev/flowgen/parser/yamlfmt"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A Compiler checks a native workflow file, which need not be on the disk, and returns what it says about it. The file's
// name is relative to the same folder as that of the workflow that is converted, and in its folder.
type Compiler func(f *source.File) []diag.Diagnostic

// A Result is a native workflow.
type Result struct {
	Text  string            // in canonical layout
	Nodes map[string]string // the native ids of nodes by those of the dialect
}

// Workflow converts a workflow. name is that of the file that is written, beside the one that it is made from. What cannot
// be converted, and notes about what a reader has to know, go to sink; ok is false after the former. An error is a fault of
// this package and never the user's mistake.
func Workflow(p *check.Program, name string, compile Compiler, sink *diag.Sink) (out Result, ok bool, err error) {
	c := &converter{p: p, wf: p.WF, sink: sink, ids: map[string]string{}, doc: &mapping{}, opt: map[string]bool{}}
	if p.WF.Tree != nil {
		c.wf = p.WF.Tree
	}
	root, problems := yamlnode.Parse(p.WF.File)
	problems = slices.DeleteFunc(problems, func(p yamlnode.Problem) bool { return p.Kind == yamlnode.MergeKey })
	if root == nil || len(problems) > 0 {
		return out, false, fmt.Errorf("%s cannot be read again", p.WF.File.Name)
	}
	yamlnode.Merge(root) // the dialect's reader has allowed it
	c.root = root
	for {
		if again, err := c.attempt(name, compile, &out); err != nil || !again {
			out.Nodes = c.ids
			return out, err == nil && !c.refused, err
		}
	}
}

type converter struct {
	p    *check.Program
	wf   *ir.Workflow
	root *yamlnode.Node
	sink *diag.Sink

	ids     map[string]string // the native ids of nodes
	doc     *mapping
	opt     map[string]bool // state fields that may be absent where they are read
	refused bool
	again   bool // this is not the first attempt: names have been told
	told    bool // it is told that nodes run at the same time
}

// attempt writes the file and checks it. again says that a state field turned out to be absent at times, so that its type
// is another.
func (c *converter) attempt(name string, compile Compiler, out *Result) (again bool, err error) {
	c.doc = &mapping{}
	if !c.again {
		c.nameNodes()
	}
	c.workflow()
	if c.refused {
		return false, nil
	}
	header, foot := carry(c.wf.File, c.root, c.doc)
	f := source.NewFile(name, write(header, c.doc, foot))
	if out.Text, err = canonical(f); err != nil {
		return false, err
	}
	f = source.NewFile(name, out.Text)
	for _, d := range compile(f) {
		if d.Severity != diag.Error {
			continue
		}
		if field := c.unset(d); field != "" && !c.opt[field] {
			c.opt[field], again = true, true
			continue
		}
		if !again {
			c.wrong(f, d)
		}
	}
	c.again = true
	return again && !c.refused, nil
}

// canonical is a file as the formatter writes it.
func canonical(f *source.File) (string, error) {
	root, problems := yamlnode.Parse(f)
	if root == nil || len(problems) > 0 {
		return "", fmt.Errorf("the native file is not valid: %s at %v in\n%s", problems[0].Message, problems[0].Span.Start(), f.Text)
	}
	return yamlfmt.Format(f, root, yamlfmt.Rules{Order: native.TopKeys(), Spell: native.Spellings(root)})
}

// unset is the state field that a diagnostic says is read before it is set, or never absent where that is asked.
func (c *converter) unset(d diag.Diagnostic) string {
	if d.Code != diag.StateUnset && d.Code != diag.NeverAbsent {
		return ""
	}
	rest, _ := strings.CutPrefix(d.Message, "state.")
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// wrong reports, at the node that it is about, what the native language does not accept.
func (c *converter) wrong(f *source.File, d diag.Diagnostic) {
	at := c.wf.Name.Span
	if root, _ := yamlnode.Parse(f); root != nil && d.Span.File != nil && d.Span.File.Name == f.Name {
		for _, e := range root.Entries {
			if e.Key.Text.Value != "nodes" && e.Key.Text.Value != "edges" {
				continue
			}
			for _, n := range e.Value.Entries {
				if d.Span.Lo >= n.Key.Span.Lo && d.Span.Lo <= n.Value.Span.Hi {
					at = c.source(n.Key.Text.Value)
				}
			}
		}
	}
	c.refuse(at, d.Help, "this cannot be said in the native language: %s", d.Message)
}

// source is the place of the node that has become the native node id.
func (c *converter) source(id string) source.Span {
	for _, n := range c.wf.Body.Nodes {
		if c.ids[n.ID.Name] == id {
			return n.ID.Span
		}
	}
	return c.wf.Name.Span
}

// refuse reports what cannot be converted, with what to write instead.
func (c *converter) refuse(at source.Span, help, format string, args ...any) {
	c.refused = true
	c.sink.Report(diag.Diagnostic{Code: diag.NotConverted, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
}

// note tells what a reader of the native file has to know.
func (c *converter) note(at source.Span, help, format string, args ...any) {
	c.sink.Report(diag.Diagnostic{Severity: diag.Note, Code: diag.NotConverted, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
}

// rest refuses whatever a part of the workflow has that no one has looked at: rest is a copy of it in which everything else
// is zero. So nothing that is added to dialects is lost silently.
func (c *converter) rest(at source.Span, what string, rest any) {
	v := reflect.Indirect(reflect.ValueOf(rest))
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			c.refuse(at, "", "%s has something that is not converted: %s", what, v.Type().Field(i).Name)
		}
	}
}

// workflow converts the workflow as its dialect demands.
func (c *converter) workflow() {
	if e := c.root.Entry("flowgen"); e != nil {
		c.refuse(e.Key.Span, "", "this file is in flowgen's own language already")
		return
	}
	c.doc.add("flowgen", scalar("1"), source.Span{})
	c.doc.add("name", scalar(c.name()), c.wf.Name.Span)
	if c.wf.Description != "" {
		c.doc.add("description", spell(c.wf.Description), c.entry("description"))
	}
	switch d := c.wf.Dynamic; {
	case d == nil:
		c.static()
	case d.Dialect == "openexpertise":
		c.openexpertise()
	case d.Dialect == "yamlgraph":
		c.yamlgraph()
	case d.Dialect == "sirenspec":
		c.sirenspec()
	default:
		c.refuse(c.wf.Name.Span, "", "workflows of %s cannot be converted", d.Dialect)
	}
}

// entry is the place of a top key with its value.
func (c *converter) entry(keys ...string) source.Span { return below(c.root, keys...) }

// below is the place of an entry with its value, found by its keys.
func below(n *yamlnode.Node, keys ...string) source.Span {
	var at source.Span
	for _, k := range keys {
		e := n.Entry(k)
		if e == nil {
			return source.Span{}
		}
		at = join(e.Key.Span, e.Value.Span)
		n = e.Value
	}
	return at
}

// join is the smallest span around two.
func join(a, b source.Span) source.Span {
	switch {
	case a.File == nil:
		return b
	case b.File != a.File:
		return a
	}
	return source.Span{File: a.File, Lo: min(a.Lo, b.Lo), Hi: max(a.Hi, b.Hi)}
}

// nodeAt is the tree of the mapping or scalar with a span, nil when there is none.
func nodeAt(n *yamlnode.Node, at source.Span) *yamlnode.Node {
	if n == nil || at.File == nil || at.Lo < n.Span.Lo || at.Hi > n.Span.Hi {
		return nil
	}
	if n.Span.Lo == at.Lo && n.Span.Hi == at.Hi {
		return n
	}
	for _, e := range n.Entries {
		if found := nodeAt(e.Value, at); found != nil {
			return found
		}
	}
	for _, it := range n.Items {
		if found := nodeAt(it, at); found != nil {
			return found
		}
	}
	return nil
}

// tools reports which tools stand in the file itself, not in one that it includes.
func (c *converter) own(t *ir.Tool) bool { return t.File == c.wf.File }

// include adds the files whose tools the workflow uses.
func (c *converter) include() {
	l := &list{flow: true}
	var seen []string
	for _, t := range c.wf.Tools {
		if c.own(t) || t.File == nil || slices.Contains(seen, t.File.Name) {
			continue
		}
		seen = append(seen, t.File.Name)
		l.add(scalar(quoted(relative(c.wf.File.Name, t.File.Name))), source.Span{})
	}
	switch len(l.items) {
	case 0:
	case 1:
		c.doc.add("include", l.items[0].value, source.Span{})
	default:
		c.doc.add("include", l, source.Span{})
	}
}
