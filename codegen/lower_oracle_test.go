package codegen

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// TestLowerOracle generates random well-typed expressions, lowers them all into one Go program, runs it, and compares
// every result with a small evaluator of the tree (lower_eval_test.go) and, where no extension of CEL is used, with
// cel-go. Values, and whether there is one, must agree.
func TestLowerOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	const expressions, conversions, templates = 900, 150, 100
	g := &lowerGen{r: rand.New(rand.NewPCG(*lowerSeed, 2))}
	var cases []*lowerCase
	for len(cases) < expressions {
		cases = append(cases, g.expression(t, nil))
	}
	for len(cases) < expressions+conversions {
		cases = append(cases, g.expression(t, lowerWants[len(cases)%len(lowerWants)]))
	}
	for len(cases) < expressions+conversions+templates {
		cases = append(cases, g.template(t))
	}
	cases = append(cases, lowerHandwritten(t)...)

	inputs := make([]map[string]any, 12)
	for i := range inputs {
		inputs[i] = g.input(i)
	}
	got := lowerRun(t, cases, inputs)

	oracle := newCelOracle(t)
	values, failures, compared := 0, 0, 0
	for i, c := range cases {
		for j, in := range inputs {
			want := c.evaluate(in)
			if got[i][j] != want {
				t.Errorf("%s\ninput %s\ngot  %s\nwant %s\n%s", c.src, lowerShowInput(in), got[i][j], want, c.goText)
				break
			}
			if strings.HasPrefix(want, "error") {
				failures++
				continue
			}
			values++
			if !c.isTemplate() && c.want == nil && lowerIsCel(c.node) {
				compared++
				if v := oracle.evaluate(t, c, in); v != want {
					t.Errorf("%s\ninput %s\ngot  %s\ncel  %s", c.src, lowerShowInput(in), want, v)
					break
				}
			}
		}
	}
	t.Logf("%d expressions, %d values, %d errors, %d compared with CEL", len(cases), values, failures, compared)
	if compared < values/4 || failures < values/100 {
		t.Error("the generator makes too few comparable values or errors")
	}
}

var lowerSeed = flag.Uint64("lower.seed", 1, "seed of the expressions of TestLowerOracle")

// A lowerCase is one expression, or one template, of the program.
type lowerCase struct {
	src    string
	node   *expr.Node
	tmpl   *expr.Template
	want   *schema.Type // a conversion: exprAs(want)
	goText string
}

func (c *lowerCase) isTemplate() bool { return c.tmpl != nil }

// evaluate gives the result that the program should print.
func (c *lowerCase) evaluate(in map[string]any) string {
	ev := &lowerEval{env: in}
	if c.tmpl != nil {
		s, err := ev.template(c.tmpl)
		if err != nil {
			return "error"
		}
		return lowerShow(s, schema.StringType)
	}
	v, err := ev.eval(c.node)
	typ := c.node.Type
	if err == nil && c.want != nil {
		typ = c.want
		v, err = lowerConvert(v, c.node.Type, c.want)
	}
	if err != nil {
		return "error"
	}
	return lowerShow(v, typ)
}

// lowerTestLowerer is a lowerer for the test's inputs.
func lowerTestLowerer() *lowerer {
	names := map[string]bool{"in": true, "out": true, "err": true}
	return &lowerer{
		resolve: func(s *expr.Symbol) storage {
			if s.Name == "input" {
				return storage{code: jen.Id("in")}
			}
			return storage{code: jen.Id("in").Dot(fieldName(&schema.Field{Name: s.Name})), ptr: s.Type.Kind == schema.Opt}
		},
		goType: lowerGoType,
		fail:   func(err jen.Code) []jen.Code { return []jen.Code{jen.Return(jen.Id("out"), err)} },
		fresh: func(hint string) string {
			for names[hint] {
				hint += "_"
			}
			names[hint] = true
			return hint
		},
	}
}

