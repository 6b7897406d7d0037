package hostile

import (
	"bytes"
	"go/format"
	"testing"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/parser"
)

// FuzzGenerate: whatever the checker accepts becomes Go that parses, is formatted, declares no function that runs by
// itself, holds no directive, and is the same a second time.
func FuzzGenerate(f *testing.F) {
	for _, e := range parser.Codes() {
		f.Add(e.Right)
	}
	f.Add(expandFlow)
	for _, text := range payloads()[:40] {
		f.Add("flowgen: 1\nname: fuzz\ndescription: " + yamlQuoted(text) + "\nnodes: {n: {let: {text: " + yamlQuoted(text) + "}}}\noutput: {text: $n.text}\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 20_000 {
			t.Skip("there is a test for large files")
		}
		sink := &diag.Sink{}
		wf := parser.Parse(memory{"fuzz.flowgen.yaml": text}, "fuzz.flowgen.yaml", sink)
		if wf == nil || bound(wf) {
			return
		}
		p := check.Check(wf, sink)
		if p == nil {
			return
		}
		opts := codegen.Options{Package: goname.Package(wf.Name.Name)}
		code, err := codegen.Generate(p, opts)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		tree, err := shapeOf(code)
		if err != nil || tree.directives != 1 { // the file beside it is embedded
			t.Fatalf("%v, %d directives\n%s", err, tree.directives, code)
		}
		if again, err := format.Source(code); err != nil || !bytes.Equal(again, code) {
			t.Fatalf("not formatted: %v", err)
		}
		if again, err := codegen.Generate(p, opts); err != nil || !bytes.Equal(again, code) {
			t.Fatalf("a second time it differs: %v", err)
		}
	})
}

// bound reports whether a workflow names what has to be looked up outside of it.
func bound(wf *ir.Workflow) bool {
	if len(wf.GoTypes) > 0 || len(wf.Servers) > 0 {
		return true
	}
	for _, s := range wf.State {
		if s.Merge.Reducer != nil {
			return true
		}
	}
	for _, t := range wf.Tools {
		switch t.Binding.(type) {
		case *ir.CommandTool, *ir.HTTPTool:
		default:
			return true
		}
	}
	return calls(&wf.Body)
}

func calls(b *ir.Body) bool {
	for _, n := range b.Nodes {
		switch v := n.Verb.(type) {
		case *ir.GoCall:
			return true
		case *ir.Map:
			if calls(&v.Do) {
				return true
			}
		case *ir.Loop:
			if calls(&v.Do) {
				return true
			}
		}
	}
	return false
}
