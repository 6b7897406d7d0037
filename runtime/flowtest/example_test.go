package flowtest_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/flowtest"
)

// greet stands for a generated workflow.
type greet struct{ rt *flow.Runtime }

type greeting struct {
	Text string `json:"text"`
}

type who struct {
	Name string `json:"name"`
}

var (
	greetNode = flow.Node{ID: "shout", Pos: "greet.flowgen.yaml:6:3"}
	greetInfo = &flow.Info{Name: "greet", Nodes: []*flow.Node{&greetNode}, Input: []flow.Field{{Name: "name", Type: "string"}}}
	shout     = flow.Bind("greet.shout@1", flow.Reads, func(_ context.Context, in who) (string, error) {
		fmt.Println("the tool runs")
		return strings.ToUpper(in.Name), nil
	})
)

func newGreet(o ...runtime.Option) (*greet, error) {
	rt, err := flow.New(greetInfo, o...)
	return &greet{rt}, err
}

func (w *greet) Run(ctx context.Context, in who) (out greeting, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	out.Text, err = flow.Call(run, &greetNode, shout, in)
	return out, err
}

// Cases of a greet.test.yaml, as `flowgen generate` writes them into a test. Record runs the tools and writes a cassette; Run
// answers from it and calls nothing.
func Example() {
	dir, err := os.MkdirTemp("", "flowtest")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	suite := `{"file": "greet.test.yaml", "workflow": "greet", "dir": "` + dir + `", "cases": [
		{"name": "ada", "pos": "3:3", "cassette": "ada.jsonl", "input": {"name": "ada"}, "output": [{"field": "text", "pos": "5:5", "want": "ADA"}]}]}`
	record := func(t *testing.T) { flowtest.Record(t, greetInfo, newGreet, suite, dir) }
	run := func(t *testing.T) { flowtest.Run(t, greetInfo, newGreet, suite) }

	all := func(_, _ string) (bool, error) { return true, nil }
	fmt.Println(testing.RunTests(all, []testing.InternalTest{{Name: "TestRecord", F: record}}))
	fmt.Println(testing.RunTests(all, []testing.InternalTest{{Name: "TestGreet", F: run}}))
	// Output:
	// the tool runs
	// true
	// true
}
