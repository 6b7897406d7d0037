// Command triage reviews a pull request with a model and an agent. Without a key for the model it brings a model server of
// its own, which always says the same.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/flowgen-dev/flowgen/examples/triage/host"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
)

//go:generate go run ../../cmd/flowgen generate triage.flowgen.yaml

func main() {
	if len(os.Args) > 1 && os.Args[1] == "replay" { // it calls nobody
		cli.Main(Info, New)
	}
	if os.Getenv("OPENAI_API_KEY") == "" {
		s, err := offline()
		if err != nil {
			fmt.Fprintln(os.Stderr, "triage:", err)
			os.Exit(1)
		}
		defer s.Close()
	}
	cli.Main(Info, newTriage)
}

// offline starts a model server and makes it the one that the workflow asks.
func offline() (*fake.Server, error) {
	const key = "key-of-the-model-beside"
	s, err := fake.Start(key, model)
	if err != nil {
		return nil, err
	}
	return s, errors.Join(os.Setenv("OPENAI_API_KEY", key), os.Setenv("OPENAI_BASE_URL", s.Base(fake.OpenAI)))
}

// model answers as a model could that reads the prompts of this folder. What pull request 8 changes is used nowhere: it searches on and on,
// unless the prompt says that it should search once.
func model(r *fake.Request) *fake.Response {
	var answer *fake.Response
	switch {
	case r.Schema != nil:
		answer = fake.Say(`{"route": "review", "why": "It changes what prices look like."}`)
	case strings.Contains(r.Messages[0].Text, "cart/tax.go") && (r.Turn() == 0 || !strings.Contains(r.Messages[0].Text, "once")):
		answer = fake.Ask(llm.Call{ID: fmt.Sprintf("s%d", r.Turn()), Name: "search", Args: `{"text": "cart.Rate"}`})
	case strings.Contains(r.Messages[0].Text, "cart/tax.go"):
		answer = fake.Say("The rate falls from 19 to 7, and nothing uses it. Is that meant?")
	case r.Turn() == 0:
		answer = fake.Ask(llm.Call{ID: "c1", Name: "search", Args: `{"text": "cart.Price"}`}, llm.Call{ID: "c2", Name: "history", Args: `{"path": "cart/price.go"}`})
	default:
		places := strings.Count(r.Last().Results[0].Text, ":")
		answer = fake.Say(fmt.Sprintf("Prices lose their dollar sign in %d places that print them. Is that meant?", places))
	}
	answer.Reply.Usage = llm.Usage{Input: int64(len(r.Body) / 4), Output: 20}
	return answer
}

// triage is the workflow with a code host of its own, unless there is one at the port that is named: a run that goes on later has the port
// that it began with.
type triage struct{ *Workflow }

func newTriage(o ...runtime.Option) (triage, error) {
	w, err := New(o...)
	return triage{w}, err
}

func (w triage) Run(ctx context.Context, in Input) (out Output, err error) {
	s, failed := host.StartAt(int(in.Port))
	switch {
	case failed == nil:
		defer func() { err = errors.Join(err, s.Stop()) }()
		in.Port = int64(s.Port)
	case in.Port == 0:
		return out, failed
	}
	return w.Workflow.Run(ctx, in)
}
