package cli

import (
	"os"
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
	if code := run(&c.system, &workflow{info: graphInfo}); code != ExitOK {
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
	if code := run(&c.system, &workflow{info: graphInfo}); code != ExitOK {
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
		if os.Getenv("CI") != "" {
			t.Fatal("Graphviz is not installed")
		}
		t.Skip("Graphviz is not installed")
	}
	info := &flow.Info{Name: `a"\`, Nodes: []*flow.Node{{ID: `x"]; y [label="`}}, Edges: []flow.Edge{{From: `x"]; y [label="`, To: "end", Label: `\N\"<b>&amp;`}}}
	d := drawingOf(nested)
	d.paint(&inspection{Calls: listOf([]inspectedCall{{Key: "pages[0]/get", State: callDone}, {Key: "tries#2/again", State: callWaiting}})})
	for _, text := range []string{DOT(info), DOT(nested), d.dot()} {
		cmd := exec.Command(dot, "-Tplain")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "Warning") {
			t.Errorf("%v\n%s\n%s", err, out, text)
		}
	}
}

// nested is a workflow with bodies, an agent and conditions.
var nested = &flow.Info{
	Name:  "nested",
	Nodes: []*flow.Node{{ID: "list"}, {ID: "pages"}, {ID: "get"}, {ID: "sum"}, {ID: "told"}, {ID: "tries"}, {ID: "again"}},
	Edges: []flow.Edge{{From: "list", To: "pages"}, {From: "pages", To: "told"}, {From: "told", To: "tries", Label: "told > 1"}},
	Facts: flow.NewFacts(`{"plan": {"parts": [
  {"kind": "step", "node": "list", "verb": "let"},
  {"kind": "step", "node": "pages", "verb": "map", "max_items": 5, "parts": [
    {"kind": "if", "when": "n > \"1\"", "parts": [{"kind": "step", "node": "get", "verb": "tool", "tool": "shop.get@1"}]},
    {"kind": "parallel", "parts": [{"kind": "step", "node": "sum", "verb": "llm", "model": "openai:m"}, {"kind": "step", "node": "note", "verb": "let"}]}]},
  {"kind": "if", "when": "pages != null", "parts": [{"kind": "step", "node": "told", "verb": "agent", "model": "a:m", "tools": ["shop.get@1", "shop.put@1"], "catch": [{"code": "TIMEOUT", "to": "end"}]}]},
  {"kind": "if", "when": "told > 1", "parts": [{"kind": "step", "node": "tries", "verb": "loop", "until": "tries", "parts": [{"kind": "step", "node": "again", "verb": "human"}]}]}
]}}`),
}

func TestGraphOfBodies(t *testing.T) {
	mermaid := `flowchart TD
  n0["list<br/>let"]
  subgraph n1["pages<br/>map<br/>at most 5 items"]
    n4["get<br/>tool shop.get#64;1<br/>if n #62; #34;1#34;"]
    n5["sum<br/>llm openai:m"]
    n6["note<br/>let"]
    n4 --> n5
    n4 --> n6
  end
  n2["told<br/>agent a:m<br/>tools: shop.get#64;1, shop.put#64;1<br/>on TIMEOUT: end<br/>if pages != null"]
  subgraph n3["tries<br/>loop<br/>until tries"]
    n7["again<br/>human"]
  end
  n0 --> n1
  n1 --> n2
  n2 -->|"told #62; 1"| n3
`
	if diff := cmp.Diff(mermaid, Mermaid(nested)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	dot := `digraph "nested" {
  compound=true;
  node [shape=box];
  n0 [label="list\nlet"];
  subgraph cluster_n1 {
    label="pages\nmap\nat most 5 items";
    n4 [label="get\ntool shop.get@1\nif n > \"1\""];
    n5 [label="sum\nllm openai:m"];
    n6 [label="note\nlet"];
    n4 -> n5;
    n4 -> n6;
  }
  n2 [label="told\nagent a:m\ntools: shop.get@1, shop.put@1\non TIMEOUT: end\nif pages != null"];
  subgraph cluster_n3 {
    label="tries\nloop\nuntil tries";
    n7 [label="again\nhuman"];
  }
  n0 -> n4 [lhead=cluster_n1];
  n6 -> n2 [ltail=cluster_n1];
  n2 -> n7 [label="told > 1", lhead=cluster_n3];
}
`
	if diff := cmp.Diff(dot, DOT(nested)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGraphOfARun(t *testing.T) {
	d := drawingOf(nested)
	d.paint(&inspection{Calls: listOf([]inspectedCall{
		{Key: "pages[0]/get", State: callFailed}, {Key: "pages[0]/get", State: callDone}, {Key: "pages[1]/get", State: callInDoubt},
		{Key: "pages[0]/sum", State: callDone}, {Key: "tries#2/again", State: callWaiting},
	})})
	_, classes, _ := strings.Cut(d.mermaid(), "  classDef ")
	want := `done fill:#d9f2dd,stroke:#2e7d32,color:#000000
  class n5 done
  classDef waiting fill:#fff3cd,stroke:#b58900,color:#000000
  class n3,n7 waiting
  classDef in_doubt fill:#ffe0cc,stroke:#d84315,color:#000000
  class n1,n4 in_doubt
  classDef idle fill:#ffffff,stroke:#bdbdbd,color:#000000
  class n2 idle
`
	if diff := cmp.Diff(want, classes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if dot := d.dot(); !strings.Contains(dot, `    style=filled; fillcolor="#fff3cd"; color="#b58900";`) || !strings.Contains(dot, `n5 [label="sum\nllm openai:m", style=filled, fillcolor="#d9f2dd"`) {
		t.Errorf("not coloured:\n%s", dot)
	}
}

// accepts is a script that hands Mermaid's own parser what stands on standard input.
const accepts = `
const { JSDOM } = require(process.env.MERMAID + "/jsdom")
globalThis.window = new JSDOM("").window
globalThis.document = window.document
import(process.env.MERMAID + "/mermaid/dist/mermaid.core.mjs").then(async m => {
  for (const text of require("fs").readFileSync(0, "utf8").split("\u0000")) await m.default.parse(text)
}).catch(e => { console.log(e.message); process.exit(1) })
`

func TestMermaidIsAcceptedByMermaid(t *testing.T) {
	node, err := exec.LookPath("node")
	if dir := os.Getenv("MERMAID"); err != nil || dir == "" || dir == "none" {
		if os.Getenv("CI") != "" && dir != "none" {
			t.Fatal("Mermaid is not installed: MERMAID names the folder node_modules that it is in")
		}
		t.Skip("MERMAID does not name a folder node_modules with mermaid and jsdom")
	}
	d := drawingOf(nested)
	d.paint(&inspection{Calls: listOf([]inspectedCall{{Key: "pages[0]/get", State: callDone}, {Key: "tries#2/again", State: callWaiting}})})
	hostile := &flow.Info{Nodes: []*flow.Node{{ID: `x"]; end`}, {ID: "end"}}, Edges: []flow.Edge{{From: `x"]; end`, To: "end", Label: "`|\"<b>&amp;#"}}}
	cmd := exec.Command(node, "-e", accepts)
	cmd.Stdin = strings.NewReader(strings.Join([]string{Mermaid(graphInfo), Mermaid(nested), d.mermaid(), Mermaid(hostile)}, "\x00"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
