package expr

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// TestInline: what is one Go expression, and what needs statements before it.
func TestInline(t *testing.T) {
	for src, want := range map[string]bool{
		`1`: true, `null`: true, `input.pr`: true, `input`: true, `post`: true, `post.error`: true,
		`post?.url`: false, `post?.meta?.note`: false, // absent receivers are looked at first
		`post?.meta`:                                          false,
		`input.counts.x`:                                      false, // a key that may be missing
		`input.counts.x != null`:                              false,
		`wide.maybe.x`:                                        true, // a missing key is a nil pointer, like a value that is absent
		`post?.url != null`:                                   true,
		`input.tag != null`:                                   true,
		`first(input.tag, "x") != ""`:                         false,
		`first(input.repo, "x")`:                              true,
		`default(input.tag, "x")`:                             true,
		`default(input.tag, input.tag)`:                       false,
		`default(post.url, "x")`:                              false,
		`default(wide.of, 1.5)`:                               true,
		`default(wide.of, -input.f)`:                          true,
		`default(wide.of, [1.5].exists(x, true) ? 1.0 : 2.0)`: false,
		`size(tasks)`:                                         true,
		`size(tasks.map(t, t.q))`:                             false,
		`input.repo.contains("x")`:                            true,
		`!input.ok`:                                           true,
		`!(input.ok ? true : false)`:                          false,
		`-input.f`:                                            true,
		`-input.pr`:                                           false, // may overflow
		`input.pr + 1`:                                        false,
		`input.f + 1.0`:                                       true,
		`input.f - input.f * 2.0`:                             true,
		`input.repo + "x"`:                                    true,
		`input.ok && !input.ok`:                               true,
		`input.ok || input.pr + 1 > 2`:                        false,
		`input.pr + 1 > 2 || input.ok`:                        false,
		`input.pr > 1`:                                        true,
		`1 < input.pr`:                                        true,
		`input.pr > input.f`:                                  false, // converted, with a check
		`input.f > input.pr`:                                  false,
		`wide.u > input.pr`:                                   false,
		`input.pr > wide.u`:                                   false,
		`wide.i > input.pr`:                                   true,
		`wide.level > input.pr`:                               false,
		`input.repo == "x"`:                                   true,
		`input.pr in [1, 2, 3, 4]`:                            true,
		`input.pr in [1, 2, 3, 4, 5]`:                         true,
		`wide.u in [1, 2]`:                                    false,
		`wide.u in [1, 2, 3, 4, 5]`:                           false,
		`input.repo in ["a", "b"]`:                            true,
		`input.repo in [input.repo, "b"]`:                     false,
		`input.repo in ["a", "b", "c", "d", input.repo]`:      true,
		`(input.ok ? "a" : "b") in ["a"]`:                     false,
		`(input.repo + "x") in ["a"]`:                         false, // it would be computed for every item
		`(input.repo + "x") in ["a", "b", "c", "d"]`:          false,
		`(input.repo + "x") in ["a", "b", "c", "d", "e"]`:     true, // the list is a variable then
		`post?.url in ["a"]`:                                  false,
		`input.f in [1, 2]`:                                   true,
		`input.repo in input.names`:                           true,
		`plan.route in input.names`:                           true,
		`input.repo in input.counts`:                          false,
		`input.pr in wide.ints`:                               true,
		`wide.u in wide.ints`:                                 false,
		`input.pr in wide.us`:                                 false,
		`input.f in wide.floats`:                              true,
		`1 in wide.floats`:                                    true, // the literal is a float here
		`[input.pr, 2]`:                                       true,
		`[input.pr, input.pr + 1]`:                            false,
		`[wide.u]`:                                            false,
		`[input.at]`:                                          false,
		`input.ok ? 1 : 2`:                                    false,
		`tasks.exists(t, true)`:                               false,
	} {
		n, probs := Parse(src)
		if probs = append(probs, Check(n, newEnv(), nil)...); len(probs) > 0 && probs[0].Code != diag.OptionalUse {
			t.Errorf("%s: %v", src, probs)
		}
		if got := n.Inline(); got != want {
			t.Errorf("%s: one expression: %v", src, got)
		}
	}
	if n, _ := Parse("input.repo"); n.Inline() {
		t.Error("an expression that was not checked")
	}
}

// TestExpect: literals and what is made of them take the type that is asked for; what does not fit says how it would.
func TestExpect(t *testing.T) {
	for _, tt := range []struct {
		src  string
		want *schema.Type
		help string // "-": it fits
	}{
		{"1", schema.FloatType, "-"},
		{"tasks.map(t, 1)", schema.ListOf(schema.FloatType), "-"},
		{"[1, 2.5]", schema.ListOf(schema.FloatType), "-"},
		{"default(wide.of, 1)", schema.FloatType, "-"},
		{"first(wide.of, 1)", schema.FloatType, "-"},
		{"input.pr", schema.FloatType, "multiply it by `1.0` to make it a float"},
		{"wide.ints", schema.ListOf(schema.FloatType), ""},
		{"input.pr", schema.BoolType, ""},
		{"input.repo", schema.FloatType, ""},
		{"input.repo", schema.IntType, ""},
		{"input.pr", schema.StringType, "write it as text: `\"{{ input.pr }}\"`"},
		{"plan", schema.StringType, ""},
		{"null", schema.IntType, "the value is required here"},
	} {
		n, probs := Parse(tt.src)
		probs = append(probs, CheckExpect(n, newEnv(), nil, tt.want)...)
		switch {
		case tt.help == "-" && len(probs) > 0:
			t.Errorf("%s as %s: %v", tt.src, tt.want, probs)
		case tt.help == "-" && !schema.Assignable(n.Type, tt.want):
			t.Errorf("%s as %s has type %s", tt.src, tt.want, n.Type)
		case tt.help != "-" && (len(probs) != 1 || probs[0].Code != diag.TypeMismatch || probs[0].Help != tt.help):
			t.Errorf("%s as %s: %v, want one with the help %q", tt.src, tt.want, probs, tt.help)
		}
	}
}

