package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

func TestString(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"a", "a"},
		{" ( a ) ", "a"},
		{"a.b?.c", "a.b?.c"},
		{"(a||b)&&c", "(a || b) && c"},
		{"a||b&&c", "a || b && c"},
		{"a-(b-c)", "a - (b - c)"},
		{"(a-b)-c", "a - b - c"},
		{"(a+b)*c", "(a + b) * c"},
		{"!(a==b)", "!(a == b)"},
		{"!a==b", "!a == b"},
		{"(a<b)==c", "(a < b) == c"},
		{"a<b==c", "(a < b) == c"},
		{"- 5", "-(5)"},
		{"-5", "-5"},
		{"-(-5)", "-(-5)"},
		{"-5.size()", "size(-5)"},
		{"(a?b:c)?d:e", "(a ? b : c) ? d : e"},
		{"a?b?c:d:e", "a ? (b ? c : d) : e"},
		{"a?b:c?d:e", "a ? b : c ? d : e"},
		{`'it''s'`, "?"},
		{`'it\'s "x"'`, `"it's \"x\""`},
		{`"\u00e9\x41\U0001F600\u0000"`, `"éA😀\u0000"`},
		{"1e3", "1000.0"},
		{"1e300", "1e+300"},
		{"007", "7"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"x.size()", "size(x)"},
		{"contains(x,'a')", `x.contains("a")`},
		{"(a+b).contains(c)", "(a + b).contains(c)"},
		{"xs.exists(x,x.n>3)", "xs.exists(x, x.n > 3)"},
		{"x in[1,2.0,'a',null,true,]", "x in [1, 2.0, \"a\", null, true]"},
		{"input.in", "input.in"},
		{"loop.package", "loop.package"},
		{"c?.5:1", "?"},
		{"a . b", "a.b"},
		{"f (x)", "f(x)"},
		{`"\x414\x6a\x4A"`, `"A4jJ"`},
		{`"\x4`, "?"},
		{"5.contains(a)", "5.contains(a)"},
		{"0.contains(a)", "0.contains(a)"},
		{"-5.contains(a)", "(-5).contains(a)"},
		{"-a", "-a"},
		{"-(!a)", "-(!a)"},
		{"contains()", "contains()"},
		{`"\uffff\U0010ffff"`, `"\uffff\U0010ffff"`},
		{"A.Z9.a0._z", "A.Z9.a0._z"},
		{"1.9+1.0e0+1e9", "1.9 + 1.0 + 1e+09"},
	} {
		n, _ := Parse(tt.src)
		if got := n.String(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.src, got, tt.want)
		}
		if n.Op == Bad {
			continue
		}
		again, probs := Parse(tt.want)
		if len(probs) > 0 || again.String() != tt.want {
			t.Errorf("%s: parses again as %s, %v", tt.want, again, probs)
		}
	}
}

