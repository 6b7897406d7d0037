package codegen

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// The types and names that the expressions of the oracle test are about.

func lowerField(name string, t *schema.Type) *schema.Field { return &schema.Field{Name: name, Type: t} }

func lowerStruct(name string, fields ...*schema.Field) *schema.Type {
	t := &schema.Type{Kind: schema.Struct, Fields: fields}
	t.Decl = &schema.Decl{Name: name, Type: t}
	return t
}

func lowerGoKind(k schema.Kind, name string) *schema.Type {
	return &schema.Type{Kind: k, Go: &schema.Go{Name: name}}
}

var (
	lowerInt32 = lowerGoKind(schema.Int, "int32")
	lowerUint8 = lowerGoKind(schema.Int, "uint8")
	lowerPlain = lowerGoKind(schema.Int, "int")
	lowerLabel = lowerGoKind(schema.String, "Label")
	lowerLevel = func() *schema.Type {
		t := schema.EnumOf("low", "mid", "high")
		t.Decl = &schema.Decl{Name: "Level", Type: t}
		return t
	}()
	lowerOpt  = func(t *schema.Type) *schema.Type { return schema.OptOf(t, "it is optional") }
	lowerTask = lowerStruct("Task", lowerField("q", schema.StringType), lowerField("n", schema.IntType), lowerField("url", lowerOpt(schema.StringType)),
		lowerField("score", schema.FloatType), lowerField("lv", lowerLevel))
	lowerTask2 = lowerStruct("Task2", lowerField("q", lowerLabel), lowerField("n", lowerInt32), lowerField("url", lowerOpt(schema.StringType)),
		lowerField("score", schema.FloatType), lowerField("lv", schema.StringType), lowerField("extra", lowerOpt(schema.StringType)))
	lowerDeep = lowerStruct("Deep", lowerField("k", lowerOpt(schema.IntType)), lowerField("s", schema.StringType))
	lowerSub  = lowerStruct("Sub", lowerField("note", lowerOpt(schema.StringType)), lowerField("lang", schema.StringType), lowerField("n", schema.IntType),
		lowerField("deep", lowerOpt(lowerDeep)))
	lowerInput = lowerStruct("Input0",
		lowerField("b1", schema.BoolType), lowerField("b2", schema.BoolType),
		lowerField("i1", schema.IntType), lowerField("i2", schema.IntType), lowerField("ig", lowerPlain), lowerField("i32", lowerInt32), lowerField("u8", lowerUint8),
		lowerField("f1", schema.FloatType), lowerField("f2", schema.FloatType), lowerField("f32", lowerGoKind(schema.Float, "float32")),
		lowerField("s1", schema.StringType), lowerField("s2", schema.StringType), lowerField("lab", lowerLabel),
		lowerField("lv", lowerLevel), lowerField("code", schema.EnumOf("a", "b", "c")),
		lowerField("t1", schema.TimeType), lowerField("t2", schema.TimeType), lowerField("d1", schema.DurationType), lowerField("d2", schema.DurationType),
		lowerField("raw1", schema.BytesType), lowerField("raw2", schema.BytesType),
		lowerField("li", schema.ListOf(schema.IntType)), lowerField("ls", schema.ListOf(schema.StringType)), lowerField("lf", schema.ListOf(schema.FloatType)),
		lowerField("l32", schema.ListOf(lowerInt32)), lowerField("llv", schema.ListOf(lowerLevel)), lowerField("lt", schema.ListOf(schema.TimeType)),
		lowerField("los", schema.ListOf(lowerOpt(schema.StringType))), lowerField("ts", schema.ListOf(lowerTask)),
		lowerField("m", schema.MapOf(schema.IntType)), lowerField("mo", schema.MapOf(lowerOpt(schema.StringType))),
		lowerField("ms", schema.MapOf(lowerSub)),
		lowerField("os", lowerOpt(schema.StringType)), lowerField("oi", lowerOpt(schema.IntType)), lowerField("of", lowerOpt(schema.FloatType)),
		lowerField("ob", lowerOpt(schema.BoolType)), lowerField("osub", lowerOpt(lowerSub)), lowerField("task", lowerTask),
	)
)

// lowerWants are the types that conversions are tried with.
var lowerWants = []*schema.Type{
	lowerInt32, lowerUint8, lowerPlain, lowerOpt(schema.IntType), lowerOpt(lowerInt32), schema.AnyType, lowerLabel, lowerOpt(schema.StringType),
	lowerOpt(lowerLabel), lowerOpt(schema.FloatType), schema.ListOf(lowerInt32), schema.ListOf(lowerLabel), lowerTask2, schema.ListOf(lowerTask2),
	lowerOpt(lowerTask2), schema.FloatType, lowerOpt(schema.BoolType), lowerOpt(lowerSub),
}

type lowerEnv struct{}

