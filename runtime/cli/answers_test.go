package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

var (
	leftNode  = &flow.Node{ID: "left", Pos: "sides.flowgen.yaml:5:3", Index: 0}
	rightNode = &flow.Node{ID: "right", Pos: "sides.flowgen.yaml:6:3", Index: 1}
	eachNode  = &flow.Node{ID: "each", Pos: "sides.flowgen.yaml:7:3", Index: 2, Limit: 8}
)

const (
	humanPart = `{"kind":"step","node":"%s","verb":"human","tool":"human@1"}`
	sidesPlan = `{"plan":1,"parts":[{"kind":"parallel","parts":[{"kind":"step","node":"left","verb":"human"},{"kind":"sequence","parts":[{"kind":"step","node":"right","verb":"human"}]}]}],"flows":[]}`
	eachPlan  = `{"plan":1,"parts":[{"kind":"step","node":"each","verb":"map","parts":[{"kind":"step","node":"left","verb":"human"}]}],"flows":[]}`
)

func answered(t *testing.T, plan, answers string, body func(*flow.Run) (string, error), args ...string) (out, errors string) {
	t.Helper()
	c := newConsole(append(args, "--answers", "-")...)
	c.stdin = strings.NewReader(answers)
	info := &flow.Info{Name: "sides", Facts: flow.NewFacts(`{"plan":` + plan + `}`), Nodes: []*flow.Node{leftNode, rightNode, eachNode}}
	run(&c.system, &workflow{info: info, run: bind(func(o ...runtime.Option) (*asking, error) {
		rt, err := flow.New(info, o...)
		return &asking{rt, body}, err
	})})
	return strings.TrimSpace(c.out.String()), c.err.String()
}

// sides asks two questions at the same time; late is which of them comes later.
func sides(late int) func(*flow.Run) (string, error) {
	return func(r *flow.Run) (string, error) {
		var got [2]string
		early := make(chan struct{})
		ask := func(i int, n *flow.Node) func(*flow.Run) error {
			return func(r *flow.Run) (err error) {
				if i == late {
					<-early
				} else {
					close(early)
				}
				got[i], err = flow.Ask[string](r, n, runtime.Question{Text: n.ID + "?"})
				return err
			}
		}
		err := flow.Parallel(r, ask(0, leftNode), ask(1, rightNode))
		return got[0] + ", " + got[1], err
	}
}

// Which question comes first does not say who gets which answer: lines that name a question are for that one, and lines
// that do not are refused where questions can be open at the same time.
func TestAnswersSideBySide(t *testing.T) {
	for _, args := range [][]string{{"--quiet"}, nil} {
		for late := range 2 {
			for range 20 {
				out, err := answered(t, sidesPlan, "right: R: with a colon\nleft:  L \n", sides(late), args...)
				if out != `"L, R: with a colon"` {
					t.Fatalf("%s; %s", out, err)
				}
			}
			out, err := answered(t, sidesPlan, "one\ntwo\n", sides(late), args...)
			if out != "" || !strings.Contains(err, "VALIDATION_ERROR: questions can be open at the same time here (left, right), so each answer has to say for which one it is; write `") {
				t.Errorf("%s; %s", out, err)
			}
		}
	}
}

// In a map the key of a question says which one it is.
func TestAnswersInAMap(t *testing.T) {
	body := func(r *flow.Run) (string, error) {
		all, err := flow.Map(r, eachNode, []int{0, 1, 2, 3, 4, 5}, func(r *flow.Run, i int) (string, error) {
			return flow.Ask[string](r, leftNode, runtime.Question{Text: fmt.Sprint(i, "?")})
		})
		return strings.Join(all, " "), err
	}
	for range 20 {
		out, err := answered(t, eachPlan, "each[5]/left: f\neach[1]/left: b\neach[0]/left: a\neach[3]/left: d\neach[2]/left: c\neach[4]/left: e\n", body, "--quiet")
		if out != `"a b c d e f"` {
			t.Fatalf("%s; %s", out, err)
		}
	}
	out, err := answered(t, eachPlan, strings.Repeat("left: x\n", 6), body, "--quiet")
	if out != "" || !strings.Contains(err, "the answers for left do not say for which of its questions they are, which can be open at the same time; write `each[") {
		t.Errorf("%s; %s", out, err)
	}
}