func TestSpans(t *testing.T) {
	src := `input.repo.contains("x") && size(plan.tasks) > (input.pr + 1) || tasks.exists(t, !(t.n == 1))`
	n := checked(t, src)
	var got []string
	n.Walk(func(n *Node) bool {
		got = append(got, fmt.Sprintf("%s | %s | %s", src[n.Lo:n.Hi], src[n.NameLo:n.NameHi], n.Type))
		return true
	})
	want := []string{
		src + " | || | bool",
		`input.repo.contains("x") && size(plan.tasks) > (input.pr + 1) | && | bool`,
		`input.repo.contains("x") | contains | bool`,
		`input.repo | repo | string`,
		`input | input | ` + n.Kids[0].Kids[0].Kids[0].Kids[0].Type.String(),
		`"x" | "x" | string`,
		`size(plan.tasks) > (input.pr + 1) | > | bool`,
		`size(plan.tasks) | size | int`,
		`plan.tasks | tasks | list<Task>`,
		`plan | plan | ` + newEnv().syms["plan"].Type.String(),
		`(input.pr + 1) | + | int`,
		`input.pr | pr | int`,
		`input | input | ` + n.Kids[0].Kids[0].Kids[0].Kids[0].Type.String(),
		`1 | 1 | int`,
		`tasks.exists(t, !(t.n == 1)) | exists | bool`,
		`tasks | tasks | list<Task>`,
		`!(t.n == 1) | ! | bool`,
		`(t.n == 1) | == | bool`,
		`t.n | n | int`,
		`t | t | Task`,
		`1 | 1 | int`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestRefs(t *testing.T) {
	n, _ := Parse("a.b + xs.filter(x, x.n > y && ys.all(z, z == x)).size() > x")
	var got []string
	for _, r := range n.Refs() {
		got = append(got, r.Text)
	}
	if d := cmp.Diff([]string{"a", "xs", "y", "ys", "x"}, got); d != "" {
		t.Error(d)
	}
}

func TestTypes(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"1 + 2", "int"},
		{"1 + 2.0", "float"},
		{"input.pr * 1.0", "float"},
		{`input.repo + "x"`, "string"},
		{"post", "opt<" + newEnv().syms["post"].Type.Elem.String() + ">"},
		{"post?.url", "opt<string>"},
		{"post?.meta?.note", "opt<string>"},
		{"post?.meta.note", "opt<string>"},
		{"post?.meta.note != null && post.meta.note.size() > post.likes", "bool"},
		{"post != null ? post.url : null", "opt<string>"},
		{"post != null ? post.url : \"none\"", "string"},
		{"default(post.url, \"none\")", "string"},
		{"default(post.meta.note, \"none\")", "string"},
		{"default(post.meta.note, input.tag)", "opt<string>"},
		{"first(post.url, alt.url)", "string"},
		{"first(post.url, input.tag)", "opt<string>"},
		{"first(post.url, input.tag, input.repo)", "string"},
		{"first(post.meta, alt.meta)", "opt<" + newEnv().syms["post"].Type.Elem.Field("meta").Type.Elem.String() + ">"},
		{"input.counts.x", "opt<int>"},
		{"default(input.counts.x, 0)", "int"},
		{"input.counts.exists(k, k.startsWith(\"a\"))", "bool"},
		{"input.counts.map(k, k.size())", "list<int>"},
		{"tasks.map(t, t.url)", "list<opt<string>>"},
		{"tasks.map(t, t.q)", "list<string>"},
		{"tasks.filter(t, t.url != null && t.url.startsWith(\"h\"))", "list<Task>"},
		{"plan.route == \"fix\"", "bool"},
		{"plan.route in [\"fix\", \"skip\"]", "bool"},
		{"\"x\" in input.counts", "bool"},
		{"input.pr in []", "?"},
		{"input.ok ? [] : input.names", "list<string>"},
		{"input.ok ? input.names : []", "list<string>"},
		{"default(post?.meta?.lang, \"x\").size()", "int"},
		{"post.error != null && post.error.code == \"TIMEOUT\"", "bool"},
		{"post?.url == null", "bool"},
		{"null != input.tag && input.tag == \"v1\"", "bool"},
		{"input.tag == null || input.tag == \"v1\"", "bool"},
		{"!(input.tag == null) && input.tag == \"v1\"", "bool"},
		{"!(input.tag == null || post == null) && input.tag == post.url", "bool"},
		{"post?.meta?.note != null && post.meta.note.size() > post.likes", "bool"},
		{"(input.ok && post != null || post != null) && post.likes > 1", "bool"},
		{"(input.ok ? post != null : post != null) && post.likes > 1", "bool"},
		{"input.at < input.at && input.took <= input.took && input.raw == input.raw", "bool"},
		{"input.repo.matches(\"^a+\\\\d$\")", "bool"},
		{"input.f > 1 && 1 <= input.f && input.pr < input.f", "bool"},
		{"[1, 2.5]", "?"},
		{"[1, 2]", "list<int>"},
		{"tasks.exists(t, input.names.exists(s, s == t.q))", "bool"},
		{"tasks.exists(t, post.error != null)", "bool"},
		{"input.counts.filter(k, k.startsWith(\"a\"))", "list<string>"},
		{"default(wide.of, 1)", "float"},
		{"first(wide.of, 1)", "float"},
		{"[[1], []]", "list<list<int>>"},
		{"input.repo < input.repo", "bool"},
		{"input.pr>=1 && input.pr==0 && input.pr!=9", "bool"},
		{"size(input.raw) + size(input.repo) + size(tasks) + input.counts.size()", "int"},
	} {
		n, probs := Parse(tt.src)
		probs = append(probs, Check(n, newEnv(), nil)...)
		got := n.Type.String()
		if len(probs) > 0 {
			got = "?"
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s; %v", tt.src, got, tt.want, probs)
		}
	}
}

