// Package convert turns workflows of the public dialects into files of flowgen's own language.
//
// The file that is written does the same as the one it was made from, or it is not written: what the native language
// cannot say is a diagnostic at its place. Where the native workflow is stricter, because its data has types, it ends with
// an error where the other would go on with data that its own declarations do not describe; it never gives another result.
// RATIONALE.md says what "the same" means.
package convert

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/migrate"
	"github.com/flowgen-dev/flowgen/parser/native"
	"github.com/flowgen-dev/flowgen/parser/yamlfmt"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A Compiler checks what is made. Names of files are relative to the same folder as that of the workflow that is converted, and
// in its folder.
type Compiler struct {
	// Check is what a native workflow file, the last of those given, says: none of them need be on the disk.
	Check func(made ...*source.File) []diag.Diagnostic
	// Texts makes the Go file of a name that has text functions.
	Texts func(name string, list []TextFunc) (*source.File, error)
}

// A TextFunc is a text function that nodes of the native workflow call.
type TextFunc struct {
	*ir.TextFunc
	Null []string // parameters of which null is a value, and not the lack of one
}

// A Result is a native workflow.
type Result struct {
	Text  string            // in canonical layout
	Nodes map[string]string // the native ids of nodes by those of the dialect
	Flows []*source.File    // the workflows that it runs, each after those that it runs itself, and Go files that they call
}

// A Func converts the workflows of one dialect. It narrows: it finds out the types of what the file leaves open, and refuses
// what has no counterpart. And it rewrites: it makes of the rest a workflow of native constructs. The printer does the rest.
type Func func(*Converter)

// Workflow converts a workflow by the function of its dialect; nil: it has none. name is that of the file that is written,
// beside the one that it is made from. What cannot be converted, and notes about what a reader has to know, go to sink; ok
// is false after the former. An error is a fault of this package and never the user's mistake.
func Workflow(p *check.Program, by Func, name string, compile Compiler, sink *diag.Sink) (out Result, ok bool, err error) {
	f := &flows{by: by, compile: compile, sink: sink, names: map[*ir.Workflow]string{}, made: map[*ir.Workflow]*ir.Workflow{}}
	out, ok, err = f.workflow(p.WF, name, false)
	out.Flows = f.files
	return out, ok, cmp.Or(err, f.err)
}

// A flows converts a workflow, and those that it runs when it comes to them.
type flows struct {
	by      Func
	compile Compiler
	sink    *diag.Sink
	names   map[*ir.Workflow]string // of the native files; empty: the workflow is refused
	made    map[*ir.Workflow]*ir.Workflow
	files   []*source.File
	err     error
}

// FlowFile is how the workflow names the native file of one that it runs, which is converted as well.
func (c *Converter) FlowFile(wf *ir.Workflow) ir.Ident {
	f := c.flows
	if _, done := f.names[wf]; !done {
		name := strings.TrimSuffix(wf.File.Name, path.Ext(wf.File.Name)) + ".flowgen.yaml"
		f.names[wf] = "" // until it is converted
		out, ok, err := f.workflow(wf, name, true)
		if f.err = cmp.Or(f.err, err); err == nil && ok {
			f.names[wf] = name
			f.files = append(f.files, source.NewFile(name, out.Text))
		}
	}
	if f.names[wf] == "" {
		c.Refused = true // which was said
	}
	return Name(relative(c.Workflow.File.Name, f.names[wf]))
}

// Made is the native workflow of one that the workflow runs, after FlowFile; nil when it is refused.
func (c *Converter) Made(wf *ir.Workflow) *ir.Workflow { return c.flows.made[wf] }

// workflow converts one workflow. inner: another one runs it.
func (f *flows) workflow(wf *ir.Workflow, name string, inner bool) (out Result, ok bool, err error) {
	c := &Converter{by: f.by, Inner: inner, Workflow: wf, flows: f, sink: f.sink, IDs: map[string]string{}, Opt: map[string]bool{}}
	own := *wf
	own.Provided = nil // nothing of it is the file's
	c.Workflow, c.Provided = &own, wf.Provided
	root, problems := yamlnode.Parse(wf.File)
	problems = slices.DeleteFunc(problems, func(p yamlnode.Problem) bool { return p.Kind == yamlnode.MergeKey })
	if root == nil || len(problems) > 0 {
		return out, false, fmt.Errorf("%s cannot be read again", wf.File.Name)
	}
	yamlnode.Merge(root) // the dialect's reader has allowed it
	c.Root = root
	for {
		if again, err := c.attempt(name, f.compile, &out); err != nil || !again {
			if f.made[wf] = c.Out; err != nil || c.Refused {
				delete(f.made, wf)
			}
			if out.Nodes = c.IDs; err == nil && !c.Refused && c.texted != nil {
				f.files = append(f.files, c.texted)
			}
			return out, err == nil && !c.Refused, err
		}
	}
}

// A Converter is a workflow while it is converted. The function of its dialect fills Out, refuses what has no counterpart, and
// notes what a reader has to know. It is called again when a state field turned out to be absent at times.
type Converter struct {
	by       Func
	flows    *flows
	Workflow *ir.Workflow
	Inner    bool           // another workflow runs it
	Root     *yamlnode.Node // of its file
	Provided *ir.Provided   // what native workflows may name
	sink     *diag.Sink

	Out     *ir.Workflow      // the native workflow. Spans are the places in the file whose comments come along; zero: none do
	Dialect bool              // nodes have the dialect's names in Out
	Keys    map[string]string // the keys of the file, in order and as in "config.url", that become a native key
	Words   map[string]Word   // what users of the dialect call what cannot be converted, by the field that holds it

	IDs     map[string]string // the native ids of nodes
	Opt     map[string]bool   // state fields that may be absent where they are read
	Refused bool
	again   bool // this is not the first attempt: notes have been told
	named   map[string]bool
	texts   []written
	madeIDs map[string]bool // of nodes that the conversion adds, in this attempt

	functions []TextFunc   // that nodes call
	texted    *source.File // has them
}

