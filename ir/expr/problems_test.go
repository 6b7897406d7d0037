package expr

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/problems.txt")

// TestProblems compares the problems of every expression in testdata/problems.txt with what stands below it. A line that
// starts with "text " is a template, any other is an expression; ␤ is a line break.
func TestProblems(t *testing.T) {
	const file = "testdata/problems.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(data)) {
		if line == "\n" || line[0] == ' ' {
			continue
		}
		if line[0] == '#' {
			got.WriteString("\n" + line)
			continue
		}
		got.WriteString(line)
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "␤", "\n")
		var src string
		var probs []Problem
		if tmpl, ok := strings.CutPrefix(line, "text "); ok {
			src = tmpl
			tree, ps := ParseTemplate(src)
			probs = append(ps, CheckTemplate(tree, newEnv(), nil)...)
		} else if e, ok := strings.CutPrefix(line, "string "); ok {
			src = e
			n, ps := Parse(src)
			probs = append(ps, CheckExpect(n, newEnv(), nil, newEnv().syms["input"].Type.Field("repo").Type)...)
		} else {
			src = line
			n, ps := Parse(src)
			probs = append(ps, Check(n, newEnv(), nil)...)
		}
		for _, p := range probs {
			at := strings.ReplaceAll(src[p.Lo:p.Hi], "\n", "␤")
			fmt.Fprintf(&got, "    %s at %d `%s`: %s\n", p.Code, p.Lo, at, p.Message)
			if p.Help != "" {
				fmt.Fprintf(&got, "        %s\n", p.Help)
			}
			if p.Replace != nil {
				mended := strings.ReplaceAll(src[:p.Lo]+*p.Replace+src[p.Hi:], "\n", "␤")
				fmt.Fprintf(&got, "        => %s\n", mended)
			}
		}
	}
	if got.String() == string(data) {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Fatal("rewrote " + file)
	}
	t.Error(cmp.Diff(string(data), got.String()))
}