func (lowerEnv) Lookup(name string) *expr.Symbol {
	switch name {
	case "input":
		return &expr.Symbol{Name: name, Type: lowerInput}
	case "post", "alt":
		return &expr.Symbol{Name: name, Type: lowerOpt(lowerSub), Absent: true}
	}
	return nil
}
func (lowerEnv) Names() []string { return []string{"input", "post", "alt"} }
func (lowerEnv) Covers(syms []*expr.Symbol) bool {
	return len(syms) >= 2 && syms[0].Name != syms[1].Name
}

// lowerDeclare writes the types of the program.
func lowerDeclare(file *jen.File) {
	file.Type().Id("Label").String()
	file.Type().Id("Level").String()
	structOf := func(name string, fields []*schema.Field) {
		var code []jen.Code
		for _, f := range fields {
			code = append(code, jen.Id(fieldName(f)).Add(lowerGoType(f.Type)).Op("`json:\""+f.Name+"\"`"))
		}
		file.Type().Id(name).Struct(code...)
	}
	for _, t := range []*schema.Type{lowerTask, lowerTask2, lowerSub, lowerDeep} {
		structOf(t.Decl.Name, t.Fields)
	}
	fields := append(slices.Clone(lowerInput.Fields), lowerField("post", lowerOpt(lowerSub)), lowerField("alt", lowerOpt(lowerSub)))
	structOf("Input", fields)
}

// lowerGen makes random inputs and random well-typed expressions.
type lowerGen struct {
	r    *rand.Rand
	vars int
}

func pick[T any](g *lowerGen, xs ...T) T { return xs[g.r.IntN(len(xs))] }

// input is one input: the fields of lowerInput at the top, and the two nodes, of which at least one is there.
func (g *lowerGen) input(i int) map[string]any {
	in, _ := g.random(lowerInput).(map[string]any)
	post, alt := g.random(lowerOpt(lowerSub)), g.random(lowerOpt(lowerSub))
	if alt == nil && post == nil {
		post = g.random(lowerSub)
	}
	if ms := in["ms"].(map[string]any); i%2 == 0 {
		ms["k"] = g.random(lowerSub)
	}
	if i == 0 {
		in["m"] = map[string]any{"k": int64(3), "a": int64(1)}
	}
	return map[string]any{"input": in, "post": post, "alt": alt}
}

// MarshalJSON of an input is done by hand: bytes and times as encoding/json reads them, nodes beside the fields.
func lowerInputJSON(in map[string]any) map[string]any {
	out := map[string]any{"post": in["post"], "alt": in["alt"]}
	for k, v := range in["input"].(map[string]any) {
		out[k] = v
	}
	return out
}

func lowerShowInput(in map[string]any) string {
	data, _ := json.Marshal(lowerInputJSON(in))
	return string(data)
}

var lowerStrings = []string{"", "a", "ab", "low", "high", "héé", "日本", "a\nb", "https://x.y/z", "k"}

func (g *lowerGen) random(t *schema.Type) any {
	switch t.Kind {
	case schema.Bool:
		return g.r.IntN(2) == 0
	case schema.Int:
		if t.Go != nil {
			return pick(g, int64(0), 1, 2, 3, 7, 100)
		}
		return pick(g, int64(0), 1, 2, 3, -1, 7, 100, 200, 1<<31, math.MaxInt64, math.MinInt64, 1<<53+1, -5)
	case schema.Float:
		return pick(g, 0.0, 1, 0.5, -2.25, 3, 100, 1<<20)
	case schema.String:
		return pick(g, lowerStrings...)
	case schema.Enum:
		return pick(g, t.Values...)
	case schema.Bytes:
		return []byte(pick(g, "", "a", "\x00\xff"))
	case schema.Time:
		return time.Date(2024, 2, pick(g, 1, 2, 3), 12, 0, 0, pick(g, 0, 5000000), pick(g, time.UTC, time.FixedZone("", 3600)))
	case schema.Duration:
		return pick(g, 0, time.Second, -time.Minute, 90*time.Minute)
	case schema.Opt:
		if g.r.IntN(2) == 0 {
			return nil
		}
		return g.random(t.Elem)
	case schema.List:
		out := []any{}
		for range g.r.IntN(4) {
			out = append(out, g.random(t.Elem))
		}
		return out
	case schema.Map:
		out := map[string]any{}
		for range g.r.IntN(4) {
			out[pick(g, "a", "k", "ab", "zz")] = g.random(t.Elem)
		}
		return out
	}
	out := map[string]any{}
	for _, f := range t.Fields {
		out[f.Name] = g.random(f.Type)
	}
	return out
}

// lowerScope is what may be read where an expression is generated.
type lowerScope struct {
	present map[string]bool // optional paths proved present
	vars    []lowerVar
}

type lowerVar struct {
	name string
	typ  *schema.Type
}

func (s lowerScope) with(path string) lowerScope {
	out := lowerScope{present: map[string]bool{}, vars: s.vars}
	for p := range s.present {
		out.present[p] = true
	}
	for i := range path {
		if path[i] == '.' {
			out.present[path[:i]] = true
		}
	}
	out.present[path] = true
	return out
}