// One after the other, lines answer in their order, and names only change that.
func TestAnswersInOrder(t *testing.T) {
	body := func(r *flow.Run) (string, error) {
		var got []string
		for _, n := range []*flow.Node{leftNode, rightNode, leftNode} {
			a, err := flow.Ask[string](r, n, runtime.Question{Text: "?", Choices: []string{"a", "b", "c", "left: d"}})
			if err != nil {
				return "", err
			}
			got = append(got, a)
		}
		return strings.Join(got, " "), nil
	}
	plan := fmt.Sprintf(`{"plan":1,"parts":[`+humanPart+","+humanPart+`]}`, "left", "right")
	for answers, want := range map[string]string{
		"a\nb\nc\n":                          `"a b c"`,
		"a\nnone\nb\nc\n":                    `"a b c"`,
		"right: b\na\nc\n":                   `"a b c"`,
		"left: a\nleft: c\nb\n":              `"a b c"`,
		"left#2: c\nright: b\nleft: a":       `"a b c"`,
		"left: none\nleft: a\nb\nleft: c\n":  `"a b c"`,
		"left: left: d\nb\nother: c\nc\n":    `"left: d b c"`,
		"right: b\nright: never asked\na\nc": `"a b c"`,
	} {
		if out, err := answered(t, plan, answers, body, "--quiet"); out != want {
			t.Errorf("%q: %s; %s", answers, out, err)
		}
	}
}

func TestAskersOfPlans(t *testing.T) {
	one := func(id string) string { return fmt.Sprintf(humanPart, id) }
	for name, tt := range map[string]struct {
		plan, beside, own string
	}{
		"one after the other": {`"parts":[` + one("a") + "," + one("b") + "]", "", ""},
		"arms":                {`"parts":[{"kind":"parallel","parts":[` + one("a") + "," + one("b") + `]},` + one("c") + "]", "a b", ""},
		"a schedule":          {`"parts":[{"kind":"scheduled","parts":[` + one("a") + `,{"kind":"step","node":"x","verb":"tool"},` + one("b") + `]}]`, "a b", ""},
		"one arm of two":      {`"parts":[{"kind":"parallel","parts":[` + one("a") + `,{"kind":"step","node":"x","verb":"tool"}]}]`, "", ""},
		"a map":               {`"parts":[{"kind":"step","verb":"map","parts":[` + one("a") + `]}]`, "a", "a"},
		"a map, one by one":   {`"parts":[{"kind":"step","verb":"map","parallel":1,"parts":[` + one("a") + `]}]`, "", ""},
		"cases":               {`"parts":[{"kind":"choose","parts":[` + one("a") + "," + one("b") + `]}]`, "", ""},
		"a flow in both arms": {`"parts":[{"kind":"parallel","parts":[{"kind":"step","verb":"flow","flow":"f"},{"kind":"step","verb":"flow","flow":"f"}]}],` +
			`"flows":[{"workflow":"f","parts":[` + one("a") + "]}]", "a", "a"},
		"a flow that runs itself": {`"parts":[{"kind":"step","verb":"flow","flow":"f"}],"flows":[{"workflow":"f","parts":[{"kind":"step","verb":"flow","flow":"f"},` + one("a") + "]}]", "", ""},
		"no plan":                 {"", "", ""},
	} {
		a := askersOf("{" + tt.plan + "}")
		got := [2]string{strings.Join(flow.SortedKeys(a.beside), " "), strings.Join(flow.SortedKeys(a.own), " ")}
		if diff := cmp.Diff([2]string{tt.beside, tt.own}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
