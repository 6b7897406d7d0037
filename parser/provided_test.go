package parser_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

// TestProvided holds the functions that are bound without the go command to what it says of them.
func TestProvided(t *testing.T) {
	tested := 0
	for _, d := range parser.Languages() {
		if d.Provided == nil {
			continue
		}
		file := source.NewFile("known.flowgen.yaml", "")
		wf := &ir.Workflow{File: file}
		var calls []*ir.GoFunc
		for _, b := range d.Provided.Functions {
			call := &ir.GoFunc{Ref: ir.Ident{Name: b.Path + "." + b.Func, Span: source.Span{File: file}}}
			calls = append(calls, call)
			wf.Body.Nodes = append(wf.Body.Nodes, &ir.Node{ID: ir.Ident{Name: b.Func}, Verb: &ir.GoCall{Func: call}})
		}
		sink := &diag.Sink{}
		bind.Resolve(wf, bind.Options{Dir: ".."}, sink)
		ignored := cmp.FilterPath(func(p cmp.Path) bool {
			last := p.Last().String()
			return last == ".Doc" || last == ".Pos" || last == ".PosSpan" || last == ".Description" || last == ".Span" || last == ".Why" || strings.HasSuffix(last, ".Decl")
		}, cmp.Ignore())
		receipt := func(t *schema.Type) bool {
			return t != nil && t.Go != nil && t.Go.Path == schema.EnvelopeType.Go.Path && t.Go.Name == schema.EnvelopeType.Go.Name
		}
		same := cmp.FilterValues(func(a, b *schema.Type) bool { return receipt(a) && receipt(b) }, cmp.Comparer(func(a, b *schema.Type) bool { return true })) // the compiler's own, whose JSON is never read
		for i, want := range d.Provided.Functions {
			if calls[i].Bind == nil {
				t.Fatal(want.Func, sink.List())
			}
			if diff := cmp.Diff(calls[i].Bind, want, ignored, same, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-go +provided):\n%s", want.Func, diff)
			}
			tested++
		}
	}
	if tested == 0 {
		t.Error("no dialect provides anything")
	}
}