func (s lowerScope) bind(name string, t *schema.Type) lowerScope {
	s.vars = append(s.vars[:len(s.vars):len(s.vars)], lowerVar{name, t})
	return s
}

// paths lists the chains of kind t, and whether each is optional as it stands.
func (s lowerScope) paths(want func(*schema.Type) bool) (plain, optional []string) {
	var walk func(path string, t *schema.Type)
	walk = func(path string, t *schema.Type) {
		opt := t.Kind == schema.Opt && !s.present[path]
		if want(t.Present()) && path != "input" {
			if opt || s.absentReceiver(path) {
				optional = append(optional, path)
			} else {
				plain = append(plain, path)
			}
		}
		if t.Present().Kind == schema.Struct {
			for _, f := range t.Present().Fields {
				walk(path+"."+f.Name, f.Type)
			}
		}
	}
	walk("input", lowerInput)
	walk("post", lowerOpt(lowerSub))
	walk("alt", lowerOpt(lowerSub))
	for _, v := range s.vars {
		walk(v.name, v.typ)
	}
	return plain, optional
}

// absentReceiver reports whether something before the last name of the path may be absent.
func (s lowerScope) absentReceiver(path string) bool {
	_, dots := s.spell(path)
	return dots
}

// spell writes a path with `?.` where the receiver may be absent.
func (s lowerScope) spell(path string) (text string, optional bool) {
	names := strings.Split(path, ".")
	t, text := s.typeOf(names[0]), names[0]
	for i, name := range names[1:] {
		prefix := strings.Join(names[:i+1], ".")
		if optional = optional || t.Kind == schema.Opt && !s.present[prefix]; optional && !s.present[prefix] {
			text += "?." + name
		} else {
			text += "." + name
		}
		t = t.Present().Field(name).Type
	}
	return text, optional
}

func (s lowerScope) typeOf(root string) *schema.Type {
	for _, v := range s.vars {
		if v.name == root {
			return v.typ
		}
	}
	return lowerEnv{}.Lookup(root).Type
}

func kindIs(k schema.Kind) func(*schema.Type) bool {
	return func(t *schema.Type) bool { return t.Kind == k }
}

func listOf(k schema.Kind) func(*schema.Type) bool {
	return func(t *schema.Type) bool { return t.Kind == schema.List && t.Elem.Kind == k }
}

// expression makes a case; with want, of a type that fits it.
func (g *lowerGen) expression(t *testing.T, want *schema.Type) *lowerCase {
	t.Helper()
	for range 100 {
		src := g.source(want)
		c := &lowerCase{src: src, want: want}
		n, probs := expr.Parse(src)
		if want == nil {
			probs = append(probs, expr.Check(n, lowerEnv{}, nil)...)
		} else {
			probs = append(probs, expr.CheckExpect(n, lowerEnv{}, nil, want)...)
		}
		c.node = n
		switch {
		case len(probs) == 0:
			return c
		case probs[0].Code == diag.NeverAbsent || probs[0].Code == diag.ExprNumber || probs[0].Code == diag.OptionalUse && want != nil:
			continue
		}
		t.Fatalf("%s: %s: %s", src, probs[0].Code, probs[0].Message)
	}
	t.Fatal("no expression found")
	return nil
}

func (g *lowerGen) source(want *schema.Type) string {
	s, depth := lowerScope{}, 1+g.r.IntN(4)
	if want != nil && want.Kind == schema.Opt && g.r.IntN(2) == 0 {
		if _, opt := s.paths(func(t *schema.Type) bool { return schema.Assignable(t, want.Elem) }); len(opt) > 0 {
			text, _ := s.spell(pick(g, opt...))
			return text
		}
	}
	if want == nil {
		switch g.r.IntN(12) {
		case 0:
			return g.optional(s, depth)
		case 1:
			return g.list(s, depth, schema.Int)
		case 2:
			return g.list(s, depth, schema.String)
		case 3:
			return g.tasks(s, depth)
		case 4, 5:
			return g.int(s, depth)
		case 6:
			return g.float(s, depth)
		case 7:
			return g.string(s, depth)
		}
		return g.bool(s, depth)
	}
	switch k := want.Present(); k.Kind {
	case schema.Int:
		return g.int(s, depth)
	case schema.Float:
		return g.float(s, depth)
	case schema.String:
		if g.r.IntN(3) == 0 {
			return pick(g, "input.lv", "input.code", "input.lab")
		}
		return g.string(s, depth)
	case schema.Bool:
		return g.bool(s, depth)
	case schema.Any:
		return pick(g, g.int(s, depth), g.string(s, depth), g.float(s, depth), g.bool(s, depth), "input.lv")
	case schema.List:
		switch k.Elem.Kind {
		case schema.Int:
			return g.list(s, depth, schema.Int)
		case schema.String:
			return pick(g, g.list(s, depth, schema.String), "input.llv")
		}
		return g.tasks(s, depth)
	}
	if want.Present() == lowerSub {
		return pick(g, "post", "alt", "input.b1 ? post : alt", "first(post, alt)", "input.b1 ? post : null")
	}
	return pick(g, "input.task", "input.b1 ? input.task : input.task")
}