// attempt writes the file and checks it. again says that a state field turned out to be absent at times, so that its type
// is another.
func (c *Converter) attempt(name string, compile Compiler, out *Result) (again bool, err error) {
	if c.Out, c.named, c.texts, c.madeIDs, c.functions = (&ir.Workflow{}), map[string]bool{}, nil, map[string]bool{}, nil; !c.again {
		c.nameNodes()
	}
	c.workflow()
	c.addTexts()
	m := c.print()
	if c.Refused {
		return false, nil
	}
	header, foot := carry(c.Workflow.File, c.Root, m)
	f := source.NewFile(name, doc.Write(header, m, foot))
	if out.Text, err = canonical(f); err != nil {
		return false, err
	}
	made := []*source.File{source.NewFile(name, out.Text)}
	f = made[0]
	if c.texted = nil; len(c.functions) > 0 {
		if c.texted, err = compile.Texts(c.textsFile(), c.functions); err != nil {
			return false, err
		}
		made = slices.Insert(made, 0, c.texted)
	}
	for _, d := range compile.Check(made...) {
		if d.Severity != diag.Error {
			continue
		}
		if field := c.unset(d); field != "" && !c.Opt[field] {
			c.Opt[field], again = true, true
			continue
		}
		if !again {
			c.wrong(f, d)
		}
	}
	c.again = true
	return again && !c.Refused, nil
}

// canonical is a file as the formatter writes it, with the conditions of nodes that wait for several (`join: all`) written out.
func canonical(f *source.File) (string, error) {
	read := func() (*yamlnode.Node, error) {
		root, problems := yamlnode.Parse(f)
		if root == nil || len(problems) > 0 {
			return nil, fmt.Errorf("the native file is not valid: %s at %v in\n%s", problems[0].Message, problems[0].Span.Start(), f.Text)
		}
		return root, nil
	}
	root, err := read()
	if err != nil {
		return "", err
	}
	text, done, err := migrate.Workflow(f, root, migrate.Context{})
	if err != nil {
		return "", err
	}
	if len(done) > 0 {
		f = source.NewFile(f.Name, text)
		if root, err = read(); err != nil {
			return "", err
		}
	}
	return yamlfmt.Format(f, root, yamlfmt.Rules{Order: native.TopKeys()})
}

// unset is the state field that a diagnostic says is read before it is set, or never absent where that is asked.
func (c *Converter) unset(d diag.Diagnostic) string {
	if d.Code != diag.StateUnset && d.Code != diag.NeverAbsent {
		return ""
	}
	rest, _ := strings.CutPrefix(d.Message, "state.")
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// wrong reports, at the node that it is about, what the native language does not accept.
func (c *Converter) wrong(f *source.File, d diag.Diagnostic) {
	at := c.Workflow.Name.Span
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
	c.Refuse(at, d.Help, "this cannot be said in the native language: %s", d.Message)
}

// source is the place of the node that has become the native node id.
func (c *Converter) source(id string) source.Span {
	for _, n := range c.Workflow.Body.Nodes {
		if c.IDs[n.ID.Name] == id {
			return n.ID.Span
		}
	}
	return c.Workflow.Name.Span
}

// Refuse reports what cannot be converted, with what to write instead.
func (c *Converter) Refuse(at source.Span, help, format string, args ...any) {
	c.Refused = true
	c.sink.Report(diag.Diagnostic{Code: diag.NotConverted, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
}

// Note tells what a reader of the native file has to know, once.
func (c *Converter) Note(at source.Span, help, format string, args ...any) {
	if c.again {
		return
	}
	c.sink.Report(diag.Diagnostic{Severity: diag.Note, Code: diag.NotConverted, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
}

// workflow converts the workflow as its dialect demands.
func (c *Converter) workflow() {
	switch e := c.Root.Entry("flowgen"); {
	case e != nil:
		c.Refuse(e.Key.Span, "", "this file is in flowgen's own language already")
	case c.by == nil:
		c.Refuse(c.Workflow.Name.Span, "", "workflows of %s cannot be converted", c.Workflow.Origin)
	default:
		c.by(c)
	}
}

// Entry is the place of a top key with its value.
func (c *Converter) Entry(keys ...string) source.Span { return Below(c.Root, keys...) }

// Below is the place of an entry with its value, found by its keys.
func Below(n *yamlnode.Node, keys ...string) source.Span {
	var at source.Span
	for _, k := range keys {
		e := n.Entry(k)
		if e == nil {
			return source.Span{}
		}
		at = Join(e.Key.Span, e.Value.Span)
		n = e.Value
	}
	return at
}

// Join is the smallest span around two.
func Join(a, b source.Span) source.Span {
	switch {
	case a.File == nil:
		return b
	case b.File != a.File:
		return a
	}
	return source.Span{File: a.File, Lo: min(a.Lo, b.Lo), Hi: max(a.Hi, b.Hi)}
}

// NodeAt is the tree of the mapping or scalar with a span, nil when there is none.
func NodeAt(n *yamlnode.Node, at source.Span) *yamlnode.Node {
	if n == nil || at.File == nil || at.Lo < n.Span.Lo || at.Hi > n.Span.Hi {
		return nil
	}
	if n.Span.Lo == at.Lo && n.Span.Hi == at.Hi {
		return n
	}
	for _, e := range n.Entries {
		if found := NodeAt(e.Value, at); found != nil {
			return found
		}
	}
	for _, it := range n.Items {
		if found := NodeAt(it, at); found != nil {
			return found
		}
	}
	return nil
}
