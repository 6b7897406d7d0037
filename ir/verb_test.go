package ir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
)

// What implements Verb has a parameter of Switch, and a case that calls it.
func TestSwitch(t *testing.T) {
	var declared, cases []string
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == "verb" && fn.Type.Params.NumFields() == 0 {
				declared = append(declared, fn.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
			}
		}
	}
	of := reflect.TypeOf(ir.Switch)
	for i := 1; i < of.NumIn(); i++ {
		verb := of.In(i).In(0)
		cases = append(cases, verb.Elem().Name())
		called := ""
		args := []reflect.Value{reflect.New(verb.Elem())}
		for j := 1; j < of.NumIn(); j++ {
			args = append(args, reflect.MakeFunc(of.In(j), func(v []reflect.Value) []reflect.Value {
				called += v[0].Type().Elem().Name()
				return nil
			}))
		}
		reflect.ValueOf(ir.Switch).Call(args)
		if called != verb.Elem().Name() {
			t.Errorf("Switch of a %s calls the function of %q", verb, called)
		}
	}
	slices.Sort(declared)
	slices.Sort(cases)
	if !slices.Equal(declared, cases) || len(declared) < 10 {
		t.Errorf("verbs are %v, Switch has %v", declared, cases)
	}
}

func TestSwitchAllocatesNothing(t *testing.T) {
	verb, sum := ir.Verb(&ir.Loop{Max: 3}), 0
	if n := testing.AllocsPerRun(100, func() {
		ir.Switch(verb, func(*ir.ToolCall) { sum++ }, func(*ir.ToolChoice) { sum++ }, func(*ir.LLM) { sum++ }, func(*ir.Agent) { sum++ },
			func(*ir.Human) { sum++ }, func(*ir.Let) { sum++ }, func(*ir.GoCall) { sum++ }, func(*ir.Map) { sum++ }, func(v *ir.Loop) { sum += v.Max },
			func(*ir.Flow) { sum++ }, func(*ir.Fail) { sum++ }, func(*ir.Wait) { sum++ }, func(*ir.Parse) { sum++ }, func(*ir.Perform) { sum++ })
	}); n != 0 || sum == 0 {
		t.Errorf("Switch allocates %v times", n)
	}
}