func lowerGoType(t *schema.Type) jen.Code {
	if t.Go != nil {
		var s *jen.Statement
		if t.Go.Path != "" {
			s = jen.Qual(t.Go.Path, t.Go.Name)
		} else {
			s = jen.Id(t.Go.Name)
		}
		if t.Go.Ptr {
			s = jen.Op("*").Add(s)
		}
		return s
	}
	switch t.Kind {
	case schema.Int:
		return jen.Int64()
	case schema.Float:
		return jen.Float64()
	case schema.Bool:
		return jen.Bool()
	case schema.Bytes:
		return jen.Index().Byte()
	case schema.Time:
		return jen.Qual("time", "Time")
	case schema.Duration:
		return jen.Qual("time", "Duration")
	case schema.List:
		return jen.Index().Add(lowerGoType(t.Elem))
	case schema.Map:
		return jen.Map(jen.String()).Add(lowerGoType(t.Elem))
	case schema.Opt:
		return jen.Op("*").Add(lowerGoType(t.Elem))
	case schema.Any:
		return jen.Qual(valuePath, "Value")
	case schema.Struct, schema.Enum:
		if t.Decl != nil {
			return jen.Id(t.Decl.Name)
		}
	}
	return jen.String()
}

// function writes the case as a function of the program.
func (c *lowerCase) function(i int) *jen.Statement {
	l := lowerTestLowerer()
	typ := schema.StringType
	var result jen.Code
	switch {
	case c.tmpl != nil:
		result = l.template(c.tmpl)
	case c.want != nil:
		typ = c.want
		result = l.exprAs(c.node, typ)
	case c.node.Type.Kind == schema.Bool && i%3 == 0:
		// Twice negated, so that not is tried too.
		typ = schema.BoolType
		result = jen.Op("!").Parens(l.not(c.node))
	case c.node.Type.Kind == schema.Bool:
		typ = schema.BoolType
		result = l.cond(c.node)
	default:
		typ = c.node.Type
		result = l.expr(c.node)
	}
	if c.node != nil && c.want == nil && c.node.Inline() && len(l.stmts) > 0 {
		panic("Inline, but lowers to statements: " + c.src)
	}
	// The result goes through :=, so that an untyped constant of another type would not pass unseen.
	body := append(l.stmts, jen.Id("result").Op(":=").Add(result))
	if c.want != nil {
		body = append(l.stmts, jen.Var().Id("result").Add(lowerGoType(typ)).Op("=").Add(result))
	}
	body = append(body, jen.Return(jen.Id("result"), jen.Nil()))
	f := jen.Func().Id(fmt.Sprintf("expr%d", i)).Params(jen.Id("in").Op("*").Id("Input")).Params(jen.Id("out").Add(lowerGoType(typ)), jen.Err().Error()).Block(body...)
	c.goText = f.GoString()
	return f
}

// lowerRun builds and runs the program and returns what it prints for every case and input.
func lowerRun(t *testing.T, cases []*lowerCase, inputs []map[string]any) [][]string {
	t.Helper()
	file := jen.NewFile("main")
	file.ImportName(runtimePath, "runtime")
	file.ImportName(flowPath, "flow")
	file.ImportName(valuePath, "value")
	file.ImportName(celPath, "cel")
	lowerDeclare(file)
	table := jen.Null()
	for i, c := range cases {
		file.Add(c.function(i))
		table.Line().Func().Params(jen.Id("in").Op("*").Id("Input")).Params(jen.Any(), jen.Error()).Block(
			jen.Return(jen.Id(fmt.Sprintf("expr%d", i)).Call(jen.Id("in")))).Op(",")
	}
	file.Var().Id("table").Op("=").Index().Func().Params(jen.Op("*").Id("Input")).Params(jen.Any(), jen.Error()).Values(table.Line())

	dir := t.TempDir()
	var src bytes.Buffer
	if err := file.Render(&src); err != nil {
		t.Fatal(err)
	}
	harness, err := os.ReadFile("testdata/lower/harness.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string]string{}
	for name, data := range map[string][]byte{"exprs.go": src.Bytes(), "main.go": harness} {
		real := filepath.Join(dir, name)
		if err := os.WriteFile(real, data, 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(root, "codegen", "internal", "loweroracle", name)] = real
	}
	data, _ := json.Marshal(map[string]any{"Replace": overlay})
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, data, 0o600); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "oracle")
	build := exec.Command("go", "build", "-ldflags=-s", "-overlay", overlayFile, "-o", bin, "./codegen/internal/loweroracle")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		keep := filepath.Join(os.TempDir(), "lower_oracle_failed.go")
		_ = os.WriteFile(keep, src.Bytes(), 0o600)
		t.Fatalf("the generated program does not build (see %s): %v\n%s", keep, err, out)
	}
	flat := make([]map[string]any, len(inputs))
	for i, in := range inputs {
		flat[i] = lowerInputJSON(in)
	}
	var stdin bytes.Buffer
	if err := json.NewEncoder(&stdin).Encode(flat); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(bin)
	run.Stdin = &stdin
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	var results [][]string
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatal(err)
	}
	return results
}
