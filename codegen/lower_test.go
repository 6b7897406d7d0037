package codegen

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"
	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

var lowerUpdate = flag.Bool("lower.update", false, "rewrite testdata/lower/lowered.txt")

// TestLowered shows what expressions look like in Go: testdata/lower/lowered.txt holds an expression, or `text` and a
// template, per comment and the Go below it. A type after ` as ` is what the value is converted to.
func TestLowered(t *testing.T) {
	const file = "testdata/lower/lowered.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wants := map[string]*schema.Type{"int32": lowerInt32, "any": schema.AnyType, "Label": lowerLabel, "opt<int>": lowerOpt(schema.IntType),
		"Task2": lowerTask2, "list<Task2>": schema.ListOf(lowerTask2), "list<string>": schema.ListOf(schema.StringType), "float": schema.FloatType, "opt<Level>": lowerOpt(lowerLevel)}
	var got strings.Builder
	for line := range strings.Lines(string(data)) {
		src, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "// ")
		if !ok {
			continue
		}
		l := lowerTestLowerer()
		var result jen.Code
		if text, ok := strings.CutPrefix(src, "text "); ok {
			result = l.template(lowerTemplate(t, strings.ReplaceAll(text, "␤", "\n")).tmpl)
		} else {
			source, name, converted := strings.Cut(src, " as ")
			n, probs := expr.Parse(source)
			if converted && wants[name] == nil {
				t.Fatalf("%s: unknown type", src)
			}
			probs = append(probs, expr.CheckExpect(n, lowerEnv{}, nil, wants[name])...)
			if len(probs) > 0 {
				t.Fatalf("%s: %s", src, probs[0].Message)
			}
			if converted {
				result = l.exprAs(n, wants[name])
			} else {
				result = l.expr(n)
			}
			if n.Inline() && !converted && len(l.stmts) > 0 {
				t.Errorf("%s is Inline, but has statements", src)
			}
		}
		code := jen.Block(append(l.stmts, jen.Return(result))...).GoString()
		code = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(code, "{\n"), "\n}"), "\n\t", "\n")
		got.WriteString("// " + src + "\n" + strings.TrimPrefix(code, "\t") + "\n\n")
	}
	if got.String() == string(data) {
		return
	}
	if *lowerUpdate {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Fatal("rewrote " + file)
	}
	t.Error(cmp.Diff(string(data), got.String()))
}

// TestLowerPatterns: with a place to keep them, patterns are compiled once.
func TestLowerPatterns(t *testing.T) {
	n, _ := expr.Parse(`input.s1.matches("^a")`)
	if probs := expr.Check(n, lowerEnv{}, nil); len(probs) > 0 {
		t.Fatal(probs)
	}
	l := lowerTestLowerer()
	l.pattern = func(p string) jen.Code { return jen.Id("startsWithA") }
	if got, want := jen.Add(l.expr(n)).GoString(), "startsWithA.MatchString(in.S1)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLowerUnsigned: values of Go's widest unsigned types are checked when they become ints.
func TestLowerUnsigned(t *testing.T) {
	wide := lowerGoKind(schema.Int, "uint64")
	l := lowerTestLowerer()
	code := l.convert(jen.Id("x"), wide, schema.IntType)
	got := jen.Block(append(l.stmts, jen.Return(code))...).GoString()
	want := `{
	n := int64(x)
	if n < 0 {
		return out, value.Invalid("%d does not fit in an int", uint64(n))
	}
	return n
}`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestLowerDefaults: a struct that lacks a field takes the field's default.
func TestLowerDefaults(t *testing.T) {
	to := lowerStruct("Wide", lowerField("s", schema.StringType), &schema.Field{Name: "n", Type: schema.IntType, Default: &schema.Default{JSON: "3"}})
	from := lowerStruct("Narrow", lowerField("s", schema.StringType))
	l := lowerTestLowerer()
	l.deflt = func(f *schema.Field) jen.Code { return jen.Op(f.Default.JSON) }
	if got, want := jen.Add(l.convert(jen.Id("x"), from, to)).GoString(), "Wide{S: x.S, N: 3}"; strings.Join(strings.Fields(got), " ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
