package jinja_test

import (
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/jinja"
	"github.com/google/go-cmp/cmp"
)

func text(s string) source.Text {
	f := source.NewFile("prompt.yaml", s)
	return source.Text{Value: s, Span: source.Span{File: f, Hi: len(s)}}
}

// TestGood: what prompts are made of is read.
func TestGood(t *testing.T) {
	for _, s := range []string{
		"plain", "{{ x }}", "{{x}}", "{{- x -}}", "{# a {{ b }} #}c", "{{ x.y.z[0].w }}", "{{ x['key with space'] }}", "{{ x[a.b] }}", "{{ x[-1] }}", "{{ x[:3] }}{{ x[1:] }}{{ x[::2] }}{{ x[1:-1] }}",
		"{{ x | default('none', true) }}", "{{ x|d('') }}", `{{ items | join("\n- ") }}`, `{{ "{:.2f}".format(x) }}`, "{{ data | tojson(indent=2) | safe }}",
		"{% if a and b or not c %}1{% elif x == 'y' %}2{% else %}3{% endif %}", "{% if x is not none and x|length > 0 %}{% endif %}", "{{ 's' if items|length > 1 else '' }}", "{{ 's' if items|length > 1 }}",
		"{{ a if b is defined else c }}", "{{ a if b is string else c }}", "{{ a if b else c if d else e }}", "{{ ('a' if x else 'b') ~ 'c' }}", "{{ f(x if y else z) }}{% if f %}{% endif %}",
		"{% for k, v in d.items() %}{{ k }}{{ v }}{% endfor %}", "{% for (k, v) in d.items() %}{{ k }}{% endfor %}", "{% for x in xs[:5] if x is not none %}{{ loop.index }}{% else %}none{% endfor %}",
		"{% for x in xs|sort(attribute='a')|reverse %}{{ x }}{% endfor %}", "{{ x not in ['a', \"b\"] }}", "{{ 'x' in y.keys() }}", "{{ d.get('k', 'd') }}", "{{ d.get('k', {}).get('l') }}",
		"{% set x = 1 %}{{ x }}", "{% set x %}in{% endset %}{{ x }}", "{% raw %}{{ not read }}{% endraw %}", "{%- if x -%} y {%- endif -%}", "{{ not x }}", "{{ -x }}", "{{ 1.5 + 2 * 3 }}", "{{ true }}{{ False }}{{ none }}{{ None }}",
		"{{ x is divisibleby 3 }}{{ x is divisibleby(3) }}{{ x is in [1] }}", "{{ [1, 2,] }}{{ {'a': 1} }}{{ (1, 2) }}", "{{ x\n  | upper\n  | trim }}", "{% if x\n  and y %}{% endif %}", "{{ 'it\\'s' }}", "{\"json\": {\"a\": 1}} {{ x }}",
		"{{ range(1, 10) | list }}", "{% for a in b %}{% for c in a %}{{ loop.index }}{% endfor %}{{ loop.last }}{% endfor %}", "{{ loop_name }}", "{{ x | map(attribute='a.b') | list }}", "{{ 'übung' }} é {{ x }}",
		"{{ x|selectattr('a', 'equalto', 'b')|list|length }}", "{{ x | replace('a', 'b') | title | truncate(20, true, '') }}", "{{ loop.cycle }}",
	} {
		want := strings.Contains(s, "f(x") || s == "{{ loop.cycle }}" // a function that is not Jinja's; a name that happens to be loop
		if _, problems := jinja.Parse(text(s)); len(problems) > 0 && !want {
			t.Errorf("%s: %s at %q", s, problems[0].Message, problems[0].Span.Text())
		}
	}
}

// TestWrong: what is wrong is said at its place.
func TestWrong(t *testing.T) {
	for _, tt := range []struct {
		text, at    string
		unsupported bool
	}{
		{"a {% if x %} b", "b", false}, {"{% endif %}", "endif", false}, {"{% if x %}{% endfor %}", "endfor", false}, {"{{ x", "x", false}, {"{% nonsense %}", "nonsense", false},
		{"{{ x | nope }}", "nope", true}, {"{{ x is odder }}", "odder", true}, {"{{ x.fly() }}", "fly", true}, {"{{ now() }}", "now", true}, {"{% macro m() %}{% endmacro %}", "macro", true},
		{"{% include 'x' %}", "include", true}, {"{% for a in b recursive %}{% endfor %}", "recursive", true}, {"{% for a in b %}{{ loop.depth }}{% endfor %}", "loop", true}, {"{{ x | upper(1) }}", "upper", false},
		{"{% for %}{% endfor %}", "%}", false}, {"{{ }}", "}}", false}, {"line\n\n  {{ a + }}", "}}", false}, {"{{ x ! y }}", "", false}, {"{{ f(in x) }}", "in", false}, {"{{ x | join(in ) }}", "in", false}, {"{{ (a }}", "", false},
	} {
		_, problems := jinja.Parse(text(tt.text))
		if len(problems) != 1 {
			t.Errorf("%s: %d problems", tt.text, len(problems))
			continue
		}
		p := problems[0]
		if d := cmp.Diff(tt.unsupported, p.Unsupported); d != "" {
			t.Errorf("%s: %s %s", tt.text, p.Message, d)
		}
		if tt.at != "" && p.Span.Text() != tt.at {
			t.Errorf("%s: %s at %q, not at %q", tt.text, p.Message, p.Span.Text(), tt.at)
		}
	}
}

// TestDeep: nesting is bounded.
func TestDeep(t *testing.T) {
	for _, s := range []string{"{{ " + strings.Repeat("(", 100_000) + " }}", strings.Repeat("{% if x %}", 10_000), "{% if x %}" + strings.Repeat("{% elif x %}", 10_000) + "{% endif %}",
		"{{ " + strings.Repeat("[", 50_000), "{{ " + strings.Repeat("not ", 50_000) + "x }}", "{{ x" + strings.Repeat(".y", 100_000) + " }}"} {
		if _, problems := jinja.Parse(text(s)); len(problems) == 0 {
			t.Errorf("%.20s is read", s)
		}
	}
}

// FuzzParse: whatever a template is, problems have places in it.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"{{ x | default('a', true) }}", "{% for a, b in c.items() if d %}{{ loop.index }}{% else %}{% endfor %}", "{{ (a if b else c) ~ d[1:2] }}", "{% set x %}{% raw %}{{{% endraw %}{% endset %}", "{# #}{%- if x is not none -%}{% endif %}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 2000 {
			return
		}
		_, problems := jinja.Parse(text(s))
		for _, p := range problems {
			if p.Span.Lo < 0 || p.Span.Hi > len(s) || p.Span.Lo > p.Span.Hi {
				t.Fatalf("%q: %s at %d-%d", s, p.Message, p.Span.Lo, p.Span.Hi)
			}
		}
	})
}
