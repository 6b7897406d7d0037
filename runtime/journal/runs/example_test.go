package runs_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// Expense stands for a generated workflow.
type Expense struct{ rt *flow.Runtime }

var approveNode = flow.Node{ID: "approve", Pos: "expense.flowgen.yaml:5:3"}

func New(o ...runtime.Option) (*Expense, error) {
	rt, err := flow.New(&flow.Info{Name: "expense", Nodes: []*flow.Node{&approveNode}}, o...)
	return &Expense{rt}, err
}

func (w *Expense) Run(ctx context.Context, in string) (out string, err error) {
	r := flow.Start(ctx, w.rt, in)
	defer flow.End(r, &out, &err)
	answer, err := flow.Ask[bool](r, &approveNode, runtime.Question{Text: "Pay " + in + "?"})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %v", in, answer), nil
}

// A run that waits for a person returns *runtime.Waiting. Another request, or another process, answers and resumes it.
func ExampleResume() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, folder := context.Background(), runs.Open(dir, runs.Options{})
	w, err := New(runtime.WithEngines(folder.Record))
	if err != nil {
		panic(err)
	}
	_, err = w.Run(runtime.WithRunID(ctx, "order-7"), "lunch")
	var waiting *runtime.Waiting
	if errors.As(err, &waiting) {
		fmt.Println(waiting.RunID, "asks", waiting.Question.Key+":", waiting.Question.Text)
	}

	if err := folder.Respond(ctx, "order-7", "approve", "perhaps"); errors.Is(err, runs.ErrWrongAnswer) {
		fmt.Println("refused: can be answered again")
	}
	if err := folder.Respond(ctx, "order-7", "approve", "yes"); err != nil {
		panic(err)
	}
	fmt.Println(runs.Resume(ctx, folder, "order-7", w.Run))
	// Output:
	// order-7 asks approve: Pay lunch?
	// refused: can be answered again
	// lunch: true <nil>
}
