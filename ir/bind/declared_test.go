package bind

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

func num(f float64) *float64 { return &f }

// fields declares a struct, each field with a place of its own in the file.
func fields(fs ...*schema.Field) *schema.Type {
	for _, f := range fs {
		file := source.NewFile("t.flowgen.yaml", f.Name)
		f.Span = source.Span{File: file, Hi: len(f.Name)}
	}
	return &schema.Type{Kind: schema.Struct, Fields: fs}
}

func field(name string, t *schema.Type) *schema.Field { return &schema.Field{Name: name, Type: t} }

func TestDeclared(t *testing.T) {
	const search = " @ flows/tools/tools.go:63:6 <Search> tools.Search is declared here"
	optInt := schema.OptOf(schema.IntType, "")
	limited := field("query", schema.StringType)
	limited.Max, limited.Pattern, limited.Description = num(80), "^x", "the words"
	limited.Default = &schema.Default{JSON: `"x"`}
	tests := []struct {
		name, ref       string
		in, out         *schema.Type
		wantIn, wantOut string
		want            []string
	}{{
		name: "in is narrowed and constrained", ref: "./tools.Search",
		in:     fields(field("limit", optInt), limited),
		wantIn: `{limit/Limit: opt<int@int> (how many at most), query/Query: string = "x" <=80 ~^x (the words)}@tools.SearchIn`,
	}, {
		name: "an enum where Go has a string", ref: "strings.ToUpper",
		in:     fields(field("s", schema.EnumOf("a", "b"))),
		out:    schema.EnumOf("A", "B"),
		wantIn: "{s: enum<a|b>@string}", wantOut: "enum<A|B>@string",
	}, {
		name: "fewer results, less of an enum", ref: "./tools.Pure",
		out:     fields(field("Kind", schema.EnumOf("article")), field("score", schema.FloatType), field("Count", schema.MapOf(schema.IntType))),
		wantOut: "{Kind: enum<article>@model.Kind, score/Score: float@float32, Count: map<int@uint16>}@tools.Hit",
	}, {
		name: "a result may be declared wider than it is", ref: "./tools.Named",
		out: schema.OptOf(schema.StringType, ""), wantOut: "enum<high|low|mid>@tools.Level",
	}, {
		name: "more of an enum than Go has", ref: "./tools.Named",
		out: schema.EnumOf("low", "mid", "high", "top"), wantOut: "enum<high|low|mid>@tools.Level",
	}, {
		name: "an enum that is neither", ref: "./tools.Named",
		out:  schema.EnumOf("low", "top"),
		want: []string{"FG0607 <./tools.Named> `out` is declared enum<low|top>, but in tools.Named it is enum<high|low|mid> | declare it enum<high|low|mid>, or leave the declaration out @ flows/tools/tools.go:70:6 <Named> tools.Named is declared here"},
	}, {
		name: "mistakes, each at its field", ref: "./tools.Search",
		in: fields(field("quary", schema.StringType), field("limit", schema.IntType), field("tags", schema.ListOf(schema.IntType))),
		want: []string{
			"FG0607 <./tools.Search> `in` lacks `query`, which tools.Search requires | add `query: string`, or leave the declaration out" + search,
			"FG0607 <quary> tools.Search has no input `quary` (in) | replace with `query`" + search + " ! quary -> query",
			"FG0607 <limit> `in.limit` is declared int, but in tools.Search it is opt<int> | declare it opt<int>, or leave the declaration out" + search,
			"FG0607 <tags> `in.tags[]` is declared int, but in tools.Search it is string | declare it string, or leave the declaration out" + search,
		},
	}, {
		name: "a result Go does not have", ref: "./tools.Pure",
		out: fields(field("url", schema.StringType), field("next", schema.ListOf(schema.StringType))),
		want: []string{
			"FG0607 <next> `out.next` is declared list<string>, but in tools.Pure it is opt<list<string>> | declare it opt<list<string>>, or leave the declaration out @ flows/tools/tools.go:68:6 <Pure> tools.Pure is declared here",
			"FG0607 <url> tools.Pure returns no `url` (out) | replace with `URL` @ flows/tools/tools.go:68:6 <Pure> tools.Pure is declared here ! url -> URL",
		},
	}, {
		name: "an optional into Go", ref: "strings.ToUpper",
		in:   fields(field("s", schema.OptOf(schema.StringType, ""))),
		want: []string{"FG0607 <s> `in.s` is declared opt<string>, but in strings.ToUpper it is string | declare it string, or leave the declaration out"},
	}, {
		name: "poison is quiet", ref: "./bad.Hook",
		in: fields(field("q", schema.StringType)), out: fields(),
		want: []string{"FG0606 <./bad.Hook> bad.HookIn.cb is a func, which cannot be journalled @ flows/bad/types.go:12:2 <cb> declared here"},
	}}
	refs := make([]string, len(tests))
	for i, tt := range tests {
		refs[i] = tt.ref
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tools(tt.ref)
			tool := s.wf.Tools[0]
			tool.In, tool.Out = tt.in, tt.out
			list := s.resolve(t)
			for i := range list {
				if len(list[i].Related) > 0 && list[i].Related[0].Span.File.Name == "strings/strings.go" {
					list[i].Related = nil // whose lines are not ours
				}
			}
			if diff := cmp.Diff(tt.want, show(list), cmp.Transformer("set", func(lines []string) map[string]bool {
				set := map[string]bool{}
				for _, l := range lines {
					set[l] = true
				}
				return set
			})); diff != "" {
				t.Errorf("diagnostics of %s (-want +got):\n%s", refs[i], diff)
			}
			if tt.wantIn != "" && spell(tool.In) != tt.wantIn {
				t.Errorf("in: %s", spell(tool.In))
			}
			if tt.wantOut != "" && spell(tool.Out) != tt.wantOut {
				t.Errorf("out: %s", spell(tool.Out))
			}
		})
	}
}
