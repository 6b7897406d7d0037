package expr

import (
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/internal/cputime"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// TestBounds: text made to be expensive is refused, or checked, in no time.
func TestBounds(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		code      diag.Code // of the only problem; "" when there is none; "*" any
	}{
		{"long", strings.Repeat("a", 70_000), diag.ExprSize},
		{"parentheses", strings.Repeat("(", 60_000), diag.ExprSize},
		{"parentheses closed", strings.Repeat("(", 199) + "input.ok" + strings.Repeat(")", 199), ""},
		{"parentheses too deep", strings.Repeat("(", 250) + "input.ok" + strings.Repeat(")", 250), diag.ExprSize},
		{"not", strings.Repeat("!", 60_000) + "input.ok", diag.ExprSize},
		{"minus", strings.Repeat("- ", 30_000) + "1", diag.ExprSize},
		{"sum", "1" + strings.Repeat("+1", 30_000), diag.ExprSize},
		{"sum that fits", "1" + strings.Repeat("+1", 190), ""},
		{"fields", "input" + strings.Repeat(".a", 30_000), diag.ExprSize},
		{"choices", strings.Repeat("input.ok ? 1 : ", 4_000) + "1", diag.ExprSize},
		{"python", strings.Repeat("1 if input.ok else ", 3_000) + "1", diag.ExprSize},
		{"python that fits", strings.Repeat("1 if input.ok else ", 150) + "1", "*"},
		{"elvis", strings.Repeat("input.tag ?? ", 150) + "1", "*"},
		{"lists", strings.Repeat("[", 60_000), diag.ExprSize},
		{"wide list", "input.pr in [" + strings.Repeat("1,", 30_000) + "]", ""},
		{"calls", strings.Repeat("size(", 10_000), diag.ExprSize},
		{"defaults", strings.Repeat("default(input.tag,", 150) + "\"\"" + strings.Repeat(")", 150), ""},
		{"firsts", strings.Repeat("first(input.tag,", 150) + "\"\"" + strings.Repeat(")", 150), ""},
		{"tests", strings.Repeat("(input.tag != null || post == null) && !(", 90) + "input.ok" + strings.Repeat(")", 90), ""},
		{"nested tests", strings.Repeat("(input.ok ? post != null : ", 90) + "true" + strings.Repeat(")", 90), ""},
		{"longest", "input.ok" + strings.Repeat(" ", 64<<10-8), ""},
		{"a byte more", "input.ok" + strings.Repeat(" ", 64<<10-7), diag.ExprSize},
		{"parentheses one too deep", strings.Repeat("(", 200) + "input.ok" + strings.Repeat(")", 200), diag.ExprSize},
		{"not not", strings.Repeat("!input.ok && ", 150) + "input.ok", ""},
		{"pattern that fits", "input.repo.matches(\"" + strings.Repeat("a", 1000) + "\")", ""},
		{"pattern", "input.repo.matches(\"" + strings.Repeat("a", 1001) + "\")", diag.BadPattern},
		{"open strings", strings.Repeat("\"\n", 30_000), "*"},
		{"escapes", "\"" + strings.Repeat("\\d", 30_000), diag.ExprString},
		{"smart quotes", strings.Repeat("“", 20_000), "*"},
	} {
		var probs []Problem
		if d := cputime.Of(func() {
			var n *Node
			n, probs = Parse(tt.src)
			probs = append(probs, Check(n, newEnv(), nil)...)
			_ = n.String()
		}); d > 2*time.Second {
			t.Errorf("%s: took %v", tt.name, d)
		}
		got := diag.Code("")
		if len(probs) > 0 {
			got = probs[0].Code
		}
		if tt.code != "*" && (got != tt.code || got != "" && len(probs) != 1) {
			t.Errorf("%s: got %q (%d problems), want %q", tt.name, got, len(probs), tt.code)
		}
	}
	if _, probs := Parse(strings.Repeat("!", 250) + "input.ok"); len(probs) != 1 || probs[0].Lo != 199 {
		t.Errorf("the mistake is the 200th sign, at 199: %v", probs)
	}
	for name, src := range map[string]string{"open": strings.Repeat("{{ ", 30_000), "empty": strings.Repeat("{{}}", 30_000), "strings": strings.Repeat("{{ \" }}", 20_000)} {
		if d := cputime.Of(func() {
			tmpl, _ := ParseTemplate(src)
			CheckTemplate(tmpl, newEnv(), nil)
		}); d > 2*time.Second {
			t.Errorf("%s braces: took %v", name, d)
		}
	}
}
