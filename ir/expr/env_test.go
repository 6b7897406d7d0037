package expr

import (
	"slices"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

// testEnv is a fixed set of names for the tests of this package.
type testEnv struct {
	syms   map[string]*Symbol
	covers [][]string
	kind   string
}

func (e *testEnv) Lookup(name string) *Symbol { return e.syms[name] }

func (e *testEnv) Names() []string {
	var names []string
	for n := range e.syms {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func (e *testEnv) Covers(syms []*Symbol) bool {
	for _, set := range e.covers {
		all := true
		for _, want := range set {
			all = all && slices.ContainsFunc(syms, func(s *Symbol) bool { return s.Name == want })
		}
		if all {
			return true
		}
	}
	return false
}

func (e *testEnv) NameKind() string {
	if e.kind == "" {
		return "node"
	}
	return e.kind
}

func field(name string, t *schema.Type) *schema.Field { return &schema.Field{Name: name, Type: t} }

func structOf(fields ...*schema.Field) *schema.Type {
	return &schema.Type{Kind: schema.Struct, Fields: fields}
}

func newEnv() *testEnv {
	meta := structOf(field("lang", schema.StringType), field("note", schema.OptOf(schema.StringType, "note is optional")))
	task := structOf(field("q", schema.StringType), field("n", schema.IntType), field("url", schema.OptOf(schema.StringType, "url is optional")), field("score", schema.FloatType))
	task.Decl = &schema.Decl{Name: "Task", Type: task}
	post := structOf(field("url", schema.StringType), field("likes", schema.IntType), field("meta", schema.OptOf(meta, "meta is optional")))
	sym := func(name string, t *schema.Type) *Symbol { return &Symbol{Name: name, Type: t} }
	syms := map[string]*Symbol{
		"input": sym("input", structOf(field("repo", schema.StringType), field("pr", schema.IntType), field("tag", schema.OptOf(schema.StringType, "")),
			field("ok", schema.BoolType), field("f", schema.FloatType), field("names", schema.ListOf(schema.StringType)),
			field("counts", schema.MapOf(schema.IntType)), field("any", schema.AnyType), field("raw", schema.BytesType), field("at", schema.TimeType), field("took", schema.DurationType))),
		"plan":  sym("plan", structOf(field("route", schema.EnumOf("fix", "skip")), field("tasks", schema.ListOf(task)), field("score", schema.FloatType), field("n", schema.IntType))),
		"tasks": sym("tasks", schema.ListOf(task)),
		"post":  {Name: "post", Type: schema.OptOf(post, "post may not have run here"), Absent: true},
		"alt":   {Name: "alt", Type: schema.OptOf(post, "alt may not have run here"), Absent: true},
		"later": {Name: "later", Type: schema.InvalidType, Problem: &Problem{Code: "FG0999", Message: "later runs after this"}},
	}
	syms["later"].Members = map[string]*Symbol{"error": {Name: "error", Type: schema.ErrorType}}
	syms["runs"] = &Symbol{Name: "runs", Type: schema.ListOf(schema.StringType), Members: map[string]*Symbol{"failures": {Name: "failures", Type: schema.IntType}}}
	syms["quint"] = sym("quint", structOf(field("a1", schema.IntType), field("a2", schema.IntType), field("a3", schema.IntType), field("a4", schema.IntType), field("a5", schema.IntType)))
	unsigned := &schema.Type{Kind: schema.Int, Go: &schema.Go{Name: "uint64"}}
	syms["wide"] = sym("wide", structOf(field("none", structOf()), field("u", unsigned), field("i", &schema.Type{Kind: schema.Int, Go: &schema.Go{Name: "int32"}}),
		field("level", &schema.Type{Kind: schema.Int, Go: &schema.Go{Path: "example.org/x", Name: "int"}}), field("us", schema.ListOf(unsigned)),
		field("color", schema.EnumOf("red", "blue")), field("route", schema.EnumOf("skip", "other")), field("of", schema.OptOf(schema.FloatType, "")),
		field("ints", schema.ListOf(schema.IntType)), field("floats", schema.ListOf(schema.FloatType)), field("maybe", schema.MapOf(schema.OptOf(schema.IntType, "")))))
	syms["post"].Members = map[string]*Symbol{"error": {Name: "error", Type: schema.OptOf(schema.ErrorType, "post may have succeeded")}}
	return &testEnv{syms: syms, covers: [][]string{{"alt", "post"}}}
}

// checked parses and checks src, which must be right.
func checked(t *testing.T, src string) *Node {
	t.Helper()
	n, probs := Parse(src)
	if len(probs) == 0 {
		probs = Check(n, newEnv(), nil)
	}
	for _, p := range probs {
		t.Fatalf("%s: %s %s", src, p.Code, p.Message)
	}
	return n
}