// anyOf gives an atom of a kind, or "".
func (g *lowerGen) atom(s lowerScope, want func(*schema.Type) bool) string {
	plain, _ := s.paths(want)
	if len(plain) == 0 {
		return ""
	}
	text, _ := s.spell(pick(g, plain...))
	return text
}

// choice makes c ? a : b, perhaps with a test that narrows one side.
func (g *lowerGen) choice(s lowerScope, depth int, f func(lowerScope, int) string) string {
	if g.r.IntN(2) == 0 {
		return "(" + g.bool(s, depth-1) + " ? " + f(s, depth-1) + " : " + f(s, depth-1) + ")"
	}
	path, text := g.optionalPath(s, func(*schema.Type) bool { return true })
	if g.r.IntN(2) == 0 {
		return "(" + text + " != null ? " + f(s.with(path), depth-1) + " : " + f(s, depth-1) + ")"
	}
	return "(" + text + " == null ? " + f(s, depth-1) + " : " + f(s.with(path), depth-1) + ")"
}

func (g *lowerGen) optionalPath(s lowerScope, want func(*schema.Type) bool) (path, text string) {
	_, opt := s.paths(want)
	if len(opt) == 0 {
		return "input.os", "input.os"
	}
	path = pick(g, opt...)
	text, _ = s.spell(path)
	return path, text
}

// orDefault makes default(x, v) or first(x, y, v) of a kind.
func (g *lowerGen) orDefault(s lowerScope, depth int, k schema.Kind, f func(lowerScope, int) string) string {
	_, opt := s.paths(kindIs(k))
	if len(opt) == 0 {
		return f(s, depth-1)
	}
	dotted := func(p string) string {
		if g.r.IntN(2) == 0 {
			return p
		}
		text, _ := s.spell(p)
		return text
	}
	if g.r.IntN(3) == 0 {
		return "first(" + dotted(pick(g, opt...)) + ", " + dotted(pick(g, opt...)) + ", " + f(s, depth-1) + ")"
	}
	if k == schema.Int && g.r.IntN(3) == 0 {
		return "default(input.m.k, " + f(s, depth-1) + ")"
	}
	return "default(" + dotted(pick(g, opt...)) + ", " + f(s, depth-1) + ")"
}

func (g *lowerGen) optional(s lowerScope, depth int) string {
	k := pick(g, schema.Int, schema.String, schema.Float, schema.Bool)
	_, a := g.optionalPath(s, kindIs(k))
	_, b := g.optionalPath(s, kindIs(k))
	return pick(g, a, "first("+a+", "+b+")", "default("+a+", "+b+")", "("+g.bool(s, depth-1)+" ? "+a+" : null)", "input.m.k", "input.mo.k", "input.m.zz")
}

