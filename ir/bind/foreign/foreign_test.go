package foreign_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

type files map[string]string

func (f files) ReadFile(name string) ([]byte, error) { return []byte(f[name]), nil }

// declared is the tool `t` of a workflow file with these keys.
func declared(t *testing.T, keys string) *ir.Tool {
	t.Helper()
	text := "flowgen: 1\nname: demo\ntools:\n  t: {python: \"m:f\", effects: none" + keys + "}\nnodes:\n  a: {tool: t}\n"
	sink := &diag.Sink{}
	wf := parser.Parse(files{"demo.flowgen.yaml": text}, "demo.flowgen.yaml", sink)
	if wf == nil || sink.HasErrors() {
		t.Fatalf("%s: %v", keys, sink.List())
	}
	return wf.Tools[0]
}

var py = source.NewFile("m.py", "def f(n: int, s: str = 'x'): ...\n")

func at(text string) source.Span {
	lo := strings.Index(py.Text, text)
	return source.Span{File: py, Lo: lo, Hi: lo + len(text)}
}

func field(name string, t *schema.Type) *schema.Field { return &schema.Field{Name: name, Type: t} }

func object(fields ...*schema.Field) *schema.Type {
	return &schema.Type{Kind: schema.Struct, Fields: fields}
}

func optional(name string, t *schema.Type) *schema.Field {
	return &schema.Field{Name: name, Type: schema.OptOf(t, ""), Omit: true}
}

func TestFill(t *testing.T) {
	input := object(&schema.Field{Name: "n", Type: schema.FloatType, Span: at("n")}, optional("s", schema.StringType))
	result := object(field("n", schema.FloatType), field("sev", schema.EnumOf("low", "high")))
	tests := []struct {
		keys    string
		in, out *schema.Type
		open    bool
		want    string // in -> out, then messages
	}{
		{"", input, result, false, "{n: float, s: opt<string>} -> {n: float, sev: enum<low|high>}"},
		{"", nil, nil, false, "unknown -> any\nthe input of m:f is unknown (m:f)"},
		{", in: {n: int}", nil, nil, false, "{n: int} -> any"},
		{", in: {n: int}, out: {n: int, sev: string}", input, result, false, "{n: int} -> {n: int, sev: string}"},
		{", in: {n: float, s: opt<enum<a|b>>}", input, nil, false, "{n: float, s: opt<enum<a|b>>} -> any"},
		{", in: {n: string}", input, nil, false, "{n: string} -> any\n`in.n` is declared string, but in m:f it is float (n)"},
		{", in: {n: opt<int>}", input, nil, false, "{n: opt<int>} -> any\n`in.n` is declared opt<int>, but in m:f it is float (n)"},
		{", in: {s: string}", input, nil, false, "{s: string} -> any\n`in` lacks `n`, which m:f requires (m:f)"},
		{", in: {n: int, t: int}", input, nil, false, "{n: int, t: int} -> any\nm:f takes no input `t` (t)"},
		{", in: {n: int, t: int}", input, nil, true, "{n: int, t: int} -> any"},
		{", out: {n: int}", input, result, false, "{n: float, s: opt<string>} -> {n: int}\n`out` lacks `sev`, which m:f returns ({n: int})"},
		{", out: {n: int, sev: enum<low|bad>}", input, result, false, "{n: float, s: opt<string>} -> {n: int, sev: enum<low|bad>}\n`out.sev` is declared enum<low|bad>, but in m:f it is enum<low|high> (sev)"},
		{", out: {n: int, x: int}", object(), schema.MapOf(schema.AnyType), false, "{} -> {n: int, x: int}"},
		{", out: list<int>", object(), schema.ListOf(schema.StringType), false, "{} -> list<int>\n`out[]` is declared int, but in m:f it is string (list<int>)"},
		{", out: opt<int>", object(), schema.IntType, false, "{} -> opt<int>"},
		{", out: int", object(), schema.OptOf(schema.IntType, ""), false, "{} -> int"},
		{", out: time", object(), schema.StringType, false, "{} -> time"},
		{", out: any", object(), schema.IntType, false, "{} -> any"},
		{", in: {n: any}", object(field("n", schema.IntType)), nil, false, "{n: any} -> any\n`in.n` is declared any, but in m:f it is int (n)"},
		{"", object(field("a_b", schema.IntType), optional("aB", schema.IntType)), nil, false, "{a_b: int} -> any"},
		{"", object(field("a\"b", schema.IntType)), nil, false, "{} -> any\nm:f requires the input \"a\\\"b\", a name that a field cannot have (m:f)"},
		{"", object(), object(field("x\"", schema.IntType)), false, "{} -> any"},
		{"", object(), schema.EnumOf("a|b"), false, "{} -> string"},
		{"", object(), schema.ListOf(schema.EnumOf("a b", "c")), false, "{} -> list<enum<a b|c>>"},
	}
	for _, tt := range tests {
		tool, sink := declared(t, tt.keys), &diag.Sink{}
		foreign.Fill(tool, foreign.Signature{Name: "m:f", Span: at("f"), In: tt.in, Out: tt.out, Open: tt.open, Description: "does it"}, sink)
		got := tool.In.String() + " -> " + tool.Out.String()
		for _, d := range sink.List() {
			got += "\n" + d.Message + " (" + strings.Trim(d.Span.Text(), `"`) + ")"
			if len(d.Related) != 1 {
				t.Errorf("%s: %d related places", tt.keys, len(d.Related))
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s %s:\n%s", tt.keys, tt.in, tt.out, diff)
		}
		if tool.Description != "does it" || tool.Def == nil || tool.Def.In != tt.in {
			t.Error("the definition is lost")
		}
	}
}

// TestFillOmits: an optional field that the source has a default for is left out of the JSON, one without is null.
func TestFillOmits(t *testing.T) {
	source := object(optional("a", schema.IntType), field("b", schema.OptOf(schema.IntType, "")))
	for _, keys := range []string{"", ", in: {a: opt<int>, b: opt<int>}"} {
		tool, sink := declared(t, keys), &diag.Sink{}
		foreign.Fill(tool, foreign.Signature{Name: "m:f", In: source}, sink)
		if sink.HasErrors() || !tool.In.Field("a").Omit || tool.In.Field("b").Omit {
			t.Errorf("%q: %v", keys, sink.List())
		}
	}
}

// TestFillKeepsSharing: what is one type in the source is one type in Go.
func TestFillKeepsSharing(t *testing.T) {
	finding := object(field("path", schema.StringType))
	tool, sink := declared(t, ""), &diag.Sink{}
	foreign.Fill(tool, foreign.Signature{Name: "m:f", In: object(field("xs", schema.ListOf(finding))), Out: finding}, sink)
	if tool.In.Fields[0].Type.Elem != tool.Out {
		t.Error("two types were made of one")
	}
}

func TestPoison(t *testing.T) {
	tool := declared(t, ", in: {n: int}")
	foreign.Poison(tool)
	if tool.In.Kind != schema.Struct || tool.Out.Kind != schema.Invalid {
		t.Errorf("%s -> %s", tool.In, tool.Out)
	}
}
