package bind

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// TestKnown holds the functions that are bound without the go command to what it says of them.
func TestKnown(t *testing.T) {
	for name, want := range runtimeFunctions {
		file := source.NewFile("known.flowgen.yaml", "")
		call := &ir.GoFunc{Ref: ir.Ident{Name: name, Span: source.Span{File: file}}}
		wf := &ir.Workflow{File: file, Body: ir.Body{Nodes: []*ir.Node{{ID: ir.Ident{Name: "a"}, Verb: &ir.GoCall{Func: call}}}}}
		sink := &diag.Sink{}
		delete(runtimeFunctions, name)
		Resolve(wf, Options{Dir: filepath.Join("..", "..")}, sink)
		runtimeFunctions[name] = want
		if call.Bind == nil {
			t.Fatal(name, sink.List())
		}
		ignored := cmp.FilterPath(func(p cmp.Path) bool {
			last := p.Last().String()
			return last == ".Doc" || last == ".Pos" || last == ".PosSpan" || last == ".Description" || last == ".Span" || last == ".Why" || strings.HasSuffix(last, ".Decl")
		}, cmp.Ignore())
		if diff := cmp.Diff(call.Bind, want, ignored, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-go +known):\n%s", name, diff)
		}
	}
}