func (g *lowerGen) bool(s lowerScope, depth int) string {
	if depth <= 0 {
		return pick(g, g.atom(s, kindIs(schema.Bool)), "input.b1", pick(g, "true", "false"))
	}
	path, text := g.optionalPath(s, func(*schema.Type) bool { return true })
	switch g.r.IntN(22) {
	case 0, 1:
		return "(" + g.bool(s, depth-1) + " && " + g.bool(s, depth-1) + ")"
	case 2, 3:
		return "(" + g.bool(s, depth-1) + " || " + g.bool(s, depth-1) + ")"
	case 4:
		return "!" + pick(g, "("+g.bool(s, depth-1)+")", "input.b2")
	case 5, 6:
		return g.int(s, depth-1) + pick(g, " == ", " != ", " < ", " <= ", " > ", " >= ") + g.int(s, depth-1)
	case 7:
		op := pick(g, " == ", " != ", " < ", " <= ", " > ", " >= ")
		return pick(g, g.float(s, depth-1)+op+g.int(s, depth-1), g.float(s, depth-1)+op+g.float(s, depth-1), "1"+op+g.float(s, depth-1))
	case 8:
		return g.string(s, depth-1) + pick(g, " == ", " != ", " < ", " >= ") + g.string(s, depth-1)
	case 9:
		return "(" + text + " != null && " + g.bool(s.with(path), depth-1) + ")"
	case 10:
		return "(" + text + " == null || " + g.bool(s.with(path), depth-1) + ")"
	case 11:
		return "(!(null == " + text + ") && " + g.bool(s.with(path), depth-1) + ")"
	case 12:
		return text + pick(g, " == null", " != null")
	case 13:
		return pick(g, "input.lv == \"low\"", "\"high\" != input.lv", "input.lv == input.s1", "input.code == \"b\"", "input.lab == input.s2", "input.lv in [\"low\", \"mid\"]",
			"input.lv in input.llv", "input.s1 in input.llv", "input.lab in input.ls", "input.code in input.ls", "\"low\" in input.llv", "input.m.k == null", "input.mo.k != null",
			"input.t1 in input.lt", "input.i1 in input.l32", "3 in input.l32", "input.ig in input.li", "input.m.k != null && input.m.k > 1")
	case 14:
		return pick(g, "input.t1", "input.t2") + pick(g, " == ", " != ", " < ", " <= ", " > ", " >= ") + "input.t2"
	case 15:
		return pick(g, "input.d1 < input.d2", "input.d1 == input.d2", "input.raw1 == input.raw2", "input.raw1 != input.raw2", "input.b1 == input.b2", "input.b1 != true",
			"false == input.b2", "input.ig == input.i32", "input.u8 > 300", "input.u8 < input.ig", "input.i32 != -1", "input.ig > 5000000000", "input.f32 < input.f1", "input.f32 > 0.5")
	case 16:
		return g.string(s, depth-1) + pick(g, ".contains(", ".startsWith(", ".endsWith(") + g.string(s, depth-1) + ")"
	case 17:
		return g.string(s, depth-1) + ".matches(" + pick(g, `"^a"`, `"[a-z]+\\d?$"`, `"é`+"`"+`"`, `"."`) + ")"
	case 18:
		return pick(g, g.int(s, depth-1)+" in "+g.list(s, depth-1, schema.Int), g.string(s, depth-1)+" in "+g.list(s, depth-1, schema.String),
			g.string(s, depth-1)+" in input.m", g.int(s, depth-1)+" in [1, 2, "+g.int(s, depth-1)+"]", g.int(s, depth-1)+" in [1, 2, -3]", "input.f1 in [1, 2.5]")
	case 19:
		return g.choice(s, depth, g.bool)
	case 20:
		return g.orDefault(s, depth, schema.Bool, g.bool)
	}
	return g.test(s, depth)
}

// test makes exists or all.
func (g *lowerGen) test(s lowerScope, depth int) string {
	name := g.variable()
	over, elem := pick(g, "input.ts", g.tasks(s, depth-1)), lowerTask
	switch g.r.IntN(5) {
	case 0:
		over, elem = g.list(s, depth-1, schema.Int), schema.IntType
	case 1:
		over, elem = "input.m", schema.StringType
	case 2:
		over, elem = "input.los", lowerOpt(schema.StringType)
	}
	return over + pick(g, ".exists(", ".all(") + name + ", " + g.bool(s.bind(name, elem), depth-1) + ")"
}

func (g *lowerGen) variable() string {
	g.vars++
	return fmt.Sprintf("%s%d", pick(g, "x", "item", "t"), g.vars)
}

func (g *lowerGen) int(s lowerScope, depth int) string {
	if depth <= 0 {
		lit := pick(g, "0", "1", "2", "3", "-1", "10", "9223372036854775807", "-9223372036854775808", "3037000500", "300")
		return pick(g, g.atom(s, kindIs(schema.Int)), g.atom(s, kindIs(schema.Int)), "input.i1", lit)
	}
	switch g.r.IntN(14) {
	case 12:
		return g.clockRead(s, depth-1)
	case 13:
		return g.indexed(s, depth-1, schema.Int, g.int)
	case 10:
		return g.list(s, depth-1, schema.Int) + ".sum()"
	case 11:
		most := pick(g, "math.greatest(", "math.least(")
		return pick(g, most+g.int(s, depth-1)+", "+g.int(s, depth-1)+")", "default("+most+g.list(s, depth-1, schema.Int)+"), "+g.int(s, depth-1)+")", most+"input.ig, input.i32, 7)")
	case 0, 1, 2:
		if g.r.IntN(3) == 0 {
			return "(" + g.int(s, depth-1) + pick(g, " / ", " % ") + pick(g, "("+g.int(s, depth-1)+" + input.i2)", "input.i1", "input.ig", "3", "-1", "(-7)") + ")"
		}
		return "(" + g.int(s, depth-1) + pick(g, " + ", " - ", " * ") + g.int(s, depth-1) + ")"
	case 3:
		return "-(" + g.int(s, depth-1) + ")"
	case 4:
		return "size(" + pick(g, g.string(s, depth-1), g.list(s, depth-1, schema.Int), g.list(s, depth-1, schema.String), g.tasks(s, depth-1), "input.m", "input.raw1", "input.lv", `"日本"`) + ")"
	case 5:
		return g.choice(s, depth, g.int)
	case 6:
		return g.orDefault(s, depth, schema.Int, g.int)
	}
	return g.int(s, 0)
}

