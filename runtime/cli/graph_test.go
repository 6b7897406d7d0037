package cli

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

var graphInfo = &flow.Info{
	Name:  "triage",
	Nodes: []*flow.Node{{ID: "fetch"}, {ID: "plan"}, {ID: "probe"}},
	Edges: []flow.Edge{
		{From: "fetch", To: "plan"},
		{From: "plan", To: "probe", Label: "size(plan.tasks) > 0"},
		{From: "plan", To: "end", Label: `plan.route == "skip"`},
	},
}

func TestMermaid(t *testing.T) {
	want := `flowchart TD
  n0["fetch"]
  n1["plan"]
  n2["probe"]
  n3(["end"])
  n0 --> n1
  n1 -->|"size(plan.tasks) #62; 0"| n2
  n1 -->|"plan.route == #34;skip#34;"| n3
`
	c := newConsole("graph")
	if code := run(&c.system, &workflow{info: graphInfo}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, c.err.String())
	}
	if diff := cmp.Diff(want, c.out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Mermaid(graphInfo); got != want {
		t.Errorf("Mermaid differs from the command:\n%s", got)
	}
}

func TestDOT(t *testing.T) {
	want := `digraph "triage" {
  node [shape=box];
  n0 [label="fetch"];
  n1 [label="plan"];
  n2 [label="probe"];
  n3 [label="end", shape=oval];
  n0 -> n1;
  n1 -> n2 [label="size(plan.tasks) > 0"];
  n1 -> n3 [label="plan.route == \"skip\""];
}
`
	c := newConsole("graph", "--format=dot")
	if code := run(&c.system, &workflow{info: graphInfo}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, c.err.String())
	}
	if diff := cmp.Diff(want, c.out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// hostile draws text with everything that means something to the two languages.
func hostile() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{`"`, `\`, "\n", "]", ")", "%%{init: {}}%%", "%%", "#", ";", "#quot;", "<b>", "&lt;", "`", "end", "-->", "|", "--", "\\N", "\x1b[2J", "\u202e", "\xff", "a", "é", "日"})
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "") })
}

func hostileInfo(t *rapid.T) *flow.Info {
	info := &flow.Info{Name: hostile().Draw(t, "name"), Nodes: []*flow.Node{{ID: "a"}, {ID: hostile().Draw(t, "id")}}}
	info.Edges = []flow.Edge{{From: "a", To: info.Nodes[1].ID, Label: hostile().Draw(t, "label")}, {From: info.Nodes[1].ID, To: hostile().Draw(t, "to")}}
	return info
}

// Hostile labels must not change the drawing's structure: with every label
// taken out, what is left is what harmless labels leave.
func TestGraphLabelsStayLabels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		info := hostileInfo(t)
		if a, b := Mermaid(info), Mermaid(info); a != b {
			t.Fatal("two drawings differ")
		}
		for line := range strings.Lines(Mermaid(info)) {
			line = strings.TrimSuffix(line, "\n")
			if line == "flowchart TD" {
				continue
			}
			parts := strings.Split(line, `"`)
			if len(parts) != 1 && len(parts) != 3 {
				t.Fatalf("line %q has a quote in its label", line)
			}
			if len(parts) == 3 {
				if strings.ContainsAny(parts[1], "`%<>&|\\[]{}\n") || parts[1] == "" {
					t.Fatalf("label %q is not escaped", parts[1])
				}
				line = parts[0] + parts[2]
			}
			if strings.Trim(line, "n0123456789 ->|[]()") != "" {
				t.Fatalf("line %q holds more than the drawing", line)
			}
		}
		for line := range strings.Lines(DOT(info)) {
			line = dropStrings(t, strings.TrimSuffix(line, "\n"))
			if strings.Trim(line, "digraphlbesnoxv 0123456789->={}[],;") != "" {
				t.Fatalf("line %q holds more than the drawing", line)
			}
		}
	})
}

// dropStrings removes the quoted strings of a line of DOT, reading escapes as Graphviz does.
func dropStrings(t *rapid.T, line string) string {
	var b strings.Builder
	in := false
	for i := 0; i < len(line); i++ {
		switch {
		case in && line[i] == '\\':
			i++
		case line[i] == '"':
			in = !in
		case !in:
			b.WriteByte(line[i])
		}
	}
	if in {
		t.Fatalf("line %q has an open string", line)
	}
	return b.String()
}

func TestDOTIsAcceptedByGraphviz(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz is not installed")
	}
	info := &flow.Info{Name: `a"\`, Nodes: []*flow.Node{{ID: `x"]; y [label="`}}, Edges: []flow.Edge{{From: `x"]; y [label="`, To: "end", Label: `\N\"<b>&amp;`}}}
	cmd := exec.Command(dot, "-Tplain")
	cmd.Stdin = strings.NewReader(DOT(info))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
