package codegen

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	flowparser "github.com/flowgen-dev/flowgen/parser"
)

type caseFiles map[string]string

func (f caseFiles) ReadFile(name string) ([]byte, error) { return []byte(f[path.Base(name)]), nil }

const caseFlow = `flowgen: 1
name: w
input: {text: string, wait: {type: duration, default: 1s}, of: {type: "enum<a|b>", default: a}, x: {type: float, default: 0}, data: {type: bytes, default: ""}}
nodes: {n: {let: {t: $input.text, w: $input.wait, o: $input.of, x: $input.x, d: $input.data}}}
output: {text: $n.t, wait: $n.w, of: $n.o, x: $n.x, data: $n.d}
`

// What stands in cases is data in the generated test, whatever it is, and comes out as it went in.
func TestHostileCases(t *testing.T) {
	tried := 0
	defer func() {
		if tried == 0 {
			t.Error("no text could be written in YAML")
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		evil := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"`", "\"", "*/ }", "\n}\nfunc init() {}\n", "\\", "`+os.Exit(1)+`", "\x00", "\u2028", "\u202e", "</script>", "${x}", "{{ x }}", "$x"})).Draw(t, "text")
		quoted, err := json.Marshal(evil) // YAML reads JSON
		if err != nil {
			t.Fatal(err)
		}
		files := caseFiles{"w.flowgen.yaml": caseFlow, "w.test.yaml": "flowgen: 1\ncases:\n  c: {description: " + string(quoted) + ", input: {text: " + string(quoted) +
			", wait: 1m, of: b, x: 2, data: aGk=}, want: {output: {text: " + string(quoted) + ", wait: {$any: true}, of: {$contains: " + string(quoted) + "}}, state: {}}}\n"}
		cases := checked(t, files)
		if cases == nil {
			return // YAML does not take these characters
		}
		tried++
		opts := Options{Package: "w"}
		src, err := Tests([]*check.Cases{cases}, opts, "")
		if err != nil {
			t.Fatal(err)
		}
		again, err := Tests([]*check.Cases{cases}, opts, "")
		if err != nil || !bytes.Equal(src, again) {
			t.Fatal("two generations differ", err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), "w_test.go", src, 0)
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if len(f.Decls) != 3 { // imports, the test, the cases
			t.Fatalf("%d declarations:\n%s", len(f.Decls), src)
		}
		lit := f.Decls[2].(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Values[0].(*ast.BasicLit)
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Cases []struct {
				Input  map[string]any
				Output []struct{ Want any }
			}
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		in := got.Cases[0].Input
		if in["text"] != evil || got.Cases[0].Output[0].Want != evil || in["wait"] != 6e10 || in["of"] != "b" || in["x"] != 2.0 || in["data"] != "aGk=" {
			t.Fatalf("%q became %v", evil, got)
		}
	})
}

// checked are the cases of files; nil when YAML cannot hold them.
func checked(t *rapid.T, files caseFiles) *check.Cases {
	sink := &diag.Sink{}
	wf := flowparser.Parse(files, "w.flowgen.yaml", sink)
	bind.Resolve(wf, bind.Options{Dir: "."}, sink)
	p := check.Check(wf, sink)
	f := flowparser.ParseCases(files, "w.test.yaml", sink)
	if f == nil {
		return nil
	}
	if p == nil {
		t.Fatal(sink.List())
	}
	return check.CheckCases(p, f, sink)
}

// Lines do not change JSON.
func TestInLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Map(rapid.SliceOfN(rapid.MapOfN(rapid.String(), rapid.SliceOfN(rapid.String(), 0, 3), 0, 3), 0, 3), func(v []map[string][]string) any {
			return map[string]any{"a": v, "": []any{v, 1.5, nil, true, map[string]any{}, []any{}}}
		}).Draw(t, "value")
		compact, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var back bytes.Buffer
		if err := json.Compact(&back, inLines(compact)); err != nil || back.String() != string(compact) {
			t.Fatalf("%v\n%s\n%s", err, compact, inLines(compact))
		}
	})
}