func (g *lowerGen) float(s lowerScope, depth int) string {
	if depth <= 0 {
		return pick(g, g.atom(s, kindIs(schema.Float)), "input.f1", pick(g, "0.1", "1.5", "-2.5", "1e300", "3.0", "-0.0"))
	}
	switch g.r.IntN(11) {
	case 10:
		return pick(g, expr.Roundings...) + "(" + g.float(s, depth-1) + ")"
	case 8:
		return pick(g, "input.lf.sum()", "[input.f1, "+g.float(s, depth-1)+"].sum()", "input.ts.map(t, t.score).sum()")
	case 9:
		most := pick(g, "math.greatest(", "math.least(")
		return pick(g, most+"input.f1, 2, input.f2)", most+"1, 2.5)", "default("+most+"input.lf), 0.5)")
	case 0, 1:
		return "(" + g.float(s, depth-1) + pick(g, " + ", " - ", " * ") + g.float(s, depth-1) + ")"
	case 2:
		return "(" + g.float(s, depth-1) + pick(g, " + "+g.int(s, depth-1), " - "+g.int(s, depth-1), " * "+g.int(s, depth-1), " / (input.f2 + "+g.float(s, depth-1)+")", " / input.f1", " / 4", " / input.ig") + ")"
	case 3:
		return "(" + g.int(s, depth-1) + pick(g, " + ", " - ", " * ") + g.float(s, depth-1) + ")"
	case 4:
		return "-(" + g.float(s, depth-1) + ")"
	case 5:
		return g.choice(s, depth, g.float)
	case 6:
		return g.orDefault(s, depth, schema.Float, g.float)
	}
	return g.float(s, 0)
}

func (g *lowerGen) string(s lowerScope, depth int) string {
	if depth <= 0 {
		return pick(g, g.atom(s, kindIs(schema.String)), "input.s1", "input.lab", pick(g, `""`, `"a"`, `"a\nb"`, `"é`+"`"+`\"\\"`, `'low'`, `"\u0000\u2028"`))
	}
	switch g.r.IntN(11) {
	case 9:
		return pick(g, g.list(s, depth-1, schema.String)+".join("+g.string(s, 0)+")", g.string(s, depth-1)+".substring("+pick(g, "0, 1", "1", "0", "input.i1")+")")
	case 10:
		return g.indexed(s, depth-1, schema.String, g.string)
	case 6:
		return "string(" + pick(g, g.int(s, depth-1), g.bool(s, depth-1), g.float(s, depth-1), "input.lv", "input.t1", "input.d1", "input.ig", "input.u8", g.string(s, depth-1)) + ")"
	case 7:
		return g.string(s, depth-1) + pick(g, ".lowerAscii()", ".upperAscii()", ".trim()")
	case 8:
		return g.string(s, depth-1) + ".replace(" + g.string(s, 0) + ", " + g.string(s, 0) + ")"
	case 0, 1:
		return "(" + g.string(s, depth-1) + " + " + pick(g, g.string(s, depth-1), "input.lv") + ")"
	case 2:
		return g.choice(s, depth, g.string)
	case 3:
		return g.orDefault(s, depth, schema.String, g.string)
	case 4:
		return pick(g, "first(post.lang, alt.lang)", "first(alt.lang, post.lang)", "first(post.note, alt.note, input.s1)", g.string(s, 0))
	}
	return g.string(s, 0)
}

// list makes a list of ints or of strings.
func (g *lowerGen) list(s lowerScope, depth int, k schema.Kind) string {
	item := g.int
	if k == schema.String {
		item = g.string
	}
	if depth <= 0 {
		plain, _ := s.paths(func(t *schema.Type) bool { return listOf(k)(t) && t.Elem.Go == nil })
		text, _ := s.spell(pick(g, plain...))
		return pick(g, text, "["+item(s, 0)+", "+item(s, 0)+"]")
	}
	name := g.variable()
	switch g.r.IntN(12) {
	case 6:
		return "(" + g.list(s, depth-1, k) + " + " + g.list(s, depth-1, k) + ")"
	case 7:
		return g.list(s, depth-1, k) + pick(g, ".distinct()", ".sort()", ".reverse()")
	case 8:
		return pick(g, g.list(s, depth-1, k)+".slice("+pick(g, "0, 1)", "1, 2)", "0, 0)", "input.i1, 3)"), "["+g.list(s, depth-1, k)+", "+g.list(s, 0, k)+"].flatten()")
	case 9:
		elem := schema.IntType
		if k == schema.String {
			elem = schema.StringType
		}
		return g.list(s, depth-1, k) + ".sortBy(" + name + ", " + pick(g, g.int, g.string, g.float)(s.bind(name, elem), depth-1) + ")"
	case 10:
		if k == schema.String {
			return g.string(s, depth-1) + ".split(" + g.string(s, 0) + ")"
		}
		return g.list(s, depth-1, k) + ".chunk(" + pick(g, "1", "2", "1000", "input.i1") + ").map(" + name + ", " + name + ".sum())"
	case 0:
		return pick(g, "input.ts", g.tasks(s, depth-1)) + ".map(" + name + ", " + item(s.bind(name, lowerTask), depth-1) + ")"
	case 1:
		return g.list(s, depth-1, schema.Int) + ".map(" + name + ", " + item(s.bind(name, schema.IntType), depth-1) + ")"
	case 2:
		elem := schema.IntType
		if k == schema.String {
			elem = schema.StringType
		}
		return g.list(s, depth-1, k) + ".filter(" + name + ", " + g.bool(s.bind(name, elem), depth-1) + ")"
	case 3:
		if k == schema.String {
			return "input.m.filter(" + name + ", " + g.bool(s.bind(name, schema.StringType), depth-1) + ")"
		}
		return "input.m.map(" + name + ", size(" + name + "))"
	case 4:
		return "(" + g.bool(s, depth-1) + " ? " + pick(g, "[]", g.list(s, depth-1, k)) + " : " + g.list(s, depth-1, k) + ")"
	}
	return g.list(s, 0, k)
}