// TestLiterals: a literal has the type of what it is compared with.
func TestLiterals(t *testing.T) {
	for src, want := range map[string]string{
		"input.f == 1": "float", "input.f < -1": "float", "input.pr == 1": "int", `plan.route == "fix"`: "enum<fix|skip>", `input.repo == "fix"`: "string",
		"input.f + 1": "float", "input.f == input.pr": "int",
	} {
		if got := checked(t, src).Kids[1].Type.String(); got != want {
			t.Errorf("%s: the right side is %s, want %s", src, got, want)
		}
	}
}

// TestCanonical: values that come from two places have the default Go type of their kind.
func TestCanonical(t *testing.T) {
	wide := newEnv().syms["wide"].Type
	u, us, i := wide.Field("u").Type, wide.Field("us").Type, wide.Field("i").Type
	if got := canonical(u); got != schema.IntType {
		t.Errorf("uint64 becomes %v", got.Go)
	}
	if got := canonical(us); got.Kind != schema.List || got.Elem != schema.IntType {
		t.Errorf("list of uint64 becomes %v", got)
	}
	mine := &schema.Type{Kind: schema.Int}
	for _, same := range []*schema.Type{mine, schema.ListOf(mine), schema.MapOf(schema.ListOf(schema.BoolType)), schema.EnumOf("a")} {
		if got := canonical(same); got != same {
			t.Errorf("%s, which is written as it should be, is made anew", same)
		}
	}
	if got := join(u, u); got != u {
		t.Error("two of one type have another")
	}
	if got := join(u, i); got.Go != nil {
		t.Errorf("uint64 and int32 become %v", got.Go)
	}
}

func TestBrief(t *testing.T) {
	for _, tt := range []struct {
		t    *schema.Type
		want string
	}{
		{schema.EnumOf(strings.Repeat("x", 54)), "enum<" + strings.Repeat("x", 54) + ">"}, // 60 bytes
		{schema.EnumOf(strings.Repeat("x", 55)), "this enum"},
		{schema.ListOf(schema.EnumOf(strings.Repeat("x", 55))), "list<this enum>"},
	} {
		if got := brief(tt.t); got != tt.want {
			t.Errorf("%s: %s", tt.t, got)
		}
	}
}

// TestOddBytes: what no file of problems can hold.
func TestOddBytes(t *testing.T) {
	type at struct {
		Lo, Hi  int
		Message string
	}
	for src, want := range map[string][]at{
		"a\x80":                 {{1, 2, "this byte is not valid UTF-8"}},
		"\xff == 1":             {{0, 1, "this byte is not valid UTF-8"}},
		"a == \ufffd":           {{5, 8, "unexpected character `\ufffd`"}},
		"input.pr\u00a0> 1":     {{8, 10, "this space is a special character"}},
		"input.pr \u2265 1":     {{9, 12, "`\u2265` is not an operator"}},
		"input.pr > \u20ac":     {{11, 14, "unexpected character `\u20ac`"}},
		"input.repo == \"a\\\r": {{14, 17, "this string is not closed"}},
		"input.repo == \"a\\\n": {{14, 17, "this string is not closed"}},
		"na\u00efve":            {{0, 6, "names are made of the letters a to z, digits and underscores"}},
		"caf\u00e9":             {{0, 5, "names are made of the letters a to z, digits and underscores"}},
		"\u00e9_1 == 2":         {{0, 4, "names are made of the letters a to z, digits and underscores"}},
	} {
		_, probs := Parse(src)
		var got []at
		for _, p := range probs {
			got = append(got, at{p.Lo, p.Hi, p.Message})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", src, diff)
		}
	}
}

// TestTemplateBounds: a thousand expressions, and 64 KiB for each of them wherever it stands.
func TestTemplateBounds(t *testing.T) {
	long := func(n int) string { return "{{ input.repo" + strings.Repeat(" ", n-15) + "}}" }
	for _, tt := range []struct {
		name, src string
		lo, hi    int // of the problem; 0, 0: there is none
	}{
		{"a thousand", strings.Repeat("{{ 1 }}", 1000), 0, 0},
		{"one more", strings.Repeat("{{ 1 }}", 1001), 7000, 7002},
		{"64 KiB", long(64 << 10), 0, 0},
		{"64 KiB behind text", strings.Repeat("x", 40<<10) + long(64<<10), 0, 0},
		{"a byte more behind text", strings.Repeat("x", 40<<10) + long(64<<10+1), 40 << 10, 104<<10 + 1},
	} {
		_, probs := ParseTemplate(tt.src)
		switch {
		case tt.hi == 0 && len(probs) > 0:
			t.Errorf("%s: %v", tt.name, probs)
		case tt.hi > 0 && (len(probs) != 1 || probs[0].Code != diag.ExprSize || probs[0].Lo != tt.lo || probs[0].Hi != tt.hi):
			t.Errorf("%s: %v, want one from %d to %d", tt.name, probs, tt.lo, tt.hi)
		}
	}
	for src, want := range map[string]bool{"": true, "a } b": true, "{{ 1 }}": false, "a {{ 1 }}": false} {
		tmpl, _ := ParseTemplate(src)
		if text, ok := tmpl.Literal(); ok != want || ok && text != src {
			t.Errorf("%q: %q, a literal: %v", src, text, ok)
		}
	}
}