func TestNarrowingMarksStored(t *testing.T) {
	n := checked(t, "post != null && post.likes > 1")
	recv := n.Kids[1].Kids[0].Kids[0]
	if recv.Stored.Kind != schema.Opt || recv.Type.Kind != schema.Struct {
		t.Errorf("stored %s, type %s", recv.Stored, recv.Type)
	}
}

func TestFactsOf(t *testing.T) {
	for _, tt := range []struct {
		src     string
		yes, no []string
	}{
		{"post != null", []string{"post"}, nil},
		{"post == null", nil, []string{"post"}},
		{"!(post == null)", []string{"post"}, nil},
		{"post?.meta?.note != null", []string{"post", "post.meta", "post.meta.note"}, nil},
		{"post.error != null", []string{"post.error"}, nil},
		{"post != null && alt != null", []string{"alt", "post"}, nil},
		{"post != null || alt != null", nil, nil},
		{"post == null || alt == null", nil, []string{"alt", "post"}},
		{"input.ok ? post != null : alt != null", nil, nil},
		{"post != null ? alt != null : false", nil, nil},
		{"(post != null && input.ok) || (post != null && input.pr > 1)", []string{"post"}, nil},
		{"tasks.exists(t, t.url != null)", nil, nil},
		{"default(post?.url, \"\") != \"\"", nil, nil},
	} {
		n := checked(t, tt.src)
		for want, paths := range map[bool][]string{true: tt.yes, false: tt.no} {
			facts := FactsOf(n, want)
			var got []string
			for _, p := range []string{"alt", "post", "post.error", "post.meta", "post.meta.note", "t", "t.url"} {
				if facts[p] {
					got = append(got, p)
				}
			}
			if d := cmp.Diff(paths, got); d != "" {
				t.Errorf("%s is %v: %s", tt.src, want, d)
			}
		}
	}
}

func TestTemplate(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"", ""},
		{"plain { } }} text", `"plain { } }} text"`},
		{"a {{ input.repo }} b", `"a "|input.repo|" b"`},
		{"{{input.repo}}{{ tasks | json }}", `input.repo|tasks@json`},
		{`{{ "{{" }}x{{ '}}' }}`, `"{{"$|"x"|"}}"$`},
		{`{{ input.names | join(", ") }}`, `input.names@join(", ")`},
		{`{{ input.names | lines() }}`, `input.names@lines`},
		{`{{ input.ok ? "a" : "b" }}`, `input.ok ? "a" : "b"`},
		{"{{\n  input.repo\n}}", `input.repo`},
	} {
		tmpl, probs := ParseTemplate(tt.src)
		probs = append(probs, CheckTemplate(tmpl, newEnv(), nil)...)
		var parts []string
		for _, s := range tmpl.Segments {
			switch {
			case s.Expr == nil:
				parts = append(parts, quoted(s.Lit))
			case s.Expr.Op == Lit:
				parts = append(parts, s.Expr.String()+"$")
			case s.Filter == "join":
				parts = append(parts, s.Expr.String()+"@join("+quoted(s.FilterArg)+")")
			case s.Filter != "":
				parts = append(parts, s.Expr.String()+"@"+s.Filter)
			default:
				parts = append(parts, s.Expr.String())
			}
		}
		if got := strings.Join(parts, "|"); got != tt.want || len(probs) > 0 {
			t.Errorf("%s: got %s, want %s; %v", tt.src, got, tt.want, probs)
		}
	}
}