func (g *lowerGen) tasks(s lowerScope, depth int) string {
	if depth <= 0 || g.r.IntN(3) == 0 {
		return "input.ts"
	}
	name := g.variable()
	if g.r.IntN(5) == 0 {
		return g.made(s, depth-1)
	}
	if g.r.IntN(3) == 0 {
		return g.tasks(s, depth-1) + ".sortBy(" + name + ", " + name + pick(g, ".n", ".q", ".score") + ")"
	}
	return g.tasks(s, depth-1) + ".filter(" + name + ", " + g.bool(s.bind(name, lowerTask), depth-1) + ")"
}

// template makes text with expressions in it.
func (g *lowerGen) template(t *testing.T) *lowerCase {
	t.Helper()
	for range 100 {
		src := g.text()
		tree, probs := expr.ParseTemplate(src)
		probs = append(probs, expr.CheckTemplate(tree, lowerEnv{}, nil)...)
		switch {
		case len(probs) == 0:
			return &lowerCase{src: src, tmpl: tree}
		case probs[0].Code == diag.NeverAbsent || probs[0].Code == diag.ExprNumber:
			continue
		}
		t.Fatalf("%s: %s: %s", src, probs[0].Code, probs[0].Message)
	}
	t.Fatal("no template found")
	return nil
}

func (g *lowerGen) text() string {
	s := lowerScope{}
	var b strings.Builder
	for range 1 + g.r.IntN(4) {
		b.WriteString(pick(g, "", "text ", "two\nlines ", "`back` \\ \"quote\" ", "{ } "))
		depth := g.r.IntN(3)
		b.WriteString("{{ " + pick(g, g.int(s, depth), g.string(s, depth), g.float(s, depth), g.bool(s, depth), "input.lv", "input.t1", "input.d1", "input.raw1", "input.ig",
			"input.u8", "input.task | json", "input.ts | json", "input.osub | json", g.list(s, depth, schema.String)+" | lines", g.list(s, depth, schema.Int)+" | join(\", \")",
			"input.llv | join(\"\")", "input.lf | lines", "input.lt | join(\" \")", "\"{{\"", "1", "true", "\"a\" | json", "1 | json") + " }}")
	}
	return b.String()
}

func lowerTemplate(t *testing.T, src string) *lowerCase {
	t.Helper()
	tree, probs := expr.ParseTemplate(src)
	probs = append(probs, expr.CheckTemplate(tree, lowerEnv{}, nil)...)
	for _, p := range probs {
		t.Fatalf("%s: %s %s", src, p.Code, p.Message)
	}
	return &lowerCase{src: src, tmpl: tree}
}

// lowerHandwritten are shapes that the generator rarely hits.
func lowerHandwritten(t *testing.T) []*lowerCase {
	t.Helper()
	var out []*lowerCase
	for _, src := range append(slices.Clone(lowerIndexes), []string{
		"0.1 + 0.2 == 0.3", "0.1 + 0.2", "1e308 * 10.0", "-0.0", "0.0 * -1.0", "1e308 * 10.0 - 1e308 * 10.0", "input.f1 * input.f2 + 1.0 - input.f1 * input.f1",
		"9223372036854775807 + 1", "-9223372036854775808 / -1", "-9223372036854775808 % -1", "-7 / 2", "-7 % 2", "7 % -2", "input.i1 / 2 * 3", "input.i1 % (input.i2 * 2)", "size(input.s1) / 2",
		"1 / input.f1", "input.f1 / 2 / 3", "1.0 / 3 - input.f1 / 3", "input.i1 / input.i2", "input.i1 % input.i2", "input.f1 / input.f2", "1 / 0.5", "input.b1 || 1 / input.i1 > 0", "input.u8 / 7", "-(-9223372036854775807) - 1", "2 * 3 + 4", "-9223372036854775808 * -1", "9007199254740993 * 1 > input.f1",
		"input.b1 || 9223372036854775807 + input.i1 > 0", "input.b1 && 9223372036854775807 + input.i1 > 0", "input.i1 + 9223372036854775807 > 0 || true",
		"default(input.oi, 9223372036854775807 + input.i1)", "first(input.oi, 9223372036854775807 + input.i1, 3)", "first(input.oi, input.osub.n, 9223372036854775807 + input.i1)",
		"input.b1 ? input.i1 + 1 : input.i1 - 1", "input.ts.map(x, x.n + 1)", "input.ts.exists(x, x.n * 2 > 4)", "input.ts.all(x, -x.n < 0)",
		"input.ts.map(x, input.ts.filter(y, y.n > x.n).size())", "input.li.map(x, input.li.map(y, x == y))", "[1, 2].map(x, [x, x])", "[[1], []]",
		"input.ts.map(x, x.url)", "input.ts.map(x, default(x.url, x.q))", "input.ts.filter(x, true)", "input.ts.exists(x, true)", "input.ts.map(x, 1)",
		"[input.oi, 1, null]", "[\"a\", input.lv]", "input.b1 ? input.lv : \"other\"", "default(post?.deep?.k, alt?.deep?.k)", "default(default(post.deep.k, alt?.deep?.k), 5)",
		"first(post, alt).lang", "default(input.osub, input.osub)", "post?.deep?.k != null && post.deep.k > 0 && alt?.deep != null", "first(post?.deep, alt?.deep)?.k",
		"(input.b1 ? post : alt)?.lang", "(post == null) == (alt == null)", "input.m.a != null ? input.m.a + 1 : 0", "input.mo.k == null || input.mo.k == \"a\"",
		"default(input.mo.k, \"none\")", "\"k\" in input.m ? 1 : 2", "!(input.f1 < input.f2)", "!(input.i1 < input.i2)", "!!input.b1", "-(-(5))", "-(-0.5)",
		"input.s1 in [\"a\"]", "(input.s1 + \"x\") in [\"ax\", \"x\"]", "input.i1 in [1, 2, 3, 4, 5, 6]", "1 in [1, 2]", "input.t1 in [input.t2]",
		"null == input.oi", "input.u8 + input.ig", "input.f32 * 2", "input.f32 + input.i32", "input.u8 == 256", "input.u8 == 1", "size(input.ls) == 2", "2 < size(input.ls)", "size(input.ls) == input.i32",
		"size(input.ls) + 1", "size(input.ls) * 1.5", "input.task.url != null && input.task.url.matches(\"^https?://\")", "[true, false].exists(x, x)", "1 == 1.0", "size(\"日本\") == 2",
		"input.ms.k?.lang != null", "input.ms.k?.note != null", "default(input.ms.k.lang, \"x\")", "input.ms.k?.deep?.k", "first(input.ms.k.n, input.m.k, 3)",
		"input.os != null ? input.ts.map(x, default(input.os, x.q)) : []", "input.ms.k != null && input.ms.k.note != null && size(input.ms.k.note) > 0",
		"input.los.filter(x, x != null)", "input.los.filter(x, x != null && size(x) > 1).map(x, x + \"!\")", "input.los.filter(x, x == null)", "input.los.filter(x, x == null || size(x) > 1)",
		"input.los.filter(x, !(null == x)).distinct().sort()", "input.ts.map(t, t.url).filter(u, u != null)", "input.lt.sort()", "input.ts.sortBy(x, x.n * 2)", "input.ts.sortBy(x, input.t1)", "math.greatest(input.lt)", "math.least(input.li)", "math.greatest([1, 2], )",
		"math.least(input.d1, input.d2)", "input.llv.distinct()", "input.l32.sum()", "input.l32.sort()", "[input.l32, [1]].flatten()", "input.li.chunk(2)",
		"input.li.map(x, [x]).flatten()", "input.li.slice(0, size(input.li))", "input.li + [1] + [input.i1]", "[] + input.li", "input.li + []", "input.l32 + input.li",
		"input.ts.map(x, string(x.n))", "string(input.u8)", "string(1) + string(true)", "[3, 1, 2].sort()", "\"a,b\".split(\",\")", "\"\".split(\"\")", "math.least(1, 2)",
		"input.ms.map(k, k + \"!\")", "input.ts.exists(q, input.task.q == \"a\")", "input.ms.k?.lang == null || input.ms.k.lang == \"a\"",
	}...) {
		n, probs := expr.Parse(src)
		probs = append(probs, expr.Check(n, lowerEnv{}, nil)...)
		for _, p := range probs {
			t.Fatalf("%s: %s %s", src, p.Code, p.Message)
		}
		out = append(out, &lowerCase{src: src, node: n})
	}
	for _, src := range []string{"", "plain", "{{ input.s1 }}", "a{{ \"b\" }}c{{ 1 }}{{ true }}d", "# title\n\n{{ input.s1 }}\n\nfoot `x`\n", "\r\n\x00\u2028", "{{ 1.5 }}{{ -0.0 }}"} {
		out = append(out, lowerTemplate(t, src))
	}
	return out
}
